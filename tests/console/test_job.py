"""One job: its timeline, what it carries, what can be done with it."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.console.desk import Desk
from tests.console.fake_api import OTHER, PRODUCER
from tests.console.jobs_in_memory import ago


def steps(desk: Desk) -> list[str]:
    expect(desk.page.locator(".timeline li").first).to_be_visible()
    return desk.page.locator(".timeline li strong").all_inner_texts()


def test_a_job_goes_through_before_the_eyes(desk: Desk) -> None:
    job = desk.api.add("report")
    desk.open(f"#/jobs/{job}")
    assert steps(desk) == ["Created", "Waits for a worker"]
    with desk.api.lock:
        desk.api.claim(desk.api.by_id[job])
    desk.later()
    expect(desk.page.get_by_text("Lease ends")).to_be_visible()
    assert steps(desk) == ["Created", "Claimed", "Lease ends"]
    with desk.api.lock:
        desk.api.fail(desk.api.by_id[job], "smtp said no")
    desk.later()
    expect(desk.page.get_by_role("heading", name="Why it failed")).to_be_visible()
    assert steps(desk) == ["Created", "Claimed", "Failed for good"]
    desk.page.get_by_role("button", name="Retry").click()
    desk.press_in_dialog("Retry job")
    expect(desk.page.get_by_role("heading", name="Why it failed")).to_have_count(0)
    with desk.api.lock:
        desk.api.claim(desk.api.by_id[job])
        desk.api.complete(desk.api.by_id[job])
    desk.later()
    expect(desk.page.get_by_role("heading", name="Result")).to_be_visible()
    assert steps(desk)[-1] == "Completed"
    expect(desk.page.get_by_text("smtp said no")).to_have_count(1)  # of the earlier attempt


def test_every_failed_attempt_is_told(desk: Desk) -> None:
    failures = [
        {"error": f"no {number}", "failed_at": ago(90 - number), "worker_id": "key:a"} for number in range(3)
    ]
    job = desk.api.add(errors=failures, error="no 2", retry_count=3, age=100, available_at=ago(-40))
    desk.open(f"#/jobs/{job}")
    assert steps(desk) == ["Created", "Attempt failed", "Attempt failed", "Attempt failed", "Retry 3 of 3"]
    expect(desk.page.locator(".timeline li").last).to_contain_text("in 3")
    expect(desk.page.get_by_role("heading", name="Its last failure")).to_be_visible()


def test_a_lease_that_ran_out_is_told(desk: Desk) -> None:
    job = desk.api.add(status="running", lease_expires_at=ago(20))
    desk.open(f"#/jobs/{job}")
    assert steps(desk)[-1] == "Lease ran out"


def test_cancelling_a_running_job_asks_its_worker(desk: Desk) -> None:
    job = desk.api.add("report", status="running")
    desk.open(f"#/jobs/{job}")
    desk.page.get_by_role("button", name="Cancel report").click()
    expect(desk.dialog).to_contain_text("its worker is asked to stop")
    desk.press_in_dialog("Cancel job")
    desk.says("The worker is asked to stop")
    expect(desk.page.get_by_text("Cancel requested")).to_be_visible()
    expect(desk.page.get_by_role("button", name="Cancel report")).to_have_count(0)


def test_what_the_key_may_not_see_is_said_to_be_withheld(desk: Desk) -> None:
    job = desk.api.add(status="failed", payload={"secret": "kept"})
    desk.open(f"#/jobs/{job}", key=OTHER)
    expect(desk.page.get_by_text("Not shown to this key.")).to_be_visible()
    expect(desk.page.get_by_text("kept", exact=True)).to_have_count(0)
    expect(desk.page.get_by_role("heading", name="Why it failed")).to_have_count(0)
    expect(desk.page.get_by_role("button", name="Retry")).to_have_count(0)


def test_a_producer_can_cancel_but_not_retry_its_job(desk: Desk) -> None:
    waiting, gone = desk.api.add("report"), desk.api.add("report", status="cancelled")
    desk.open(f"#/jobs/{waiting}", key=PRODUCER)
    expect(desk.page.get_by_role("button", name="Cancel report")).to_be_visible()
    desk.page.goto(f"{desk.url}#/jobs/{gone}")
    expect(desk.page.locator(".timeline li").last).to_contain_text("Cancelled")
    expect(desk.page.get_by_role("button", name="Retry")).to_have_count(0)


def test_numbers_are_shown_as_they_were_sent(desk: Desk) -> None:
    job = desk.api.add(payload={"id": 9007199254740993, "wide": 10**39, "part": 30.4})
    desk.open(f"#/jobs/{job}")
    shown = desk.page.get_by_label("Payload", exact=True)
    expect(shown).to_contain_text('"id": 9007199254740993')
    expect(shown).to_contain_text(f'"wide": {10**39}')
    expect(shown).to_contain_text('"part": 30.4')


def test_a_job_that_is_not_there_is_told(desk: Desk) -> None:
    desk.refusals_expected = True
    desk.open("#/jobs/job_nope")
    expect(desk.page.get_by_text("No such job")).to_be_visible()


def test_a_payload_of_the_largest_size_is_shown(desk: Desk) -> None:
    job = desk.api.add(payload={"numbers": list(range(11_000))})
    desk.open(f"#/jobs/{job}")
    expect(desk.page.get_by_label("Payload", exact=True)).to_contain_text("more lines; copy shows all")
