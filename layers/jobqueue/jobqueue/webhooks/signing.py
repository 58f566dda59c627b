"""Signatures of webhooks, as Standard Webhooks (https://www.standardwebhooks.com) has them.

One master secret signs for all receivers, under a key of its own for each receiving host. A receiver knows
its key and can make nothing of it for another one.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from datetime import datetime

_KEY_PURPOSE = b"jobqueue webhook key v1\0"
KEY_PREFIX = "whsec_"


def normal_host(host: str) -> str:
    """Return the one spelling of a host name under which its key is derived."""
    return host.strip("[]").rstrip(".").lower()


def host_key(master: bytes, host: str) -> bytes:
    """Derive the 32 bytes that sign for a host.

    Parameters
    ----------
    master : bytes
        The deployment's secret.
    host : str
        The receiver's host name, as in the URL, without the port; letter case does not matter.
    """
    return hmac.digest(master, _KEY_PURPOSE + normal_host(host).encode(), hashlib.sha256)


def shown_key(key: bytes) -> str:
    """Write a key as a receiver's library takes it: ``whsec_`` and base64."""
    return KEY_PREFIX + base64.b64encode(key).decode()


def signature_headers(key: bytes, *, message_id: str, sent_at: datetime, body: bytes) -> dict[str, str]:
    """Return the headers by which a receiver knows the sender, the message and its time.

    Parameters
    ----------
    key : bytes
        The receiver's.
    message_id : str
        The same for every attempt at one message, so that a receiver can drop a repeated one.
    sent_at : datetime
        The time of this attempt; a receiver refuses what is too old.
    body : bytes
        The body exactly as it is sent.
    """
    timestamp = str(int(sent_at.timestamp()))
    signed = f"{message_id}.{timestamp}.".encode() + body
    signature = base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
    return {
        "webhook-id": message_id,
        "webhook-timestamp": timestamp,
        "webhook-signature": f"v1,{signature}",
    }
