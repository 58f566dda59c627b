"""POST /jobs/{id}/cancel: cancel a waiting job, or ask that a running one stops."""

from __future__ import annotations

from aws_lambda_powertools.event_handler import Response

from jobqueue.api.app import http_function
from jobqueue.api.fields import JobId
from jobqueue.api.models import NoFields
from jobqueue.job import JsonObject
from jobqueue.principal import Role

app = http_function("cancel_job", Role.PRODUCER, Role.ADMIN)


@app.post("/jobs/<job_id>/cancel")
def cancel_job(job_id: JobId, _body: NoFields) -> Response[JsonObject]:
    """Answer with the job: cancelled, or running on with the request to stop."""
    return app.job(app.queue.cancel(app.caller, job_id))


lambda_handler = app.lambda_handler
