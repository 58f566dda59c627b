"""The page keeps itself fresh, keeps still what is being used, and says when it cannot."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.console.desk import Desk
from tests.console.fake_api import ADMIN


def test_new_jobs_show_up_by_themselves(desk: Desk) -> None:
    desk.open("#/jobs")
    expect(desk.page.get_by_text("No jobs")).to_be_visible()
    job = desk.api.add("report")
    desk.later()
    expect(desk.row(job)).to_be_visible()


def test_a_refresh_keeps_focus_selection_and_the_very_nodes(desk: Desk) -> None:
    kept, gone = desk.api.add("report", age=50), desk.api.add("report", age=60)
    desk.open("#/jobs?status=pending")
    link = desk.row(kept).get_by_role("link", name="report")
    link.focus()
    desk.page.evaluate(
        """id => {
          const row = [...document.querySelectorAll("tbody tr")].find((one) => one.textContent.includes(id));
          window.kept = row;
          const range = document.createRange();
          range.selectNodeContents(row.querySelector(".id"));
          getSelection().removeAllRanges();
          getSelection().addRange(range);
        }""",
        kept,
    )
    with desk.api.lock:
        desk.api.complete(desk.api.by_id[gone])
        new = desk.api.add("report", age=90)
    desk.later()
    expect(desk.row(new)).to_be_visible()
    expect(desk.row(gone)).to_have_count(0)
    expect(link).to_be_focused()
    assert desk.page.evaluate("getSelection().toString()") == kept
    assert desk.page.evaluate("window.kept.isConnected")


def test_a_refresh_does_not_type_over_what_is_being_typed(desk: Desk) -> None:
    job = desk.api.add("report")
    desk.open("#/jobs")
    expect(desk.row(job)).to_be_visible()
    desk.page.get_by_label("Type").press_sequentially("rep")
    other = desk.api.add("report")
    desk.later()
    expect(desk.row(other)).to_be_visible()
    expect(desk.page.get_by_label("Type")).to_have_value("rep")


def test_an_open_question_survives_a_refresh(desk: Desk) -> None:
    job = desk.api.add("report", status="failed")
    desk.open("#/jobs?status=failed")
    desk.button(f"Retry report {job}").click()
    other = desk.api.add("report", status="failed")
    desk.later()
    expect(desk.page.locator("tbody tr").filter(has_text=other)).to_have_count(1)
    expect(desk.dialog.get_by_role("button", name="Retry job")).to_be_focused()


def test_held_still_nothing_is_asked(desk: Desk) -> None:
    desk.open()
    expect(desk.row("emails")).to_be_visible()
    live = desk.page.get_by_role("button", name="Refreshing")
    expect(live).to_have_attribute("aria-pressed", "true")
    live.click()
    expect(live).to_contain_text("Held")
    before = len(desk.api.calls)
    desk.later(60)
    expect(desk.page.get_by_text("old", exact=False).first).to_be_visible()
    assert len(desk.api.calls) == before
    live.click()
    expect(desk.page.get_by_text("Up to date")).to_be_visible()
    assert len(desk.api.calls) > before


def test_when_the_api_is_down_it_says_so_keeps_what_it_has_and_comes_back(desk: Desk) -> None:
    desk.refusals_expected = True
    job = desk.api.add("report")
    desk.open("#/jobs")
    expect(desk.row(job)).to_be_visible()
    desk.api.down = True
    desk.later()
    expect(desk.page.get_by_text("The API cannot be reached. Trying again in")).to_be_visible()
    desk.says("The API cannot be reached")
    expect(desk.row(job)).to_be_visible()
    expect(desk.page.get_by_text("As of")).to_be_visible()
    desk.api.down = False
    desk.later(10)
    expect(desk.page.get_by_text("Trying again")).to_have_count(0)
    desk.says("The API answers again")
    expect(desk.page.get_by_text("Up to date")).to_be_visible()


def test_it_can_be_told_to_try_at_once(desk: Desk) -> None:
    desk.refusals_expected = True
    desk.open()
    expect(desk.row("emails")).to_be_visible()
    desk.api.down = True
    desk.later()
    desk.button("Try now").wait_for()
    desk.api.down = False
    desk.button("Try now").click()
    expect(desk.page.get_by_text("Up to date")).to_be_visible()


def test_the_longer_it_lasts_the_rarer_it_asks(desk: Desk) -> None:
    desk.refusals_expected = True
    desk.open()
    expect(desk.row("emails")).to_be_visible()
    waits = []
    for _ in range(5):
        with desk.api.lock:
            desk.api.faults = [503] * 9
        desk.later(40)
        shown = desk.page.get_by_text("Trying again in")
        expect(shown).to_be_visible()
        waits.append(int(shown.inner_text().rsplit(" ", 2)[-2]))
    assert waits == sorted(waits)
    assert waits[-1] > 4 * waits[0]
    assert waits[-1] <= 30


def test_a_down_api_at_the_start_is_waited_for(desk: Desk) -> None:
    desk.refusals_expected = True
    desk.page.goto(desk.url)
    desk.page.evaluate(
        "key => sessionStorage.setItem(`jobqueue.key ${location.href.replace(/.console$/, '')}`, key)", ADMIN
    )
    desk.api.down = True
    desk.page.reload()
    expect(desk.page.get_by_text("The API cannot be reached. Trying again")).to_be_visible()
    desk.api.down = False
    desk.later(10)
    expect(desk.row("emails")).to_be_visible()
