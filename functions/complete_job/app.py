"""POST /jobs/{id}/complete: finish a held job."""

from __future__ import annotations

from aws_lambda_powertools.event_handler import Response

from jobqueue.api.app import http_function
from jobqueue.api.fields import JobId
from jobqueue.api.held import CompleteJob
from jobqueue.job import JsonObject
from jobqueue.principal import Role

app = http_function("complete_job", Role.WORKER)


@app.post("/jobs/<job_id>/complete")
def complete_job(job_id: JobId, body: CompleteJob) -> Response[JsonObject]:
    """Answer with the completed job."""
    return app.job(app.queue.complete(app.caller, job_id, lease_token=body.lease_token, result=body.result))


lambda_handler = app.lambda_handler
