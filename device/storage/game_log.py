"""A game and its log: each event is on disk before it takes effect, and each press can be undone as a whole.

`EventHistory` alone gives `Undone` and `Redone` their meaning. Every event in the log has the number of its press
(`press`), and `way` if that press undid or redid another one. Undo and redo append events, so the log only grows.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from device.storage.errors import GameDeletedError, describe_unreadable_game
from device.storage.store import EventBody, GameStore, StoreError
from engine.errors import NotationError, RulesError
from engine.events import ClockRead, Event, GameStarted, Redone, Undone, from_json, to_json
from engine.game import Game
from engine.messages import said

UNREADABLE_GAME_ERRORS = (
    NotationError,
    RulesError,
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)
"""What replaying raises for events that are no game: the engine trusts the events that this program wrote."""
UNDO, REDO = "undo", "redo"


class EventHistory:
    """The events of a log that are in effect, with the game after each of them, and those that were undone.

    >>> from engine.events import GameStarted, Passed
    >>> history = EventHistory(GameStarted(("Anna", "Ben")))
    >>> for event in (Passed(0), Passed(1), Undone()):
    ...     history.apply_event(event)
    >>> history.game.events[1:]
    (Passed(player=0),)
    """

    def __init__(self, start: Event) -> None:
        """Begin with the first event of a log. Raises `RulesError` if it does not start a game."""
        self._games = [Game.from_events([start])]
        self._undone: list[Event] = []

    def copy(self) -> EventHistory:
        """Return a history with the same events, to try further ones on."""
        other = copy.copy(self)
        other._games, other._undone = self._games.copy(), self._undone.copy()
        return other

    @property
    def game(self) -> Game:
        """The game that the events in effect make."""
        return self._games[-1]

    def apply_event(self, event: Event) -> None:
        """Apply the next event of the log.

        `Undone` takes the last event out of effect, `Redone` brings back the one undone last; any other event makes it
        impossible to redo. Raises `RulesError`, `NotationError`; then nothing has changed.
        """
        match event:
            case Undone():
                if len(self._games) < 2:
                    raise RulesError(said("nothing-back", "there is nothing to take back"))
                self._undone.append(self._games.pop().events[-1])
            case Redone():
                if not self._undone:
                    raise RulesError(said("nothing-again", "there is nothing to bring back"))
                self._games.append(self.game.push(self._undone[-1]))
                self._undone.pop()
            case _:
                self._games.append(self.game.push(event))
                self._undone.clear()


def replay_log(events: Iterable[Event]) -> Game:
    """Return the game that the events of a log make. Raises `RulesError`, `NotationError`."""
    events = iter(events)
    first = next(events, None)
    if first is None:
        raise RulesError(said("no-beginning", "a game begins with GameStarted"))
    history = EventHistory(first)
    for event in events:
        history.apply_event(event)
    return history.game


class GameLog:
    """A game of the store. Events that the disk does not accept are kept in memory and saved with the next ones."""

    def __init__(self, store: GameStore, number: int, bodies: Iterable[EventBody]) -> None:
        """Replay the events of a game. Raises `RulesError`, `NotationError` for events that are not a game."""
        self._store = store
        self.number = number
        """The game's number in the store."""
        self.length = 0
        """Number of events in the log, including those that were undone."""
        self._unsaved_start: EventBody | None = None
        self._unsaved_presses: list[tuple[list[EventBody], Mapping[str, bytes]]] = []
        self._earlier_logs: tuple[GameLog, ...] = ()
        self._undo_stack: list[Game] = []
        self._redo_stack: list[Game] = []
        self._press_number = 0
        self.seconds_used: tuple[float, ...] = ()
        """Seconds used by each player at the last press that recorded the clocks, or that was undone or redone."""
        numbered = enumerate(bodies)
        for (_, way), group in groupby(
            numbered, key=lambda pair: (pair[1].get("press", pair[0]), _read_direction(pair[1]))
        ):
            self._replay_press([(at, from_json(body), body) for at, body in group], way)

    def _replay_press(self, entries: Sequence[tuple[int, Event, EventBody]], way: str) -> None:
        events = [event for _, event, _ in entries]
        if self.length == 0:
            self._history = EventHistory(events[0])
            self.seconds_used = (0.0,) * len(self.game.players)
            self._apply_events(events[1:])
        else:
            self._apply_press(events, way)
        self._count_events(events)
        self._press_number = max(self._press_number, int(entries[-1][2].get("press", entries[-1][0])))

    @classmethod
    def begin_game(cls, store: GameStore, started: GameStarted, before: GameLog | None = None) -> tuple[GameLog, str]:
        """Start a game; return it and why it is in memory only (empty if it is on disk).

        Unsaved events of the game `before` are kept and saved first. Raises `RulesError`, `NotationError` for a game
        that no rule sheet allows.
        """
        body = {**to_json(started), "press": 0}
        earlier = before._find_unsaved_logs() if before else ()
        log = cls(store, store.next_game_number + sum(one._unsaved_start is not None for one in earlier), [body])
        log._unsaved_start, log._earlier_logs = body, earlier
        return log, log.save()

    @classmethod
    def load_newest(cls, store: GameStore) -> GameLog | None:
        """Return the newest game of the store; None if there is none. Raises `StoreError` if it is damaged."""
        newest = next((game for game in store.games() if not game.imported), None)
        if newest is None:
            return None
        if newest.damage:
            raise StoreError(newest.damage)
        try:
            return cls(store, newest.id, [event.body for event in store.events(newest.id)])
        except UNREADABLE_GAME_ERRORS as error:
            raise StoreError(describe_unreadable_game(newest.id, error)) from error

    @property
    def has_unsaved(self) -> bool:
        """True while events of this game, or of one before it, are in memory only."""
        return bool(self._find_unsaved_logs())

    def save(self) -> str:
        """Save unsaved events, oldest game first; return why that failed, empty if it did not."""
        try:
            for log in self._find_unsaved_logs():
                log._write_unsaved()
        except StoreError as error:
            return str(error)
        self._earlier_logs = ()
        return ""

    @property
    def game(self) -> Game:
        """The game that the events in effect make."""
        return self._history.game

    @property
    def can_undo(self) -> bool:
        """True if there is a press to undo."""
        return bool(self._undo_stack)

    @property
    def can_redo(self) -> bool:
        """True if there is a press to redo."""
        return bool(self._redo_stack)

    def append(self, events: Sequence[Event], pictures: Mapping[str, bytes] | None = None) -> str:
        """Save the events of a press, then apply them.

        Returns why they are in memory only, empty if they are on disk. Raises `RulesError` for impossible events; then
        nothing has changed.
        """
        self._apply_press(events, "")
        self._press_number += 1
        return self._save_events(events, "", pictures or {})

    @property
    def game_before_last_press(self) -> Game | None:
        """The game before the last press; None if there is no press to undo."""
        return self._undo_stack[-1] if self._undo_stack else None

    def replace_last_press(self, events: Sequence[Event]) -> str:
        """Replace the events of the last press by others, as part of the same press; its clock events stay.

        Raises `RulesError` for impossible events; then nothing has changed.
        """
        game = self._undo_stack[-1]
        clocks = [event for event in self.game.events[len(game.events) :] if isinstance(event, ClockRead)]
        for event in (*clocks, *events):
            game = game.push(event)
        steps = _find_events_between(self.game, game)
        self._apply_events(steps)
        return self._save_events(steps, "", {})

    def undo(self) -> str:
        """Undo the last press with all its events. Raises `RulesError`."""
        if not self._undo_stack:
            raise RulesError(said("nothing-to-undo", "There is nothing to take back."))
        return self._move_to(self._undo_stack[-1], UNDO)

    def redo(self) -> str:
        """Redo the press that was undone last. Raises `RulesError`."""
        if not self._redo_stack:
            raise RulesError(said("nothing-to-redo", "There is nothing to bring back."))
        return self._move_to(self._redo_stack[-1], REDO)

    def _move_to(self, game: Game, way: str) -> str:
        events = _find_events_between(self.game, game)
        self._apply_press(events, way)
        self._press_number += 1
        return self._save_events(events, way, {})

    def _apply_press(self, events: Sequence[Event], way: str) -> None:
        """Apply the events of a press and update the stacks of undo and redo."""
        before = self.game
        self._apply_events(events)
        self.seconds_used = find_press_clocks(before, self.game) or self.seconds_used
        if way == UNDO:
            self._undo_stack.pop()
            self._redo_stack.append(before)
            return
        self._undo_stack.append(before)
        if way == REDO:
            self._redo_stack.pop()
        else:
            self._redo_stack.clear()

    def _apply_events(self, events: Sequence[Event]) -> None:
        """Apply events, all or none. Raises `RulesError`, `NotationError`."""
        history = self._history.copy()
        for event in events:
            history.apply_event(event)
        self._history = history

    def _save_events(self, events: Sequence[Event], way: str, pictures: Mapping[str, bytes]) -> str:
        self._count_events(events)
        marks = {"press": self._press_number} | ({"way": way} if way else {})
        if events:
            self._unsaved_presses.append(([{**to_json(event), **marks} for event in events], pictures))
        return self.save()

    def _find_unsaved_logs(self) -> tuple[GameLog, ...]:
        """Return the games with unsaved events, in the order they were started."""
        return tuple(
            one for one in (*self._earlier_logs, self) if one._unsaved_start is not None or one._unsaved_presses
        )

    def _write_unsaved(self) -> None:
        """Save the unsaved events of this game. Raises `StoreError`."""
        try:
            if self._unsaved_start is not None:
                self.number = self._store.begin_game(self._unsaved_start)
                self._unsaved_start = None
            while self._unsaved_presses:
                self._store.append(self.number, *self._unsaved_presses[0])
                del self._unsaved_presses[0]
        except GameDeletedError:
            self._unsaved_presses.clear()

    def _count_events(self, events: Sequence[Event]) -> None:
        self.length += len(events)


