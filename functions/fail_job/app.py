"""POST /jobs/{id}/fail: record that the attempt at a held job failed."""

from __future__ import annotations

from aws_lambda_powertools.event_handler import Response

import jobqueue.redact  # noqa: F401  as it starts, with the processor that Lambda lends for that, not in a request
from jobqueue.api.app import http_function
from jobqueue.api.fields import JobId
from jobqueue.api.held import FailJob
from jobqueue.job import JsonObject
from jobqueue.principal import Role

app = http_function("fail_job", Role.WORKER)


@app.post("/jobs/<job_id>/fail")
def fail_job(job_id: JobId, body: FailJob) -> Response[JsonObject]:
    """Answer with the job: pending for its retry, failed, or cancelled where that was asked."""
    job = app.queue.fail(
        app.caller,
        job_id,
        lease_token=body.lease_token,
        error=body.error,
        retry_in_seconds=body.retry_in_seconds,
        discard=body.discard,
    )
    return app.job(job)


lambda_handler = app.lambda_handler
