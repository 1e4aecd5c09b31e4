"""Phones that belong to a player."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from device.session.commands.corrections import RenamePlayer
from device.session.commands.games import StartGame
from engine.events import GameStarted
from tests.support.api_table import STARTED, Program, WebTable, open_web_table
from tests.support.text_table import HORN
from tests.support.waiting import PATIENCE_S, until
from tests.web.conftest import token
from web.security.pairing import Pairing


@pytest.fixture
def table(tmp_path: Path) -> Iterator[WebTable]:
    with open_web_table(tmp_path, pairing=Pairing(file=tmp_path / "pairing.json")) as table:
        table.session.submit(StartGame(STARTED)).result(PATIENCE_S)
        table.board.lay(HORN)
        yield table


def assign(client: FlaskClient, player: str) -> int:
    return client.post("/phones/player", data={"csrf": token(client), "player": player}).status_code


def end_turn(table: WebTable, client: FlaskClient) -> str:
    """End the turn with the phone, and return the key of the open question; empty if a turn was recorded."""
    recorded = len(table.session.state.turns)
    data = {"csrf": token(client), "seen": table.seen}
    assert client.post("/actions/end-turn", data=data).status_code == 204
    until(lambda: table.session.state.question or len(table.session.state.turns) > recorded)
    question = table.session.state.question
    return question.key if question else ""


def get_players(table: WebTable) -> list[str]:
    return [client.player for client in table.app.extensions["pairing"].clients]


def test_phone_of_another_player_makes_a_question_of_its_press(table: WebTable, phone: FlaskClient) -> None:
    assert assign(phone, "Ben") == 205
    assert end_turn(table, phone) == "asked-out-of-turn"
    assert [turn.provisional for turn in table.session.state.turns] == [True]


@pytest.mark.parametrize("player", ["", "Anna"])
def test_phone_without_a_seat_or_of_the_right_player_makes_none(
    table: WebTable, phone: FlaskClient, player: str
) -> None:
    assert assign(phone, player) == 205
    assert end_turn(table, phone) == "" and [t.score for t in table.session.state.turns] == [14]


def test_api_never_makes_a_question_of_a_press(table: WebTable, phone: FlaskClient) -> None:
    assign(phone, "Ben")
    program = Program(table.app)
    program.pair(table.code)
    answer = program.call("POST", "/commands/end-turn", {"seen": table.seen})
    assert answer.json["question"] is None and len(answer.json["turns"]) == 1


def test_form_shows_the_player_of_this_phone(phone: FlaskClient) -> None:
    assign(phone, "Ben")
    page = phone.get("/phones").text
    assert "<option selected>Ben</option>" in page and "<option>Anna</option>" in page


def test_player_who_is_not_in_the_game_is_refused(table: WebTable, phone: FlaskClient) -> None:
    assert assign(phone, "Zoë") == 409 and get_players(table) == [""]


def test_stranger_has_no_seat(table: WebTable) -> None:
    assert assign(table.app.test_client(), "Anna") == 403


def test_seat_is_kept_over_a_restart(phone: FlaskClient, tmp_path: Path) -> None:
    assign(phone, "Ben")
    assert [client.player for client in Pairing(file=tmp_path / "pairing.json").clients] == ["Ben"]


def test_phone_follows_its_player_to_another_seat_and_has_none_without_him(table: WebTable, phone: FlaskClient) -> None:
    assign(phone, "Ben")
    (client,) = table.app.extensions["pairing"].clients
    assert [client.find_seat(names) for names in (("Anna", "Ben"), ("Ben", "Cleo"), ("Anna", "Cleo"))] == [1, 0, None]
    table.session.submit(StartGame(GameStarted(("Ben", "Cleo"), lexicon="test"))).result(PATIENCE_S)
    assert end_turn(table, phone) == ""


def test_phone_follows_its_player_to_another_name(table: WebTable, phone: FlaskClient) -> None:
    assign(phone, "Ben")
    table.session.submit(RenamePlayer(1, "Benjamin")).result(PATIENCE_S)
    assert get_players(table) == ["Benjamin"]
