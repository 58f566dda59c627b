"""A webhook as it goes over the wire: where to, which headers, which bytes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from jobqueue.webhooks.headers import is_senders
from jobqueue.webhooks.refusals import HeaderNotAllowed, WebhookNotAllowed

USER_AGENT = "jobqueue"
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where a webhook goes.

    Attributes
    ----------
    is_secure : bool
        Whether over TLS.
    host : str
        A name or an address; an IPv6 address without brackets.
    port : int
        The port.
    authority : str
        Host and port as the Host header has them.
    path : str
        Path and query.
    """

    is_secure: bool
    host: str
    port: int
    authority: str
    path: str

    @classmethod
    def of(cls, url: str) -> Target:
        """Read a URL.

        Raises
        ------
        WebhookNotAllowed
            If it is not an http or https URL of a host, or carries a user name.
        """
        try:
            parts = urlsplit(url)
            default = _PORTS[parts.scheme]
            port = parts.port or default
        except (KeyError, ValueError):
            raise WebhookNotAllowed("The URL is not one of http or https.") from None
        if not parts.hostname or "@" in parts.netloc:
            raise WebhookNotAllowed("The URL must name a host and no user.")
        return cls(
            is_secure=parts.scheme == "https",
            host=parts.hostname,
            port=port,
            authority=parts.netloc,
            path=(parts.path or "/") + (f"?{parts.query}" if parts.query else ""),
        )


def body_of(value: Any) -> tuple[bytes, dict[str, str]]:
    """Return the bytes of a body and the header that says what they are.

    Parameters
    ----------
    value : JSON value
        A string is sent as it is, None as nothing, all else as JSON.
    """
    if value is None:
        return b"", {}
    if isinstance(value, str):
        return value.encode(), {"content-type": "text/plain; charset=utf-8"}
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.encode(), {"content-type": "application/json"}


def all_headers(given: Mapping[str, str], ours: Mapping[str, str], target: Target) -> dict[str, str]:
    """Return the headers of a webhook.

    Parameters
    ----------
    given : mapping
        What the job asks for; may replace the content type, but nothing that speaks for the sender.
    ours : mapping
        The content type and the signature, in lower case.
    target : Target
        Gives the Host header.

    Raises
    ------
    HeaderNotAllowed
        If the job sets what only the sender may set.
    """
    wanted = {name.lower(): value for name, value in given.items()}
    if any(map(is_senders, wanted)):
        raise HeaderNotAllowed
    return {**ours, **wanted, "host": target.authority, "user-agent": USER_AGENT}
