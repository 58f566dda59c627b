from __future__ import annotations

import httpx
import pytest

from tests.client.cli.conftest import CommandLine
from tests.client.clocks import InstantClock
from tests.client.fake_api import FakeApi, problem
from tests.client.fake_queue import stamp


def test_a_list_is_a_table(api: FakeApi, jobqueue: CommandLine, clock: InstantClock) -> None:
    api.add("email", priority="high")
    api.add(available_at=stamp(clock.now + 700))
    running, failed = api.add("a_type_with_a_long_name"), api.add(queue="mail", retry_count=3)
    api.jobs[running] |= {"status": "running", "claimed_at": stamp(clock.now - 12)}
    api.jobs[failed] |= {"status": "failed", "finished_at": stamp(clock.now - 3 * 86_400)}
    clock.sleep(30)
    listed = jobqueue("list")
    assert (listed.code, listed.err) == (0, "")
    assert listed.out.splitlines() == [
        "ID                              TYPE                     QUEUE    STATUS   PRIO  RETRY  WHEN",
        "job_00000000000000000000000000  email                    default  pending  high    0/3  due 30s",
        "job_00000000000000000000000001  greet                    default  pending  low     0/3  in 11m",
        "job_00000000000000000000000002  a_type_with_a_long_name  default  running  low     0/3  for 42s",
        "job_00000000000000000000000003  greet                    mail     failed   low     3/3  3d ago",
    ]


def test_a_list_holds_what_is_asked_for_and_says_when_there_is_more(
    api: FakeApi, jobqueue: CommandLine
) -> None:
    for _ in range(250):
        api.add()
    few = jobqueue("list", "--limit", "3")
    assert len(few.out.splitlines()) == 4
    assert few.err == "There are more: --limit or --all shows them.\n"
    assert len(jobqueue("list", "--limit", "120").out.splitlines()) == 121
    everything = jobqueue("list", "--all")
    assert len(everything.out.splitlines()) == 251
    assert everything.err == ""


def test_a_list_is_filtered_by_the_api(api: FakeApi, jobqueue: CommandLine) -> None:
    wanted = api.add("email", queue="mail")
    api.add("email")
    api.add(queue="mail")
    filters = ("--status", "Pending", "--queue", "mail", "--type", "email")
    assert [job["id"] for job in jobqueue("list", *filters, "--json").told] == [wanted]


def test_an_empty_list_says_so_to_people_only(jobqueue: CommandLine) -> None:
    assert jobqueue("list").out == ""
    assert jobqueue("list").err == "No jobs.\n"
    assert jobqueue("list", "--json").err == ""


def test_a_script_gets_a_line_for_each_job(api: FakeApi, jobqueue: CommandLine) -> None:
    ids = [api.add() for _ in range(150)]
    told = jobqueue("list", "--all", "--json").told
    assert [job["id"] for job in told] == ids
    assert told[0]["created_at"] == api.jobs[ids[0]]["created_at"]
    assert "worker_id" not in told[0]


def test_a_job_is_shown_whole(api: FakeApi, jobqueue: CommandLine) -> None:
    job_id = api.add("email", payload={"to": "é@example.com", "n": [1]}, created_by="key:web")
    failure = {"error": "Boom: 1", "failed_at": stamp(0), "worker_id": "key:w"}
    api.jobs[job_id] |= {"status": "failed", "error": "Boom: 2", "errors": [failure]}
    shown = jobqueue("get", job_id).out
    assert "created by  key:web\n" in shown
    assert '"to": "é@example.com"' in shown
    assert "Boom: 2" in shown
    assert "2026-11-30 00:00:00 UTC  key:w  Boom: 1" in shown
    told = jobqueue("get", job_id, "--json").told[0]
    assert told["payload"] == {"to": "é@example.com", "n": [1]}
    assert told["errors"] == [failure]


