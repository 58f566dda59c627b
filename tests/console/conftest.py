"""A browser for the tests of each module, and for each test an API in memory and a tab of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.console.desk import Desk
from tests.console.fake_api import FakeApi, serving
from tests.support.browser import chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of this folder."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.console)


@pytest.fixture(scope="module")  # a second one, of another folder, cannot run beside it
def browser() -> Iterator[Browser]:
    """Chromium."""
    with chromium() as launched:
        yield launched


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
        tab = Desk(context.new_page(), url, api=api)
        yield tab
        context.close()
    assert tab.wrong == []
