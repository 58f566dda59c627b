"""POST /queues/{queue}/resume: let a paused queue hand out jobs again."""

from __future__ import annotations

from aws_lambda_powertools.event_handler import Response

from jobqueue.api import dependencies
from jobqueue.api.app import http_function
from jobqueue.api.fields import QueueName
from jobqueue.api.models import NoFields
from jobqueue.job import JsonObject
from jobqueue.principal import Role

app = http_function("resume_queue", Role.ADMIN, opens=dependencies.operator)


@app.post("/queues/<queue>/resume")
def resume_queue(queue: QueueName, _body: NoFields) -> Response[JsonObject]:
    """Answer that it is so, also where it was so already."""
    app.operator.resume(app.caller, queue)
    return app.ok({"name": queue, "paused": False}, queue=queue)


lambda_handler = app.lambda_handler
