"""A hall with two tables, and its pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
from flask import Flask
from flask.testing import FlaskClient

from device.hall.messages import PlayerTotal, TableClock, TableState
from device.hall.receiving.event import Event as HallEvent
from device.hall.receiving.pairings import import_pairings
from device.hall.receiving.received_games import ReceivedGame
from device.hall.receiving.receiver import HallReceiver
from device.settings import HallSettings
from device.storage.store import StoredEvent
from engine.events import Event, GameStarted, PlayMade
from engine.rules import rules_preset
from tests.support.archives import write_acts
from tests.support.engine_table import new_game, written
from web.hall.app import create_hall_app
from web.hall.feed import HallFeed
from web.security.pairing import Pairing

CLOSED = rules_preset("tournament")
STARTED = GameStarted(("Anna", "Ben"), CLOSED, lexicon="en")
HORN = PlayMade(0, written(new_game(), "8F HORN"))


def received(
    table: str, events: Sequence[GameStarted | Event], started: float = 100.0
) -> tuple[ReceivedGame, list[StoredEvent]]:
    """Return a received game of a table, with an entry in each second."""
    first, *acts = events
    assert isinstance(first, GameStarted)
    bodies = write_acts(first, *(act for act in acts if not isinstance(act, GameStarted)))
    stored = [StoredEvent(i, started + i, body) for i, body in enumerate(bodies)]
    return ReceivedGame(int(started) + int(table.split()[-1]), table, 1, started, "a"), stored


def state_of(table: str, events: int, phase: str = "turn") -> TableState:
    """Return a state of a table with a game of Anna and Ben, in which Ben's clock runs."""
    players = (PlayerTotal("Anna", 14), PlayerTotal("Ben", 0))
    clock = TableClock(1500.0, (61.0, 0.0), 1, paused=False)
    return TableState(
        table=table, store="a", game=1, events=events, phase=phase, players=players, turn_of=1, in_bag=82, winners=(),
        clock=clock, trouble=(), time=200.0,
    )  # fmt: skip


class ShownHall(HallReceiver):
    """A hall without a broker: a test changes `state`, and `look` passes it on to the pages at a time."""

    def __init__(self) -> None:
        super().__init__(":memory:", HallSettings("127.0.0.1", 1))
        self.names: list[tuple[str, str]] = []
        self.state = self.state.apply_connection(is_connected=True)
        for name in ("Table 2", "Table 10"):
            self.state = self.state.apply_status(name, is_online=True)
        self.state = self.state.apply_game(*received("Table 2", [STARTED, HORN]))
        self.state = self.state.apply_table_state(state_of("Table 2", 2), 0.0)
        self.app: Flask = create_hall_app(self, Pairing())
        self.now = 0.0
        self.look()

    @property
    def feed(self) -> HallFeed:
        feed = self.app.extensions["live"]
        assert isinstance(feed, HallFeed)
        return feed

    def look(self, seconds: float = 0.0) -> None:
        """Let time pass, then pass on what is due."""
        self.now += seconds
        self.state = self.state.apply_assignment()
        self.feed.tick(self.now)

    def set_pairings(self, text: str) -> None:
        self.edit_event(lambda event: import_pairings(event, text))

    def begin_event(self) -> None:
        self.edit_event(lambda _: HallEvent(begun=150.0, last_game=500))

    def name_table(self, name: str, title: str) -> bool:
        is_known = name in self.state.tables
        self.names += [(name, title)] if is_known else []
        return is_known

    def trouble(self, name: str, *subjects: str) -> None:
        """Let a table report faults."""
        state = replace_state(state_of(name, 2), subjects)
        self.state = self.state.apply_table_state(state, self.now)


def replace_state(state: TableState, trouble: tuple[str, ...]) -> TableState:
    """Return the state with these faults."""
    from msgspec.structs import replace as replace_struct

    return replace_struct(state, trouble=trouble)


@pytest.fixture
def hall() -> Iterator[ShownHall]:
    with ShownHall() as hall:
        yield hall


@pytest.fixture
def client(hall: ShownHall) -> FlaskClient:
    hall.app.testing = True
    return hall.app.test_client()


@pytest.fixture
def director(hall: ShownHall) -> FlaskClient:
    """A browser that is paired with the hall."""
    client = hall.app.test_client()
    token = hall.app.extensions["pairing"].make_one_time_token()
    assert client.get(f"/enter/{token}").status_code == 303
    return client


__all__ = ["CLOSED", "HORN", "STARTED", "ShownHall", "received", "replace", "state_of"]
