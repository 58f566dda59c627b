"""Batches: their items are worked on side by side, and each is answered on its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from http import HTTPStatus
from typing import Any, TypeVar

from aws_lambda_powertools.event_handler import Response
from pydantic import BaseModel

from jobqueue import telemetry
from jobqueue.api import problems, views
from jobqueue.api.app import HttpFunction
from jobqueue.api.reading import read_item
from jobqueue.job import Job, JsonObject

SIDE_BY_SIDE = 10
"""More would not be faster: by then the function's share of a processor is what everything waits for."""

M = TypeVar("M", bound=BaseModel)


def answer_each(
    app: HttpFunction, model: type[M], items: Sequence[Any], work: Callable[[M], tuple[HTTPStatus, Job]]
) -> Response[JsonObject]:
    """Answer a batch: 200 with one result for each item, in their order.

    A result is ``{status, job}``, the job without its payload, or ``{status, problem}``. What is wrong
    with one item, even its shape, is nothing to the others.

    Parameters
    ----------
    app : HttpFunction
        The function.
    model : type
        What an item must fit.
    items : sequence
        As they were sent.
    work : callable
        Does one item, and tells the status and the job that it would answer alone.
    """
    model.model_rebuild()  # it is built when first used, which must not be in several threads at once
    with ThreadPoolExecutor(max_workers=SIDE_BY_SIDE) as pool:
        done = [pool.submit(lambda item: work(read_item(model, item)), item) for item in items]
    results = [_result(app, one) for one in done]
    return app.ok({"results": results}, items=len(results))


def _result(app: HttpFunction, done: Future[tuple[HTTPStatus, Job]]) -> JsonObject:
    error = done.exception()
    if isinstance(error, Exception):
        problems.log(app.action, error, job_id=None)
        told = problems.problem(error, instance=app.received.path, request_id=app.received.id)
        return {"status": told["status"], "problem": told}
    status, job = done.result()
    telemetry.decision(app.action, job.status.value, job, status=int(status))
    return {"status": int(status), "job": views.brief_view(job)}
