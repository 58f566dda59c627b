"""Takes the pictures of the README: ``python -m tests.console.screenshots``.

They are of the API in memory. With pngquant on PATH they are made small.
"""

from __future__ import annotations

import random
import shutil
import subprocess
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from tests.console import worlds
from tests.console.desk import Desk
from tests.console.fake_api import FakeApi, serving
from tests.support.browser import chromium
from tests.support.template import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Browser

FOLDER = ROOT / "docs" / "screenshots"
MOST_BYTES = 200_000
DESK: dict[str, Any] = {"viewport": {"width": 1280, "height": 760}, "device_scale_factor": 2}
PHONE = {
    "viewport": {"width": 390, "height": 800},
    "device_scale_factor": 2,
    "is_mobile": True,
    "has_touch": True,
}
MOMENTS = 40
Where = str | Callable[[FakeApi], str]


def main() -> None:
    """Take all pictures, in both colour schemes."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with chromium() as browser:
        for scheme in ("light", "dark"):
            door(browser, scheme)
            shots(browser, scheme, worlds.empty, DESK, {"empty": "#/queues"})
            shots(browser, scheme, worlds.busy, DESK, {"queues": "#/queues", "jobs": "#/jobs?status=running"})
            shots(
                browser,
                scheme,
                worlds.failing,
                DESK,
                {"failed": "#/jobs?status=failed", "job": newest_failed},
            )
        shots(
            browser, "light", worlds.failing, PHONE, {"phone-queues": "#/queues", "phone-job": newest_failed}
        )
    for picture in FOLDER.glob("*.png"):
        if shutil.which("pngquant"):
            subprocess.run(
                ["pngquant", "--force", "--strip", "--output", picture, "128", picture], check=True
            )
        if picture.stat().st_size > MOST_BYTES:
            raise SystemExit(f"{picture} is too large")


def newest_failed(api: FakeApi) -> str:
    """Return the address of the job that failed last."""
    return f"#/jobs/{worlds.told(api)}"


def door(browser: Browser, scheme: Literal["light", "dark"]) -> None:
    """Take a picture of the page that asks for a key."""
    api = worlds.empty()
    with serving(api) as url:
        context = browser.new_context(locale="en-US", color_scheme=scheme, **DESK)
        desk = Desk(context.new_page(), url, api=api)
        desk.page.goto(url)
        desk.page.get_by_label("API key").wait_for()
        desk.page.screenshot(path=FOLDER / f"sign-in-{scheme}.png")
        context.close()
    assert desk.wrong == []


def shots(
    browser: Browser,
    scheme: Literal["light", "dark"],
    make: Callable[[], FakeApi],
    device: dict[str, Any],
    views: dict[str, Where],
) -> None:
    """Take a picture of each view of one deployment."""
    api, dice = make(), random.Random(3)
    with serving(api) as url:
        context = browser.new_context(locale="en-US", color_scheme=scheme, **device)
        desk = Desk(context.new_page(), url, api=api)
        desk.open()
        for _ in range(MOMENTS if make is worlds.busy else 2):
            worlds.work(api, dice) if make is worlds.busy else None
            with desk.page.expect_response("**/queues"):
                desk.later()
            desk.page.wait_for_timeout(150)
        for name, where in views.items():
            desk.page.goto(url + (where if isinstance(where, str) else where(api)))
            desk.page.locator("tbody tr, .timeline li").first.wait_for()
            desk.page.wait_for_timeout(600)  # what grows has grown
            desk.page.screenshot(path=FOLDER / f"{name}-{scheme}.png")
        context.close()
    assert desk.wrong == []


if __name__ == "__main__":
    main()
