"""How a call that was already carried out is recognised when it comes again.

A job keeps a mark of the last calls that changed it: the operation, the token under which it was called
and a digest of what was asked. The token is that of the lease; where there is none, one of the request.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from jobqueue.errors import ReplayMismatch
from jobqueue.jsontext import canonical


def mark(operation: str, token: str, body: Any = None) -> str:
    """Return the mark of a call.

    Parameters
    ----------
    operation : str
        What was called.
    token : str
        The lease's token, or the request's.
    body : JSON value
        What the caller asked for.
    """
    digest = hashlib.sha256(canonical(body).encode()).hexdigest()[:12]
    return f"{operation}:{token}:{digest}"


def is_repeated(wanted: str, marks: Sequence[str]) -> bool:
    """Tell whether the call with the mark `wanted` has been carried out.

    Raises
    ------
    ReplayMismatch
        If it was carried out, but asking for something else.
    """
    if wanted in marks:
        return True
    if _call(wanted) in map(_call, marks):
        raise ReplayMismatch
    return False


def _call(of: str) -> str:
    """Return the operation and the token of a mark."""
    return of.rpartition(":")[0]
