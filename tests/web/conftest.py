"""A table that shows what a test lays before it, and the page over it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import replace
from types import EllipsisType

import pytest
from flask import Flask
from flask.testing import FlaskClient

from device.session import Refused
from device.state import Listener, Notice, TableState
from device.view import Words
from engine.events import GameStarted
from web import create_app

from . import samples


class ShownTable:
    """The page's end of a session: states are put before it, and it notes which buttons were pressed."""

    def __init__(self) -> None:
        self.state = samples.EMPTY
        self.listeners: list[Listener] = []
        self.pressed: list[tuple[str, int | None]] = []
        self.refusal = ""
        self.started: GameStarted | None = None
        self.words: Words | EllipsisType | None = None

    def show(self, state: TableState) -> None:
        self.state = replace(state, revision=self.state.revision + 1)
        for listener in self.listeners:
            listener(self.state)

    def listen(self, listener: Listener) -> None:
        self.listeners.append(listener)

    def forget(self, listener: Listener) -> None:
        self.listeners.remove(listener)

    def picture(self, name: str) -> bytes | None:
        return b"\xff\xd8jpeg" if name == "1-3" else None

    def tell(self, notice: Notice) -> None:
        self.show(replace(self.state, notices=(*self.state.notices, notice)))

    def known_names(self) -> tuple[str, ...]:
        return ("Anna", "Ben", "Zoë")

    def start_game(
        self, started: GameStarted, seen: int | None = None, *, words: Words | EllipsisType | None = ...
    ) -> Future[TableState]:
        self.started, self.words = started, words
        return self._press("new game", seen)

    def pass_turn(self, seen: int | None = None) -> Future[TableState]:
        return self._press("pass", seen)

    def exchange(self, count: int, seen: int | None = None) -> Future[TableState]:
        return self._press(f"exchange {count}", seen)

    def correct(self, square: str, symbol: str, seen: int | None = None) -> Future[TableState]:
        return self._press(f"{square} is {symbol}", seen)

    def name_blank(self, square: str, letter: str, seen: int | None = None) -> Future[TableState]:
        return self._press(f"blank {square} is {letter}", seen)

    def tell_rack(self, player: int, letters: str, seen: int | None = None) -> Future[TableState]:
        return self._press(f"player {player} has {letters}", seen)

    def end_turn(self, seen: int | None = None) -> Future[TableState]:
        return self._press("end turn", seen)

    def challenge(self, seen: int | None = None) -> Future[TableState]:
        return self._press("challenge", seen)

    def answer(self, number: int, seen: int | None = None) -> Future[TableState]:
        return self._press(f"answer {number}", seen)

    def end_game(self, seen: int | None = None) -> Future[TableState]:
        return self._press("end game", seen)

    def undo(self, seen: int | None = None) -> Future[TableState]:
        return self._press("undo", seen)

    def _press(self, button: str, seen: int | None) -> Future[TableState]:
        self.pressed.append((button, seen))
        done: Future[TableState] = Future()
        if self.refusal:
            done.set_exception(Refused(self.refusal))
        else:
            done.set_result(self.state)
        return done


@pytest.fixture
def table() -> ShownTable:
    return ShownTable()


@pytest.fixture
def app(table: ShownTable) -> Iterator[Flask]:
    app = create_app(table)
    yield app
    app.extensions["live"].close()


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    """A phone that looks."""
    return app.test_client()


@pytest.fixture
def paired(app: Flask) -> FlaskClient:
    """A phone that was told the code."""
    client = app.test_client()
    pair(client)
    return client


def token(client: FlaskClient) -> str:
    found = re.search(r'name="csrf" value="([^"]+)"', client.get("/pair").text)
    assert found
    return found[1]


def pair(client: FlaskClient) -> None:
    code = client.application.extensions["pairing"].code
    assert client.post("/pair", data={"csrf": token(client), "code": code}).status_code == 205
