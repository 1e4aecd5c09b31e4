"""Blanks in the form that corrects or enters a turn, where the case of letters does not count."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from device.session.commands.games import StartGame
from device.session.commands.turn_corrections import InsertTurn
from device.session.commands.turns import EnterBoard
from engine.events import GameStarted
from engine.rules import Rules
from tests.support.api_table import WebTable, open_web_table
from tests.support.text_table import rows
from tests.support.waiting import PATIENCE_S
from tests.web.conftest import press


@pytest.fixture
def table(tmp_path: Path) -> Iterator[WebTable]:
    with open_web_table(tmp_path) as table:
        yield table


def play_word(table: WebTable, tile_set: str, at: str, word: str) -> None:
    """Start a game and enter its first play."""
    table.session.submit(StartGame(GameStarted(("Anna", "Ben"), tile_set=tile_set))).result(PATIENCE_S)
    table.session.submit(InsertTurn(1, kind="play", at=at, word=word)).result(PATIENCE_S)


def correct(phone: FlaskClient, table: WebTable, **changes: str) -> int:
    """Send the form of the last turn with all fields that its script fills in; return the status of the response."""
    number = len(table.session.state.turns)
    page = phone.get(f"/dialogs/turn?number={number}").text
    filled_in = {name: unescape(now) for name, now in re.findall(r'name="(\w+)"[^>]*? data-now="([^"]*)"', page)}
    return press(phone, "/actions/turn", table.seen, **filled_in | {"number": str(number)} | changes)[0]


@pytest.mark.parametrize(
    ("tile_set", "word"),
    [
        ("en", "KAYAk"),
        ("es", "CO[ch]E"),
        ("es", "CAlLE"),
        ("es", "C[h]O[CH]E"),
        ("tr", "KiTAP"),
        ("he", "שלש*"),
        ("en", "KAYA?"),
    ],
)
def test_blank_stays_where_it_is_when_another_player_is_named(
    table: WebTable, phone: FlaskClient, tile_set: str, word: str
) -> None:
    play_word(table, tile_set, "8D", word)
    (before,) = table.session.state.turns
    assert correct(phone, table, player="1") == 204
    (after,) = table.session.state.turns
    assert (after.player, after.word, after.score) == (1, before.word, before.score)


def test_word_through_a_tile_is_shown_and_corrected_as_a_whole(table: WebTable, phone: FlaskClient) -> None:
    play_word(table, "en", "8E", "HORN")
    table.session.submit(InsertTurn(2, kind="play", at="G6", word="FA.m")).result(PATIENCE_S)
    page = phone.get("/dialogs/turn?number=2").text
    assert "<bdi>FARM</bdi>" in page and 'data-now="FARM"' in page
    assert correct(phone, table, score="20") == 204
    assert [(turn.word, turn.score) for turn in table.session.state.turns][1] == ("FA.m", 20)
    assert correct(phone, table, word="FARMS", score="") == 204
    assert table.session.state.turns[1].word == "FA.mS"


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"word": "KAYAKS"}, "KAYAkS"),
        ({"blanks": "KK"}, "kAYAk"),
        ({"blanks": ""}, "KAYAK"),
        ({"word": "KAYO"}, "kAYO"),
    ],
)
def test_blank_stays_where_it_is_when_the_word_or_its_blanks_are_changed(
    table: WebTable, phone: FlaskClient, changes: dict[str, str], word: str
) -> None:
    play_word(table, "en", "8D", "KAYAk")
    assert correct(phone, table, **changes) == 204
    assert [turn.word for turn in table.session.state.turns] == [word]


@pytest.mark.parametrize(("blanks", "word"), [("ch", "CO[ch]E"), ("c ch", "cO[ch]E"), ("[c]", "cO[CH]E")])
def test_blank_with_a_letter_of_two_characters_is_entered(
    table: WebTable, phone: FlaskClient, blanks: str, word: str
) -> None:
    play_word(table, "es", "8H", "TE")
    fields = {"number": "2", "kind": "play", "at": "9F", "word": "coche", "blanks": blanks}
    assert press(phone, "/actions/insert-turn", table.seen, **fields)[0] == 204
    assert table.session.state.turns[-1].word == word


def test_rearranged_word_stays_rearranged_when_the_score_is_corrected(table: WebTable, phone: FlaskClient) -> None:
    started = GameStarted(("Anna", "Ben"), Rules(rearrange=True))
    table.session.submit(StartGame(started)).result(PATIENCE_S)
    for word in ("TEAM", "MEATY"):
        table.session.submit(EnterBoard(rows((word, 7, 5, True)))).result(PATIENCE_S)
    assert correct(phone, table, score="11") == 204
    state = table.session.state
    assert "".join(tile.letter for tile in state.board.tiles[110:115] if tile) == "MEATY"
    assert [turn.score for turn in state.turns] == [12, 11]
