"""A real session with a `TextTable`, a store on disk, and the web page with its API."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from flask import Flask
from flask.testing import FlaskClient

from device.session.commands.corrections import RevealRack
from device.session.commands.games import EndGame, StartGame
from device.session.commands.turns import EndTurn
from device.session.table_session import TableSession
from device.storage.store import GameStore
from engine.events import GameStarted
from engine.rules import PRESETS
from tests.support.text_table import FARM, HORN, PASTE, TextTable
from tests.support.waiting import PATIENCE_S
from web import create_app

WORDS = frozenset({"HORN", "FARM", "FARMS", "PASTE"})
STARTED = GameStarted(("Anna", "Ben"), PRESETS["classic-2008"], lexicon="test")
API = "/api/v1"


class WebTable:
    """A table with its store, session and web application."""

    def __init__(self, board: TextTable, store: GameStore, session: TableSession, app: Flask) -> None:
        self.board, self.store, self.session, self.app = board, store, session, app

    def play_three_turns(self) -> None:
        """Start a game and play HORN, FARM and PASTE, as in the rule sheet: 39 to 9 points."""
        self.session.submit(StartGame(STARTED)).result(PATIENCE_S)
        for words in ((HORN,), (HORN, FARM), (HORN, FARM, PASTE)):
            self.board.lay(*words)
            self.session.submit(EndTurn()).result(PATIENCE_S)

    def end(self) -> None:
        """End the game, and enter racks without letters, so that the game has a winner."""
        self.session.submit(EndGame()).result(PATIENCE_S)
        for player in self.session.state.racks_wanted:
            self.session.submit(RevealRack(player, "")).result(PATIENCE_S)

    @property
    def seen(self) -> str:
        return str(self.session.state.moment)

    @property
    def code(self) -> str:
        return str(self.app.extensions["pairing"].code)


@contextmanager
def open_web_table(folder: Path, **options: Any) -> Iterator[WebTable]:
    board = TextTable()
    with GameStore(folder / "games.db") as store, TableSession(board, board, store, WORDS) as session:
        app = create_app(session, store=store, **options)
        try:
            yield WebTable(board, store, session, app)
        finally:
            app.extensions["live"].close()


class Program:
    """An API client that sends JSON, and its token once it is paired."""

    def __init__(self, app: Flask) -> None:
        self.client: FlaskClient = app.test_client()
        self.token = ""

    def call(self, method: str, path: str, json: Any = None, **more: Any) -> Any:
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        headers |= more.pop("headers", {})
        return self.client.open(f"{API}{path}", method=method, json=json, headers=headers, **more)

    def pair(self, code: str) -> dict[str, Any]:
        answer = self.call("POST", "/pairing", {"code": code, "device": "club's own"})
        assert answer.status_code == 201, answer.text
        self.token = answer.json["token"]
        return dict(answer.json)
