"""The kinds of field that requests have beyond plain JSON types."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated, Any
from urllib.parse import unquote

from aws_lambda_powertools.event_handler.openapi.params import Path
from pydantic import AfterValidator, BeforeValidator, Field
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError

from jobqueue.job import JobPriority, JobStatus
from jobqueue.jobtype import MAX_LEASE_SECONDS, MAX_RETRIES, MIN_LEASE_SECONDS
from jobqueue.jsontext import has_lone_surrogate
from jobqueue.newjob import MAX_DELAY_SECONDS, MAX_KEY_LENGTH

_INTEGER = re.compile(r"[0-9]{1,9}")
# RFC 3339. Without an offset it is read as well, so that the rule about offsets can say what is wrong.
_DATE_TIME = re.compile(
    r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:(\.\d{1,6})\d*)?([Zz]|[+-]\d\d:\d\d)?", re.ASCII
)
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def _lower_case(value: Any) -> Any:
    return _string(value).lower()


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise PydanticCustomError("wrong_type", "must be a string")
    return value


def _query_integer(value: Any) -> int:
    # int() would take " 5 ", "+5", "5_0" and the digits of other scripts
    if not isinstance(value, str) or not _INTEGER.fullmatch(value):
        raise PydanticCustomError("wrong_type", "must be a whole number in decimal digits")
    return int(value)


def _date_time(value: Any) -> datetime:
    match = _DATE_TIME.fullmatch(_string(value))
    if match is None:
        raise PydanticCustomError("malformed", "must be a date and time as of RFC 3339")
    date, time, fraction, offset = match.groups()
    try:
        return datetime.fromisoformat(f"{date}T{time}{fraction or ''}{(offset or '').upper()}")
    except ValueError:
        raise PydanticCustomError("malformed", "must be a date and time that exists") from None


def _storable(value: str) -> str:
    if has_lone_surrogate(value):
        raise PydanticCustomError("invalid_unicode", "has half of a surrogate pair")
    return value


def _mended(value: str) -> str:
    return _LONE_SURROGATE.sub("\ufffd", value)


def limits(**keywords: Any) -> FieldInfo:
    """Tell limits that are checked elsewhere, as keywords of JSON Schema, for the description of the API."""
    told: FieldInfo = Field(json_schema_extra=keywords)
    return told


JobId = Annotated[str, Path(), AfterValidator(unquote)]
"""The id in a path. A malformed one is no error of its own: there is no such job."""

IN_QUERY = BeforeValidator(_query_integer)
"""Reads an integer from a query."""

QueueName = Annotated[str, Path(), AfterValidator(unquote)]
"""The queue in a path. A malformed one is no error of its own: there is no such queue."""

AnyCasePriority = Annotated[JobPriority, Field(strict=False), BeforeValidator(_lower_case)]
Status = Annotated[JobStatus, Field(strict=False)]
DateTime = Annotated[datetime, BeforeValidator(_date_time)]
Text = Annotated[str, AfterValidator(_storable)]
Token = Annotated[str, Field(min_length=1, max_length=255), AfterValidator(_storable)]
LeaseSeconds = Annotated[int, Field(ge=MIN_LEASE_SECONDS, le=MAX_LEASE_SECONDS)]
RetryCount = Annotated[int, limits(minimum=0, maximum=MAX_RETRIES)]
DelaySeconds = Annotated[int, limits(minimum=0, maximum=MAX_DELAY_SECONDS)]
IdempotencyKey = Annotated[
    str, limits(minLength=1, maxLength=MAX_KEY_LENGTH, pattern=r"^[^\u0000-\u001f\u007f-\u009f]*$")
]
RetryableStatus = Annotated[Status, limits(enum=["failed", "cancelled"])]

ErrorText = Annotated[str, AfterValidator(_mended)]
"""What a worker tells of a failure: taken as it is, since refusing it would lose the failure."""
