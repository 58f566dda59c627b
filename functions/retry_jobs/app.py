"""POST /queues/{queue}/retry: give the jobs of a queue that failed, or were cancelled, a new life."""

from __future__ import annotations

from aws_lambda_powertools.event_handler import Response

from jobqueue.api import dependencies
from jobqueue.api.app import http_function
from jobqueue.api.fields import QueueName
from jobqueue.api.models import RetryJobs
from jobqueue.job import JsonObject
from jobqueue.principal import Role

app = http_function("retry_jobs", Role.ADMIN, opens=dependencies.operator)


@app.post("/queues/<queue>/retry")
def retry_jobs(queue: QueueName, body: RetryJobs) -> Response[JsonObject]:
    """Answer how far one step came; to be called again while there may be more."""
    done = app.operator.retry_jobs(
        app.caller,
        queue,
        body.status,
        limit=body.limit,
        type_name=body.type,
        finished_before=body.finished_before,
    )
    return app.ok(
        {"retried": done.retried, "skipped": done.skipped, "more": done.more}, queue=queue, items=done.retried
    )


lambda_handler = app.lambda_handler
