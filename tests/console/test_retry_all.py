"""Putting all failed jobs back: in steps, with a bar that says how far it came."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.console.desk import Desk
from tests.console.fake_api import FakeApi
from tests.console.jobs_in_memory import ago


def fill(desk: Desk, count: int, job_type: str = "email", queue: str = "emails") -> None:
    for _ in range(count):
        desk.api.add(job_type, status="failed", queue=queue)


def failed(desk: Desk) -> int:
    return len(desk.api.in_order("failed"))


def test_all_of_a_queue_in_steps_with_a_bar(desk: Desk) -> None:
    fill(desk, 250)
    fill(desk, 5, "report", "reports")
    desk.open()
    desk.button("Retry failed jobs of emails").click()
    expect(desk.dialog).to_contain_text("Retry all 250 failed jobs?")
    assert desk.api.changes() == []
    desk.api.gate.clear()
    desk.press_in_dialog("Retry 250 jobs")
    bar = desk.dialog.get_by_role("progressbar", name="Jobs retried")
    expect(bar).to_have_attribute("max", "250")
    expect(desk.dialog.get_by_role("button", name="Stop")).to_be_focused()
    desk.api.gate.set()
    expect(desk.dialog.get_by_role("heading", name="Done")).to_be_visible()
    expect(desk.dialog).to_contain_text("250 jobs went back to pending")
    assert desk.api.changes() == ["POST /queues/emails/retry"] * 3
    steps = [body for method, _, body in desk.api.calls if method == "POST"]
    assert steps[0].items() >= {"status": "failed", "limit": 100}.items()
    assert "type" not in steps[0]
    assert len({step["finished_before"] for step in steps}) == 1
    assert failed(desk) == 5
    desk.press_in_dialog("Close")
    expect(desk.row("emails").locator("[data-label='Failed']")).to_have_text("0")


def test_the_bar_moves_while_it_works(desk: Desk) -> None:
    fill(desk, 250)
    desk.open()
    desk.button("Retry failed jobs of emails").click()
    desk.api.step = 1
    desk.press_in_dialog("Retry 250 jobs")
    bar = desk.dialog.get_by_role("progressbar")
    expect(desk.dialog.locator(".figures strong")).not_to_have_text("0")
    desk.press_in_dialog("Stop")
    expect(desk.dialog.get_by_role("heading", name="Stopped")).to_be_visible()
    done = 250 - failed(desk)
    assert 0 < done < 250
    assert bar.evaluate("bar => bar.value") == done
    expect(desk.dialog).to_contain_text(
        f"{done} jobs went back to pending" if done > 1 else "1 job went back"
    )
    desk.api.step = 100
    desk.press_in_dialog("Go on")
    expect(desk.dialog.get_by_role("heading", name="Done")).to_be_visible()
    assert failed(desk) == 0


def test_all_of_one_type(desk: Desk) -> None:
    fill(desk, 3, "email")
    fill(desk, 4, "report")
    desk.open("#/jobs?status=failed&queue=emails&type=report")
    desk.button("Retry all failed…").click()
    expect(desk.dialog).to_contain_text("type report")
    desk.press_in_dialog("Retry")
    expect(desk.dialog).to_contain_text("4 jobs went back to pending")
    assert {job["type"] for job in desk.api.in_order("failed")} == {"email"}


def test_all_of_all_queues(desk: Desk) -> None:
    fill(desk, 2)
    fill(desk, 3, "report", "reports")
    desk.open()
    desk.button("Retry all failed…").click()
    expect(desk.dialog).to_contain_text("2 queues")
    desk.press_in_dialog("Retry 5 jobs")
    expect(desk.dialog).to_contain_text("5 jobs went back to pending")
    assert desk.api.changes() == ["POST /queues/emails/retry", "POST /queues/reports/retry"]


@pytest.mark.parametrize("status", [429, 503])
def test_throttling_passes(desk: Desk, status: int) -> None:
    desk.refusals_expected = True
    fill(desk, 3)
    desk.open()
    desk.button("Retry failed jobs of emails").click()
    with desk.api.lock:
        desk.api.faults = [status]
    desk.press_in_dialog("Retry 3 jobs")
    expect(desk.dialog).to_contain_text("3 jobs went back to pending")


def test_what_cannot_be_retried_ends_with_the_reason_and_can_go_on(desk: Desk) -> None:
    desk.refusals_expected = True
    fill(desk, 150)
    desk.open()
    desk.button("Retry failed jobs of emails").click()
    desk.api.queues = ("default", "reports")
    desk.press_in_dialog("Retry 150 jobs")
    expect(desk.dialog.get_by_role("alert")).to_contain_text("There is no such queue.")
    expect(desk.dialog.get_by_role("heading", name="Not all were retried")).to_be_visible()
    desk.api.queues = ("default", "emails", "reports")
    desk.press_in_dialog("Go on")
    expect(desk.dialog.get_by_role("heading", name="Done")).to_be_visible()


def test_what_fails_again_meanwhile_is_left(desk: Desk) -> None:
    fill(desk, 150)

    def fail_again(api: FakeApi) -> None:
        for job in api.in_order("pending"):
            api.fail(job, "again")
            job["finished_at"] = ago(-30)  # well after the start

    desk.api.after_step = fail_again
    desk.open()
    desk.button("Retry failed jobs of emails").click()
    desk.press_in_dialog("Retry 150 jobs")
    expect(desk.dialog).to_contain_text("150 jobs went back to pending")
    assert failed(desk) == 150


def test_it_ends_where_nothing_is_retried_any_more(desk: Desk) -> None:
    fill(desk, 3)
    desk.open()
    desk.button("Retry failed jobs of emails").click()
    desk.api.step = 0
    desk.press_in_dialog("Retry 3 jobs")
    expect(desk.dialog).to_contain_text("0 jobs went back to pending")
    assert len(desk.api.changes()) < 20
