"""Run the chess clock of a game: start and stop it, save it beside the log, and record it as events."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from device.session.clock import ClockView, restore_clock, serialise_clock
from device.storage.game_log import GameLog
from device.storage.store import GameStore, StoreError
from engine.events import ClockRead, Event, GameEnded, TurnEvent

_log = logging.getLogger(__name__)

NOTE_NAME = "clock"


class ClockKeeper:
    """The clock of one game; does nothing in a game without a clock. Times are seconds of `now`."""

    def __init__(self, store: GameStore, log: GameLog, now: Callable[[], float]) -> None:
        """Restore the clock of a game. Raises `StoreError`."""
        self._store = store
        self._log = log
        self._now = now
        self._clock, self.paused = restore_clock(store.read_note(log.number, NOTE_NAME), log.seconds_used)
        self._clock = self._clock.advance_to(now())

    @property
    def _has_clock(self) -> bool:
        return self._log.game.rules.clock_seconds > 0

    @property
    def view(self) -> ClockView | None:
        """The clock for display; None in a game without a clock."""
        rules = self._log.game.rules
        return (
            self._clock.to_view(rules.clock_seconds, rules.overtime_points, paused=self.paused)
            if self._has_clock
            else None
        )

    def stop(self, pressed: float) -> None:
        """Stop the clock at the time `pressed`, while the board is read."""
        self._clock = self._clock.stop(pressed)

    def set_running(self, player: int | None) -> None:
        """Run the clock of `player` from now on; None stops it."""
        now = self._now()
        self._clock = self._clock.stop(now) if player is None else self._clock.start_player(player, now)
        self.save()

    def save(self) -> None:
        """Save the clock beside the log; called every second, so that a power cut costs at most a second."""
        if not self._has_clock or self._log.game.is_over:
            return
        try:
            self._store.save_note(
                self._log.number, NOTE_NAME, serialise_clock(self._clock, self._now(), paused=self.paused)
            )
        except StoreError as error:
            _log.warning("the clock is not kept: %s", error)

    def make_clock_events(self, events: Sequence[Event]) -> tuple[Event, ...]:
        """Return the `ClockRead` events to append with `events`: of the player whose turn ends, or of all if the game
        ends."""
        if not self._has_clock or not any(isinstance(event, TurnEvent) for event in events):
            return ()
        game = self._log.game
        ends = any(isinstance(event, GameEnded) for event in events)
        used = self._clock.advance_to(self._now()).used
        players = range(len(game.players)) if ends else (game.to_move,)
        return tuple(ClockRead(player, round(used[player], 1)) for player in players)
