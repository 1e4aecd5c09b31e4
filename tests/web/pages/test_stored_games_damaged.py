"""Pages of a store with damaged games: they are named, exported as far as they can be read, and no page fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from device.demo.demo_table import load_demo_games
from device.storage.archive import make_ledger
from device.storage.game_log import write_ledger
from device.storage.recovery import open_store
from device.storage.store import GameStore, StoredEvent
from engine.gcg import build_game
from tests.support.damaged_store import change_store
from tests.web.conftest import ShownTable
from web import create_app

ADDRESSES = [
    "/history", "/records", "/api/v1/games", "/api/v1/records", "/api/v1/players",
    *(f"/history/{game}{end}" for game in (1, 2, 3) for end in ("", "/game.gcg", "/game.zip", "/1.jpg", "?turn=1")),
    *(f"/api/v1/games/{game}{end}" for game in (1, 2, 3) for end in ("", "/gcg", "/zip")),
]  # fmt: skip


def fetch(path: Path) -> dict[str, tuple[int, str]]:
    """Return status and text of all addresses."""
    store, _ = open_store(path)
    with store:
        app = create_app(ShownTable(), store=store)
        try:
            client = app.test_client()
            answers = {}
            for address in ADDRESSES:
                response = client.get(address)
                answers[address] = response.status_code, response.get_data().decode(errors="replace")
            return answers
        finally:
            app.extensions["live"].close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store with three recorded games."""
    with GameStore(tmp_path / "games.db") as store:
        for hour, record in enumerate(load_demo_games().values()):
            bodies = write_ledger(make_ledger(build_game(record)))
            started = 1.7e9 + 3600 * hour
            events = [StoredEvent(number, started + number, body) for number, body in enumerate(bodies)]
            store.add_game(started, events, ())
    return tmp_path / "games.db"


@pytest.mark.parametrize("number", [0, 2])
@pytest.mark.parametrize(
    "value",
    [
        "body = substr(body, 1, 20)",
        "body = '[]'",
        "body = '{}'",
        "body = CAST(X'7BFF' AS TEXT)",
        "body = json_set(body, '$.kind', 'coup')",
        "time = 1e300",
        "time = -1e300",
    ],
)
def test_pages_of_store_with_damaged_event_answer(path: Path, number: int, value: str) -> None:
    change_store(path, f"UPDATE event SET {value} WHERE game = 1 AND number = {number}")
    answers = fetch(path)
    assert {address: answer for address, answer in answers.items() if answer[0] >= 500} == {}
    assert answers["/history/3"][0] == 200 and answers["/history"][0] == 200
    assert "Game 1 is damaged" in answers["/history"][1]
    assert answers["/history/1"][0] == (200 if number else 404)


@pytest.mark.parametrize("value", ["started = 1e300", "started = -1e300", "started = 9e18"])
def test_pages_of_store_with_odd_start_time_answer(path: Path, value: str) -> None:
    change_store(path, f"UPDATE game SET {value} WHERE id = 1")
    assert {address: answer for address, answer in fetch(path).items() if answer[0] >= 500} == {}
