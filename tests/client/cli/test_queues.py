from __future__ import annotations

import httpx

from tests.client.cli.conftest import CommandLine, Outcome
from tests.client.clocks import InstantClock
from tests.client.fake_api import FakeApi, problem
from tests.client.fake_queue import stamp


def fail(api: FakeApi, count: int, job_type: str = "greet") -> None:
    for _ in range(count):
        api.jobs[api.add(job_type)]["status"] = "failed"


def test_queues_are_a_table(api: FakeApi, jobqueue: CommandLine, clock: InstantClock) -> None:
    api.queues["mail"] = True
    api.add(priority="critical")
    api.jobs |= {f"job_{n}": {"queue": "mail", "status": "completed"} for n in range(1_234)}
    clock.sleep(150)
    assert jobqueue("queues").out.splitlines() == [
        "QUEUE    STATE   CRITICAL  HIGH  MEDIUM  LOW  RUNNING  FAILED  COMPLETED  CANCELLED  OLDEST",
        "default  open           1     0       0    0        0       0          0          0      2m",
        "mail     paused         0     0       0    0        0       0      1,234          0",
    ]


def test_a_script_gets_a_line_for_each_queue(api: FakeApi, jobqueue: CommandLine) -> None:
    api.queues["mail"] = True
    api.add()
    default, mail = jobqueue("queues", "--json").told
    assert default == api.counted("default")
    assert mail == api.counted("mail")


def test_a_priority_that_is_new_has_its_column(clock: InstantClock) -> None:
    queue = {"name": "q", "paused": False, "counts": {"pending": {"urgent": 7, "low": 1}}}
    answer = httpx.MockTransport(lambda _: httpx.Response(200, json={"queues": [queue]}))
    header, row = CommandLine(answer, clock)("queues").out.splitlines()
    assert header.split()[2] == "URGENT"
    assert row.split()[2] == "7"


def test_queues_are_paused_and_resumed(api: FakeApi, jobqueue: CommandLine) -> None:
    api.queues["mail"] = False
    assert jobqueue("pause", "default", "mail").out == "Queue default is paused.\nQueue mail is paused.\n"
    assert api.queues == {"default": True, "mail": True}
    assert jobqueue("resume", "mail", "--json").told == [{"name": "mail", "paused": False}]
    assert api.queues == {"default": True, "mail": False}


def test_of_several_queues_all_are_tried(api: FakeApi, jobqueue: CommandLine) -> None:
    outcome = jobqueue("pause", "nope", "default")
    assert (outcome.code, outcome.out) == (3, "Queue default is paused.\n")
    assert outcome.err == "jobqueue: nope: about queue-not-found [request req-1]\n"


def test_an_api_that_is_down_is_not_asked_for_each_queue(api: FakeApi, jobqueue: CommandLine) -> None:
    api.down = True
    assert jobqueue("pause", "nope", "default").code == 5
    assert {call.path for call in api.calls} == {"/queues/nope/pause"}


def test_all_that_failed_is_retried_in_steps(api: FakeApi, jobqueue: CommandLine) -> None:
    fail(api, 230)
    outcome = jobqueue("retry-all", "default", "--yes")
    assert (outcome.code, outcome.out, outcome.err) == (0, "Retried 230 jobs of queue default.\n", "")
    assert {job["status"] for job in api.jobs.values()} == {"pending"}
    assert [call.body["limit"] for call in api.calls if call.verb == "retry"] == [100, 100, 30]


def test_a_retry_of_all_can_be_narrowed(api: FakeApi, jobqueue: CommandLine) -> None:
    fail(api, 3)
    fail(api, 2, "other")
    outcome = jobqueue("retry-all", "default", "--type", "greet", "--limit", "2", "--yes", "--json")
    assert outcome.told == [{"queue": "default", "retried": 2, "skipped": 0, "more": True}]
    assert jobqueue("retry-all", "default", "--type", "other", "--yes").out.startswith("Retried 2 jobs ")
    assert jobqueue("retry-all", "default", "--status", "cancelled", "--yes").out.startswith("Retried 0 ")
    assert sum(job["status"] == "failed" for job in api.jobs.values()) == 1


def test_jobs_that_failed_lately_can_be_left(api: FakeApi, jobqueue: CommandLine) -> None:
    fail(api, 2)
    for job, finished in zip(api.jobs.values(), (0, 60), strict=True):
        job["finished_at"] = stamp(finished)
    outcome = jobqueue(
        "retry-all", "default", "--finished-before", "2026-11-30T01:01:00+01:00", "--yes", "--json"
    )
    assert outcome.told[0]["retried"] == 1
    assert [job["status"] for job in api.jobs.values()] == ["pending", "failed"]


