"""A turn that is entered on the drawn board, in a real browser: plays, and the three variations of the travel case."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from device.session.commands.games import StartGame
from device.session.commands.turn_corrections import InsertTurn
from engine.rules import Rules
from tests.support.api_table import STARTED, WebTable, open_web_table
from tests.support.browsers import MARKS
from tests.support.browsers import pair as pair_with
from tests.support.waiting import PATIENCE_S
from web.security.server import PageServer

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = MARKS


@pytest.fixture
def table(tmp_path: Path) -> Iterator[WebTable]:
    with open_web_table(tmp_path) as table:
        yield table


def open_entry(table: WebTable, phone: Page, rules: Rules, *turns: tuple[str, str]) -> PageServer:
    """Start a game with these turns, pair the phone and open the form."""
    table.session.submit(StartGame(replace(STARTED, rules=rules))).result(PATIENCE_S)
    for number, (at, word) in enumerate(turns, 1):
        table.session.submit(InsertTurn(number, at=at, word=word)).result(PATIENCE_S)
    server = PageServer(table.app, 0, "127.0.0.1")
    server.__enter__()
    pair_with(phone, server, table.code)
    phone.get_by_role("link", name="More").tap()
    phone.get_by_role("link", name="Enter on the board").tap()
    phone.get_by_role("button", name="Enlarge the board").tap()
    return server


def tap(phone: Page, *names: str) -> None:
    """Tap squares (`H8`), letters (`A`), lifted tiles (`lifted A`) or the switch for a blank (`?`)."""
    for name in names:
        if name == "?":
            phone.get_by_label("Next tile is a blank").tap()
        elif name.startswith("lifted "):
            phone.locator("[data-lay=lifted]", has_text=name[-1]).first.tap()
        elif name[1:].isdigit():
            phone.locator(f"#lay-{name}").tap()
        else:
            phone.locator(f"[data-lay=letter][value={name}]").tap()


def enter(phone: Page, server: PageServer, table: WebTable) -> list[tuple[str, str, int]]:
    """Press the button and return the score sheet."""
    phone.get_by_role("button", name="Enter", exact=False).last.tap()
    phone.wait_for_selector("#dialog:not([open])", state="attached")
    server.__exit__(None, None, None)
    return [(turn.kind, turn.word, turn.score) for turn in table.session.state.turns]


def test_play_with_a_blank_is_tapped_on_the_board(table: WebTable, phone: Page) -> None:
    server = open_entry(table, phone, Rules(recycle=True))
    tap(phone, "F8", "H", "?", "O", "R", "N")
    assert enter(phone, server, table) == [("play", "HoRN", 12)]


def test_play_down_runs_through_the_tiles_of_the_board(table: WebTable, phone: Page) -> None:
    server = open_entry(table, phone, Rules(rearrange=True), ("8F", "HORN"))
    tap(phone, "H6", "H6", "F", "A", "M")
    assert enter(phone, server, table)[-1] == ("play", "FA.M", 9)


def test_word_is_rearranged_on_the_board(table: WebTable, phone: Page) -> None:
    server = open_entry(table, phone, Rules(rearrange=True), ("8F", "TEAM"))
    tap(phone, "F8", "G8", "H8", "I8", "F8")
    tap(phone, "lifted M", "lifted E", "lifted A", "lifted T", "Y")
    assert enter(phone, server, table)[-1][0::2] == ("play", 10)
    assert "".join(table.session.state.board.tiles[square].letter for square in range(110, 115)) == "MEATY"


def test_letter_is_recycled_and_played_again(table: WebTable, phone: Page) -> None:
    server = open_entry(table, phone, Rules(recycle=True), ("8G", "QUIT"))
    tap(phone, "G8", "S", "K8", "E")
    assert enter(phone, server, table)[1:] == [("recycled", "", 0), ("play", "....E", 5)]


def test_blank_is_taken_back_for_its_letter(table: WebTable, phone: Page) -> None:
    server = open_entry(table, phone, Rules(retake_blanks=True), ("8F", "HoRN"))
    tap(phone, "G8", "O", "J8", "?", "S")
    assert [kind for kind, *_ in enter(phone, server, table)] == ["play", "blank-taken", "play"]
