"""The panel on a page: its buttons work turn after turn without a reload."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from device.panel.buttons import Pins
from device.panel.panel import Panel, PanelActions
from device.session.commands.games import StartGame
from device.session.table_session import TableSession
from tests.support.browsers import MARKS, address, open_tab, pair
from tests.support.sessions import open_session
from tests.support.text_table import FARM, HORN, STARTED, TextTable
from tests.support.waiting import PATIENCE_S, until
from web import create_app
from web.host_info import HostInfo
from web.security.server import PageServer

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = MARKS
SHOW = """(state) => {
  Object.defineProperty(document, "visibilityState", { value: state, configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
}"""
"""Function of a page that does what a browser does when its screen is locked or unlocked."""


@pytest.fixture
def table() -> TextTable:
    return TextTable()


@pytest.fixture
def session(table: TextTable) -> Iterator[TableSession]:
    with open_session(table, table) as session:
        yield session


@pytest.fixture
def page(browser: Browser, session: TableSession) -> Iterator[Page]:
    """The page of the panel on a paired phone."""
    with (
        Panel(session, PanelActions()) as panel,
        PageServer(create_app(session, host_info=HostInfo(panel)), 0, "127.0.0.1") as server,
        open_tab(browser, has_touch=True) as phone,
    ):
        pair(phone, server, server.app.extensions["pairing"].code)
        phone.goto(address(server, "/panel"))
        yield phone


def test_panel_page_ends_two_turns_without_a_reload(page: Page, table: TextTable, session: TableSession) -> None:
    for player, words in enumerate(((HORN,), (HORN, FARM))):
        table.lay(*words)
        page.wait_for_selector(f'[data-seen="{session.state.moment}"]')
        page.locator(".ends button").nth(player).tap()
        until(lambda count=player + 1: len(session.state.turns) == count)  # type: ignore[misc]


def test_panel_page_names_the_players_of_the_next_game(page: Page, session: TableSession) -> None:
    """Otherwise a player would press the button with the own name, and end the turn of another player."""
    session.submit(StartGame(replace(STARTED, players=("Ben", "Anna")))).result(PATIENCE_S)
    page.locator(".ends button", has_text="Ben").nth(0).and_(page.locator('[value="end-turn-1"]')).wait_for()


def test_double_tap_on_the_panel_page_is_one_press(page: Page) -> None:
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if request.method == "POST" else None)
    page.locator('[name="button"][value="pause"]').dblclick()
    page.locator('[name="button"][value="challenge"]').tap()
    page.locator("output:not(:empty)").wait_for()
    assert len(sent) == 2


def test_press_on_the_panel_page_without_a_connection_is_not_silent(page: Page) -> None:
    page.route("**/panel/press", lambda route: route.abort())
    page.locator('[name="button"][value="pause"]').tap()
    page.locator("output", has_text="The table does not answer").wait_for()


def test_buttons_work_again_while_the_phone_that_tests_them_is_locked(browser: Browser, session: TableSession) -> None:
    """Otherwise nothing happened at the table for ten minutes, although only the set-up is open in a pocket."""
    with (
        Panel(session, PanelActions()) as panel,
        PageServer(create_app(session, host_info=HostInfo(panel, tuple(Pins().buttons))), 0, "127.0.0.1") as server,
        open_tab(browser, has_touch=True) as phone,
    ):
        pair(phone, server, server.app.extensions["pairing"].code)
        phone.goto(address(server, "/setup#step-panel"))
        for state, is_tested in (("visible", True), ("hidden", False), ("visible", True)):
            phone.evaluate(SHOW, state)
            until(lambda wanted=is_tested: (panel.view.felt is not None) == wanted)  # type: ignore[misc]
