"""The messages of a table (version 2), and functions that make them from a snapshot or from stored events.

Nothing here depends on the network. No message says whether a word is valid. `docs/hall-mqtt.md` describes the topics.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import Meta

from device.session.snapshot import TableSnapshot
from device.storage.store import StoredEvent
from engine.rules import MAX_PLAYERS

SCHEMA_VERSION = 2
MAX_REASON_CHARS = 200
"""Largest length of the reason in a table's answer, in characters."""
TOPIC_ROOT = f"tilekeeper/v{SCHEMA_VERSION}"
MAX_GAME_EVENTS = 3000
"""Largest number of events of a game, several times that of the longest known games."""

StoreId = Annotated[str, Meta(max_length=64)]
GameNumber = Annotated[int, Meta(gt=0, lt=2**53)]
Time = Annotated[float, Meta(ge=0, lt=1e11)]
Seconds = Annotated[float, Meta(gt=-1e11, lt=1e11)]


class Publication(msgspec.Struct, frozen=True):
    """A message with its topic. With `retain`, the broker keeps the topic's last message for new subscribers.

    If `message` is None, the broker keeps no message of this topic any more.
    """

    topic: str
    message: msgspec.Struct | Mapping[str, Any] | None
    retain: bool

    @property
    def payload(self) -> bytes:
        """The message as JSON in UTF-8."""
        return b"" if self.message is None else msgspec.json.encode(self.message)


class HallMessage(msgspec.Struct, frozen=True, kw_only=True):
    """Base class of the messages: the version of the schema (`v`) and the name of the table."""

    channel: ClassVar[str]
    """The last part of the topic."""
    is_retained: ClassVar[bool] = True
    table: str
    v: int = SCHEMA_VERSION

    @property
    def publication(self) -> Publication:
        """The message with the topic of its table.

        >>> TableStatus(table="7", online=False).publication.payload
        b'{"table":"7","v":2,"online":false}'
        """
        return Publication(f"{TOPIC_ROOT}/{self.table}/{self.channel}", self, self.is_retained)


class TableStatus(HallMessage, frozen=True, kw_only=True):
    """The status of a table's connection.

    If the connection is lost, the broker sends the status with `online` false.
    """

    channel = "status"
    online: bool


class TableEvent(HallMessage, frozen=True, kw_only=True):
    """An event of a game's log. A receiver must apply each event once, in the order of `number`.

    `store` (the id of the table's store), `game` and `number` identify the event. `number` counts the events of the
    game from 0, and `time` is in seconds since 1970. Event 0 is the start of the game in the format of
    `engine.events.to_json`, and the others are the entries of its ledger in the format of
    `engine.ledger_data.write_entry`; an undo is an entry, too.
    """

    channel = "events"
    is_retained = False
    store: StoreId
    game: GameNumber
    number: Annotated[int, Meta(ge=0, lt=MAX_GAME_EVENTS)]
    time: Time
    event: Mapping[str, Any]


class LoggedEvent(msgspec.Struct, frozen=True):
    """An event of a game's log with its time, as in `TableEvent`."""

    time: Time
    event: Mapping[str, Any]


class TableLog(HallMessage, frozen=True, kw_only=True):
    """The whole log of a game: `events` in order, from number 0.

    The retained one is that of the newest game, for receivers that are new or have missed events.
    """

    channel = "log"
    store: StoreId
    game: GameNumber
    events: Annotated[tuple[LoggedEvent, ...], Meta(min_length=1, max_length=MAX_GAME_EVENTS)]


class PlayerTotal(msgspec.Struct, frozen=True):
    """A player's name and total in points."""

    name: str
    total: int


class TableClock(msgspec.Struct, frozen=True):
    """The chess clocks: seconds used by each player at the time of the message, and the player whose clock runs.

    `limit` is the time of each player in seconds.
    """

    limit: Seconds
    used: tuple[Seconds, ...]
    running: int | None
    paused: bool


class OfferPairing(msgspec.Struct, frozen=True, tag_field="kind", tag="pairing"):
    """Tell a table which players play its next game: a pairing of the round `round`, in the order of their seats.

    If the players start this game before the director starts the round, its clocks are stopped until `started` is true.
    """

    players: tuple[str, ...]
    round: int = 0
    started: bool = True


class TableState(HallMessage, frozen=True, kw_only=True):
    """The state of a table. `game` is the number of its game (0 without a game), and `events` counts the game's events.

    `phase` is a phase of the session, and `turn_of` the index of the player whose turn it is (null before and after a
    game, and while players draw for first play). `in_bag` is the number of tiles in the bag. `trouble` names the parts
    with a fault: `board`, `camera`, `store`. `calls_director` is true while the players call the director. `name` is
    the name that the director has given to the table, empty if there is none, and `store` the id of its store, as in
    `TableEvent`. `offer` is the pairing that the director has sent last, or null.
    """

    channel = "state"
    store: StoreId
    game: Annotated[int, Meta(ge=0, lt=2**53)]
    events: Annotated[int, Meta(ge=0, le=MAX_GAME_EVENTS)]
    phase: str
    players: Annotated[tuple[PlayerTotal, ...], Meta(max_length=MAX_PLAYERS)]
    turn_of: int | None
    in_bag: int | None
    winners: tuple[int, ...]
    clock: TableClock | None
    trouble: tuple[str, ...]
    time: float
    calls_director: bool = False
    name: str = ""
    offer: OfferPairing | None = None


class OrderAnswer(HallMessage, frozen=True, kw_only=True):
    """The answer to the director's order `number`.

    If the table does not accept the order, `reason` is the reason in English, and `key` the key of this text in the
    catalogues.
    """

    channel = "answer"
    is_retained = False
    number: int
    accepted: bool
    reason: str = ""
    key: str = ""


def make_table_state(
    table: str,
    store: str,
    state: TableSnapshot,
    now: float,
    time: float,
    *,
    calls_director: bool = False,
    name: str = "",
    offer: OfferPairing | None = None,
) -> TableState:
    """Return the state of a table.

    `now` is the current time of the session's clock (s), and `time` is the current time in seconds since 1970.
    """
    clock = None
    if state.clock:
        used = tuple(round(seconds, 1) for seconds in state.clock.advance_to(now).used)
        clock = TableClock(state.clock.limit, used, state.clock.running, state.clock.paused)
    return TableState(
        table=table,
        store=store,
        game=state.game,
        events=state.events,
        phase=str(state.phase),
        players=tuple(PlayerTotal(player.name, player.total) for player in state.players),
        turn_of=state.turn_of,
        in_bag=state.in_bag,
        winners=state.winners,
        clock=clock,
        trouble=tuple(sorted({str(notice.trouble) for notice in state.notices} - {"none"})),
        time=time,
        calls_director=calls_director,
        name=name,
        offer=offer,
    )


def make_table_log(table: str, store: str, game: int, events: Iterable[StoredEvent]) -> TableLog:
    """Return the whole log of a game."""
    logged = tuple(LoggedEvent(one.time, one.body) for one in events)
    return TableLog(table=table, store=store, game=game, events=logged)
