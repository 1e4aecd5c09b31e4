"""A game that starts from a position, in a real browser: after the question about the first picture, and by hand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from device.session.commands.games import StartGame
from device.session.commands.turns import EndTurn
from tests.support.api_table import STARTED, WebTable, open_web_table
from tests.support.browsers import MARKS
from tests.support.browsers import pair as pair_with
from tests.support.text_table import FARM, HORN, PASTE
from tests.support.waiting import PATIENCE_S
from web.security.server import PageServer

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = MARKS


@pytest.fixture
def table(tmp_path: Path) -> Iterator[WebTable]:
    with open_web_table(tmp_path) as table:
        table.session.submit(StartGame(STARTED)).result(PATIENCE_S)
        yield table


@pytest.fixture
def paired_phone(table: WebTable, phone: Page) -> Iterator[Page]:
    with PageServer(table.app, 0, "127.0.0.1") as server:
        pair_with(phone, server, table.code)
        yield phone


def start(phone: Page) -> None:
    """Enter the points, let Ben play next, and press the button."""
    phone.get_by_label("Anna's points so far").fill("120")
    phone.get_by_label("Ben's points so far").fill("98")
    phone.get_by_label("Who plays next?").select_option("Ben")
    phone.get_by_role("button", name="Start from here").tap()
    phone.wait_for_selector("#dialog:not([open])", state="attached")


def read_board(table: WebTable) -> str:
    return "".join(tile.letter for tile in table.session.state.board.tiles if tile)


def test_question_about_the_first_picture_is_answered_with_points(table: WebTable, paired_phone: Page) -> None:
    table.board.lay(HORN, FARM, PASTE)
    table.session.submit(EndTurn()).result(PATIENCE_S)
    paired_phone.get_by_role("link", name="Start from here").tap()
    paired_phone.get_by_text("Check the 12 tiles on the board").tap()
    paired_phone.get_by_role("button", name="Enlarge the board").tap()
    paired_phone.locator("#lay-F8").tap()  # the picture shows an H, but it is a B
    paired_phone.locator("[data-lay=letter][value=B]").tap()
    start(paired_phone)
    state = table.session.state
    assert [(player.total, turn.kind) for player, turn in zip(state.players, state.turns, strict=True)] == [
        (120, "position"),
        (98, "position"),
    ]
    assert state.turn_of == 1 and read_board(table) == "FABORNMPASTE"
    paired_phone.get_by_text("started with").first.wait_for()


def test_position_is_entered_without_a_camera(table: WebTable, paired_phone: Page) -> None:
    paired_phone.get_by_role("link", name="More").tap()
    paired_phone.get_by_role("link", name="Start from a position").tap()
    paired_phone.get_by_role("button", name="Enlarge the board").tap()
    paired_phone.locator("#lay-F8").tap()
    for letter in "HORN":
        paired_phone.locator(f"[data-lay=letter][value={letter}]").tap()
    start(paired_phone)
    assert read_board(table) == "HORN" and [player.total for player in table.session.state.players] == [120, 98]


def test_position_without_points_is_not_sent(table: WebTable, paired_phone: Page) -> None:
    paired_phone.get_by_role("link", name="More").tap()
    paired_phone.get_by_role("link", name="Start from a position").tap()
    paired_phone.get_by_role("button", name="Start from here").tap()
    assert paired_phone.locator("#total-0:invalid").count() == 1 and table.session.state.turns == ()
