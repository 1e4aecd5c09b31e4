"""The state of the hall as an immutable value, and how messages and the director change it.

Nothing here depends on the network or on a file. The engine replays the events of games, so totals are computed as at
the table. No word list is used, so the hall cannot reveal whether a word is valid.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from types import MappingProxyType

import msgspec

from device.catalogue import get_text
from device.hall.director import ORDER_REASONS
from device.hall.messages import MAX_REASON_CHARS, OfferPairing, OrderAnswer, TableState
from device.hall.receiving.event import (
    MAX_UNDO,
    NO_EVENT,
    Event,
    Line,
    PairingState,
    Result,
    Rounds,
    assign_games,
    find_current_round,
    make_players_key,
    make_result,
    make_rounds,
    undo_change,
)
from device.hall.receiving.received_games import ReceivedGame
from device.session.clock import ChessClock
from device.session.snapshot import Phase, PlayerView, TableSnapshot
from device.session.snapshot_builder import build_snapshot
from device.storage.archive import parse_ledger
from device.storage.errors import ArchiveError
from device.storage.game_log import UNREADABLE_GAME_ERRORS
from device.storage.store import StoredEvent
from engine.errors import RulesError
from engine.game import Game
from engine.messages import Message


@dataclass(frozen=True, slots=True)
class PlayedGame:
    """The newest game of a table. `game` is None if this version of the program cannot read its events."""

    received: ReceivedGame
    event_count: int
    game: Game | None
    snapshot: TableSnapshot


def replay_game(received: ReceivedGame, events: Sequence[StoredEvent]) -> PlayedGame:
    """Replay the events of a game after the same checks as for an imported game, because tables are not trusted."""
    try:
        game = parse_ledger(event.body for event in events).game
        snapshot = replace(
            build_snapshot(game, None), game=received.id, events=len(events), lexicon=game.start_event.lexicon
        )
    except (ArchiveError, *UNREADABLE_GAME_ERRORS):
        return PlayedGame(received, len(events), None, TableSnapshot(game=received.id, events=len(events)))
    return PlayedGame(received, len(events), game, snapshot)


MAX_PROBLEMS = 50
"""Largest number of refused messages that are kept for the pages."""
MAX_TABLES = 2000
"""Largest number of tables in a hall, so that a client that sends many names cannot fill the memory."""
_PHASES = {str(phase): phase for phase in Phase}


@dataclass(frozen=True, slots=True)
class HallTable:
    """One table in the state of the hall.

    `is_online` is None until the table's status is known. `state` is the last state that the table published, and
    `arrived` the time of its arrival (`time.monotonic()`). `revision` is the hall's revision after the last change of
    this table. `snapshot` is what the pages show (`_build_table_snapshot`).
    """

    name: str
    revision: int = 0
    is_online: bool | None = None
    state: TableState | None = None
    arrived: float = 0.0
    played: PlayedGame | None = None
    snapshot: TableSnapshot = field(default_factory=TableSnapshot)

    @property
    def title(self) -> str:
        """The name that the director has given to the table, or its own name if there is none."""
        return (self.state.name if self.state else "") or self.name

    @property
    def can_be_forgotten(self) -> bool:
        """True for a table that is known to be away. A table with a title is kept: pairings may name the title."""
        return self.is_online is False and self.title == self.name

    @property
    def needs_help(self) -> bool:
        """True if the table calls the director, reports a fault, or is offline in the middle of a game."""
        if self.state is None:
            return False
        is_playing = self.state.phase not in (Phase.LOBBY, Phase.ENDED)
        return self.state.calls_director or bool(self.state.trouble) or (is_playing and self.is_online is False)

    def make_snapshot(self, delay_s: float) -> TableSnapshot:
        """Return the snapshot for viewers who see the game and its clocks `delay_s` seconds late."""
        clock = self.snapshot.clock
        return replace(self.snapshot, clock=clock and replace(clock, since=clock.since + delay_s))

    @property
    def is_playing(self) -> bool:
        """True if a game is in progress at the table."""
        return self.snapshot.phase not in (Phase.LOBBY, Phase.ENDED)

    @property
    def is_waiting(self) -> bool:
        """True if a game without a turn is paused: it waits for the director."""
        return self.snapshot.phase is Phase.PAUSED and self.snapshot.game > 0 and not self.snapshot.turns

    @property
    def shown_game(self) -> PlayedGame | None:
        """The newest game, if its events can be read and if the table still shows it; otherwise None."""
        state, played = self.state, self.played
        if played is None or played.game is None:
            return None
        is_shown = state is None or is_state_of(state, played.received) or _is_state_after(state, played.received)
        return played if is_shown else None

    def is_newest(self, game: ReceivedGame) -> bool:
        """Return True if no other game of the table is newer.

        The game is compared with the newest one so far. If the table's state names one of the two, the named game is
        newer; otherwise the start times decide. Start times can be wrong: after the clock of a table was set back, a
        new game seems to start before earlier games.
        """
        shown = self.played.received if self.played else None
        if shown is None:
            return True
        if self.state and any(is_state_of(self.state, one) for one in (shown, game)):
            return is_state_of(self.state, game)
        return shown.started <= game.started


def _build_table_snapshot(table: HallTable) -> TableSnapshot:
    """Return what the pages show of a table, as a snapshot like that of a session.

    - If the table still shows its newest game, and the game's events can be read, the players, the board and the turns
      are those of the game. Otherwise they are those of the state that the table has published.
    - The phase, the player to move and the clocks are those of the state, if it belongs to the last received event of
      the shown game; otherwise they are those of the game.
    - If the hall has received neither a game nor a state, the table is in the lobby.
    """
    state, played = table.state, table.shown_game
    if played is None:
        return TableSnapshot(table.revision) if state is None else _build_short_snapshot(table, state)
    snapshot = replace(played.snapshot, revision=table.revision)
    if state is None or (state.game, state.events) != (played.received.number, played.event_count):
        return snapshot
    clock = _make_clock(table, state, snapshot.rules.overtime_points if snapshot.rules else 0)
    return replace(snapshot, phase=_read_phase(state), turn_of=state.turn_of, clock=clock)


def _build_short_snapshot(table: HallTable, state: TableState) -> TableSnapshot:
    return TableSnapshot(
        table.revision,
        phase=_read_phase(state),
        players=tuple(PlayerView(player.name, player.total) for player in state.players),
        turn_of=state.turn_of,
        in_bag=state.in_bag,
        winners=state.winners,
        clock=_make_clock(table, state, 0),
    )


def _make_clock(table: HallTable, state: TableState, overtime: int) -> ChessClock | None:
    clock = state.clock
    if clock is None:
        return None
    return ChessClock(clock.limit, overtime, clock.used, clock.running, clock.paused, table.arrived)


def is_state_of(state: TableState, game: ReceivedGame) -> bool:
    """Return True if a table's state is about this game.

    The number of the game and the store are compared.
    """
    return (state.game, state.store) == (game.number, game.store)


def _is_state_after(state: TableState, game: ReceivedGame) -> bool:
    """Return True if a table has no current game according to its state, so that its last game, `game`, is shown.

    In this case, the state names no game (number 0), and the store of `game`.
    """
    return (state.game, state.store) == (0, game.store)


def _read_phase(state: TableState) -> Phase:
    """Return the phase of a table; a phase that this version does not know counts as `Phase.TURN`."""
    return _PHASES.get(state.phase, Phase.TURN)


@dataclass(frozen=True, slots=True)
class HallState:
    """The state of a hall of many tables, as an immutable value.

    - `revision`: a number that increases with each change of the state.
    - `tables`: all tables by name, in the order of their names.
    - `names_revision`: the value of `revision` when a table was last added or removed.
    - `results`: the results of the games that have ended, in the order of their end.
    - `results_revision`: the value of `revision` at the last change of `results` or `event`.
    - `event`: the rounds of the event (tournament). `undo`: the event before each of the director's last changes, the
      newest last.
    - `problems`: texts about refused messages, the newest last.
    - `refusals`: why a table has refused the director's last order, by the name of the table.
    - `forgotten`: names of tables that are not shown until they connect again.
    - `is_connected`: True while the hall is connected to the broker.
    """

    revision: int = 0
    tables: Mapping[str, HallTable] = field(default_factory=lambda: MappingProxyType({}))
    names_revision: int = 0
    results: tuple[Result, ...] = ()
    results_revision: int = 0
    event: Event = NO_EVENT
    undo: tuple[Event, ...] = ()
    problems: tuple[str, ...] = ()
    refusals: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    forgotten: frozenset[str] = frozenset()
    is_connected: bool = False

    @property
    def all_results(self) -> list[Result]:
        """The results of ended games, and the current totals of games in progress."""
        running = [
            Result(table.name, shown.game.players, shown.game.totals, (), 0.0, shown.received.id)
            for table in self.tables.values()
            if table.is_playing and (shown := table.shown_game) and shown.game
        ]
        return [*self.results, *running]

    @property
    def rounds(self) -> Rounds:
        """The rounds of the event with the state of each pairing."""
        return make_rounds(self.event, self.all_results)

    @property
    def current_round(self) -> int:
        """The round that is played, 0 without rounds."""
        return find_current_round(self.event, self.rounds)

    def find_title(self, name: str) -> str:
        """Return the title of a table; for an unknown table, return `name`."""
        table = self.tables.get(name)
        return table.title if table else name

    def find_name(self, text: str) -> str:
        """Return the name of the table that the director means by `text`; if there is no such table, return `text`.

        The text may be the name or the title of a table, in any case, or only the number in one of these.
        """
        return self._name_tables().get(text.casefold()) or self._name_tables().get(_find_number(text), text)

    def _name_tables(self) -> Mapping[str, str]:
        """Return the names of the tables by name and title, and by a number that only one table has."""
        tables = list(self.tables.values())[::-1]  # of several tables, the first one has the text
        numbers = Counter(_find_number(table.name) for table in tables)
        names = {
            number: table.name for table in tables if (number := _find_number(table.name)) and numbers[number] == 1
        }
        names |= {table.title.casefold(): table.name for table in tables}
        return names | {table.name.casefold(): table.name for table in tables}

    def find_offer(self, name: str) -> OfferPairing | None:
        """Return the pairing at the table `name` in the round that was sent to the tables last, or None.

        The director may have written the title or number of the table in the pairing, as in `find_name`. A player with
        a bye has no pairing.
        """
        event = self.event
        names = self._name_tables() if event.sent else {}  # once for all pairings
        for one in event.rounds.get(event.sent, ()):
            table = names.get(one.table.casefold()) or names.get(_find_number(one.table))
            if one.second and table == name:
                return OfferPairing((one.first, one.second), event.sent, event.is_started)
        return None

    def find_game_result(self, game: int) -> Result | None:
        """Return the result of a game, or None."""
        return next((one for one in self.results if one.game == game), None)

    def describe_table(self, line: Line) -> str:
        """Return what the director must know of the table of a pairing without a result.

        It is `away`, `other` (it plays another game), `waits` (the game waits for the start of the round), `refused`,
        `unsent` (the table does not have the pairing yet), `ready`, or empty for a pairing at no known table.
        """
        table = self.tables.get(self.find_name(line.pairing.table))
        if table is None or (line.state is not PairingState.OPEN and line.state is not PairingState.PLAYING):
            return ""
        is_other = table.is_playing and make_players_key(one.name for one in table.snapshot.players) != line.pairing.key
        offer = self.find_offer(table.name) if line.round == self.event.sent else None
        if table.is_online is False:
            return "away"
        if is_other and line.state is PairingState.OPEN:
            return "other"
        if line.state is PairingState.PLAYING:
            return "waits" if table.is_waiting else ""
        if offer is None:
            return ""
        if table.state and table.state.offer == offer:
            return "ready"
        return "refused" if table.name in self.refusals else "unsent"

    def find_table(self, name: str) -> HallTable:
        """Return the table with this name, or a new one. Raises `TooManyTablesError`."""
        if name not in self.tables and len(self.tables) >= MAX_TABLES:
            raise TooManyTablesError(get_text("hall-too-many-tables", MAX_TABLES))
        return self.tables.get(name) or HallTable(name)

    def apply_status(self, name: str, *, is_online: bool) -> HallState:
        """Return the hall after the table `name` has come online or gone offline."""
        return self._replace_table(replace(self.find_table(name), is_online=is_online))

    def apply_table_state(self, state: TableState, arrived: float) -> HallState:
        """Return the hall after a state was received from a table at the time `arrived` (`time.monotonic()`)."""
        return self._replace_table(replace(self.find_table(state.table), state=state, arrived=arrived))

    def apply_forgotten_table(self, name: str) -> HallState:
        """Return the hall without a table until it connects again; its results stay.

        A table that cannot be forgotten is kept (`HallTable.can_be_forgotten`).
        """
        table = self.tables.get(name)
        if table is None or not table.can_be_forgotten:
            return self
        tables = MappingProxyType({key: one for key, one in self.tables.items() if key != name})
        return self._advance("names", tables=tables, forgotten=self.forgotten | {name})

    def apply_connection(self, *, is_connected: bool) -> HallState:
        """Return the hall after the connection to the broker was made or lost."""
        return self._advance(is_connected=is_connected)

    def apply_problem(self, text: str) -> HallState:
        """Return the hall with one more text about a refused message."""
        return self._advance(problems=(*self.problems[1 - MAX_PROBLEMS :], text))

    def apply_answer(self, answer: OrderAnswer) -> HallState:
        """Return the hall after a table has answered the last order to it."""
        text = answer.reason[:MAX_REASON_CHARS]
        reason = Message(text, answer.key, text) if answer.key in ORDER_REASONS else text
        others = {name: one for name, one in self.refusals.items() if name != answer.table}
        refusals = MappingProxyType(others if answer.accepted else {**others, answer.table: reason})
        return self if refusals == self.refusals else self._advance("results", refusals=refusals)

    def apply_results(self, results: Iterable[Result]) -> HallState:
        """Return the hall with `results` as its results, sorted by time."""
        return self._advance("results", results=tuple(sorted(results, key=lambda result: result.ended)))

    def apply_event(self, event: Event) -> HallState:
        """Return the hall after a change of its event by the director.

        Only a change of the rounds, or the begin of a new event, can be undone.
        """
        is_content = (event.rounds, event.begun) != (self.event.rounds, self.event.begun)
        undo = (*self.undo, self.event)[-MAX_UNDO:] if is_content else self.undo
        return self._advance("results", event=event, undo=undo).apply_assignment()

    def apply_undo(self) -> HallState:
        """Return the hall before the director's last change, with the games that have come since."""
        if not self.undo:
            return self
        *undo, before = self.undo
        return replace(self.apply_event(undo_change(self.event, before)), undo=tuple(undo))

    def apply_assignment(self) -> HallState:
        """Return the hall after each game of the event that had no round got one. Do nothing without rounds."""
        if not self.event.rounds:
            return self
        event = assign_games(self.event, self.all_results, self.find_name)
        return self if event == self.event else self._advance("results", event=event)

    def apply_game(self, received: ReceivedGame, events: Sequence[StoredEvent]) -> HallState:
        """Return the hall after events of a game were received; `events` are all events of the game.

        If the table has a newer game, only the result of the received game is updated. A result keeps the name that the
        table had when the game ended.
        """
        hall = self._remove_from_earlier_name(received)
        table, played = hall.find_table(received.table), replay_game(received, events)
        result = make_result(received.table, received.id, played.game, events[-1].time) if played.game else None
        before = hall.find_game_result(received.id)
        if result and before:
            result = msgspec.structs.replace(result, table=before.table)
        elif result and any(_is_same_game(result, one) for one in hall.results):
            result = None  # the events of the game were lost by damage of the file, and the table has sent them again
        if result != before:
            others = [one for one in hall.results if one.game != received.id]
            hall = hall.apply_results([*others, result] if result else others)
        return hall._replace_table(replace(table, played=played)) if table.is_newest(received) else hall

    def _remove_from_earlier_name(self, received: ReceivedGame) -> HallState:
        """Return the hall without the game `received` at another name, which the table had before it was renamed."""
        hall = self
        for table in self.tables.values():
            is_there = table.played is not None and table.played.received.id == received.id
            if is_there and table.name != received.table:
                hall = hall._replace_table(replace(table, played=None))
        return hall

    def _replace_table(self, table: HallTable) -> HallState:
        table = replace(table, revision=self.revision + 1)
        tables = {**self.tables, table.name: replace(table, snapshot=_build_table_snapshot(table))}
        if table.name in self.tables:
            return self._advance(tables=MappingProxyType(tables))
        tables = dict(sorted(tables.items(), key=lambda item: sort_key(item[0])))
        return self._advance("names", tables=MappingProxyType(tables))

    def _advance(self, part: str = "", **changes: object) -> HallState:
        """Return the hall with changed fields and the next revision.

        `part` is `names` or `results` if the change is one for which `names_revision` or `results_revision` counts.
        """
        revision = self.revision + 1
        changes |= {f"{part}_revision": revision} if part else {}
        return replace(self, revision=revision, **changes)  # type: ignore[arg-type]


def _is_same_game(result: Result, other: Result) -> bool:
    """Return True if two results are those of one game: the time of its end is equal, too."""
    return (result.players, result.totals, result.ended) == (other.players, other.totals, other.ended)


@lru_cache(maxsize=2 * MAX_TABLES)
def _find_number(text: str) -> str:
    """Return the number in a name of a table, such as `3` in `Table 03`; empty if it has several or none."""
    numbers = re.findall(r"[1-9]\d*", text)
    return numbers[0] if len(numbers) == 1 else ""


class TooManyTablesError(RulesError):
    """Error if there are more tables than a hall may have."""


@lru_cache(maxsize=2 * MAX_TABLES)
def sort_key(name: str) -> tuple[object, ...]:
    """Return a key that sorts names of tables, with the numbers in them in numerical order.

    >>> sorted(["Table 10", "Table 9", "A"], key=sort_key)
    ['A', 'Table 9', 'Table 10']
    """
    parts = re.split(r"(\d+)", name.casefold())
    return tuple((int(part), "") if part.isdecimal() else (-1, part) for part in parts)
