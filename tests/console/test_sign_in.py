"""Coming in, and going out."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.console.desk import Desk
from tests.console.fake_api import ADMIN, PRODUCER


def test_a_key_that_the_api_takes_opens_the_queues(desk: Desk) -> None:
    desk.open()
    expect(desk.page.get_by_role("heading", name="Queues")).to_be_focused()
    expect(desk.row("emails")).to_be_visible()
    expect(desk.page).to_have_title("Queues · jobqueue")


def test_a_key_that_the_api_refuses_is_told_and_can_be_typed_again(desk: Desk) -> None:
    desk.refusals_expected = True
    desk.page.goto(desk.url)
    desk.sign_in("jq_wrong")
    expect(desk.page.get_by_role("alert")).to_contain_text("refused this key")
    expect(desk.page.get_by_label("API key")).to_be_focused()
    desk.sign_in(ADMIN)
    expect(desk.row("emails")).to_be_visible()


@pytest.mark.parametrize("typed", ["jq key", "jq_\u00fcber", "jq_\u200b"])
def test_what_no_key_can_be_is_not_sent(desk: Desk, typed: str) -> None:
    desk.page.goto(desk.url)
    desk.sign_in(typed)
    expect(desk.page.get_by_role("alert")).to_contain_text("This is no key")
    assert desk.api.calls == []


def test_a_key_is_taken_as_it_is_pasted(desk: Desk) -> None:
    desk.open(key=f"  Bearer {ADMIN} ")


def test_an_api_that_is_down_is_told_apart_from_a_wrong_key(desk: Desk) -> None:
    desk.refusals_expected = True
    desk.page.goto(desk.url)
    desk.api.down = True
    desk.sign_in(ADMIN)
    expect(desk.page.get_by_role("alert")).to_contain_text("cannot be reached")


def test_the_key_outlives_a_reload_but_not_the_tab(desk: Desk) -> None:
    desk.open("#/jobs")
    desk.page.reload()
    expect(desk.page.get_by_role("heading", name="Jobs")).to_be_visible()
    other = desk.page.context.new_page()
    other.goto(desk.url)
    expect(other.get_by_label("API key")).to_be_visible()
    assert other.evaluate("localStorage.length") == 0
    assert desk.page.context.cookies() == []


def test_signing_out_forgets_everything(desk: Desk) -> None:
    desk.api.add("report")
    desk.open("#/jobs")
    expect(desk.row("report")).to_be_visible()
    desk.button("Sign out").click()
    expect(desk.page.get_by_label("API key")).to_be_focused()
    expect(desk.page.get_by_text("report")).to_have_count(0)
    assert desk.page.evaluate("JSON.stringify(sessionStorage)") == "{}"
    desk.page.reload()
    expect(desk.page.get_by_label("API key")).to_be_visible()


def test_a_key_that_is_revoked_meanwhile_leads_back_to_the_door(desk: Desk) -> None:
    desk.refusals_expected = True
    desk.open()
    expect(desk.row("emails")).to_be_visible()
    desk.api.revoked.add(ADMIN)
    desk.later()
    expect(desk.page.get_by_role("alert")).to_contain_text("does not accept this key any more")
    assert desk.page.evaluate("JSON.stringify(sessionStorage)") == "{}"


def test_a_key_that_may_only_look_is_shown_no_buttons(desk: Desk) -> None:
    desk.api.add(status="failed")
    desk.open(key=PRODUCER)
    expect(desk.page.get_by_text("Read only")).to_be_visible()
    expect(desk.row("emails")).to_be_visible()
    expect(desk.page.get_by_role("button", name="Pause")).to_have_count(0)
    expect(desk.page.get_by_role("button", name="Retry")).to_have_count(0)
