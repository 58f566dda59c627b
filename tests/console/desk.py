"""A tab in front of the console of an API in memory, whose time the test moves."""

from __future__ import annotations

from dataclasses import dataclass, field

from playwright.sync_api import expect

from tests.console.fake_api import ADMIN, FakeApi
from tests.support.browser import Tab


@dataclass
class Desk(Tab):
    """A tab, and the API behind it."""

    api: FakeApi = field(default_factory=FakeApi)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.page.clock.install()

    def open(self, where: str = "", *, key: str = ADMIN) -> None:
        """Open the console at a view and sign in."""
        self.page.goto(self.url + where)
        self.sign_in(key)
        expect(self.page.get_by_role("banner")).to_be_visible()

    def later(self, seconds: int = 5) -> None:
        """Let the page's time pass, so that it refreshes."""
        self.page.clock.fast_forward(seconds * 1000)
