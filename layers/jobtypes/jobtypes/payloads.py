"""The payload of each type of job, as a pydantic model: what a caller may send, and what a handler gets."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, HttpUrl

from jobqueue.webhooks.headers import is_senders

_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}", re.ASCII)
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e]{0,1000}")
_ADDRESS = r"^[^\s@,;:<>()\[\]\\\"\x00-\x1f\x7f]{1,64}@[A-Za-z0-9.-]{1,253}$"
_ONE_LINE = r"^[^\x00-\x1f\x7f]*$"


class Payload(BaseModel):
    """A payload: unknown members are refused, since a typo must not pass silently."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class EmailPayload(Payload):
    """One message to one address, sent with Amazon SES.

    Attributes
    ----------
    to : str
        The address of the recipient, without a display name.
    subject : str
        One line, at most 250 characters.
    body : str
        The text, also for readers that show no HTML.
    html : str or None
        The same as HTML.
    """

    to: Annotated[str, Field(max_length=320, pattern=_ADDRESS)]
    subject: Annotated[str, Field(min_length=1, max_length=250, pattern=_ONE_LINE)]
    body: Annotated[str, Field(min_length=1)]
    html: str | None = None


def _acceptable_url(url: HttpUrl) -> HttpUrl:
    if url.username is not None or url.password is not None:
        raise ValueError("must not carry a user name or a password")
    return url


def _acceptable_headers(headers: dict[str, str]) -> dict[str, str]:
    for name, value in headers.items():
        if not _HEADER_NAME.fullmatch(name):
            raise ValueError("has a name that is not a header's")
        if is_senders(name):
            raise ValueError("has a name that is set by the sender")
        if not _HEADER_VALUE.fullmatch(value):
            raise ValueError("has a value that is not printable ASCII of at most 1000 characters")
    if len({name.lower() for name in headers}) < len(headers):
        raise ValueError("has one name twice")
    return headers


class WebhookPayload(Payload):
    """One signed HTTP request.

    Attributes
    ----------
    url : URL
        ``http`` or ``https``, on a public address.
    method : str
        The HTTP method.
    headers : mapping
        More headers; those that the sender sets itself are refused.
    body : JSON value
        Sent as JSON; a string is sent as it is.
    """

    url: Annotated[HttpUrl, Field(max_length=2048), AfterValidator(_acceptable_url)]
    method: Literal["POST", "PUT", "PATCH", "DELETE", "GET"] = "POST"
    headers: Annotated[dict[str, str], Field(max_length=50), AfterValidator(_acceptable_headers)] = {}
    body: Any = None
