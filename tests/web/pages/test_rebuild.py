"""The page that rebuilds a game from a final board and the written scores."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from device.session.commands.games import StartGame
from tests.support.api_table import STARTED, WebTable, open_web_table
from tests.support.text_table import FARM, HORN, PASTE
from tests.support.waiting import PATIENCE_S
from tests.web.conftest import token
from web.security.csrf import REBUILD_PATH

SCORES = ("14", "9", "25")


@pytest.fixture
def table(tmp_path: Path) -> Iterator[WebTable]:
    with open_web_table(tmp_path) as table:
        table.board.lay(HORN, FARM, PASTE)
        yield table


@pytest.fixture
def phone(table: WebTable) -> FlaskClient:
    client = table.app.test_client()
    client.post("/pair", data={"code": table.code, "csrf": token(client)})
    return client


def send(phone: FlaskClient, scores: tuple[str, ...] = SCORES, **fields: object) -> TestResponse:
    jpeg = cv2.imencode(".jpg", np.zeros((300, 400, 3), np.uint8))[1].tobytes()
    form = {"csrf": token(phone), "players": ["Anna", "Ben"], "score": list(scores), "tiles": "en", **fields}
    if "symbols" not in fields:
        form["photo"] = (io.BytesIO(jpeg), "board.jpg")
    return phone.post(REBUILD_PATH, data=form, content_type="multipart/form-data", headers={"Accept": "text/html"})


def find_symbols(page: str) -> str:
    found = re.search(r'<textarea id="symbols"[^>]*>([^<]*)<', page)
    assert found
    return found[1]


def test_page_is_for_paired_phones(table: WebTable) -> None:
    assert 'name="score"' not in table.app.test_client().get(REBUILD_PATH).text


def test_form_has_a_column_for_each_player(phone: FlaskClient) -> None:
    assert phone.get(f"{REBUILD_PATH}?players=3").text.count('name="players"') == 3


def test_photograph_and_scores_become_plays(phone: FlaskClient) -> None:
    page = send(phone).text
    assert 'name="save"' in page
    assert re.findall(r"<b>(\w+)</b> (\S+)</span>", page) == [("8F", "HORN"), ("H6", "FARM"), ("10F", "PASTE")]


def test_saved_game_is_an_imported_one(phone: FlaskClient, table: WebTable) -> None:
    answer = send(phone, symbols=find_symbols(send(phone).text), save="1")
    assert answer.status_code == 303
    [game] = table.store.list_games()
    assert game.imported
    assert "8F HORN +14 14" in phone.get(f"{answer.headers['Location']}/game.gcg").text


def test_turns_are_filled_into_the_game_at_the_table(phone: FlaskClient, table: WebTable) -> None:
    table.session.submit(StartGame(replace(STARTED, first=1))).result(PATIENCE_S)
    assert re.findall(r'name="players".*value="(\w+)"', phone.get(REBUILD_PATH).text) == ["Ben", "Anna"]
    link = re.search(r'href="(/history/rebuild[^"]*)"', phone.get("/dialogs/more").text)
    assert link and 'name="from_table" value="1" checked' in phone.get(link[1]).text
    page = send(phone, players=["Ben", "Anna"], symbols="", from_table="1").text
    answer = send(phone, players=["Ben", "Anna"], symbols=find_symbols(page), fill="1")
    assert answer.headers["Location"] == "/"
    turns = [(turn.player, turn.word) for turn in table.session.state.turns]
    assert turns == [(1, "HORN"), (0, "FA.M"), (1, "PASTE")]


def test_turns_of_other_players_are_not_offered_to_the_table(phone: FlaskClient, table: WebTable) -> None:
    table.session.submit(StartGame(STARTED)).result(PATIENCE_S)
    page = send(phone, players=["Anna", "Zoë"])
    assert 'name="save"' in page.text and 'name="fill"' not in page.text
    symbols = find_symbols(page.text)
    assert send(phone, players=["Anna", "Zoë"], symbols=symbols, fill="1").status_code == 200
    assert not table.session.state.turns


def test_wrong_score_is_named_with_the_right_one(phone: FlaskClient) -> None:
    page = send(phone, ("14", "8", "25")).text
    assert "Ben, row 1" in re.sub("[\u2066-\u2069]", "", page)
    assert 'name="save"' not in page


def test_scores_that_cannot_be_read_are_refused_and_kept(phone: FlaskClient) -> None:
    page = send(phone, ("twelve", "9")).text
    assert "is not a score" in page
    assert 'value="twelve"' in page


def test_form_without_a_board_asks_for_one(phone: FlaskClient) -> None:
    assert "Choose a photograph" in send(phone, symbols="").text


def test_board_that_is_no_board_is_refused(phone: FlaskClient) -> None:
    assert send(phone, symbols="A 7 !").status_code == 200
