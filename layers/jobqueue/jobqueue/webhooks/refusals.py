"""Why a webhook is not sent at all, or did not arrive."""

from __future__ import annotations

from jobqueue.errors import JobQueueError


class WebhookNotAllowed(JobQueueError):
    """The webhook must not be sent as it is."""


class AddressNotAllowed(WebhookNotAllowed):
    """The receiver is not on a public address."""


class HeaderNotAllowed(WebhookNotAllowed):
    """The webhook sets a header that only the sender may set."""


class NotDelivered(JobQueueError):
    """The webhook did not arrive."""


class HostNotFound(NotDelivered):
    """The name of the receiver has no address."""
