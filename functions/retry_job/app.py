"""POST /jobs/{id}/retry: give a failed or cancelled job a new life."""

from __future__ import annotations

from aws_lambda_powertools.event_handler import Response

from jobqueue.api.app import http_function
from jobqueue.api.fields import JobId
from jobqueue.api.models import NoFields
from jobqueue.job import JsonObject
from jobqueue.principal import Role

app = http_function("retry_job", Role.ADMIN)


@app.post("/jobs/<job_id>/retry")
def retry_job(job_id: JobId, _body: NoFields) -> Response[JsonObject]:
    """Answer with the job, pending with all its retries."""
    return app.job(app.queue.retry(app.caller, job_id))


lambda_handler = app.lambda_handler
