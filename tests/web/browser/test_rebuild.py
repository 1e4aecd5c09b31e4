"""A game of 26 turns is rebuilt on a phone, as somebody with a paper sheet would do it."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import cv2
import numpy as np
import pytest

from engine.game import Game
from engine.reading import BoardReading
from engine.state import TurnKind
from tests.support.api_table import WebTable, open_web_table
from tests.support.browsers import MARKS, keep, pair, visit
from tests.support.play_at_random import random_game
from web.security.csrf import REBUILD_PATH
from web.security.server import PageServer

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = MARKS
MAX_TAPS = 45
"""Taps beside the digits and the names: the photograph, the key for the next cell, the questions, and saving."""


def play_turns(turns: int) -> Game:
    """Return a game with random plays."""
    rng = random.Random(3)
    played = Game.start(("Anna", "Ben"))
    while len(played.turns) < turns:
        played = random_game(rng, 1, played)
    return played


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[PageServer, WebTable]]:
    with open_web_table(tmp_path) as table, PageServer(table.app, 0, "127.0.0.1") as server:
        yield server, table


class Person:
    """Somebody with a score sheet, who counts the taps."""

    def __init__(self, page: Page, game: Game) -> None:
        self.page, self.taps, self.digits = page, 0, 0
        self._plays = [turn for turn in game.turns if turn.kind is TurnKind.PLAY]
        self._truth = [
            (turn.at, {square for square, _ in turn.play.tiles} if turn.play else set()) for turn in self._plays
        ]

    def tap(self, selector: str) -> None:
        self.page.locator(selector).first.tap()
        self.taps += 1

    def choose_photo(self, folder: Path) -> None:
        picture = folder / "board.jpg"
        cv2.imwrite(str(picture), np.zeros((300, 400, 3), np.uint8))
        self.page.set_input_files("#photo", picture)
        self.taps += 2  # the field, and the picture in the list of the phone

    def type_scores(self) -> None:
        self.tap("[name=score]")
        for turn in self._plays:
            self.page.keyboard.type(str(turn.score))
            self.page.keyboard.press("Enter")
            self.digits += len(str(turn.score))
            self.taps += 1

    def answer(self) -> None:
        """Tap the play that was really made."""
        values = self.page.locator(".plays [name=chosen]")
        for number in range(values.count()):
            turn, _, squares = str(values.nth(number).get_attribute("value")).partition(":")
            if sum(1 << square for square in self._truth[int(turn)][1]) == int(squares):
                values.nth(number).tap()
                self.taps += 1
                return
        raise AssertionError("the true play is not among the answers")


def test_game_of_a_paper_sheet_is_saved_with_few_taps(
    phone: Page, server: tuple[PageServer, WebTable], tmp_path: Path
) -> None:
    pages, table = server
    game = play_turns(26)
    table.board.board = BoardReading.from_symbols(game.board.symbols())
    pair(phone, pages, table.code)
    visit(phone, pages, "/history")
    person = Person(phone, game)
    start = time.monotonic()
    person.tap(f"a[href='{REBUILD_PATH}']")
    person.choose_photo(tmp_path)
    for seat, name in enumerate(("Anna", "Ben")):
        phone.locator("[name=players]").nth(seat).fill(name)
    keep(phone, "rebuild-form")
    person.type_scores()
    keep(phone, "rebuild-scores")
    person.tap("[name=again]")
    phone.wait_for_selector(".plays, [name=save]")
    while phone.locator(".plays").count():
        keep(phone, "rebuild-question")
        person.answer()
        phone.wait_for_selector(".plays, [name=save]")
    keep(phone, "rebuild-found")
    person.tap("[name=save]")
    phone.wait_for_url(re.compile(r"/history/\d+$"))
    seconds = time.monotonic() - start
    print(f"{person.taps} taps, {person.digits} digits, {seconds:.1f} s with a user who needs no time")
    keep(phone, "rebuild-saved")
    assert person.taps <= MAX_TAPS
    assert phone.locator("h1").inner_text()
    [saved] = table.store.list_games()
    assert saved.imported


def test_wrong_score_is_corrected_on_the_page(phone: Page, server: tuple[PageServer, WebTable], tmp_path: Path) -> None:
    pages, table = server
    game = play_turns(8)
    table.board.board = BoardReading.from_symbols(game.board.symbols())
    pair(phone, pages, table.code)
    visit(phone, pages, REBUILD_PATH)
    person = Person(phone, game)
    person.choose_photo(tmp_path)
    person.type_scores()
    cell = phone.locator("[name=score]").nth(4)
    right = cell.input_value()
    cell.fill(str(int(right) + 3))
    person.tap("[name=again]")
    phone.wait_for_selector(".mistakes li")
    keep(phone, "rebuild-mistake")
    assert phone.locator(".mistakes").inner_text().count(right)
    phone.locator("[name=score]").nth(4).fill(right)
    person.tap("[name=again]")
    phone.wait_for_selector(".plays, [name=save]")


def test_button_changes_the_sign_of_the_last_score(phone: Page, server: tuple[PageServer, WebTable]) -> None:
    pages, table = server
    pair(phone, pages, table.code)
    visit(phone, pages, REBUILD_PATH)
    cell = phone.locator("[name=score]").nth(2)
    cell.fill("7")
    for expected in ("−7", "+7"):
        phone.locator(".sign").tap()
        assert cell.input_value() == expected
    assert cell.evaluate("cell => cell === document.activeElement")
    phone.locator("[name=score]").last.focus()
    assert phone.locator(".sheet > span").last.inner_text() == "15"
