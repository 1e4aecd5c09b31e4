"""Keeps the chess clock of a game: starts and stops it, notes it beside the log, reads it into the log."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from device.session.clock import ClockView, from_note, noted
from device.storage.game_log import GameLog
from device.storage.store import GameStore, StoreError
from engine.events import ClockRead, Event, GameEnded, Turnlike

_log = logging.getLogger(__name__)

NOTE = "clock"


class Timekeeper:
    """The clock of one game; in a game without one it does nothing. Times are seconds of `now`."""

    def __init__(self, store: GameStore, log: GameLog, now: Callable[[], float]) -> None:
        """The clock of a game as it stood when the game was left. Raises `StoreError`."""
        self._store = store
        self._log = log
        self._now = now
        self._clock, self.paused = from_note(store.noted(log.number, NOTE), log.clocks)
        self._clock = self._clock.at(now())

    @property
    def _ticks(self) -> bool:
        return self._log.game.rules.clock_seconds > 0

    @property
    def view(self) -> ClockView | None:
        """The clock for showing; None in a game without one."""
        rules = self._log.game.rules
        return self._clock.view(rules.clock_seconds, rules.overtime_points, paused=self.paused) if self._ticks else None

    def stop(self, pressed: float) -> None:
        """It is nobody's time since `pressed`: the table is busy."""
        self._clock = self._clock.stop(pressed)

    def settle(self, player: int | None) -> None:
        """From now on it is the time of `player` (None: nobody's)."""
        now = self._now()
        self._clock = self._clock.stop(now) if player is None else self._clock.run(player, now)
        self.note()

    def note(self) -> None:
        """Keep the clock beside the log: done every second, it is right to the second after the power went."""
        if not self._ticks or self._log.game.is_over:
            return
        try:
            self._store.note(self._log.number, NOTE, noted(self._clock, self._now(), paused=self.paused))
        except StoreError as error:
            _log.warning("the clock is not kept: %s", error)

    def readings(self, events: Sequence[Event]) -> tuple[Event, ...]:
        """What the clock says of the player whose turn these events end, of everybody where they end the game."""
        if not self._ticks or not any(isinstance(event, Turnlike) for event in events):
            return ()
        game = self._log.game
        ends = any(isinstance(event, GameEnded) for event in events)
        used = self._clock.at(self._now()).used
        players = range(len(game.players)) if ends else (game.to_move,)
        return tuple(ClockRead(player, round(used[player], 1)) for player in players)
