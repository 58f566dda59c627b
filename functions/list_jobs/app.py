"""GET /jobs: list jobs, page by page."""

from __future__ import annotations

from typing import Annotated

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Query

from jobqueue.api import cursors, views
from jobqueue.api.app import http_function
from jobqueue.api.models import ListJobs
from jobqueue.job import JsonObject
from jobqueue.principal import Role

ROUTE = "GET /jobs"

app = http_function("list_jobs", *Role)


@app.get("/jobs")
def list_jobs(query: Annotated[ListJobs, Query()]) -> Response[JsonObject]:
    """Answer with a page of jobs, and where the next one starts."""
    wanted = query.filter()
    after = cursors.decode(query.cursor, app.caller, ROUTE, wanted)
    page = app.queue.list(app.caller, wanted, limit=query.limit, after=after)
    next_cursor = cursors.encode(page.next, app.caller, ROUTE, wanted)
    jobs = [views.summary_view(job) for job in page.jobs]
    return app.ok({"jobs": jobs, "next_cursor": next_cursor}, items=len(jobs))


lambda_handler = app.lambda_handler
