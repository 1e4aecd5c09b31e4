"""Forms about one turn, while another phone corrects or enters turns."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from device.session.commands.base import TableCommand
from device.session.commands.challenges import ChallengePlay
from device.session.commands.corrections import CorrectSquare
from device.session.commands.games import StartGame, Undo
from device.session.commands.turn_corrections import CorrectTurn, InsertTurn
from device.session.commands.turns import PassTurn
from engine.events import GameStarted
from engine.rules import Rules
from tests.support.api_table import WebTable, open_web_table
from tests.support.text_table import FARM, HORN, PASTE, rows
from tests.support.waiting import PATIENCE_S

Turns = list[tuple[int, str, int]]


@pytest.fixture
def table(tmp_path: Path) -> Iterator[WebTable]:
    """A table with a game of three plays and three passes; Anna passed between two passes of Ben."""
    with open_web_table(tmp_path) as table:
        table.play_three_turns()
        for _ in range(3):
            run(table, PassTurn())
        yield table


def run(table: WebTable, command: TableCommand) -> None:
    table.session.submit(command).result(PATIENCE_S)


def list_turns(table: WebTable) -> Turns:
    return [(turn.player, turn.kind, turn.score) for turn in table.session.state.turns]


def fill_in(phone: FlaskClient, path: str, **fields: str) -> dict[str, str]:
    """Return the fields of a form with its hidden fields."""
    page = phone.get(path).text
    form = next(form for form in re.findall(r"<form.*?</form>", page, re.DOTALL) if 'name="seen"' in form)
    hidden = re.findall(r'<input type="hidden" name="(\w+)"(?: value="([^"]*)")?>', form)
    return dict(hidden) | fields


def press_twice(phone: FlaskClient, path: str, form: dict[str, str]) -> TestResponse:
    """Send a form as its page does, and again after the user has read what happened meanwhile."""
    first = phone.post(path, data=form)
    return phone.post(path, data=form | {"seen": first.headers.get("X-Seen", form["seen"])})


def test_correction_of_a_turn_that_got_another_number_is_refused(table: WebTable, phone: FlaskClient) -> None:
    form = fill_in(phone, "/dialogs/turn?number=5", score="50")
    run(table, CorrectTurn(4, kind="none"))
    after = list_turns(table)
    answer = press_twice(phone, "/actions/turn", form)
    assert (answer.status_code, list_turns(table)) == (409, after)
    assert "open the form again" in answer.text


@pytest.mark.parametrize("action", ["pass", "exchange"])
def test_pass_of_a_turn_that_has_ended_is_not_one_of_the_next_player(
    table: WebTable, phone: FlaskClient, action: str
) -> None:
    """The phone slept with the form of Anna's turn, and the button of the table ended this turn."""
    form = fill_in(phone, "/dialogs/exchange", count="3")
    run(table, InsertTurn(7, at="8J", word="S"))
    after = list_turns(table)
    answer = press_twice(phone, f"/actions/{action}", form)
    assert (answer.status_code, list_turns(table)) == (409, after)


@pytest.mark.parametrize("change", [Undo(), CorrectTurn(6, player=0)])
def test_exchange_of_a_player_who_is_not_to_move_any_more_is_refused(
    table: WebTable, phone: FlaskClient, change: TableCommand
) -> None:
    """The form was opened for Anna's turn, but her last turn was taken back, or the last pass was hers."""
    form = fill_in(phone, "/dialogs/exchange", count="3")
    run(table, change)
    after = list_turns(table)
    answer = press_twice(phone, "/actions/exchange", form)
    assert (answer.status_code, list_turns(table)) == (409, after)


def test_board_before_a_turn_that_has_ended_takes_no_play_back(table: WebTable, phone: FlaskClient) -> None:
    form = fill_in(phone, "/dialogs/board")
    form["symbols"] = " ".join("".join(rows(HORN, FARM, PASTE)))
    run(table, InsertTurn(7, at="8F", word="....S"))
    after = list_turns(table)
    answer = press_twice(phone, "/actions/board", form)
    assert (answer.status_code, list_turns(table)) == (409, after)


def test_board_from_before_a_correction_does_not_undo_it(table: WebTable, phone: FlaskClient) -> None:
    """If letters may be recycled, the old letter on the form would be a swap."""
    run(table, StartGame(GameStarted(("Anna", "Ben"), Rules(recycle=True))))
    run(table, InsertTurn(1, at="8F", word="HARE"))
    form = fill_in(phone, "/dialogs/board")
    form["symbols"] = " ".join("".join(rows(("HARES", 7, 5, True))))
    run(table, CorrectSquare("F8", "C"))
    answer = press_twice(phone, "/actions/board", form)
    assert (answer.status_code, [turn.word for turn in table.session.state.turns]) == (409, ["CARE"])
    assert "open the form again" in answer.text


def test_challenge_that_was_decided_late_is_not_one_of_a_later_play(table: WebTable, phone: FlaskClient) -> None:
    for _ in range(3):
        run(table, Undo())
    form = fill_in(phone, "/dialogs/decide-challenge", player="1", upheld="true")
    run(table, InsertTurn(4, kind="pass"))
    run(table, InsertTurn(5, at="8F", word="....S"))
    after = list_turns(table)
    answer = press_twice(phone, "/actions/decide-challenge", form)
    assert (answer.status_code, list_turns(table)) == (409, after)


def test_turn_that_another_phone_has_entered_is_not_entered_again(table: WebTable, phone: FlaskClient) -> None:
    form = fill_in(phone, "/dialogs/entry", at="8J", notation="S", kind="play")
    run(table, InsertTurn(7, kind="pass"))
    after = list_turns(table)
    assert press_twice(phone, "/actions/insert-turn", form).status_code == 409
    assert list_turns(table) == after


def test_missing_turn_is_not_inserted_before_another_turn(table: WebTable, phone: FlaskClient) -> None:
    form = fill_in(phone, "/dialogs/turn?number=5&insert", kind="pass", player="1")
    run(table, CorrectTurn(4, kind="none"))
    after = list_turns(table)
    assert press_twice(phone, "/actions/insert-turn", form).status_code == 409
    assert list_turns(table) == after


def test_correction_of_a_turn_counts_after_a_later_turn(table: WebTable, phone: FlaskClient) -> None:
    form = fill_in(phone, "/dialogs/turn?number=5", score="50")
    run(table, InsertTurn(7, kind="pass"))
    assert press_twice(phone, "/actions/turn", form).status_code == 204
    assert list_turns(table)[4] == (0, "pass", 50)


@pytest.mark.parametrize(("number", "player"), [(4, "Ben"), (5, "Anna"), (1, "Anna")])
def test_missing_turn_is_first_that_of_the_player_whose_turn_it_was(
    phone: FlaskClient, number: int, player: str
) -> None:
    assert find_chosen_player(phone, number) == player


def test_missing_turn_after_a_challenge_in_vain_is_first_that_of_the_player_who_went_on(
    table: WebTable, phone: FlaskClient
) -> None:
    for command in (Undo(), Undo(), Undo(), ChallengePlay(), PassTurn()):  # Ben has challenged, so Anna goes on
        run(table, command)
    assert [turn.kind for turn in table.session.state.turns[3:]] == ["challenge", "pass"]
    assert find_chosen_player(phone, 5) == "Anna"


def find_chosen_player(phone: FlaskClient, number: int) -> str:
    """Return the player who is chosen in the form for a missing turn."""
    page = phone.get(f"/dialogs/turn?number={number}&insert").text
    (player,) = re.findall(r"<option[^>]* selected>(Anna|Ben)<", page)
    return str(player)
