"""The queues: how deep, how old, how fast; paused, resumed and emptied back."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.console.desk import Desk
from tests.console.fake_api import FakeApi

NONE = "\u2013"


@pytest.fixture
def api() -> FakeApi:
    api = FakeApi()
    for number in range(3):
        api.add(priority="high", age=90 + number)
    api.add(priority="low", age=30)
    api.add(status="running")
    api.add(status="failed")
    return api


def cell(desk: Desk, queue: str, column: str) -> str:
    found = desk.row(queue).locator(f"[data-label='{column}']")
    expect(found).to_be_visible()
    return found.inner_text()


def test_depth_by_priority_and_the_age_of_the_oldest(desk: Desk) -> None:
    desk.open()
    assert cell(desk, "emails", "Waiting") == "4"
    levels = cell(desk, "emails", "By priority").split("\n")
    assert levels == ["Critical 0", "High 3", "Medium 0", "Low 1"]
    assert cell(desk, "emails", "Oldest ready").startswith("1m 3")
    assert cell(desk, "emails", "Running") == "1"
    assert cell(desk, "emails", "Failed") == "1"
    assert cell(desk, "reports", "Oldest ready") == NONE


def test_the_page_has_the_sums_of_all_queues(desk: Desk) -> None:
    desk.api.add(queue="reports")
    desk.open()
    figures = desk.page.locator("dl div")
    expect(figures.filter(has_text="Waiting").locator("dd")).to_have_text("5")
    expect(figures.filter(has_text="Failed").locator("dd")).to_have_text("1")


def test_rates_come_from_one_poll_to_the_next(desk: Desk) -> None:
    desk.open()
    done = desk.row("emails").locator("[data-label='Done / min']")
    expect(done).to_have_text(NONE)
    for _ in range(200):
        desk.api.add(status="completed")
    desk.later()
    expect(done).not_to_have_text(NONE)
    assert int(done.inner_text().replace(",", "")) > 50
    expect(desk.row("reports").locator("[data-label='Done / min']")).to_have_text("0")


def test_a_number_leads_to_its_jobs(desk: Desk) -> None:
    desk.open()
    desk.row("emails").locator("[data-label='Failed'] a").click()
    expect(desk.page).to_have_url(desk.url + "#/jobs?status=failed&queue=emails")
    expect(desk.page.locator("tbody tr")).to_have_count(1)


def test_pausing_is_confirmed_and_then_shown(desk: Desk) -> None:
    desk.open()
    desk.button("Pause emails").click()
    expect(desk.dialog).to_contain_text("4 jobs will wait")
    assert desk.api.changes() == []
    desk.press_in_dialog("Pause queue")
    desk.says("emails is paused")
    expect(desk.row("emails").get_by_text("Paused", exact=True)).to_be_visible()
    assert desk.api.paused == {"emails"}

    desk.button("Resume emails").click()
    desk.press_in_dialog("Resume queue")
    desk.says("emails hands out jobs again")
    expect(desk.button("Pause emails")).to_be_visible()
    assert desk.api.paused == set()


@pytest.mark.parametrize("how", ["Escape", "button"])
def test_a_question_can_be_left(desk: Desk, how: str) -> None:
    desk.open()
    desk.button("Pause emails").click()
    expect(desk.dialog).to_be_visible()
    if how == "Escape":
        desk.page.keyboard.press("Escape")
    else:
        desk.press_in_dialog("Leave it")
    expect(desk.dialog).to_have_count(0)
    expect(desk.button("Pause emails")).to_be_focused()
    assert desk.api.changes() == []


def test_what_the_role_may_not_do_is_told_in_the_dialog(desk: Desk) -> None:
    desk.refusals_expected = True
    desk.api.by_id.clear()  # without a job, nothing tells the role beforehand
    desk.open(key="jq_producer")
    desk.button("Pause emails").click()
    desk.press_in_dialog("Pause queue")
    expect(desk.dialog.get_by_role("alert")).to_contain_text("it takes an admin's")
    desk.press_in_dialog("Close")
    expect(desk.page.get_by_text("Read only")).to_be_visible()
    expect(desk.button("Pause emails")).to_have_count(0)


def test_where_nothing_happened_yet_it_says_how_to_begin(desk: Desk) -> None:
    desk.api.by_id.clear()
    desk.open()
    expect(desk.page.get_by_text("No job was added yet")).to_be_visible()
    expect(desk.page.get_by_text(f"curl '{desk.url.removesuffix('/console')}/jobs'")).to_be_visible()
