"""GET /jobs/{id}: look a job up."""

from __future__ import annotations

from aws_lambda_powertools.event_handler import Response

from jobqueue.api.app import http_function
from jobqueue.api.fields import JobId
from jobqueue.job import JsonObject
from jobqueue.principal import Role

app = http_function("get_job", *Role)


@app.get("/jobs/<job_id>")
def get_job(job_id: JobId) -> Response[JsonObject]:
    """Answer with the job as it is now."""
    return app.job(app.queue.get(app.caller, job_id))


lambda_handler = app.lambda_handler
