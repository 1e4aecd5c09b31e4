"""Fixtures of the browser tests: Debian's Chromium, and a phone that shows a page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from device.settings import Settings
from device.settings_editor import SettingsEditor, SettingsFile
from tests.support.api_table import WebTable, open_web_table
from tests.support.browsers import chromium, open_tab, run_playwright
from web.host_info import HostInfo, SettingsAccess
from web.security.server import PageServer

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Playwright


@pytest.fixture(scope="package")
def playwright() -> Iterator[Playwright]:
    with run_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="package")
def browser(playwright: Playwright) -> Iterator[Browser]:
    """The browser of all these tests: each opens pages with storage and cookies of their own."""
    with chromium(playwright) as browser:
        yield browser


@pytest.fixture
def phone(browser: Browser) -> Iterator[Page]:
    """A page in the size of a phone, with touch."""
    with open_tab(browser, has_touch=True) as page:
        yield page


@pytest.fixture(scope="module")
def played_table(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebTable]:
    """A table with a game of three turns; the form of its settings shows an error."""
    folder = tmp_path_factory.mktemp("played")
    settings_file = folder / "settings.toml"
    settings_file.write_text("[page]\nport = 0\n", encoding="utf-8")
    access = SettingsAccess(SettingsEditor(SettingsFile(settings_file), Settings()), folder / "lexicons")
    with open_web_table(folder, host_info=HostInfo(settings=access)) as table:
        table.play_three_turns()
        yield table


@pytest.fixture(scope="module")
def played_server(played_table: WebTable) -> Iterator[PageServer]:
    with PageServer(played_table.app, 0, "127.0.0.1") as server:
        yield server
