"""The page that shows what is stored, and deletes the pictures."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from tests.support.api_table import WebTable, open_web_table
from tests.web.conftest import pair, token
from web.host_info import HostInfo


@pytest.fixture
def table(tmp_path: Path) -> Iterator[WebTable]:
    with open_web_table(tmp_path, host_info=HostInfo(data_folder="/var/lib/tilekeeper")) as table:
        table.play_three_turns()
        yield table


def test_page_names_everything_that_is_stored(admin: FlaskClient) -> None:
    page = admin.get("/data").text
    assert "/var/lib/tilekeeper" in page and "6 pictures of the table" in page
    assert "older than 365 days" in page and "Above 4096 MB" in page
    assert "One game with all turns" in page and "The names of 2 players." in page and "One paired phone" in page


def test_pictures_are_deleted_after_a_question(table: WebTable, admin: FlaskClient) -> None:
    assert "Delete all 6 pictures" in admin.get("/data/pictures/delete").text
    assert admin.post("/data/pictures/delete", data={"csrf": token(admin)}).status_code == 303
    assert table.store.list_pictures(1) == () and len(table.store.read_events(1)) == 4
    page = admin.get("/data").text
    assert "No pictures are stored." in page and "/data/pictures/delete" not in page


def test_guest_may_look_but_not_delete(table: WebTable, admin: FlaskClient) -> None:
    guest = table.app.test_client()
    pair(guest)
    assert "6 pictures" in guest.get("/data").text and "Delete all pictures" not in guest.get("/data").text
    assert guest.get("/data/pictures/delete").status_code == 403
    assert guest.post("/data/pictures/delete", data={"csrf": token(guest)}).status_code == 403
    assert len(table.store.list_pictures(1)) == 6 and admin.get("/data").status_code == 200


def test_all_games_of_one_table_are_brought_back_at_another(
    table: WebTable, admin: FlaskClient, tmp_path: Path
) -> None:
    saved = admin.get("/data/games.db").data
    (tmp_path / "other").mkdir()
    games = table.store.list_games()
    with open_web_table(tmp_path / "other") as other:
        owner = other.app.test_client()
        pair(owner)
        for count in (1, 0):  # nothing is there twice
            form = {"csrf": token(owner), "file": (io.BytesIO(saved), "games.db")}
            assert owner.post("/data/games", data=form).headers["Location"] == f"/data?restored={count}"
        found = other.store.list_games()
        assert [(game.started, game.players) for game in found] == [(game.started, game.players) for game in games]
        assert other.store.read_events(found[0].id) == table.store.read_events(games[0].id)
        form = {"csrf": token(owner), "file": (io.BytesIO(b"no store" * 1000), "games.db")}
        assert owner.post("/data/games", data=form).status_code == 503
    guest = table.app.test_client()
    pair(guest)
    assert guest.get("/data/games.db").status_code == 403
    assert guest.post("/data/games", data={"csrf": token(guest)}).status_code == 403


def test_stranger_is_asked_to_pair(table: WebTable) -> None:
    assert 'action="/pair"' in table.app.test_client().get("/data").text
