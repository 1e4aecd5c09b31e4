"""A table that shows what a test lays before it, and the page over it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import TypeVar

import pytest
from flask import Flask
from flask.testing import FlaskClient

from device.cameras.phone import PhoneStreamCamera
from device.session.commands.base import TableCommand
from device.session.lookups import PlayPreview, preview_play
from device.session.messages import CommandRefusedError, Notice
from device.session.setup import SetupView
from device.session.snapshot import Listener, Moment, TableSnapshot
from engine.game import Game
from tests.support import samples
from tests.support.api_table import WebTable
from tests.support.thread_guard import thread_guard as thread_guard
from web import create_app


class ShownTable:
    """The page's end of a session: states are put before it, and it notes what was submitted."""

    def __init__(self) -> None:
        self.state = samples.EMPTY
        self.listeners: list[Listener] = []
        self.submitted: list[tuple[TableCommand, Moment | None]] = []
        self.seats: list[int | None] = []
        self.refusal = ""
        self.uses_phone_camera = False
        self.phone_stream: PhoneStreamCamera | None = None
        self.taught: tuple[str, ...] = ()
        corners = ((300.0, 80.0), (1000.0, 100.0), (1020.0, 800.0), (250.0, 790.0))
        self.view = SetupView(b"\xff\xd8jpeg", (1280, 960), corners, 0.9)

    def show(self, state: TableSnapshot) -> None:
        self.state = replace(state, revision=self.state.revision + 1)
        for listener in self.listeners:
            listener(self.state)

    def add_listener(self, listener: Listener) -> None:
        self.listeners.append(listener)

    def remove_listener(self, listener: Listener) -> None:
        self.listeners.remove(listener)

    def find_picture(self, name: str) -> bytes | None:
        return b"\xff\xd8jpeg" if name == "1-3" else None

    def notify(self, notice: Notice) -> None:
        self.show(replace(self.state, notices=(*self.state.notices, notice)))

    def list_players(self) -> tuple[tuple[str, str], ...]:
        return (("Anna", "violet"), ("Ben", ""), ("Zoë", "teal"))

    def look_up(self, word: str) -> bool | None:
        if not self.state.open_dictionary:
            raise CommandRefusedError("Words are looked up only in a challenge.")
        return None if self.state.lexicon is None else word in ("HORN", "FARM")

    def preview_play(self, at: str, word: str) -> PlayPreview:
        return preview_play(Game.start(("Anna", "Ben")), frozenset({"HORN"}), at, word)

    def list_blank_letters(self, square: str) -> tuple[str, ...]:
        return ("O", "I") if square == "I10" else tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ")

    def find_player_due(self, number: int) -> int:  # noqa: ARG002
        return self.state.turn_of or 0

    def capture_setup_view(self) -> Future[SetupView]:
        return done(self.view)

    def place_corners(self, corners: Sequence[tuple[float, float]] | None) -> Future[SetupView]:
        self.view = replace(self.view, corners=tuple(corners) if corners else None, placed=bool(corners))
        return done(self.view)

    def enrol_tiles(self, rows: Sequence[Sequence[str]]) -> Future[tuple[str, ...]]:
        self.taught = tuple("".join(row) for row in rows)
        return done(())

    def submit(
        self, request: TableCommand, expected: Moment | None = None, seat: int | None = None
    ) -> Future[TableSnapshot]:
        self.submitted.append((request, expected))
        self.seats.append(seat)
        if not self.refusal:
            return done(self.state)
        refused: Future[TableSnapshot] = Future()
        refused.set_exception(CommandRefusedError(self.refusal))
        return refused


Value = TypeVar("Value")


def done(value: Value) -> Future[Value]:
    """A future whose value is there already."""
    future: Future[Value] = Future()
    future.set_result(value)
    return future


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
    """A paired phone."""
    client = app.test_client()
    pair(client)
    return client


def token(client: FlaskClient) -> str:
    found = re.search(r'name="csrf" value="([^"]+)"', client.get("/pair").text)
    assert found
    return found[1]


def press(client: FlaskClient, path: str, seen: str = "1-4", **form: str) -> tuple[int, str]:
    """Send a form with the client's token; return the status and the text of the response."""
    answer = client.post(path, data={"csrf": token(client), "seen": seen, **form})
    return answer.status_code, answer.text


def pair(client: FlaskClient) -> None:
    code = client.application.extensions["pairing"].code
    assert client.post("/pair", data={"csrf": token(client), "code": code}).status_code == 205


@pytest.fixture
def phone(table: WebTable) -> FlaskClient:
    """A phone that was paired with a table with a store; it was the first one and is the admin."""
    client = table.app.test_client()
    pair(client)
    return client


@pytest.fixture
def admin(phone: FlaskClient) -> FlaskClient:
    """The phone that was paired first."""
    return phone
