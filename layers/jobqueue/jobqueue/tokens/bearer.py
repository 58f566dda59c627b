"""How a credential arrives: reading the ``Authorization`` header of a request.

Whatever a stranger sends is read without an exception and in time linear in its length.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

MAX_HEADER_CHARACTERS = 8192
"""API Gateway takes 10,240 bytes of headers in all, so no good credential comes near this."""

# RFC 6750, section 2.1. The comma, by which the gateway joins repeated headers, is no part of a token:
# two credentials are none.
_BEARER = re.compile(r"bearer +([a-z0-9._~+/-]+=*)", re.IGNORECASE | re.ASCII)


def bearer_token(event: Mapping[str, Any]) -> str | None:
    """Return the bearer token of a request, or None unless it carries exactly one.

    Parameters
    ----------
    event : mapping
        The event of an authorizer, payload version 2.0. The gateway writes header names in lower case,
        ``sam local`` leaves them as they were sent; so their case means nothing.
    """
    headers = _authorization_headers(event)
    if not headers or any(header != headers[0] for header in headers):
        return None
    header = headers[0]
    if not isinstance(header, str) or len(header) > MAX_HEADER_CHARACTERS:
        return None
    found = _BEARER.fullmatch(header.strip(" "))
    return found[1] if found else None


def _authorization_headers(event: Mapping[str, Any]) -> list[Any]:
    """Return the values of the header under each of its spellings, or else what the gateway took of it."""
    headers = event.get("headers")
    if isinstance(headers, Mapping):
        found = [value for name, value in headers.items() if str(name).lower() == "authorization"]
        if found:
            return found
    identity = event.get("identitySource")
    return identity if isinstance(identity, list) else []
