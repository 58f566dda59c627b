"""All that is wrong with a request, at once: the shape of its fields, and the rules of what they mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from jobqueue.api import dependencies
from jobqueue.api.models import EnqueueJob
from jobqueue.errors import FieldError, InvalidRequest
from jobqueue.fielderrors import field_errors
from jobqueue.job import JsonObject, utc_now
from jobqueue.newjob import new_job_errors

M = TypeVar("M", bound=BaseModel)


def read_item(model: type[M], raw: Any) -> M:
    """Read one element of a batch.

    Raises
    ------
    InvalidRequest
        If it is not acceptable; all its errors are named.
    """
    if not isinstance(raw, dict):
        raise InvalidRequest(FieldError("body", "wrong_type", "body: must be an object"))
    try:
        return model.model_validate(raw)
    except ValidationError as invalid:
        shape = field_errors(invalid.errors(include_url=False, include_input=False))
        raise InvalidRequest(*all_errors(model, raw, shape)) from None


def all_errors(
    model: type[BaseModel], raw: JsonObject, shape: Sequence[FieldError]
) -> tuple[FieldError, ...]:
    """Return the errors of `shape`, and those that the queue itself would find in the other fields."""
    if not issubclass(model, EnqueueJob):
        return tuple(shape)
    refused = {_top(error) for error in shape if error.code != "unknown_field"}
    sound = {name: raw[name] for name in raw.keys() & model.model_fields.keys() - refused}
    new = model.model_validate({"type": "", **sound}).new_job()
    more = new_job_errors(new, dependencies.job_types(), utc_now())
    return (*shape, *(error for error in more if _top(error) not in refused))


def _top(error: FieldError) -> str:
    return error.field.partition(".")[0]
