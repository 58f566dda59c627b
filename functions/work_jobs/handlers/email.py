"""Sends an email with Amazon SES.

SES has no idempotency key: a job that is tried again because the function died after sending sends twice.
"""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING, Any

import boto3
from botocore.config import Config

from jobqueue.job import Job, JsonObject
from jobqueue.worker import Discard, RetryLater, handles

if TYPE_CHECKING:
    from mypy_boto3_sesv2 import SESV2Client
    from mypy_boto3_sesv2.type_defs import BodyTypeDef

    from jobtypes.payloads import EmailPayload

WITHOUT_SENDER_SECONDS = 900


@handles("email")
def send_email(job: Job, payload: EmailPayload) -> JsonObject:
    """Send one message; the result is SES's id of it."""
    sender = os.environ.get("SENDER_ADDRESS", "")
    if not sender:
        # neither lost nor hammered at: it can be sent once the stack has a sender
        raise RetryLater(WITHOUT_SENDER_SECONDS, "The stack has no SenderAddress, so it cannot send email.")
    ses = client()
    try:
        sent = ses.send_email(
            FromEmailAddress=sender,
            Destination={"ToAddresses": [payload.to]},
            EmailTags=[{"Name": "job_id", "Value": job.id}],  # SES's own events tell of the job by this
            Content={"Simple": {"Subject": _text(payload.subject), "Body": _body(payload)}},
        )
    except (ses.exceptions.MessageRejected, ses.exceptions.BadRequestException) as refused:
        # the same message would be refused again
        raise Discard(f"SES refused the message: {refused.response['Error']['Message']}") from None
    return {"message_id": sent["MessageId"]}


@cache
def client() -> SESV2Client:
    """Return the client of SES, made once in each process."""
    # one try in a call: a reply that was lost must not send the message again inside of one attempt
    return boto3.client(
        "sesv2", config=Config(connect_timeout=3, read_timeout=15, retries={"total_max_attempts": 1})
    )


def _body(payload: EmailPayload) -> BodyTypeDef:
    body: BodyTypeDef = {"Text": _text(payload.body)}
    return body if payload.html is None else {**body, "Html": _text(payload.html)}


def _text(text: str) -> Any:
    return {"Data": text, "Charset": "UTF-8"}
