"""POST /jobs/batch: put up to a hundred jobs in their queues."""

from __future__ import annotations

from http import HTTPStatus

from aws_lambda_powertools.event_handler import Response

from jobqueue.api.app import http_function
from jobqueue.api.batch import answer_each
from jobqueue.api.models import EnqueueJob, EnqueueJobs
from jobqueue.api.request import MAX_BATCH_BODY_BYTES
from jobqueue.job import Job, JsonObject
from jobqueue.principal import Role

app = http_function(
    "enqueue_jobs",
    Role.PRODUCER,
    Role.ADMIN,
    max_body_bytes=MAX_BATCH_BODY_BYTES,
    # a batch has no key of its own, and one that is sent must not be passed over in silence
    member_headers={"idempotency-key": "idempotency_key"},
)


@app.post("/jobs/batch")
def enqueue_jobs(body: EnqueueJobs) -> Response[JsonObject]:
    """Answer each job as POST /jobs would."""

    def enqueue(item: EnqueueJob) -> tuple[HTTPStatus, Job]:
        enqueued = app.queue.enqueue(app.caller, item.new_job(), trace_id=app.received.trace_id)
        return HTTPStatus.CREATED if enqueued.created else HTTPStatus.OK, enqueued.job

    return answer_each(app, EnqueueJob, body.jobs, enqueue)


lambda_handler = app.lambda_handler
