"""A game and its log: each event is on disk before it counts, and each press can be taken back as a whole.

Every event in the log carries the number of the press that it came with (`press`), and `way` where that press took
back another or brought it back. Undo and redo are more events, so that the log only grows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from device.session.messages import refusal
from device.storage.errors import DeletedGame, unreadable
from device.storage.store import Body, GameStore, StoreError
from engine.errors import NotationError, RulesError
from engine.events import ClockRead, Event, GameStarted, Redone, Undone, from_json, to_json
from engine.game import Game

UNDO, REDO = "undo", "redo"


class GameLog:
    """One game of the store. While the disk cannot take events, they are kept and tried again with the next ones."""

    def __init__(self, store: GameStore, number: int, bodies: Iterable[Body]) -> None:
        """The game of these events. Raises `RulesError`, `NotationError` for what makes none."""
        self._store = store
        self.number = number
        """The game's number in the store."""
        self.length = 0
        """How many events the log has, those that were taken back among them."""
        self._unbegun: Body | None = None
        self._unsaved: list[tuple[list[Body], Mapping[str, bytes]]] = []
        self._earlier: tuple[GameLog, ...] = ()
        self._before: list[Game] = []
        self._taken_back: list[Game] = []
        self._press = 0
        self.clocks: tuple[float, ...] = ()
        """The seconds that each player had used when the log last said so, in events since taken back or not."""
        numbered = enumerate(bodies)
        for (_, way), group in groupby(numbered, key=lambda pair: (pair[1].get("press", pair[0]), _way(pair[1]))):
            self._replay([(at, from_json(body), body) for at, body in group], way)

    def _replay(self, entries: Sequence[tuple[int, Event, Body]], way: str) -> None:
        events = [event for _, event, _ in entries]
        if self.length == 0:
            self.game = Game.from_events(events)
            self.clocks = (0.0,) * len(self.game.players)
        else:
            self._step(self._after(events), way)
        self._count(events)
        self._press = max(self._press, int(entries[-1][2].get("press", entries[-1][0])))

    @classmethod
    def begin(cls, store: GameStore, started: GameStarted, before: GameLog | None = None) -> tuple[GameLog, str]:
        """A new game, and why it is in memory only, empty when it is not.

        What the disk did not take of the game `before` it is kept on, and comes first when it takes events again.
        Raises `RulesError`, `NotationError` for what no sheet allows.
        """
        body = {**to_json(started), "press": 0}
        earlier = before._owing() if before else ()
        log = cls(store, store.next_game + sum(one._unbegun is not None for one in earlier), [body])
        log._unbegun, log._earlier = body, earlier
        return log, log.save()

    @classmethod
    def newest(cls, store: GameStore) -> GameLog | None:
        """The game that was begun last, as far as it was played; None in an empty store. Raises `StoreError`."""
        newest = next((game for game in store.games() if not game.imported), None)
        if newest is None:
            return None
        try:
            return cls(store, newest.id, [event.body for event in store.events(newest.id)])
        except (NotationError, RulesError) as error:
            raise StoreError(unreadable(newest.id, error)) from error

    @property
    def owes(self) -> bool:
        """True while something of this game, or of one before it, is in memory only."""
        return bool(self._owing())

    def save(self) -> str:
        """Try again what the disk has not taken, the oldest game first; why it does not, empty when it does."""
        try:
            for log in self._owing():
                log._write()
        except StoreError as error:
            return str(error)
        self._earlier = ()
        return ""

    @property
    def can_undo(self) -> bool:
        """True when there is a press to take back."""
        return bool(self._before)

    @property
    def can_redo(self) -> bool:
        """True when there is a press to bring back."""
        return bool(self._taken_back)

    def append(self, events: Sequence[Event], pictures: Mapping[str, bytes] | None = None) -> str:
        """Put the events of a press on disk, then let them count.

        Returns why they are in memory only, empty when they are not. Raises `RulesError` for events that make no
        sense; then nothing has changed.
        """
        game = self._after(events)
        self._press += 1
        self._step(game, "")
        return self._save(events, "", pictures or {})

    def instead(self, events: Sequence[Event]) -> str:
        """Let other events count in the place of those of the last press; both are one press."""
        before = self._before[-1]
        game = before
        for event in events:
            game = game.push(event)
        way = _way_between(self.game, game)
        self.game = game
        return self._save(way, "", {})

    def undo(self) -> str:
        """Take back the last press, with all its events. Raises `Refused`."""
        if not self._before:
            raise refusal("nothing-to-undo")
        return self._go(self._before[-1], UNDO)

    def redo(self) -> str:
        """Bring back the press that was taken back last. Raises `Refused`."""
        if not self._taken_back:
            raise refusal("nothing-to-redo")
        return self._go(self._taken_back[-1], REDO)

    def _go(self, game: Game, way: str) -> str:
        events = _way_between(self.game, game)
        self._press += 1
        self._step(game, way)
        return self._save(events, way, {})

    def _after(self, events: Iterable[Event]) -> Game:
        game = self.game
        for event in events:
            game = game.push(event)
        return game

    def _step(self, game: Game, way: str) -> None:
        """Let another game be the one that counts, and remember how to go back."""
        if way == UNDO:
            self._before.pop()
            self._taken_back.append(self.game)
        else:
            self._before.append(self.game)
            if way == REDO:
                self._taken_back.pop()
            else:
                self._taken_back.clear()
        self.game = game

    def _save(self, events: Sequence[Event], way: str, pictures: Mapping[str, bytes]) -> str:
        self._count(events)
        marks = {"press": self._press} | ({"way": way} if way else {})
        if events:
            self._unsaved.append(([{**to_json(event), **marks} for event in events], pictures))
        return self.save()

    def _owing(self) -> tuple[GameLog, ...]:
        """The games of which something is in memory only, in the order in which they were begun."""
        return tuple(one for one in (*self._earlier, self) if one._unbegun is not None or one._unsaved)

    def _write(self) -> None:
        """Put on disk what is not there. Raises `StoreError`."""
        try:
            if self._unbegun is not None:
                self.number = self._store.begin(self._unbegun)
                self._unbegun = None
            while self._unsaved:
                self._store.append(self.number, *self._unsaved[0])
                del self._unsaved[0]
        except DeletedGame:
            self._unsaved.clear()

    def _count(self, events: Sequence[Event]) -> None:
        self.length += len(events)
        for event in events:
            if isinstance(event, ClockRead):
                most = max(event.seconds, self.clocks[event.player])
                self.clocks = (*self.clocks[: event.player], most, *self.clocks[event.player + 1 :])


def _way_between(now: Game, then: Game) -> list[Event]:
    """The events that lead from one game to another."""
    shared = 0
    for one, other in zip(now.events, then.events, strict=False):
        if one != other:
            break
        shared += 1
    return [Undone()] * (len(now.events) - shared) + list(then.events[shared:])


def _way(body: Body) -> str:
    """What a press did; logs of the first version have it in the event alone."""
    if "press" in body:
        return str(body.get("way", ""))
    return {Undone.kind: UNDO, Redone.kind: REDO}.get(str(body.get("kind")), "")
