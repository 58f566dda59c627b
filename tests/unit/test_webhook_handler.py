"""The handler of webhook jobs: which answer means done, which later, which never."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from functions.work_jobs.handlers import webhook
from jobqueue.webhooks.refusals import NotDelivered
from jobqueue.webhooks.webhook import Answered, WebhookSender
from jobqueue.worker import Discard, RetryLater
from jobtypes.payloads import WebhookPayload
from tests.support.receiver import Receiver, receiving
from tests.support.samples import a_job

JOB = a_job(type="webhook")


class Secret:
    """A secret that needs no look-up."""

    def read(self) -> bytes:
        return b"made up"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as running:
        yield running


@pytest.fixture(autouse=True)
def local_sender(monkeypatch: pytest.MonkeyPatch) -> None:
    made = WebhookSender(Secret(), allow_loopback=True)
    monkeypatch.setattr(webhook, "sender", lambda: made)


def send(url: str) -> object:
    return webhook.send_webhook(JOB, WebhookPayload.model_validate_json(f'{{"url": "{url}"}}'))


@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
def test_a_good_answer_is_the_result(receiver: Receiver, status: int) -> None:
    receiver.status = status
    assert send(receiver.url()) == {"status": status}


@pytest.mark.parametrize("status", [429, 500, 502, 503, 599])
def test_later_is_tried_again_by_the_types_backoff(receiver: Receiver, status: int) -> None:
    receiver.status = status
    with pytest.raises(NotDelivered, match=str(status)):
        send(receiver.url())


@pytest.mark.parametrize("status", [429, 503])
def test_later_is_tried_again_when_the_receiver_says(receiver: Receiver, status: int) -> None:
    receiver.status, receiver.headers = status, {"Retry-After": "120"}
    with pytest.raises(RetryLater, match=str(status)) as later:
        send(receiver.url())
    assert later.value.seconds == 120


def test_a_receiver_cannot_put_a_job_off_for_ever(receiver: Receiver) -> None:
    receiver.status, receiver.headers = 503, {"Retry-After": "99999999999"}
    with pytest.raises(RetryLater) as later:
        send(receiver.url())
    assert later.value.seconds == 604_800


@pytest.mark.parametrize("status", [400, 401, 403, 404, 408, 410, 422])
def test_no_is_no(receiver: Receiver, status: int) -> None:
    receiver.status = status
    with pytest.raises(Discard, match=str(status)):
        send(receiver.url())


@pytest.mark.parametrize("status", [301, 302, 304, 307])
def test_a_redirect_is_not_followed_and_says_so(receiver: Receiver, status: int) -> None:
    receiver.status, receiver.headers = status, {"Location": receiver.url(path="/elsewhere")}
    with pytest.raises(Discard, match="Redirects are not followed"):
        send(receiver.url())
    assert len(receiver.received) == 1


def test_a_forbidden_receiver_is_discarded() -> None:
    with pytest.raises(Discard, match="public"):
        send("http://169.254.169.254/latest/meta-data/")


def test_no_answer_is_tried_again() -> None:
    with receiving() as gone:
        url = gone.url()
    with pytest.raises(NotDelivered):
        send(url)


def test_an_answer_that_is_no_answer_is_discarded() -> None:
    with pytest.raises(Discard):
        webhook.result_of(Answered(status=199, retry_after_seconds=None))
