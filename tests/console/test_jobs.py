"""The list of jobs: what is listed, in which order, page by page, and what can be done in it."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.console.desk import Desk


def ids(desk: Desk) -> list[str]:
    return desk.page.locator("tbody td.id").all_inner_texts()


def test_jobs_are_listed_by_status(desk: Desk) -> None:
    old = desk.api.add("report", age=500, status="failed")
    new = desk.api.add("report", age=20, status="failed")
    desk.api.add("email", status="completed")
    desk.open("#/jobs")
    expect(desk.page.locator("tbody tr")).to_have_count(3)
    desk.page.get_by_role("navigation", name="Status").get_by_role("link", name="Failed 2").click()
    expect(desk.page.locator("tbody tr")).to_have_count(2)
    assert ids(desk) == [new, old]
    expect(desk.page.get_by_text("Newest first")).to_be_visible()


def test_waiting_jobs_come_in_the_order_of_claiming(desk: Desk) -> None:
    low = desk.api.add(priority="low", age=900)
    critical = desk.api.add(priority="critical", age=5)
    later = desk.api.add(priority="low", age=-120)
    desk.open("#/jobs?status=pending")
    expect(desk.page.locator("tbody tr")).to_have_count(3)
    assert ids(desk) == [critical, low, later]
    expect(desk.page.get_by_text("Next first")).to_be_visible()
    assert desk.row(later).locator(".when").inner_text().startswith("in 1m 5")
    assert desk.row(low).locator(".when").inner_text() == "waits 15m"


def test_queue_and_type_narrow_the_list(desk: Desk) -> None:
    desk.api.add("email", queue="emails")
    desk.api.add("report", queue="reports")
    desk.api.add("email", queue="reports")
    desk.open("#/jobs")
    desk.page.get_by_label("Queue").select_option("reports")
    expect(desk.page.locator("tbody tr")).to_have_count(2)
    desk.page.get_by_label("Type").fill("email")
    desk.page.get_by_label("Type").press("Enter")
    expect(desk.page.locator("tbody tr")).to_have_count(1)
    expect(desk.page).to_have_url(desk.url + "#/jobs?queue=reports&type=email")
    desk.page.go_back()
    expect(desk.page.locator("tbody tr")).to_have_count(2)
    expect(desk.page.get_by_label("Type")).to_have_value("")


def test_a_type_that_is_not_declared_is_told(desk: Desk) -> None:
    desk.refusals_expected = True
    desk.open("#/jobs?type=nonsense")
    expect(desk.page.get_by_role("alert")).to_contain_text("query.type")
    expect(desk.page.get_by_role("alert")).to_contain_text("unknown type")


def test_paging_forth_and_back(desk: Desk) -> None:
    for number in range(120):
        desk.api.add(status="completed", age=100 + number)
    desk.open("#/jobs?status=completed")
    expect(desk.page.locator("tbody tr")).to_have_count(50)
    first = ids(desk)
    expect(desk.button("Previous")).to_be_disabled()
    desk.button("Next").click()
    expect(desk.page.get_by_text("on page 2")).to_be_visible()
    expect(desk.row(first[0])).to_have_count(0)
    second = ids(desk)
    desk.button("Next").click()
    expect(desk.page.locator("tbody tr")).to_have_count(20)
    expect(desk.button("Next")).to_be_disabled()
    assert len({*first, *second, *ids(desk)}) == 120
    desk.button("Previous").click()
    expect(desk.page.locator("tbody tr")).to_have_count(50)
    desk.button("Previous").click()
    expect(desk.row(first[0])).to_be_visible()


@pytest.mark.parametrize("status", ["pending", "running", "failed", "completed", "cancelled"])
def test_an_empty_list_says_what_it_means(desk: Desk, status: str) -> None:
    desk.open(f"#/jobs?status={status}")
    expect(desk.page.locator(".empty .title")).to_be_visible()
    expect(desk.page.locator("table")).to_have_count(0)


def test_a_row_leads_to_its_job(desk: Desk) -> None:
    job = desk.api.add("report")
    desk.open("#/jobs")
    desk.row(job).locator(".when").click()
    expect(desk.page.get_by_role("heading", name="report")).to_be_focused()
    expect(desk.page).to_have_url(f"{desk.url}#/jobs/{job}")


def test_retrying_one_job_is_confirmed(desk: Desk) -> None:
    job = desk.api.add("report", status="failed")
    other = desk.api.add("report", status="failed")
    desk.open("#/jobs?status=failed")
    desk.button(f"Retry report {job}").click()
    expect(desk.dialog).to_contain_text(job)
    assert desk.api.changes() == []
    desk.press_in_dialog("Retry job")
    desk.says("pending again")
    expect(desk.row(job)).to_have_count(0)
    expect(desk.row(other).get_by_role("link")).to_be_focused()  # it took the place of what had the focus
    assert desk.api.by_id[job]["status"] == "pending"
    assert desk.api.changes() == [f"POST /jobs/{job}/retry"]


def test_cancelling_one_job_is_confirmed(desk: Desk) -> None:
    job = desk.api.add("report")
    desk.open("#/jobs?status=pending")
    desk.button(f"Cancel report {job}").click()
    expect(desk.dialog.get_by_role("button", name="Leave it")).to_be_focused()
    desk.press_in_dialog("Cancel job")
    desk.says("The job is cancelled")
    assert desk.api.by_id[job]["status"] == "cancelled"


def test_a_job_that_moved_meanwhile_is_told(desk: Desk) -> None:
    desk.refusals_expected = True
    job = desk.api.add("report")
    desk.open("#/jobs?status=pending")
    desk.button(f"Cancel report {job}").click()
    with desk.api.lock:
        desk.api.complete(desk.api.by_id[job])
    desk.press_in_dialog("Cancel job")
    expect(desk.dialog.get_by_role("alert")).to_contain_text("The job is completed.")


def test_a_double_press_is_one_change(desk: Desk) -> None:
    job = desk.api.add("report", status="failed")
    desk.open("#/jobs?status=failed")
    desk.button(f"Retry report {job}").click()
    desk.api.gate.clear()
    desk.press_in_dialog("Retry job")
    desk.press_in_dialog("Working…")
    desk.api.gate.set()
    desk.says("pending again")
    assert desk.api.changes() == [f"POST /jobs/{job}/retry"]


def test_a_job_is_found_by_its_id(desk: Desk) -> None:
    job = desk.api.add("report")
    desk.open()
    search = desk.page.get_by_role("searchbox", name="Find a job by its id")
    search.fill(f" {job} ")
    search.press("Enter")
    expect(desk.page.get_by_role("heading", name="report")).to_be_visible()
