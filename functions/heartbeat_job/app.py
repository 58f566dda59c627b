"""POST /jobs/{id}/heartbeat: hold a job longer."""

from __future__ import annotations

from aws_lambda_powertools.event_handler import Response

from jobqueue.api import views
from jobqueue.api.app import http_function
from jobqueue.api.fields import JobId
from jobqueue.api.held import HeartbeatJob
from jobqueue.job import JsonObject
from jobqueue.principal import Role

app = http_function("heartbeat_job", Role.WORKER)


@app.post("/jobs/<job_id>/heartbeat")
def heartbeat_job(job_id: JobId, body: HeartbeatJob) -> Response[JsonObject]:
    """Answer with the end of the lease, and whether the worker should stop."""
    lease = app.queue.extend(
        app.caller,
        job_id,
        lease_token=body.lease_token,
        lease_seconds=body.lease_seconds,
        progress=body.progress,
    )
    return app.ok(views.lease_view(lease))


lambda_handler = app.lambda_handler
