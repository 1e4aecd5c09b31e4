"""Undo and redo in a log of events: the only place that gives `Undone` and `Redone` their meaning."""

from __future__ import annotations

import copy
from collections.abc import Iterable

from engine.errors import RulesError
from engine.events import Event, Redone, Undone
from engine.game import Game
from engine.messages import said


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
