"""Whatever is written in a job is shown, as text."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.console.desk import Desk

HOSTILE = (
    "<script>document.title='pwned'</script>",
    '"><img src=x onerror="document.title=\'pwned\'">',
    "<svg/onload=document.title='pwned'>",
    "{{constructor.constructor('document.title=1')()}}",
    "javascript:document.title='pwned'",
    "</style><style>body{display:none}</style>",
    "&lt;b&gt; &amp; &quot;",
    "@@script@@ @@style@@",
    "\u202eroot\u202c \u0000 \u2028",
    "x" * 1024,
)


@pytest.mark.parametrize("text", HOSTILE)
def test_it_is_shown_as_text_in_every_member(desk: Desk, text: str) -> None:
    failure = {"error": text, "failed_at": "2026-11-30T02:26:02.123456Z", "worker_id": text}
    job = desk.api.add(
        status="failed",
        payload={text: text, "list": [text]},
        result=[text],
        progress={"at": text},
        error=text,
        errors=[failure],
        idempotency_key=text,
        worker_id=text,
        created_by=text,
    )
    desk.open(f"#/jobs/{job}")
    expect(desk.page.get_by_role("heading", name="Why it failed")).to_be_visible()
    assert desk.page.locator(".panel.error bdi").text_content() == text
    assert desk.page.locator(".timeline .reason").text_content() == text
    copied = desk.page.locator("pre.json").first.text_content()
    assert copied is not None
    assert desk.page.evaluate("text => JSON.parse(text)", copied) == {text: text, "list": [text]}
    expect(desk.page.locator("img, iframe, object, main script, main style")).to_have_count(0)
    assert desk.page.title() == "email · jobqueue"


@pytest.mark.parametrize("text", HOSTILE[:3])
def test_it_is_shown_as_text_in_lists_and_dialogs(desk: Desk, text: str) -> None:
    desk.api.queues = (*desk.api.queues, text)
    job = desk.api.add(text, status="failed", queue=text, worker_id=text)
    desk.open("#/jobs")
    expect(desk.row(job)).to_contain_text(text)
    desk.row(job).get_by_role("button", name="Retry").click()
    expect(desk.dialog).to_contain_text(text)
    desk.press_in_dialog("Leave it")
    desk.link("Queues").click()
    desk.row(text).get_by_role("button", name="Pause").click()
    expect(desk.dialog).to_contain_text(f"Pause {text}?")
    expect(desk.page.locator("img, iframe, main script")).to_have_count(0)


def test_signs_that_would_reorder_a_payload_are_written_out(desk: Desk) -> None:
    job = desk.api.add(payload={"name": "\u202egnp.exe\u200b"})
    desk.open(f"#/jobs/{job}")
    expect(desk.page.get_by_label("Payload", exact=True)).to_contain_text(r'"\u202egnp.exe\u200b"')


def test_an_address_can_name_anything(desk: Desk) -> None:
    desk.refusals_expected = True
    desk.open("#/jobs/%3Cscript%3E..%2f..%2fqueues")
    expect(desk.page.get_by_text("No such job")).to_be_visible()
    assert ("GET", "/jobs/%3Cscript%3E..%2F..%2Fqueues", {}) in desk.api.calls
    desk.page.goto(f"{desk.url}#/jobs/%E0%A4%A")
    expect(desk.page.get_by_text("No such job")).to_be_visible()
    desk.page.goto(f"{desk.url}#/nowhere?status=__proto__")
    expect(desk.page.get_by_role("heading", name="Queues")).to_be_visible()
