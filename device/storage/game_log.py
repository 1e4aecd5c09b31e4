"""A game and its log: each event is on disk before it counts, and each press can be taken back as a whole.

Every event in the log carries the number of the press that it came with (`press`), and `way` where that press took
back another or brought it back. Undo and redo are more events, so that the log only grows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from device.session.messages import make_refusal
from device.storage.errors import GameDeletedError, describe_unreadable_game
from device.storage.store import EventBody, GameStore, StoreError
from engine.errors import NotationError, RulesError
from engine.events import ClockRead, Event, GameStarted, Redone, Undone, from_json, to_json
from engine.game import Game

UNDO, REDO = "undo", "redo"


class GameLog:
    """One game of the store. While the disk cannot take events, they are kept and tried again with the next ones."""

    def __init__(self, store: GameStore, number: int, bodies: Iterable[EventBody]) -> None:
        """The game of these events. Raises `RulesError`, `NotationError` for what makes none."""
        self._store = store
        self.number = number
        """The game's number in the store."""
        self.length = 0
        """How many events the log has, those that were taken back among them."""
        self._unsaved_start: EventBody | None = None
        self._unsaved_presses: list[tuple[list[EventBody], Mapping[str, bytes]]] = []
        self._earlier_logs: tuple[GameLog, ...] = ()
        self._undo_stack: list[Game] = []
        self._redo_stack: list[Game] = []
        self._press_number = 0
        self.seconds_used: tuple[float, ...] = ()
        """The seconds that each player had used when the log last said so, in events since taken back or not."""
        numbered = enumerate(bodies)
        for (_, way), group in groupby(
            numbered, key=lambda pair: (pair[1].get("press", pair[0]), _read_direction(pair[1]))
        ):
            self._replay_press([(at, from_json(body), body) for at, body in group], way)

    def _replay_press(self, entries: Sequence[tuple[int, Event, EventBody]], way: str) -> None:
        events = [event for _, event, _ in entries]
        if self.length == 0:
            self.game = Game.from_events(events)
            self.seconds_used = (0.0,) * len(self.game.players)
        else:
            self._set_game(self._push_events(events), way)
        self._count_events(events)
        self._press_number = max(self._press_number, int(entries[-1][2].get("press", entries[-1][0])))

    @classmethod
    def begin_game(cls, store: GameStore, started: GameStarted, before: GameLog | None = None) -> tuple[GameLog, str]:
        """A new game, and why it is in memory only, empty when it is not.

        What the disk did not take of the game `before` it is kept on, and comes first when it takes events again.
        Raises `RulesError`, `NotationError` for what no sheet allows.
        """
        body = {**to_json(started), "press": 0}
        earlier = before._find_unsaved_logs() if before else ()
        log = cls(store, store.next_game_number + sum(one._unsaved_start is not None for one in earlier), [body])
        log._unsaved_start, log._earlier_logs = body, earlier
        return log, log.save()

    @classmethod
    def load_newest(cls, store: GameStore) -> GameLog | None:
        """The game that was begun last, as far as it was played; None in an empty store. Raises `StoreError`."""
        newest = next((game for game in store.games() if not game.imported), None)
        if newest is None:
            return None
        try:
            return cls(store, newest.id, [event.body for event in store.events(newest.id)])
        except (NotationError, RulesError) as error:
            raise StoreError(describe_unreadable_game(newest.id, error)) from error

    @property
    def has_unsaved(self) -> bool:
        """True while something of this game, or of one before it, is in memory only."""
        return bool(self._find_unsaved_logs())

    def save(self) -> str:
        """Try again what the disk has not taken, the oldest game first; why it does not, empty when it does."""
        try:
            for log in self._find_unsaved_logs():
                log._write_unsaved()
        except StoreError as error:
            return str(error)
        self._earlier_logs = ()
        return ""

    @property
    def can_undo(self) -> bool:
        """True when there is a press to take back."""
        return bool(self._undo_stack)

    @property
    def can_redo(self) -> bool:
        """True when there is a press to bring back."""
        return bool(self._redo_stack)

    def append(self, events: Sequence[Event], pictures: Mapping[str, bytes] | None = None) -> str:
        """Put the events of a press on disk, then let them count.

        Returns why they are in memory only, empty when they are not. Raises `RulesError` for events that make no
        sense; then nothing has changed.
        """
        game = self._push_events(events)
        self._press_number += 1
        self._set_game(game, "")
        return self._save_events(events, "", pictures or {})

    def replace_last_press(self, events: Sequence[Event]) -> str:
        """Let other events count in the place of those of the last press; both are one press."""
        before = self._undo_stack[-1]
        game = before
        for event in events:
            game = game.push(event)
        way = _find_events_between(self.game, game)
        self.game = game
        return self._save_events(way, "", {})

    def undo(self) -> str:
        """Take back the last press, with all its events. Raises `CommandRefusedError`."""
        if not self._undo_stack:
            raise make_refusal("nothing-to-undo")
        return self._move_to(self._undo_stack[-1], UNDO)

    def redo(self) -> str:
        """Bring back the press that was taken back last. Raises `CommandRefusedError`."""
        if not self._redo_stack:
            raise make_refusal("nothing-to-redo")
        return self._move_to(self._redo_stack[-1], REDO)

    def _move_to(self, game: Game, way: str) -> str:
        events = _find_events_between(self.game, game)
        self._press_number += 1
        self._set_game(game, way)
        return self._save_events(events, way, {})

    def _push_events(self, events: Iterable[Event]) -> Game:
        game = self.game
        for event in events:
            game = game.push(event)
        return game

    def _set_game(self, game: Game, way: str) -> None:
        """Let another game be the one that counts, and remember how to go back."""
        if way == UNDO:
            self._undo_stack.pop()
            self._redo_stack.append(self.game)
        else:
            self._undo_stack.append(self.game)
            if way == REDO:
                self._redo_stack.pop()
            else:
                self._redo_stack.clear()
        self.game = game

    def _save_events(self, events: Sequence[Event], way: str, pictures: Mapping[str, bytes]) -> str:
        self._count_events(events)
        marks = {"press": self._press_number} | ({"way": way} if way else {})
        if events:
            self._unsaved_presses.append(([{**to_json(event), **marks} for event in events], pictures))
        return self.save()

    def _find_unsaved_logs(self) -> tuple[GameLog, ...]:
        """The games of which something is in memory only, in the order in which they were begun."""
        return tuple(
            one for one in (*self._earlier_logs, self) if one._unsaved_start is not None or one._unsaved_presses
        )

    def _write_unsaved(self) -> None:
        """Put on disk what is not there. Raises `StoreError`."""
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
        for event in events:
            if isinstance(event, ClockRead):
                most = max(event.seconds, self.seconds_used[event.player])
                self.seconds_used = (*self.seconds_used[: event.player], most, *self.seconds_used[event.player + 1 :])


def _find_events_between(now: Game, then: Game) -> list[Event]:
    """The events that lead from one game to another."""
    shared = 0
    for one, other in zip(now.events, then.events, strict=False):
        if one != other:
            break
        shared += 1
    return [Undone()] * (len(now.events) - shared) + list(then.events[shared:])


def _read_direction(body: EventBody) -> str:
    """What a press did; logs of the first version have it in the event alone."""
    if "press" in body:
        return str(body.get("way", ""))
    return {Undone.kind: UNDO, Redone.kind: REDO}.get(str(body.get("kind")), "")
