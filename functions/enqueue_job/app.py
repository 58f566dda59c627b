"""POST /jobs: put a job in its queue."""

from __future__ import annotations

from http import HTTPStatus

from aws_lambda_powertools.event_handler import Response

from jobqueue.api.app import http_function
from jobqueue.api.models import EnqueueJob
from jobqueue.job import JsonObject
from jobqueue.principal import Role

app = http_function(
    "enqueue_job", Role.PRODUCER, Role.ADMIN, member_headers={"idempotency-key": "idempotency_key"}
)


@app.post("/jobs")
def enqueue_job(body: EnqueueJob) -> Response[JsonObject]:
    """Answer 201 and where the job is, or 200 if its idempotency key is known."""
    enqueued = app.queue.enqueue(app.caller, body.new_job(), trace_id=app.received.trace_id)
    return app.job(
        enqueued.job,
        status=HTTPStatus.CREATED if enqueued.created else HTTPStatus.OK,
        headers={"Location": f"/jobs/{enqueued.job.id}"},
    )


lambda_handler = app.lambda_handler
