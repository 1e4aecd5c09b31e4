"""Commands of paired phones reach the table, but only for the moment for which they were meant."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from flask.testing import FlaskClient

from device.session.commands.answers import AnswerQuestion, DeferQuestion, ReadAgain
from device.session.commands.base import TableCommand
from device.session.commands.challenges import ChallengePlay, DecideChallenge
from device.session.commands.corrections import CorrectSquare, NameBlank, RenamePlayer, RevealRack
from device.session.commands.games import DrawFirst, EndGame, EndPause, EnterPosition, Pause, Redo, Undo
from device.session.commands.turn_corrections import CorrectTurn, InsertTurn
from device.session.commands.turns import EndTurn, EnterBoard, ExchangeTiles, PassTurn
from device.session.messages import make_notice
from device.session.snapshot import Moment, TileView
from engine.board import parse_square
from engine.reading import BLANK
from tests.support import samples
from tests.web.conftest import ShownTable, press, token

NOW = Moment(1, 4)
COMMANDS: dict[str, tuple[dict[str, str | list[str]], TableCommand]] = {
    "/actions/end-turn": ({}, EndTurn()),
    "/actions/pass": ({}, PassTurn()),
    "/actions/exchange": ({"count": "3"}, ExchangeTiles(3)),
    "/actions/challenge": ({}, ChallengePlay()),
    "/actions/end-game": ({}, EndGame()),
    "/actions/answer/1": ({"question_id": "4294967295"}, AnswerQuestion(1, question_id=2**32 - 1)),
    "/actions/later": ({"question_id": "77"}, DeferQuestion(question_id=77)),
    "/actions/look-again": ({"question_id": "0"}, ReadAgain(question_id=0)),
    "/actions/decide-challenge": ({"upheld": "false", "player": "1"}, DecideChallenge(False, 1)),
    "/actions/undo": ({}, Undo()),
    "/actions/redo": ({}, Redo()),
    "/actions/pause": ({}, Pause()),
    "/actions/go-on": ({}, EndPause()),
    "/actions/draw": ({"letters": ["A", "?"]}, DrawFirst(("A", "?"))),
    "/actions/position": (
        {"symbols": ". " * 112 + "H o " + ". " * 111, "totals": ["120", "98"], "player": "1", "racks": ["", "AQ?"]},
        EnterPosition(
            tuple(tuple(".......Ho......" if row == 7 else "." * 15) for row in range(15)), (120, 98), 1, ("", "AQ?")
        ),
    ),
    "/actions/turn": ({"number": "2", "score": "12"}, CorrectTurn(2, score=12)),
    "/actions/rack": ({"player": "1", "letters": "AQ?"}, RevealRack(1, "AQ?")),
    "/actions/rename": ({"player": "1", "new_name": "Cem"}, RenamePlayer(1, "Cem")),
    "/actions/square": ({"square": "E8", "letter": "N"}, CorrectSquare("E8", "N")),
}

PAGE_REQUESTS = [
    {"Sec-Fetch-Dest": "document", "Sec-Fetch-Site": "same-origin"},
    {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"},
]
"""Headers with which browsers request a page: on the machine itself or over https, and over http in the Wi-Fi."""


@pytest.mark.parametrize(("path", "form", "request_"), [(path, *command) for path, command in COMMANDS.items()])
def test_command_reaches_the_table_with_its_moment(
    table: ShownTable, paired: FlaskClient, path: str, form: dict[str, str | list[str]], request_: TableCommand
) -> None:
    table.show(samples.MIDGAME)
    sent = {"csrf": token(paired), "seen": "1-4", **form}
    answer = paired.post(path, data=sent, headers={"Origin": "http://localhost"})
    assert answer.status_code == 204
    assert table.submitted == [(request_, NOW)]


def test_command_without_a_moment_is_refused(table: ShownTable, paired: FlaskClient) -> None:
    table.show(samples.MIDGAME)
    answer = paired.post("/actions/undo", data={"csrf": token(paired)})
    assert answer.status_code == 400
    assert table.submitted == []


def test_looking_is_no_change(table: ShownTable, paired: FlaskClient) -> None:
    for path in COMMANDS:
        assert paired.get(path).status_code == 405
    assert table.submitted == []


@pytest.mark.parametrize("headers", PAGE_REQUESTS)
def test_form_without_script_comes_back_to_the_page(paired: FlaskClient, headers: dict[str, str]) -> None:
    answer = paired.post("/actions/undo", data={"csrf": token(paired), "seen": "0-0"}, headers=headers)
    assert answer.status_code == 303 and answer.headers["Location"] == "/"


def test_refusal_is_shown_in_one_line(table: ShownTable, paired: FlaskClient) -> None:
    table.show(samples.MIDGAME)
    table.refusal = "There is no play to challenge."
    assert press(paired, "/actions/challenge") == (409, "There is no play to challenge.\n")


def test_form_of_another_game_stays_refused(table: ShownTable, paired: FlaskClient) -> None:
    """Pressed again, the form would otherwise end or correct the game that has begun since it was opened."""
    table.show(replace(samples.MIDGAME, game=2))
    table.refusal = "Someone else was faster."
    answer = paired.post("/actions/end-game", data={"csrf": token(paired), "seen": "1-4"})
    assert answer.text.startswith("Another game has begun meanwhile") and "X-Seen" not in answer.headers


def test_square_of_a_blank_names_it(table: ShownTable, paired: FlaskClient) -> None:
    tiles = list(samples.MIDGAME.board.tiles)
    tiles[parse_square("I10")] = TileView(BLANK, 0, blank=True)
    table.show(replace(samples.MIDGAME, board=replace(samples.MIDGAME.board, tiles=tuple(tiles))))
    press(paired, "/actions/square", square="I10", letter="E", blank="1")
    press(paired, "/actions/square", square="E8", letter="E", blank="1")
    press(paired, "/actions/square", square="I10", letter="E")
    press(paired, "/actions/square", square="I10", letter="")
    assert [request for request, _ in table.submitted] == [
        NameBlank("I10", "E"),
        CorrectSquare("E8", "e"),
        CorrectSquare("I10", "E"),
        CorrectSquare("I10", "."),
    ]


def test_square_of_a_blank_that_has_a_letter_corrects_it(table: ShownTable, paired: FlaskClient) -> None:
    table.show(samples.MIDGAME)
    press(paired, "/actions/square", square="I10", letter="E", blank="1")
    assert table.submitted == [(CorrectSquare("I10", "e"), NOW)]


def test_square_that_is_none_reaches_nothing_else(table: ShownTable, paired: FlaskClient) -> None:
    table.show(samples.MIDGAME)
    press(paired, "/actions/square", square="Z99", letter="E", blank="1")
    assert table.submitted == [(CorrectSquare("Z99", "e"), NOW)]


@pytest.mark.parametrize("headers", PAGE_REQUESTS)
def test_refusal_without_script_is_a_page_with_a_way_back(
    table: ShownTable, paired: FlaskClient, headers: dict[str, str]
) -> None:
    table.refusal = "There is no <play> to challenge."
    answer = paired.post("/actions/challenge", data={"csrf": token(paired), "seen": "0-0"}, headers=headers)
    assert answer.status_code == 409
    assert "There is no &lt;play&gt; to challenge." in answer.text and 'href="/"' in answer.text


@pytest.mark.parametrize("headers", PAGE_REQUESTS)
def test_form_of_an_unpaired_phone_is_refused_by_a_page(client: FlaskClient, headers: dict[str, str]) -> None:
    answer = client.post("/actions/undo", data={"csrf": token(client), "seen": "0-0"}, headers=headers)
    assert answer.status_code == 403 and "not paired" in answer.text and 'href="/"' in answer.text


@pytest.mark.parametrize("count", ["", "three", "1.5"])
def test_exchange_needs_a_number(table: ShownTable, paired: FlaskClient, count: str) -> None:
    status, why = press(paired, "/actions/exchange", count=count)
    assert status == 400 and "field is empty" in why
    assert table.submitted == []


def test_turn_is_corrected_by_the_filled_in_fields(table: ShownTable, paired: FlaskClient) -> None:
    table.show(samples.MIDGAME)
    press(paired, "/actions/turn", number="3", player="1", word=" paste ", blanks="E", at="9d", score="−3")
    press(paired, "/actions/insert-turn", number="3", kind="exchange", count="2")
    assert [request for request, _ in table.submitted] == [
        CorrectTurn(3, player=1, word="PASTe", at="9d", score=-3),
        InsertTurn(3, kind="exchange", count=2),
    ]
    assert press(paired, "/actions/turn", number="3", score="many")[0] == 400


def test_blanks_without_a_word_are_those_of_the_recorded_word(table: ShownTable, paired: FlaskClient) -> None:
    table.show(samples.MIDGAME)
    press(paired, "/actions/turn", number="1", blanks="o")
    assert [request for request, _ in table.submitted] == [CorrectTurn(1, word="HoRN")]


def test_turn_that_was_not_seen_is_entered_by_hand(table: ShownTable, paired: FlaskClient) -> None:
    table.show(samples.MIDGAME)
    assert 'href="/dialogs/entry"' in paired.get("/dialogs/more").text
    assert 'href="/dialogs/turn?number=4&amp;insert"' in paired.get("/dialogs/entry").text
    html = paired.get("/dialogs/turn?number=4&insert").text
    assert 'action="/actions/insert-turn"' in html and '<option value="1" selected>Ben</option>' in html
    assert 'action="/actions/insert-turn"' not in paired.get("/dialogs/turn?number=9&insert").text
    press(paired, "/actions/insert-turn", number="4", player="1", kind="play", word="AXE", at="h1")
    assert table.submitted[0][0] == InsertTurn(4, player=1, kind="play", word="AXE", at="h1")


@pytest.mark.parametrize(
    ("typed", "blanks", "word"),
    [("pi", "", "PI"), ("Haus", "", "HAUS"), ("h.rn", "", "H.RN"), ("hello", "L", "HElLO"), ("hello", "ll", "HEllO")],
)
def test_word_of_a_phone_keyboard_is_entered_as_capitals(
    table: ShownTable, paired: FlaskClient, typed: str, blanks: str, word: str
) -> None:
    table.show(samples.MIDGAME)
    press(paired, "/actions/insert-turn", number="4", kind="play", word=typed, blanks=blanks, at="d3")
    assert table.submitted[0][0] == InsertTurn(4, kind="play", word=word, at="d3")


def test_word_of_the_entry_board_keeps_its_blanks(table: ShownTable, paired: FlaskClient) -> None:
    table.show(samples.MIDGAME)
    press(paired, "/actions/insert-turn", number="4", kind="play", notation="H.r", at="d3")
    assert table.submitted[0][0] == InsertTurn(4, kind="play", word="H.r", at="d3")


def test_blank_that_the_word_does_not_contain_is_refused(table: ShownTable, paired: FlaskClient) -> None:
    table.show(samples.MIDGAME)
    assert press(paired, "/actions/insert-turn", number="4", kind="play", word="PI", blanks="Q", at="d3")[0] == 400


def test_notice_is_shown_in_the_language_of_the_phone(table: ShownTable, paired: FlaskClient) -> None:
    table.show(replace(samples.MIDGAME, notices=(make_notice("begins", "Zoë"),)))
    german = {"Accept-Language": "de"}
    assert "Zoë beginnt." in paired.get("/", headers=german).text and "Zoë begins." in paired.get("/").text


def test_outcome_of_a_challenge_is_entered_by_hand(table: ShownTable, paired: FlaskClient) -> None:
    table.show(samples.MIDGAME)
    assert "/dialogs/decide-challenge" in paired.get("/dialogs/more").text
    html = paired.get("/dialogs/decide-challenge").text
    assert "Anna played PASTE, FARMS" in html and '<option value="1" selected>Ben</option>' in html
    assert 'name="upheld" value="true"' in html and 'name="upheld" value="false"' in html


def test_board_that_is_entered_is_sent_as_rows(table: ShownTable, paired: FlaskClient) -> None:
    table.show(samples.MIDGAME)
    html = paired.get("/dialogs/board").text
    assert 'action="/actions/board"' in html and html.count('data-lay="square"') == 225
    found = re.search(r"<textarea.*?>(.*?)</textarea>", html, re.S)
    assert found and found[1].splitlines()[7] == ". . . . H O R N . . . . . . ."
    press(paired, "/actions/board", symbols=found[1].replace("H O R N .", "H O R N S"))
    command = table.submitted[-1][0]
    assert isinstance(command, EnterBoard) and "".join(command.rows[7]) == "....HORNS......"


def test_board_of_too_few_squares_is_refused(table: ShownTable, paired: FlaskClient) -> None:
    table.show(samples.MIDGAME)
    assert press(paired, "/actions/board", symbols=". . .")[0] == 400
