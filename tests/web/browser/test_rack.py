"""The unplayed letters of a rack are tapped, in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from device.session.commands.games import EndGame, StartGame
from device.session.commands.turn_corrections import InsertTurn
from engine.events import GameStarted
from tests.support.api_table import open_web_table
from tests.support.browsers import MARKS, pair
from tests.support.waiting import PATIENCE_S
from web.security.server import PageServer

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = MARKS


def test_two_letters_that_are_tapped_are_not_one_tile_of_two_letters(phone: Page, tmp_path: Path) -> None:
    """In Spanish, LL and CH are tiles, and L is another one."""
    started = GameStarted(("Ana", "Luis"), tile_set="es")
    with open_web_table(tmp_path) as table, PageServer(table.app, 0, "127.0.0.1") as server:
        for command in (StartGame(started), InsertTurn(1, at="8F", word="SOLES"), EndGame()):
            table.session.submit(command).result(PATIENCE_S)
        pair(phone, server, table.code)
        phone.get_by_role("link", name="Unplayed letters").tap()
        for value in ("L", "L", "CH", ""):
            phone.locator(f"[data-into=rack-0] button[value='{value}']").tap()
        assert phone.locator("#rack-0").input_value() == "L L"
        assert phone.locator("[data-into=rack-0] button:disabled").all_inner_texts() == []
        phone.locator("[data-into=rack-0] button[value=L]").tap()
        assert phone.locator("[data-into=rack-0] button[value=L]").is_disabled()
        phone.locator("#dialog button.primary").tap()
        phone.get_by_role("dialog").wait_for(state="hidden")
        assert [turn.score for turn in table.session.state.turns if turn.kind == "endrack"] == [-3]
