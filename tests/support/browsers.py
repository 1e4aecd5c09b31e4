"""Pages in Debian's Chromium, in the sizes of phones and screens, that fail a test on any error of a script."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from flask import Flask

from tests.support.waiting import PATIENCE_S
from web.security.server import PageServer

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Playwright

CHROMIUM = shutil.which("chromium")
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
PHONE, TABLET, SCREEN = (390, 844), (820, 1180), (1920, 1080)
WAIT_MS = 1000 * PATIENCE_S
PICTURES = Path(__file__).parents[2] / "build" / "screenshots"
EVERY_PAGE = (
    "/", "/watch", "/big", "/history", "/history/1", "/history/1?turn=1", "/history/rebuild", "/records", "/join",
    "/pair", "/phones",
    "/setup", "/setup#step-enrolment", "/setup#step-panel", "/setup#step-table", "/panel", "/dialogs/more",
    "/dialogs/exchange", "/dialogs/square", "/dialogs/square?square=H8", "/dialogs/new-game", "/dialogs/end-game",
    "/dialogs/decide-challenge", "/dialogs/board", "/dialogs/turn?number=1", "/dialogs/turn?number=1&insert",
    "/dialogs/entry", "/dialogs/word?word=horn", "/dialogs/rack", "/dialogs/draw", "/history/1/delete", "/data",
    "/report", "/settings", "/secure", "/nowhere",
)  # fmt: skip
"""The pages and forms of a table with a game; the last one does not exist."""
MARKS = [
    pytest.mark.slow,
    pytest.mark.serial,
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed"),
    pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"),
]


@contextmanager
def run_playwright() -> Iterator[Playwright]:
    """Run playwright, which cannot run twice in one process; skip the test without it."""
    module = pytest.importorskip("playwright.sync_api")
    with module.sync_playwright() as playwright:
        yield playwright


@contextmanager
def chromium(playwright: Playwright, *flags: str) -> Iterator[Browser]:
    """Start Debian's Chromium with more flags."""
    browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[*FLAGS, *flags])
    yield browser
    browser.close()


@contextmanager
def open_tab(browser: Browser, size: tuple[int, int] = PHONE, **options: Any) -> Iterator[Page]:
    """Open a page of this size (px); fail for errors of scripts and violations of the content security policy."""
    context = browser.new_context(viewport={"width": size[0], "height": size[1]}, **options)
    context.set_default_timeout(WAIT_MS)
    page = context.new_page()
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda told: wrong.append(told.text) if "Security Policy" in told.text else None)
    try:
        yield page
    except BaseException:
        keep(page, f"failed-{size[0]}")
        raise
    finally:
        context.close()
    assert wrong == []


def keep(page: Page, name: str) -> Path:
    """Save a screenshot of the page in `build/screenshots`."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    path = PICTURES / f"{name}.png"
    page.screenshot(path=path)
    return path


def address(server: PageServer, path: str = "/") -> str:
    return f"http://127.0.0.1:{server.port}{path}"


def visit(page: Page, server: PageServer, path: str = "/") -> None:
    page.goto(address(server, path), wait_until="domcontentloaded")


def pair(page: Page, server: PageServer, code: str) -> None:
    """Pair a phone as a user does: press the button, enter the code, and wait for the page with the buttons."""
    visit(page, server)
    page.get_by_role("link", name="Pair this phone").click()
    page.get_by_label("Six digits").fill(code)
    page.get_by_role("button", name="Pair", exact=True).click()
    page.wait_for_selector("#panel")
    page.wait_for_load_state()  # keys that are pressed before the scripts have run are lost


def unpair_all(app: Flask) -> None:
    """Unpair all devices; the next one that is paired is the admin."""
    pairing = app.extensions["pairing"]
    for client in pairing.clients:
        pairing.unpair(client.id)