def test_a_retry_of_all_asks_first(api: FakeApi, jobqueue: CommandLine) -> None:
    fail(api, 2)
    jobqueue.can_ask = lambda: True
    refused = jobqueue("retry-all", "default", stdin="n\n")
    assert (refused.code, refused.out) == (1, "")
    assert "Retry the failed jobs of queue default (2 of all kinds now)? [y/N]" in refused.err
    assert refused.err.endswith("Nothing was retried.\n")
    assert jobqueue("retry-all", "default", stdin="").code == 130
    assert api.times("retry") == []
    assert jobqueue("retry-all", "default", stdin="y\n").out == "Retried 2 jobs of queue default.\n"


def test_where_nobody_can_be_asked_yes_has_to_be_said(api: FakeApi, jobqueue: CommandLine) -> None:
    fail(api, 1)
    outcome = jobqueue("retry-all", "default", stdin="y\n")
    assert (outcome.code, "--yes" in outcome.err) == (2, True)
    assert api.times("retry") == []


def test_a_retry_of_a_queue_that_is_not_there(jobqueue: CommandLine) -> None:
    assert jobqueue("retry-all", "nope", "--yes").code == 3


class Steps:
    """Answers retries in bulk as it is told, one after the other, the last for ever."""

    def __init__(
        self, api: FakeApi, *answers: tuple[int, int, bool] | BaseException | httpx.Response
    ) -> None:
        self._inner = api.transport()
        self._left = list(answers)
        self.asked = 0

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if not request.url.path.endswith("/retry"):
            return self._inner.handle_request(request)
        self.asked += 1
        step = self._left.pop(0) if len(self._left) > 1 else self._left[0]
        if isinstance(step, BaseException):
            raise step
        if isinstance(step, httpx.Response):
            return step
        retried, skipped, more = step
        return httpx.Response(200, json={"retried": retried, "skipped": skipped, "more": more})


def retry_all(steps: Steps, clock: InstantClock, *args: str) -> Outcome:
    return CommandLine(httpx.MockTransport(steps), clock)("retry-all", "default", "--yes", *args)


def test_jobs_that_fail_again_at_once_do_not_keep_it_going(api: FakeApi, clock: InstantClock) -> None:
    fail(api, 250)
    steps = Steps(api, (100, 0, True))
    outcome = retry_all(steps, clock)
    assert (outcome.code, steps.asked) == (0, 3)
    assert outcome.out == "Retried 300 jobs of queue default.\n"
    assert outcome.err == "There are more.\n"


def test_jobs_that_are_counted_late_are_retried_too(api: FakeApi, clock: InstantClock) -> None:
    assert retry_all(Steps(api, (40, 0, False)), clock).out == "Retried 40 jobs of queue default.\n"


def test_it_waits_for_a_list_that_lags_behind(api: FakeApi, clock: InstantClock) -> None:
    fail(api, 150)
    steps = Steps(api, (100, 0, True), (0, 100, True), (0, 100, True), (50, 20, False))
    outcome = retry_all(steps, clock, "--json")
    assert outcome.told == [{"queue": "default", "retried": 150, "skipped": 220, "more": False}]
    assert clock.sleeps == [1.0, 2.0]


def test_it_gives_up_on_a_list_that_stays_behind(api: FakeApi, clock: InstantClock) -> None:
    outcome = retry_all(Steps(api, (0, 100, True)), clock)
    assert outcome.code == 5
    assert "does not get to them now. Run it again." in outcome.err
    assert len(clock.sleeps) == 5


def test_a_lost_answer_does_not_stop_it_and_makes_the_count_a_lower_bound(
    api: FakeApi, clock: InstantClock
) -> None:
    fail(api, 150)
    steps = Steps(api, (100, 0, True), httpx.ReadTimeout("lost"), (7, 0, False))
    outcome = retry_all(steps, clock)
    assert (outcome.code, outcome.out) == (0, "Retried at least 107 jobs of queue default.\n")


def test_an_error_in_the_middle_says_how_far_it_came(api: FakeApi, clock: InstantClock) -> None:
    fail(api, 150)
    outcome = retry_all(Steps(api, (100, 0, True), problem(403, "role-not-allowed")), clock)
    assert (outcome.code, outcome.out) == (4, "")
    assert outcome.err.splitlines() == [
        "Stopped after 100 jobs.",
        "jobqueue: about role-not-allowed [request req-1]",
    ]


def test_ctrl_c_in_the_middle_says_how_far_it_came(api: FakeApi, clock: InstantClock) -> None:
    fail(api, 150)
    steps = Steps(api, (100, 0, True), KeyboardInterrupt())
    outcome = retry_all(steps, clock)
    assert (outcome.code, outcome.out) == (130, "")
    assert outcome.err.strip() == "Stopped after 100 jobs."
