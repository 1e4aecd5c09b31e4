"""A table that shows what a test lays before it, and the page over it."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import replace

import pytest
from flask import Flask
from flask.testing import FlaskClient

from device.session import Refused
from device.state import Listener, TableState
from web import create_app

from . import samples


class ShownTable:
    """The page's end of a session: states are put before it, and it notes which buttons were pressed."""

    def __init__(self) -> None:
        self.state = samples.EMPTY
        self.listeners: list[Listener] = []
        self.pressed: list[tuple[str, int | None]] = []
        self.refusal = ""

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
    app = create_app(table, panel=True)
    yield app
    app.extensions["live"].close()


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return app.test_client()
