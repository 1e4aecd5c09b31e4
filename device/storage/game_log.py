"""A game and its log of events in the store, with undo and redo.

A press is one command of a player, such as the press of a button; its events are undone together. Each event in the log
contains the number of its press (`press`). If the press was an undo or a redo, the event also contains the way of the
press (`way`): `undo` or `redo`. Events are never removed from the log: an undo appends an event `Undone` for each event
of the press, and a redo appends the events again. In logs of version 1, a redo appends `Redone`.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from device.catalogue import get_text
from device.storage.errors import GameDeletedError
from device.storage.store import EventBody, GameStore, StoredEvent, StoreError
from engine.errors import NotationError, RulesError
from engine.events import ClockRead, Event, GameStarted, Redone, Undone, from_json, to_json
from engine.game import Game

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
"""Exceptions that a replay of invalid events may raise. There are many, because the engine does not check types."""
UNDO, REDO = "undo", "redo"
"""Values of the field `way` in the events of an undo or a redo. Events of other presses have no field `way`; in this
module, their way is an empty string."""


class EventHistory:
    """History of a log: the game after each event that is in effect, and the events that can be redone.

    >>> from engine.events import GameStarted, Passed
    >>> history = EventHistory(GameStarted(("Anna", "Ben")))
    >>> for event in (Passed(0), Passed(1), Undone()):
    ...     history.apply_event(event)
    >>> history.game.events[1:]
    (Passed(player=0),)
    """

    def __init__(self, start: Event) -> None:
        """Begin with the first event of a log. Raises `RulesError` if this event does not start a game."""
        self._games = [Game.from_events([start])]
        self._undone: list[Event] = []

    def copy(self) -> EventHistory:
        """Return a copy. Events applied to it do not change this history."""
        other = copy.copy(self)
        other._games, other._undone = self._games.copy(), self._undone.copy()
        return other

    @property
    def game(self) -> Game:
        """The game after all events that are in effect."""
        return self._games[-1]

    def apply_event(self, event: Event) -> None:
        """Apply the next event of the log.

        `Undone` undoes the last event in effect, and `Redone` redoes the event that was undone last. After any other
        event, nothing can be redone. Raises `RulesError` or `NotationError` without changing the history.
        """
        match event:
            case Undone():
                if len(self._games) < 2:
                    raise RulesError(get_text("nothing-back"))
                self._undone.append(self._games.pop().events[-1])
            case Redone():
                if not self._undone:
                    raise RulesError(get_text("nothing-again"))
                self._games.append(self.game.push(self._undone[-1]))
                self._undone.pop()
            case _:
                self._games.append(self.game.push(event))
                self._undone.clear()


def replay_log(events: Iterable[Event]) -> Game:
    """Replay the events of a log and return the game. Raises `RulesError`, `NotationError`."""
    events = iter(events)
    first = next(events, None)
    if first is None:
        raise RulesError(get_text("no-beginning"))
    history = EventHistory(first)
    for event in events:
        history.apply_event(event)
    return history.game


class GameLog:
    """A game with its log in the store.

    If events cannot be saved, they are kept in memory, and saved together with the next events.
    """

    def __init__(self, store: GameStore, number: int, bodies: Iterable[EventBody]) -> None:
        """Replay the events (`bodies`) of game `number`. Raises `RulesError`, `NotationError` for invalid events."""
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
        self._last_way = ""
        self.seconds_used: tuple[float, ...] = ()
        """Seconds used by each player, as recorded by the press that was made, undone or redone last. A press
        without recorded clocks does not change them."""
        for (press, way), group in groupby(enumerate(bodies), key=_read_press):
            self._replay_press([from_json(body) for _, body in group], way)
            self._press_number = max(self._press_number, int(press))

    def _replay_press(self, events: Sequence[Event], way: str) -> None:
        if self.length == 0:
            self._history = EventHistory(events[0])
            self.seconds_used = (0.0,) * len(self.game.players)
            self._apply_events(events[1:])
        else:
            self._apply_press(events, way)
        self.length += len(events)

    @classmethod
    def begin_game(cls, store: GameStore, started: GameStarted, before: GameLog | None = None) -> tuple[GameLog, str]:
        """Start a game. Return its log, and an error message if the game could not be saved (otherwise empty).

        Unsaved events of the previous game, `before`, are saved first. Raises `RulesError`, `NotationError` if the
        event `started` is invalid.
        """
        body = {**to_json(started), "press": 0}
        earlier = before._find_unsaved_logs() if before else ()
        unsaved_games = sum(log._unsaved_start is not None for log in earlier)
        log = cls(store, store.next_game_number + unsaved_games, [body])
        log._unsaved_start, log._earlier_logs = body, earlier
        return log, log.save()

    @classmethod
    def load_newest(cls, store: GameStore, *, before: int | None = None) -> GameLog | None:
        """Return the log of the newest game that was started at this table (not imported), or None if there is none.

        If `before` is given, only games with a smaller number are considered. Raises `StoreError` if the game is
        damaged or cannot be replayed.
        """
        games = (game for game in store.list_games() if not game.imported)
        newest = next((game for game in games if before is None or game.id < before), None)
        if newest is None:
            return None
        if newest.damage:
            raise StoreError(newest.damage)
        try:
            return cls(store, newest.id, [event.body for event in store.read_events(newest.id)])
        except UNREADABLE_GAME_ERRORS as error:
            raise StoreError(get_text("game-unreadable", newest.id, error)) from error

    @property
    def has_unsaved(self) -> bool:
        """True if events of this game or of an earlier game could not be saved yet."""
        return bool(self._find_unsaved_logs())

    def save(self) -> str:
        """Save the unsaved events, oldest game first; return an error message, or an empty string on success."""
        self._store.delete_discarded_games()
        logs = self._find_unsaved_logs()
        try:
            for log in logs:
                log._write_unsaved()
        except StoreError as error:
            return str(error)
        finally:
            for log in logs:
                log._export_unsaved()
        self._earlier_logs = ()
        return ""

    def discard(self) -> None:
        """Delete this game, which was begun by mistake; if the store cannot be written, it is deleted later."""
        self._unsaved_presses.clear()
        if self._unsaved_start is None:
            self._export_unsaved()
            self._store.discard_game(self.number)
        self._unsaved_start = None

    @property
    def game(self) -> Game:
        """The game after all events that are in effect."""
        return self._history.game

    @property
    def can_undo(self) -> bool:
        """True if there is a press that can be undone."""
        return bool(self._undo_stack)

    @property
    def can_redo(self) -> bool:
        """True if there is a press that can be redone."""
        return bool(self._redo_stack)

    def append_press(self, events: Sequence[Event], pictures: Mapping[str, bytes] | None = None) -> str:
        """Apply and save the events of a press (one command of a player); `pictures` belong to the last event.

        Return an error message if the events could not be saved, otherwise an empty string. If the events are invalid,
        raise `RulesError` and do not change the game.
        """
        self._apply_press(events, "")
        self._press_number += 1
        return self._save_events(events, "", pictures or {})

    def save_press(self, events: Sequence[Event]) -> None:
        """Save and apply the events of a press; if they cannot be saved, raise `StoreError` and do not keep them.

        This is for a game that is not at the table: its log is not there later to save the events. If the events are
        invalid, raise `RulesError`.
        """
        self.game.push(*events)
        self._store.append_events(self.number, _encode_press(events, self._press_number + 1, ""))
        self._apply_press(events, "")
        self._press_number += 1
        self.length += len(events)

    @property
    def game_before_last_press(self) -> Game | None:
        """The game before the last press, or None if there is no press to undo."""
        return self._undo_stack[-1] if self._undo_stack else None

    def replace_last_press(self, events: Sequence[Event]) -> str:
        """Replace the events of the last press by the given events, but keep its clock events.

        The new events belong to the same press. But after an undo or a redo, the new events are recorded as a new
        press, and nothing can be redone any more. Return an error message if the events could not be saved, otherwise
        an empty string. If the events are invalid, raise `RulesError` and do not change the game.
        """
        before = self._undo_stack[-1]
        clocks = _list_clock_events(self.game.events[len(before.events) :])
        after = before.push(*clocks, *events)
        if self._last_way:  # in the log, the last press is the undo or redo, to which no events can be added
            self.undo()
            return self.append_press((*clocks, *events))
        steps = _find_events_between(self.game, after)
        self._apply_events(steps)
        return self._save_events(steps, "", {})

    def extend_last_press(self, events: Sequence[Event]) -> str:
        """Add events to the last press, so that they are undone with it. Errors are reported as in `append_press`."""
        self._apply_events(events)
        return self._save_events(events, "", {})

    def find_events_to(self, game: Game) -> tuple[Event, ...]:
        """Return the events that lead from this game to `game`: `Undone` for each removed event, then new events."""
        return tuple(_find_events_between(self.game, game))

    def undo(self) -> str:
        """Undo all events of the last press. Raises `RulesError` if there is no press to undo.

        Return an error message if the undo could not be saved, otherwise an empty string.
        """
        if not self._undo_stack:
            raise RulesError(get_text("nothing-to-undo"))
        return self._move_to(self._undo_stack[-1], UNDO)

    def redo(self) -> str:
        """Redo the press that was undone last. Raises `RulesError` if there is no press to redo.

        Return an error message if the redo could not be saved, otherwise an empty string.
        """
        if not self._redo_stack:
            raise RulesError(get_text("nothing-to-redo"))
        return self._move_to(self._redo_stack[-1], REDO)

    def _move_to(self, game: Game, way: str) -> str:
        events = _find_events_between(self.game, game)
        self._apply_press(events, way)
        self._press_number += 1
        return self._save_events(events, way, {})

    def _apply_press(self, events: Sequence[Event], way: str) -> None:
        """Apply the events of a press and update the undo stack and the redo stack."""
        before = self.game
        self._apply_events(events)
        self._last_way = way
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
        """Apply all events, or none if one is invalid. Raises `RulesError`, `NotationError`."""
        history = self._history.copy()
        for event in events:
            history.apply_event(event)
        self._history = history

    def _save_events(self, events: Sequence[Event], way: str, pictures: Mapping[str, bytes]) -> str:
        self.length += len(events)
        if events:
            self._unsaved_presses.append((_encode_press(events, self._press_number, way), pictures))
        return self.save()

    def _find_unsaved_logs(self) -> tuple[GameLog, ...]:
        """Return the logs of the games with unsaved events, in the order in which the games were started."""
        logs = (*self._earlier_logs, self)
        return tuple(log for log in logs if log._unsaved_start is not None or log._unsaved_presses)

    def _export_unsaved(self) -> None:
        """Let exported files contain the unsaved events of this game, if it is in the store, with the present time."""
        if self._unsaved_start is None:
            bodies = [body for bodies, _ in self._unsaved_presses for body in bodies]
            now, first = time.time(), self.length - len(bodies)
            events = tuple(StoredEvent(number, now, body) for number, body in enumerate(bodies, first))
            self._store.unsaved_events[self.number] = events

    def _write_unsaved(self) -> None:
        """Save the unsaved events of this game. Raises `StoreError`."""
        try:
            if self._unsaved_start is not None:
                self.number = self._store.begin_game(self._unsaved_start)
                self._unsaved_start = None
            while self._unsaved_presses:
                self._store.append_events(self.number, *self._unsaved_presses[0])
                del self._unsaved_presses[0]
        except GameDeletedError:
            self._unsaved_presses.clear()


def find_press_clocks(before: Game, after: Game) -> tuple[float, ...] | None:
    """Return the seconds used by each player, as recorded by the press that changed the game `before` into `after`.

    If the press was an undo, these are the seconds that the undone press had recorded: the clocks go back to the moment
    of the undone press, not to the beginning of its turn. Return None if the press neither recorded nor removed any
    seconds.

    >>> from engine.events import GameStarted, Passed
    >>> before = Game.from_events([GameStarted(("Anna", "Ben"))])
    >>> after = before.push(ClockRead(0, 20.0)).push(Passed(0))
    >>> find_press_clocks(before, after), find_press_clocks(after, before), find_press_clocks(after, after)
    ((20.0, 0.0), (20.0, 0.0), None)
    """
    clocks_before, clocks_after = _list_clock_events(before.events), _list_clock_events(after.events)
    if clocks_before == clocks_after:
        return None
    is_undo = len(clocks_before) > len(clocks_after)
    return before.state.clocks if is_undo else after.state.clocks


def _encode_press(events: Sequence[Event], press: int, way: str) -> list[EventBody]:
    """Return the events of a press for the log, with the number and the way of the press."""
    marks = {"press": press} | ({"way": way} if way else {})
    return [{**to_json(event), **marks} for event in events]


def _list_clock_events(events: Iterable[Event]) -> list[ClockRead]:
    return [event for event in events if isinstance(event, ClockRead)]


def _find_events_between(before: Game, after: Game) -> list[Event]:
    """Return the events that lead from one game to another: `Undone` for each removed event, then new events."""
    shared = 0
    for event, other in zip(before.events, after.events, strict=False):
        if event != other:
            break
        shared += 1
    return [Undone()] * (len(before.events) - shared) + list(after.events[shared:])


def _read_press(numbered: tuple[int, EventBody]) -> tuple[Any, str]:
    """Return the number and the way of the press to which an event belongs; `numbered` is its number and its body.

    An event in a log of version 1 is a press of its own, with the number of the event.
    """
    number, body = numbered
    return body.get("press", number), _read_way(body)


def _read_way(body: EventBody) -> str:
    """Return `undo` or `redo` if the press of an event was an undo or a redo, otherwise an empty string.

    Events in logs of version 1 have no field `press`; their kind (`Undone` or `Redone`) decides.
    """
    if "press" in body:
        return str(body.get("way", ""))
    return {Undone.kind: UNDO, Redone.kind: REDO}.get(str(body.get("kind")), "")
