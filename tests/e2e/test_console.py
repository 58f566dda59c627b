"""The console in a browser, on the deployed stack: what an operator does at three in the morning."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from local.curl import QUEUE
from tests.e2e.jobs import claimed, email, seen, work
from tests.e2e.running import Stack
from tests.support.browser import Tab, chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser

HOSTILE = "<script>document.title='pwned'</script>\"><img src=x onerror=\"document.title='pwned'\">"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium."""
    with chromium() as launched:
        yield launched


@pytest.fixture
def tab(empty: Stack, browser: Browser) -> Iterator[Tab]:
    """A tab that an admin signed in to; afterwards nothing may have gone wrong in it."""
    context = browser.new_context(locale="en-US")
    tab = Tab(context.new_page(), f"{empty.state.url}/console")
    tab.page.goto(tab.url)
    tab.sign_in(empty.state.keys["admin"])
    expect(tab.page.get_by_role("heading", name="Queues")).to_be_visible()
    yield tab
    context.close()
    assert tab.wrong == []


def enqueue(stack: Stack) -> str:
    payload = {"to": "ada@example.com", "subject": HOSTILE, "body": HOSTILE}
    answer = stack.call("producer", "POST", "/jobs", email(payload=payload, max_retries=0))
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def test_a_job_fails_is_retried_and_completes_before_the_eyes(empty: Stack, tab: Tab) -> None:
    job = enqueue(empty)
    tab.page.goto(f"{tab.url}#/jobs/{job}")
    timeline = tab.page.locator(".timeline")
    expect(timeline).to_contain_text("Waits for a worker")
    payload = tab.page.get_by_label("Payload", exact=True)
    expect(payload).to_contain_text("<script>")
    assert tab.page.locator("img, main script").count() == 0

    work(empty, claimed(empty), "fail", error="mail.example.com said no")
    expect(tab.page.get_by_role("heading", name="Why it failed")).to_be_visible()
    expect(timeline).to_contain_text("Failed for good")

    tab.page.get_by_role("button", name="Retry email").click()
    tab.press_in_dialog("Retry job")
    tab.says("pending again")
    assert seen(empty, {"id": job})["status"] == "pending"

    taken = claimed(empty)
    assert taken["id"] == job
    expect(timeline).to_contain_text("Lease ends")
    work(empty, taken, "complete", result={"sent": HOSTILE})
    expect(timeline).to_contain_text("Completed")
    expect(tab.page.get_by_label("Result", exact=True)).to_contain_text("<script>")
    assert tab.page.title() == "email · jobqueue"


def test_failed_jobs_of_a_queue_are_put_back_together(empty: Stack, tab: Tab) -> None:
    jobs = [enqueue(empty) for _ in range(3)]
    for _ in jobs:
        work(empty, claimed(empty), "fail", error="no")
    tab.page.goto(f"{tab.url}#/jobs?status=failed&queue={QUEUE}")
    for job in jobs:
        expect(tab.row(job)).to_be_visible()
    tab.button("Retry all failed…").click()
    tab.dialog.get_by_role("button", name="Retry").click()
    expect(tab.dialog.get_by_role("heading", name="Done")).to_be_visible()
    tab.press_in_dialog("Close")
    expect(tab.page.get_by_text("Nothing has failed")).to_be_visible()
    assert {seen(empty, {"id": job})["status"] for job in jobs} == {"pending"}


def test_a_queue_is_paused_and_resumed(empty: Stack, tab: Tab) -> None:
    tab.button(f"Pause {QUEUE}").click()
    tab.press_in_dialog("Pause queue")
    expect(tab.row(QUEUE).get_by_text("Paused", exact=True)).to_be_visible()
    tab.button(f"Resume {QUEUE}").click()
    tab.press_in_dialog("Resume queue")
    expect(tab.button(f"Pause {QUEUE}")).to_be_visible()
