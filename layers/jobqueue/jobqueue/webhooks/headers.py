"""Which headers of a webhook its sender sets itself. Imports nothing: the payload's model asks here too."""

from __future__ import annotations

SENDERS = frozenset(
    {
        "authorization",
        "connection",
        "content-length",
        "expect",
        "host",
        "keep-alive",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "user-agent",
    }
)
_PREFIX = "webhook-"


def is_senders(name: str) -> bool:
    """Tell whether only the sender may set the header `name`, in any case."""
    return name.lower() in SENDERS or name.lower().startswith(_PREFIX)