def test_jobs_are_cancelled_and_retried(api: FakeApi, jobqueue: CommandLine) -> None:
    first, second, running = api.add(), api.add(), api.add()
    api.jobs[running]["status"] = "running"
    cancelled = jobqueue("cancel", first, second, running)
    assert (cancelled.code, cancelled.err) == (0, "")
    assert cancelled.out.splitlines() == [
        f"{first} is cancelled.",
        f"{second} is cancelled.",
        f"{running} is running; its worker is asked to stop.",
    ]
    assert [job["status"] for job in jobqueue("retry", "--json", first, second).told] == ["pending"] * 2


def test_of_several_jobs_all_are_tried_and_the_first_refusal_counts(
    api: FakeApi, jobqueue: CommandLine
) -> None:
    done, pending = api.add(), api.add()
    api.jobs[done]["status"] = "completed"
    outcome = jobqueue("cancel", "job_nope", done, pending)
    assert outcome.code == 3
    assert outcome.out == f"{pending} is cancelled.\n"
    assert outcome.err.splitlines() == [
        "jobqueue: job_nope: about job-not-found [request req-1]",
        f"jobqueue: {done}: about job-not-cancellable [request req-1]",
    ]


def test_an_api_that_is_down_is_not_asked_for_each_job(api: FakeApi, jobqueue: CommandLine) -> None:
    api.down = True
    outcome = jobqueue("cancel", "job_1", "job_2")
    assert outcome.code == 5
    assert outcome.err == "jobqueue: No answer from the API: ConnectError.\n"
    assert {call.path for call in api.calls} == {"/jobs/job_1/cancel"}


@pytest.mark.parametrize(
    ("status", "slug", "code"),
    [
        (403, "role-not-allowed", 4),
        (403, "unauthenticated", 4),
        (404, "job-not-found", 3),
        (422, "invalid-request", 1),
        (400, "invalid-cursor", 1),
        (503, "unavailable", 5),
        (500, "internal-error", 5),
    ],
)
def test_each_refusal_has_its_exit_code_and_its_line(
    api: FakeApi, jobqueue: CommandLine, status: int, slug: str, code: int
) -> None:
    api.faults += [("get", problem(status, slug))] * 5
    outcome = jobqueue("list")
    assert (outcome.code, outcome.out) == (code, "")
    assert outcome.err == f"jobqueue: about {slug} [request req-1]\n"


def test_the_refused_fields_are_on_the_same_line(api: FakeApi, jobqueue: CommandLine) -> None:
    fields = [{"field": f"query.{name}", "code": "odd", "message": "no\ngood"} for name in ("a", "b")]
    api.faults.append(("get", problem(422, "invalid-request", errors=fields)))
    assert jobqueue("list").err == (
        "jobqueue: about invalid-request (query.a: no\\ngood; query.b: no\\ngood) [request req-1]\n"
    )


def test_a_gateway_that_forbids_gets_a_hint(api: FakeApi, jobqueue: CommandLine) -> None:
    api.faults.append(("get", httpx.Response(403, json={"message": "Forbidden"})))
    outcome = jobqueue("list")
    assert outcome.code == 4
    assert outcome.err == "jobqueue: Forbidden (the key may be wrong, revoked or expired)\n"


@pytest.mark.parametrize(
    "args",
    [
        ("get", "../jobs"),
        ("get", "a/b"),
        ("get",),
        ("cancel",),
        ("list", "--queue", "../x"),
        ("list", "--limit", "0"),
        ("list", "--nope"),
        ("nope",),
        ("list", "--type", "\udcff"),
        ("watch", "job_1", "--queue", "default"),
        ("watch", "--timeout", "3"),
    ],
)
def test_a_wrong_command_line_is_one_line_and_no_call(
    api: FakeApi, jobqueue: CommandLine, args: tuple[str, ...]
) -> None:
    outcome = jobqueue(*args)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith("jobqueue: ")
    assert outcome.err.count("\n") == 1
    assert api.calls == []


def test_without_a_command_there_is_help(jobqueue: CommandLine) -> None:
    outcome = jobqueue()
    assert (outcome.code, outcome.out) == (2, "")
    assert "retry-all" in outcome.err
    assert "130  interrupted" in outcome.err
    assert jobqueue("--help").code == 0
