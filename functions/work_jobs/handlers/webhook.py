"""Sends a signed webhook. Whatever says "later" is tried again, whatever says "no" is not."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from jobqueue.job import Job, JsonObject
from jobqueue.webhooks.refusals import NotDelivered, WebhookNotAllowed
from jobqueue.webhooks.webhook import Answered, Webhook, WebhookSender
from jobqueue.worker import Discard, RetryLater, handles

if TYPE_CHECKING:
    from jobtypes.payloads import WebhookPayload

TOO_MANY_REQUESTS = 429


@handles("webhook")
def send_webhook(job: Job, payload: WebhookPayload) -> JsonObject:
    """Send one request; the result is the status of the answer."""
    webhook = Webhook(
        id=job.id,
        url=str(payload.url),
        method=payload.method,
        headers=payload.headers,
        body=payload.body,
    )
    try:
        answer = sender().send(webhook)
    except WebhookNotAllowed as refused:
        raise Discard(str(refused)) from None
    return result_of(answer)


def result_of(answer: Answered) -> JsonObject:
    """Return the result of a job whose webhook was answered like this, or raise what becomes of it."""
    status = answer.status
    if 200 <= status < 300:
        return {"status": status}
    message = f"The receiver answered {status}."
    if status == TOO_MANY_REQUESTS or status >= 500:
        seconds = answer.retry_after_seconds
        raise NotDelivered(message) if seconds is None else RetryLater(seconds, message)
    if 300 <= status < 400:
        raise Discard(f"{message} Redirects are not followed: enqueue the URL that it leads to.")
    raise Discard(message)


@cache
def sender() -> WebhookSender:
    """Return the sender of the deployment, made once in each process."""
    return WebhookSender.from_env()
