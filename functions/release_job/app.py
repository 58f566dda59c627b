"""POST /jobs/{id}/release: give a held job back unfinished."""

from __future__ import annotations

from aws_lambda_powertools.event_handler import Response

from jobqueue.api.app import http_function
from jobqueue.api.fields import JobId
from jobqueue.api.held import ReleaseJob
from jobqueue.job import JsonObject
from jobqueue.principal import Role

app = http_function("release_job", Role.WORKER)


@app.post("/jobs/<job_id>/release")
def release_job(job_id: JobId, body: ReleaseJob) -> Response[JsonObject]:
    """Answer with the job: pending, with its retries as they were, or cancelled where that was asked."""
    return app.job(
        app.queue.release(app.caller, job_id, lease_token=body.lease_token, delay_seconds=body.delay_seconds)
    )


lambda_handler = app.lambda_handler
