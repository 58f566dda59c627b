from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.client.cli.conftest import CommandLine
from tests.client.clocks import InstantClock
from tests.client.fake_api import FakeApi, problem


class Scenes:
    """What happens while the command sleeps: one scene for each time, then Ctrl-C."""

    def __init__(self, clock: InstantClock, monkeypatch: pytest.MonkeyPatch) -> None:
        self._sleep = clock.sleep
        self._left: list[Callable[[], object]] = []
        monkeypatch.setattr(clock, "sleep", self._next)

    def play(self, *scenes: Callable[[], object]) -> None:
        self._left += scenes

    def _next(self, seconds: float) -> None:
        self._sleep(seconds)
        if not self._left:
            raise KeyboardInterrupt
        self._left.pop(0)()


@pytest.fixture
def scenes(clock: InstantClock, monkeypatch: pytest.MonkeyPatch) -> Scenes:
    return Scenes(clock, monkeypatch)


def nothing() -> None:
    pass


def test_queues_are_followed_by_a_line_for_each_change(
    api: FakeApi, jobqueue: CommandLine, scenes: Scenes
) -> None:
    api.queues["mail"] = True
    scenes.play(nothing, lambda: api.add(priority="high"), nothing, lambda: api.queues.update(mail=False))
    outcome = jobqueue("watch", "--interval", "10")
    assert outcome.code == 130
    assert outcome.err.strip() == ""
    ends = "  running 0  failed 0  completed 0  cancelled 0"
    assert outcome.out.splitlines() == [
        f"2026-11-30 00:16:40 UTC  default  open  pending 0{ends}",
        f"2026-11-30 00:16:40 UTC  mail  paused  pending 0{ends}",
        f"2026-11-30 00:17:00 UTC  default  open  pending 1 (1 high){ends}",
        f"2026-11-30 00:17:20 UTC  mail  open  pending 0{ends}",
    ]


def test_one_queue_can_be_followed_by_a_script(api: FakeApi, jobqueue: CommandLine, scenes: Scenes) -> None:
    api.queues["mail"] = False
    scenes.play(lambda: api.add(queue="mail"), api.add)
    told = jobqueue("watch", "--queue", "mail", "--json").told
    assert [(queue["name"], queue["counts"]["pending"]["low"]) for queue in told] == [
        ("mail", 0),
        ("mail", 1),
    ]


def test_a_queue_that_is_not_there_cannot_be_followed(jobqueue: CommandLine) -> None:
    assert jobqueue("watch", "--queue", "nope").code == 3


@pytest.mark.parametrize(("status", "code"), [("completed", 0), ("failed", 6), ("cancelled", 6)])
def test_a_job_is_followed_to_its_end(
    api: FakeApi, jobqueue: CommandLine, scenes: Scenes, status: str, code: int
) -> None:
    job_id = api.add()
    job = api.jobs[job_id]
    scenes.play(
        lambda: job.update(status="running"),
        nothing,
        lambda: job.update(progress={"done": 1}),
        lambda: job.update(status=status),
    )
    outcome = jobqueue("watch", job_id, "--interval", "1")
    assert outcome.code == code
    assert [line.split("UTC  ")[1] for line in outcome.out.splitlines()] == [
        f"{job_id}  pending  retries 0 of 3",
        f"{job_id}  running  retries 0 of 3",
        f'{job_id}  running  retries 0 of 3  progress {{"done": 1}}',
        f'{job_id}  {status}  retries 0 of 3  progress {{"done": 1}}',
    ]


def test_following_a_job_has_an_end(api: FakeApi, jobqueue: CommandLine, clock: InstantClock) -> None:
    outcome = jobqueue("watch", api.add(), "--timeout", "5")
    assert outcome.code == 7
    assert outcome.err == "jobqueue: The job did not end within 5 seconds.\n"
    assert clock.sleeps == [2.0, 2.0, 1.0]


def test_an_outage_is_told_once_and_watched_through(
    api: FakeApi, jobqueue: CommandLine, scenes: Scenes
) -> None:
    job_id = api.add()

    def back() -> None:
        api.down = False
        api.jobs[job_id]["status"] = "completed"

    scenes.play(lambda: setattr(api, "down", True), nothing, nothing, nothing, nothing, nothing, back)
    outcome = jobqueue("watch", job_id)
    assert outcome.code == 0
    assert outcome.err == "jobqueue: No answer from the API: ConnectError. Nothing new for 0s.\n"
    assert len(outcome.out.splitlines()) == 2


def test_an_api_that_is_busy_is_asked_when_it_says(
    api: FakeApi, jobqueue: CommandLine, clock: InstantClock, scenes: Scenes
) -> None:
    job_id = api.add()
    busy = problem(503, "unavailable", headers={"retry-after": "30"})
    scenes.play(
        lambda: api.faults.append(("get", busy)), nothing, lambda: api.jobs[job_id].update(status="completed")
    )
    assert jobqueue("watch", job_id, "--interval", "1").code == 0
    assert clock.sleeps == [1.0, 30.0, 1.0]


def test_an_api_that_was_never_there_ends_it(api: FakeApi, jobqueue: CommandLine) -> None:
    api.down = True
    assert jobqueue("watch").code == 5


def test_a_refusal_ends_it(api: FakeApi, jobqueue: CommandLine, scenes: Scenes) -> None:
    scenes.play(lambda: api.faults.append(("get", problem(403, "role-not-allowed"))))
    assert jobqueue("watch").code == 4
