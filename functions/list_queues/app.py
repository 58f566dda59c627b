"""GET /queues: what is in each queue."""

from __future__ import annotations

from aws_lambda_powertools.event_handler import Response

from jobqueue.api import dependencies, views
from jobqueue.api.app import http_function
from jobqueue.job import JsonObject
from jobqueue.principal import Role

app = http_function("list_queues", *Role, opens=dependencies.operator)


@app.get("/queues")
def list_queues() -> Response[JsonObject]:
    """Answer with the queues that are granted: flag, counts, and how old the oldest ready job is."""
    overview = app.operator.overview(app.caller)
    queues = [views.queue_view(state, overview.at) for state in overview.queues]
    return app.ok({"queues": queues}, items=len(queues))


lambda_handler = app.lambda_handler
