"""With the keyboard alone, on a phone, with a reader's settings."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.console.desk import Desk
from tests.console.fake_api import ADMIN

PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}
FOCUSED = """() => {
  const at = document.activeElement;
  return `${at.tagName} ${at.getAttribute("aria-label") ?? at.textContent.trim()}`;
}"""
# Contrast as WCAG 2.2 counts it, of every element's own text against the nearest ground behind it.
TOO_FAINT = """() => {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = (colour) => {
    const linear = (c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    const [r, g, b] = colour.map((c) => linear(c / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = rgba(getComputedStyle(at).backgroundColor);
      if (colour[3] > 250) return colour;
    }
    return [255, 255, 255, 255];
  };
  const found = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    const isUnseen = element.closest(".unseen, .skip, :disabled, script, style, noscript");
    if (!own || isUnseen || !element.checkVisibility()) continue;
    const pair = [light(rgba(getComputedStyle(element).color)), light(ground(element))];
    const contrast = (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
    if (contrast < 4.5) found.push(`${element.className} "${element.textContent.slice(0, 20)}" ${contrast}`);
  }
  return found;
}"""


def tab_to(desk: Desk, text: str) -> None:
    """Press Tab until the element that reads `text` has the focus."""
    for _ in range(60):
        desk.page.keyboard.press("Tab")
        if text in desk.page.evaluate(FOCUSED):
            return
    raise AssertionError(f"the keyboard does not reach {text}")


def test_from_the_door_to_a_retried_job_without_a_mouse(desk: Desk) -> None:
    job = desk.api.add("report", status="failed")
    keyboard = desk.page.keyboard
    desk.page.goto(desk.url)
    expect(desk.page.get_by_label("API key")).to_be_focused()
    keyboard.type(ADMIN)
    keyboard.press("Enter")
    expect(desk.page.get_by_role("heading", name="Queues")).to_be_focused()
    expect(desk.row("emails")).to_be_visible()
    tab_to(desk, "A Failed")
    keyboard.press("Enter")
    expect(desk.page.get_by_role("heading", name="Jobs")).to_be_focused()
    expect(desk.row(job)).to_be_visible()
    tab_to(desk, "A report")
    keyboard.press("Enter")
    expect(desk.page.get_by_role("heading", name="report")).to_be_focused()
    expect(desk.page.get_by_role("button", name="Retry report")).to_be_visible()
    tab_to(desk, f"Retry report {job}")
    assert desk.page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    keyboard.press("Enter")
    expect(desk.dialog.get_by_role("button", name="Retry job")).to_be_focused()
    keyboard.press("Enter")
    desk.says("pending again")
    expect(desk.page.get_by_role("button", name="Cancel report")).to_be_visible()
    assert desk.page.evaluate("document.activeElement !== document.body")
    assert desk.api.by_id[job]["status"] == "pending"


def test_the_keyboard_stays_in_an_open_dialog(desk: Desk) -> None:
    desk.api.add(status="failed")
    desk.open()
    desk.button("Pause emails").click()
    reached = set()
    for _ in range(6):
        desk.page.keyboard.press("Tab")
        reached.add(desk.page.evaluate(FOCUSED))
    assert {"BUTTON Leave it", "BUTTON Pause queue"} <= reached
    assert {one for one in reached if not one.startswith("BODY")} == {"BUTTON Leave it", "BUTTON Pause queue"}


def test_the_header_can_be_skipped(desk: Desk) -> None:
    desk.open()
    desk.page.evaluate("document.activeElement.blur()")
    desk.link("Skip to the content").focus()
    expect(desk.link("Skip to the content")).to_be_in_viewport()
    desk.page.keyboard.press("Enter")
    expect(desk.page.get_by_role("main")).to_be_focused()
    assert "#main" not in desk.page.url


def test_what_can_be_pressed_has_a_name(desk: Desk) -> None:
    for status in ("pending", "running", "failed"):
        desk.api.add(status=status)
    desk.open()
    for where in ("#/queues", "#/jobs", f"#/jobs/{next(iter(desk.api.by_id))}"):
        desk.page.goto(desk.url + where)
        expect(desk.page.locator("tbody tr, .timeline li").first).to_be_visible()
        nameless = desk.page.evaluate(
            """() => [...document.querySelectorAll("button, a, input, select")].filter((one) =>
              !(one.textContent.trim() || one.getAttribute("aria-label") || one.labels?.length)).length"""
        )
        assert nameless == 0


@pytest.mark.parametrize(
    "settings_of_tab", [{"color_scheme": "light"}, {"color_scheme": "dark"}], ids=["light", "dark"]
)
def test_all_text_stands_out_from_its_ground(desk: Desk) -> None:
    job = desk.api.add(status="failed", payload={"n": 1, "s": "t", "b": True})
    for status in ("pending", "running", "completed", "cancelled"):
        desk.api.add(status=status, priority="critical")
    desk.api.paused.add("reports")
    desk.page.goto(desk.url)
    assert desk.page.evaluate(TOO_FAINT) == []
    desk.open()
    for where in ("#/queues", "#/jobs", "#/jobs?status=failed", f"#/jobs/{job}"):
        desk.page.goto(desk.url + where)
        expect(desk.page.locator("tbody tr, .timeline li").first).to_be_visible()
        assert desk.page.evaluate(TOO_FAINT) == [], where


@pytest.mark.parametrize("settings_of_tab", [PHONE], ids=["phone"])
class TestOnAPhone:
    def fits(self, desk: Desk) -> bool:
        fitting: bool = desk.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        return fitting

    def test_nothing_is_wider_than_the_screen(self, desk: Desk) -> None:
        failed = desk.api.add("report", status="failed", error="x" * 900, worker_id="key:" + "w" * 64)
        for status in ("pending", "running", "completed"):
            desk.api.add(status=status)
        desk.page.goto(desk.url)
        assert self.fits(desk)
        desk.open()
        for where in ("#/queues", "#/jobs", f"#/jobs/{failed}"):
            desk.page.goto(desk.url + where)
            expect(desk.page.locator("tbody tr, .timeline li").first).to_be_visible()
            assert self.fits(desk), where

    def test_a_failed_job_is_retried_by_thumb(self, desk: Desk) -> None:
        job = desk.api.add("report", status="failed")
        desk.open("#/jobs?status=failed")
        button = desk.button(f"Retry report {job}")
        box = button.bounding_box()
        assert box is not None
        assert min(box["height"], box["width"]) >= 32
        button.tap()
        desk.dialog.get_by_role("button", name="Retry job").tap()
        desk.says("pending again")
        assert desk.api.by_id[job]["status"] == "pending"
