"""The handler of email jobs: what SES is asked for, and what becomes of the job when SES refuses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.awsrequest import AWSPreparedRequest
from botocore.exceptions import ClientError, EndpointConnectionError
from botocore.stub import Stubber

from functions.work_jobs.handlers import email
from jobqueue.worker import Discard, RetryLater
from jobtypes.payloads import EmailPayload
from tests.support.samples import JOB_ID, a_job

SENDER = "jobs@example.com"
JOB = a_job(type="email")


def payload(**fields: str) -> EmailPayload:
    return EmailPayload.model_validate({"to": "ada@example.com", "subject": "Grüße", "body": "Hi.", **fields})


@pytest.fixture
def ses(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stubber]:
    """A client of SES that answers as a test says, in the place of the handler's."""
    monkeypatch.setenv("SENDER_ADDRESS", SENDER)
    client = boto3.client("sesv2")
    monkeypatch.setattr(email, "client", lambda: client)
    with Stubber(client) as stubber:
        yield stubber
        stubber.assert_no_pending_responses()


def asked_for(**body: str) -> dict[str, Any]:
    texts = {kind: {"Data": text, "Charset": "UTF-8"} for kind, text in body.items()}
    return {
        "FromEmailAddress": SENDER,
        "Destination": {"ToAddresses": ["ada@example.com"]},
        "EmailTags": [{"Name": "job_id", "Value": JOB_ID}],
        "Content": {"Simple": {"Subject": {"Data": "Grüße", "Charset": "UTF-8"}, "Body": texts}},
    }


def test_a_message_is_sent_and_its_id_is_the_result(ses: Stubber) -> None:
    ses.add_response("send_email", {"MessageId": "0100"}, asked_for(Text="Hi."))
    assert email.send_email(JOB, payload()) == {"message_id": "0100"}


def test_html_is_sent_beside_the_text(ses: Stubber) -> None:
    ses.add_response("send_email", {"MessageId": "0100"}, asked_for(Text="Hi.", Html="<p>Hi.</p>"))
    email.send_email(JOB, payload(html="<p>Hi.</p>"))


@pytest.mark.parametrize("code", ["MessageRejected", "BadRequestException"])
def test_what_ses_refuses_for_good_is_discarded(ses: Stubber, code: str) -> None:
    ses.add_client_error("send_email", code, "Address blacklisted.", http_status_code=400)
    with pytest.raises(Discard, match=r"Address blacklisted\."):
        email.send_email(JOB, payload())


@pytest.mark.parametrize(
    "code", ["TooManyRequestsException", "LimitExceededException", "SendingPausedException", "AccessDenied"]
)
def test_what_may_pass_is_tried_again(ses: Stubber, code: str) -> None:
    ses.add_client_error("send_email", code, http_status_code=429)
    with pytest.raises(ClientError):
        email.send_email(JOB, payload())


def test_without_a_sender_a_message_waits(ses: Stubber, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SENDER_ADDRESS")
    with pytest.raises(RetryLater, match="SenderAddress") as later:
        email.send_email(JOB, payload())
    assert later.value.seconds == 900


def test_a_lost_reply_does_not_send_the_message_again(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[str] = []

    def lose(request: AWSPreparedRequest, **_: Any) -> None:
        sent.append(request.url)
        raise EndpointConnectionError(endpoint_url=request.url)

    monkeypatch.setenv("SENDER_ADDRESS", SENDER)
    email.client.cache_clear()
    email.client().meta.events.register_first("before-send.sesv2.SendEmail", lose)
    with pytest.raises(EndpointConnectionError):
        email.send_email(JOB, payload())
    email.client.cache_clear()
    assert len(sent) == 1
