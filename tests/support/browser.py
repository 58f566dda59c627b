"""Debian's Chromium, and a tab in which whatever must not happen is noted."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Locator, Page, expect, sync_playwright

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Request

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PATIENCE_MS = 20_000
expect.set_options(timeout=PATIENCE_MS)

# reported by the page itself, since not every browser writes all of them to the console
REPORT_VIOLATIONS = """
document.addEventListener("securitypolicyviolation", (event) =>
  console.error(`violation of ${event.violatedDirective} by ${event.blockedURI}`));
"""


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start Chromium. Where it is missing, what needs it is skipped; in CI it fails."""
    if not CHROMIUM.exists():
        missing = "the console's tests need Chromium: apt-get install chromium"
        if os.environ.get("CI") == "true":
            pytest.fail(missing)
        pytest.skip(missing)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield launched
        launched.close()


@dataclass
class Tab:
    """A tab in front of the console.

    Attributes
    ----------
    page : Page
        The tab.
    url : str
        The console's address.
    wrong : list of str
        Errors of the page, violations of its policy, requests to anywhere else. No test may leave any.
    refusals_expected : bool
        The browser itself writes a line for every call that fails; a test that makes calls fail says so.
    """

    page: Page
    url: str
    wrong: list[str] = field(default_factory=list)
    refusals_expected: bool = False

    def __post_init__(self) -> None:
        self.page.set_default_timeout(PATIENCE_MS)
        self.page.add_init_script(REPORT_VIOLATIONS)
        self.page.on("console", self._said)
        self.page.on("pageerror", lambda error: self.wrong.append(f"page error: {error}"))
        self.page.on("request", self._asked)

    def sign_in(self, key: str) -> None:
        """Type a key and press Enter."""
        field_of_key = self.page.get_by_label("API key")
        field_of_key.fill(key)
        field_of_key.press("Enter")

    def button(self, name: str) -> Locator:
        """Return the button called exactly `name`."""
        return self.page.get_by_role("button", name=name, exact=True)

    def link(self, name: str) -> Locator:
        """Return the link called exactly `name`."""
        return self.page.get_by_role("link", name=name, exact=True)

    def row(self, name: str) -> Locator:
        """Return the row of the table that has `name` in it."""
        return self.page.get_by_role("row").filter(has_text=name)

    @property
    def dialog(self) -> Locator:
        """The open dialog."""
        return self.page.get_by_role("dialog")

    def press_in_dialog(self, name: str) -> None:
        """Press the button of the dialog that is called `name`."""
        self.dialog.get_by_role("button", name=name, exact=True).click()

    def says(self, text: str) -> None:
        """Wait until a screen reader is told `text`."""
        expect(self.page.locator("#said")).to_contain_text(text)

    def _said(self, message: ConsoleMessage) -> None:
        if message.type not in {"error", "warning"}:
            return
        if self.refusals_expected and message.text.startswith("Failed to load resource"):
            return
        self.wrong.append(f"console: {message.text}")

    def _asked(self, request: Request) -> None:
        if not request.url.startswith((self.url.removesuffix("console"), "data:")):
            self.wrong.append(f"request to {request.url}")