def find_press_clocks(before: Game, after: Game) -> tuple[float, ...] | None:
    """Return the seconds used by each player at the press between two games, as it was made, undone or redone.

    None if the press did not record the clocks.

    >>> from engine.events import GameStarted, Passed
    >>> before = Game.from_events([GameStarted(("Anna", "Ben"))])
    >>> after = before.push(ClockRead(0, 20.0)).push(Passed(0))
    >>> find_press_clocks(before, after), find_press_clocks(after, before), find_press_clocks(after, after)
    ((20.0, 0.0), (20.0, 0.0), None)
    """
    shorter, longer = sorted((before, after), key=lambda game: len(game.events))
    is_recorded = any(isinstance(event, ClockRead) for event in longer.events[len(shorter.events) :])
    return longer.state.clocks if is_recorded else None


def _find_events_between(now: Game, then: Game) -> list[Event]:
    """Return the events that lead from one game to another."""
    shared = 0
    for one, other in zip(now.events, then.events, strict=False):
        if one != other:
            break
        shared += 1
    return [Undone()] * (len(now.events) - shared) + list(then.events[shared:])


def _read_direction(body: EventBody) -> str:
    """Return if an event belongs to an undo, a redo, or neither; logs of version 1 have it in the event kind."""
    if "press" in body:
        return str(body.get("way", ""))
    return {Undone.kind: UNDO, Redone.kind: REDO}.get(str(body.get("kind")), "")
