"""A game and its log: each event is on disk before it counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from device.store import GameStore, StoreError
from engine.errors import NotationError, RulesError
from engine.events import Event, GameStarted, from_json, to_json
from engine.game import Game


class GameLog:
    """One game of the store. While the disk cannot take events, they are kept and tried again with the next ones."""

    def __init__(self, store: GameStore, number: int, game: Game, length: int) -> None:
        self._store = store
        self.number = number
        """The game's number in the store."""
        self.game = game
        self.length = length
        """How many events the log has, those that were taken back among them."""
        self._unsaved: list[Event] = []

    @classmethod
    def begin(cls, store: GameStore, started: GameStarted) -> GameLog:
        """A new game. Raises `RulesError`, `NotationError` for what no sheet allows, `StoreError`."""
        game = Game.from_events([started])
        return cls(store, store.begin(to_json(started)), game, 1)

    @classmethod
    def newest(cls, store: GameStore) -> GameLog | None:
        """The game that was begun last, as far as it was played; None in an empty store. Raises `StoreError`."""
        newest = next(iter(store.games()), None)
        if newest is None:
            return None
        try:
            events = [from_json(event.body) for event in store.events(newest.id)]
            return cls(store, newest.id, Game.from_events(events), len(events))
        except (NotationError, RulesError) as error:
            raise StoreError(
                f"game {newest.id} cannot be read by this version ({error}); nothing of it is lost"
            ) from error

    def append(self, events: Sequence[Event], pictures: Mapping[str, bytes]) -> str:
        """Put events on disk, then let them count. Returns why they are in memory only, empty when they are not.

        Raises `RulesError` for events that make no sense; then nothing has changed.
        """
        game = self.game
        for event in events:
            game = game.push(event)
        self._unsaved += events
        trouble = ""
        try:
            self._store.append(self.number, [to_json(event) for event in self._unsaved], pictures)
            self._unsaved.clear()
        except StoreError as error:
            trouble = str(error)
        self.game = game
        self.length += len(events)
        return trouble
