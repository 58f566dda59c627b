"""GET /jobs/{id}: what is there, and who sees what of it."""

from __future__ import annotations

import pytest

from jobqueue.authorizer import context as authorizer_context
from jobqueue.principal import Principal
from tests.support.callers import admin, producer, worker
from tests.support.events import authorized, http_event
from tests.support.http import Stack

HIDDEN = {"payload", "result", "idempotency_key", "error", "errors", "lease_token"}


def hidden_members_seen(stack: Stack, job_id: str, caller: Principal) -> set[str]:
    answer = stack.call("get_job", job_id, caller=caller)
    assert answer.status == 200
    return HIDDEN & set(answer.json)


def test_who_sees_what_of_a_waiting_job(stack: Stack) -> None:
    job_id = stack.enqueue(producer("shop"), payload={"a": 1}, idempotency_key="k")
    assert hidden_members_seen(stack, job_id, producer("shop")) == {"payload", "result", "idempotency_key"}
    assert hidden_members_seen(stack, job_id, producer("other")) == set()
    assert hidden_members_seen(stack, job_id, worker()) == set()
    assert hidden_members_seen(stack, job_id, admin()) == HIDDEN - {"lease_token"}


def test_who_sees_what_of_a_running_job(stack: Stack) -> None:
    job_id = stack.enqueue(producer("shop"), payload={"a": 1})
    stack.claim(worker("mailer"))
    assert hidden_members_seen(stack, job_id, worker("mailer")) == {"payload", "result"}
    assert hidden_members_seen(stack, job_id, worker("printer")) == set()
    assert hidden_members_seen(stack, job_id, producer("shop")) == {"payload", "result", "idempotency_key"}
    assert hidden_members_seen(stack, job_id, producer("other")) == set()
    assert hidden_members_seen(stack, job_id, admin()) == HIDDEN - {"lease_token"}


def test_who_sees_what_of_a_completed_job(stack: Stack) -> None:
    job_id = stack.enqueue(producer("shop"), payload={"a": 1})
    stack.claim(worker("mailer"))
    done = stack.call("complete_job", job_id, caller=worker("mailer"), body={"result": {"sent": True}})
    assert done.json["result"] == {"sent": True}
    assert hidden_members_seen(stack, job_id, worker("mailer")) == {"result"}
    assert hidden_members_seen(stack, job_id, worker("printer")) == set()
    assert stack.call("get_job", job_id, caller=producer("shop")).json["result"] == {"sent": True}


def test_a_worker_that_lost_the_job_sees_nothing(stack: Stack) -> None:
    job_id = stack.enqueue()
    stack.claim(worker("mailer"))
    stack.call("release_job", job_id, caller=worker("mailer"))
    assert hidden_members_seen(stack, job_id, worker("mailer")) == set()


def test_failures_are_the_admins_business(stack: Stack) -> None:
    job_id = stack.enqueue(max_retries=0)
    stack.claim(worker("mailer"))
    answer = stack.call("fail_job", job_id, caller=worker("mailer"), body={"error": "it broke"})
    assert answer.json.keys() & {"error", "errors"} == set()
    seen = stack.call("get_job", job_id, caller=admin()).json
    assert seen["error"] == "it broke"
    assert seen["errors"] == [
        {"error": "it broke", "failed_at": "2026-11-30T02:26:02.123456Z", "worker_id": "key:mailer"}
    ]
    assert "it broke" not in stack.call("get_job", job_id, caller=producer()).text


def test_a_job_of_a_queue_without_a_grant_is_not_there(stack: Stack) -> None:
    job_id = stack.enqueue(queue="reports")
    for caller in (producer("x", "emails"), worker("x", "emails"), admin("x", "emails")):
        answer = stack.call("get_job", job_id, caller=caller)
        assert (answer.status, answer.problem) == (404, "job-not-found")


MALFORMED = [
    "job_nope",
    "job_" + "0" * 26 + "0",
    "job_" + "o" * 26,
    "JOB_" + "0" * 26,
    "a/b",
    "../jobs",
    "a b",
    'a"b',
    "a\\b",
    "a\nb",
    "a\x00b",
    "job_#",
    "?",
    "%",
    "%2525",
    "😀",
    "é",
    "%ff",
    "x" * 5000,
    "<id>",
    "{id}",
]


@pytest.mark.parametrize("job_id", MALFORMED)
@pytest.mark.parametrize("function", ["get_job", "cancel_job", "retry_job"])
def test_a_malformed_id_is_404(stack: Stack, function: str, job_id: str) -> None:
    answer = stack.call(function, job_id, caller=admin())
    assert (answer.status, answer.problem) == (404, "job-not-found")


@pytest.mark.parametrize("job_id", MALFORMED)
@pytest.mark.parametrize("function", ["complete_job", "fail_job", "heartbeat_job", "release_job"])
def test_a_malformed_id_is_not_held(stack: Stack, function: str, job_id: str) -> None:
    answer = stack.call(function, job_id, caller=worker(), body={"lease_token": "t"})
    assert (answer.status, answer.problem) == (409, "job-not-held")
    assert stack.items() == []


def test_an_id_may_be_percent_encoded(stack: Stack) -> None:
    job_id = stack.enqueue()
    encoded = job_id.replace("_", "%5f").replace("0", "%30")
    for event in (
        http_event("get_job", encoded),
        {**http_event("get_job", job_id), "rawPath": f"/jobs/{encoded}"},
    ):
        answer = stack.send("get_job", authorized(event, authorizer_context(admin())))
        assert answer.json["id"] == job_id


def test_a_job_past_its_retention_is_gone(stack: Stack) -> None:
    job_id = stack.enqueue()
    stack.call("cancel_job", job_id, caller=admin())
    stack.clock.advance(7 * 86_400 + 2)
    assert stack.call("get_job", job_id, caller=admin()).status == 404
