"""The panel on a page: its buttons work turn after turn without a reload."""

from __future__ import annotations

from typing import TYPE_CHECKING

from device.panel.panel import Panel, PanelActions
from device.session.commands.games import StartGame
from device.session.table_session import TableSession
from device.storage.store import GameStore
from tests.support.browsers import MARKS, address, opened, pair
from tests.support.text_table import FARM, HORN, STARTED, WORDS, TextTable
from tests.support.waiting import PATIENCE_S, until
from web import create_app
from web.host_info import HostInfo
from web.security.server import PageServer

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = MARKS


def test_panel_page_ends_two_turns_without_a_reload(browser: Browser) -> None:
    table = TextTable()
    with (
        GameStore(":memory:") as store,
        TableSession(table, table, store, WORDS) as session,
        Panel(session, PanelActions()) as panel,
        PageServer(create_app(session, host_info=HostInfo(panel)), 0, "127.0.0.1") as server,
        opened(browser, has_touch=True) as phone,
    ):
        session.submit(StartGame(STARTED)).result(PATIENCE_S)
        pair(phone, server, server.app.extensions["pairing"].code)
        phone.goto(address(server, "/panel"))
        for player, words in enumerate(((HORN,), (HORN, FARM))):
            table.lay(*words)
            phone.wait_for_selector(f'[data-seen="{session.state.moment}"]')
            phone.locator(".ends button").nth(player).tap()
            until(lambda count=player + 1: len(session.state.turns) == count)  # type: ignore[misc]
