"""One browser for all tests of this folder, and for each test an API in memory and a tab of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.console.desk import Desk
from tests.console.fake_api import FakeApi, serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser

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
PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of this folder."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.console)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Debian's Chromium. Where it is missing, its tests are skipped; in CI they fail."""
    from playwright.sync_api import sync_playwright

    if not CHROMIUM.exists():
        missing = "the console's tests need Chromium: apt-get install chromium"
        if os.environ.get("CI") == "true":
            pytest.fail(missing)
        pytest.skip(missing)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield launched
        launched.close()


@pytest.fixture
def api() -> FakeApi:
    """An API with no jobs."""
    return FakeApi()


@pytest.fixture
def settings_of_tab() -> dict[str, Any]:
    """What a test's tab is opened with."""
    return {}


@pytest.fixture
def desk(browser: Browser, api: FakeApi, settings_of_tab: dict[str, Any]) -> Iterator[Desk]:
    """A tab in front of the console of `api`; afterwards nothing may have gone wrong in it."""
    with serving(api) as url:
        context = browser.new_context(locale="en-US", **settings_of_tab)
        tab = Desk(context.new_page(), api, url)
        yield tab
        context.close()
    assert tab.wrong == []
