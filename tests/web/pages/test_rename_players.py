"""Players who are renamed or merged in all games."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from device.session.commands.games import StartGame
from device.session.commands.turns import EndTurn
from tests.support.api_table import STARTED, WebTable, open_web_table
from tests.support.waiting import PATIENCE_S
from tests.web.conftest import token

OTHERS = replace(STARTED, players=("Ann", "Cem"))


@pytest.fixture
def table(tmp_path: Path) -> Iterator[WebTable]:
    """A table with a finished game of Anna and Ben, and a game of Ann and Cem that has just begun."""
    with open_web_table(tmp_path) as table:
        table.play_three_turns()
        table.end()
        table.session.submit(StartGame(OTHERS)).result(PATIENCE_S)
        yield table


def rename(phone: FlaskClient, before: str, after: str, **more: str) -> tuple[int, str]:
    form = {"csrf": token(phone), "player": before, "new_name": after, **more}
    answer = phone.post("/records/rename", data=form)
    return answer.status_code, answer.headers.get("Location", answer.text)


def test_player_is_renamed_in_all_games_and_in_the_list(table: WebTable, phone: FlaskClient) -> None:
    assert rename(phone, "Anna", " Anna  Maria ") == (303, "/records?player=Anna+Maria")
    assert "Anna Maria <b>39</b>" in phone.get("/history/1").text
    assert [name for name, _ in table.store.list_players()].count("Anna Maria") == 1
    assert "Anna" not in [name for name, _ in table.store.list_players()]


def test_two_names_of_one_person_are_merged_after_a_tick(table: WebTable, phone: FlaskClient) -> None:
    status, why = rename(phone, "Anna", "Ann")
    assert status == 409 and "tick the box" in why and "Anna <b>39</b>" in phone.get("/history/1").text
    assert rename(phone, "Anna", "Ann", merge="1")[0] == 303
    assert [game.id for game in table.store.list_games()] == [2, 1]
    assert (
        len([line for line in phone.get("/history?player=Ann").text.split('href="/history/')[1:] if line[0] in "12"])
        == 2
    )


def test_game_at_the_table_is_renamed_by_the_session(table: WebTable, phone: FlaskClient) -> None:
    assert rename(phone, "Cem", "Cemal")[0] == 303
    assert [player.name for player in table.session.state.players] == ["Ann", "Cemal"]
    assert table.session.state.undo


def test_phone_of_a_renamed_player_keeps_its_seat_in_later_games(table: WebTable, phone: FlaskClient) -> None:
    """Also if the player is not in the game at the table, whose renamed players the phones follow."""
    pairing = table.app.extensions["pairing"]
    pairing.assign_player(pairing.clients[0].id, "Anna")
    assert rename(phone, "Anna", "Anne")[0] == 303
    assert pairing.clients[0].find_seat(("Ben", "Anne")) == 1


def test_renaming_that_the_table_refuses_changes_nothing(table: WebTable, phone: FlaskClient) -> None:
    pairing = table.app.extensions["pairing"]
    pairing.assign_player(pairing.clients[0].id, "Cem")
    with table.board.hold_reading():
        reading = table.session.submit(EndTurn())
        assert rename(phone, "Cem", "Cemal")[0] == 409
    reading.result(PATIENCE_S)
    assert pairing.clients[0].find_seat(("Ann", "Cem")) == 1
    assert rename(phone, "Cem", "Cemal")[0] == 303
    assert [player.name for player in table.session.state.players] == ["Ann", "Cemal"]


def test_players_who_met_are_not_merged(phone: FlaskClient) -> None:
    status, why = rename(phone, "Anna", "Ben", merge="1")
    assert status == 409 and "played against each other" in why
    assert "Anna <b>39</b>" in phone.get("/history/1").text


@pytest.mark.parametrize(("before", "after"), [("Nobody", "Zoë"), ("Anna", " "), ("Anna", "x" * 60), ("", "Zoë")])
def test_unknown_player_or_impossible_name_is_refused(phone: FlaskClient, before: str, after: str) -> None:
    assert rename(phone, before, after)[0] == 400


def test_only_paired_phones_may_rename(table: WebTable, phone: FlaskClient) -> None:
    client = table.app.test_client()
    assert "/records/rename" not in client.get("/records?player=Anna").text
    assert "/records/rename" in phone.get("/records?player=Anna").text
    assert rename(client, "Anna", "Zoë")[0] == 403
