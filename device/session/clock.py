"""The chess clock: time used by each player and the penalty for overtime.

`ChessClock` is a pure value; `ClockKeeper` runs the clock of a game and saves it.

Times are seconds of `time.monotonic`, so that setting the wall clock has no effect. The rule sheets have no clock;
tournaments use 25 minutes for each player and 10 penalty points for each started minute of overtime.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import isfinite

from device.storage.errors import log_store_errors
from device.storage.game_log import GameLog
from device.storage.store import GameStore
from engine.game import Game


@dataclass(frozen=True, slots=True)
class ClockView:
    """The clocks of a game at one moment.

    - `limit`: time of each player in seconds. `overtime`: penalty in points for each started minute beyond it.
    - `used`: seconds that each player had used at the time `since` (`time.monotonic()`).
    - `running`: the player whose clock has been running since then, or None.
    - `paused`: True while the game is paused.
    """

    limit: float
    overtime: int
    used: tuple[float, ...]
    running: int | None = None
    paused: bool = False
    since: float = 0.0

    def compute_used(self, player: int, now: float) -> float:
        """Return the seconds that a player has used at time `now`."""
        return self.used[player] + (max(0.0, now - self.since) if player == self.running else 0.0)

    def compute_left(self, player: int, now: float) -> float:
        """Return the seconds that a player has left at time `now`; negative in overtime."""
        return self.limit - self.compute_used(player, now)


def format_clock(seconds: float) -> str:
    """Return the seconds that a player has left as minutes and seconds; in overtime they are negative.

    >>> format_clock(65.9), format_clock(-30.2)
    ('1:05', '-0:30')
    """
    whole = abs(int(seconds))
    return f"{'-' if seconds < 0 else ''}{whole // 60}:{whole % 60:02}"


@dataclass(frozen=True, slots=True)
class ChessClock:
    """Immutable state of a chess clock: the seconds that each player had `used` at time `since`.

    `running` is the player whose clock has been running since that time, or None if no clock is running.

    >>> clock = ChessClock((0.0, 0.0)).start_player(0, now=100.0).start_player(1, now=130.0)
    >>> clock.advance_to(135.0).used
    (30.0, 5.0)
    """

    used: tuple[float, ...]
    running: int | None = None
    since: float = 0.0

    def advance_to(self, now: float) -> ChessClock:
        """Return the clock at time `now`, with the time since `since` added for the running player."""
        if self.running is None:
            return replace(self, since=now)
        passed = max(0.0, now - self.since)
        used = tuple(used + passed * (player == self.running) for player, used in enumerate(self.used))
        return replace(self, used=used, since=max(now, self.since))

    def start_player(self, player: int, now: float) -> ChessClock:
        """Return the clock after the clock of `player` was started at time `now`."""
        return replace(self.advance_to(now), running=player)

    def stop(self, now: float) -> ChessClock:
        """Return the clock after all clocks were stopped at time `now`."""
        return replace(self.advance_to(now), running=None)

    def to_view(self, limit: float, overtime: int, *, paused: bool = False) -> ClockView:
        """Return the clock for display."""
        return ClockView(limit, overtime, self.used, self.running, paused, self.since)


def serialise_clock(clock: ChessClock, now: float, *, paused: bool) -> str:
    """Return the clock at time `now` as JSON text for `restore_clock`, which restores it after a power cut."""
    return json.dumps({"used": [round(used, 3) for used in clock.advance_to(now).used], "paused": paused})


def restore_clock(text: str | None, logged: tuple[float, ...]) -> tuple[ChessClock, bool]:
    """Return the stopped clock of a game after a restart, and True if the game was paused.

    `text` is the result of `serialise_clock`, or None. `logged` are the seconds used by each player according to the
    log. If the two sources differ, the larger time of a player is used. A text that is damaged, or that is for another
    number of players, is ignored.
    """
    try:
        data = json.loads(text or "{}")
        saved = tuple(float(value) for value in data["used"])
        paused = data["paused"] is True
    except (ValueError, KeyError, TypeError):
        return ChessClock(logged), False
    is_valid = len(saved) == len(logged) and all(isfinite(value) and value >= 0 for value in saved)
    used = tuple(map(max, logged, saved)) if is_valid else logged
    return ChessClock(used), paused


NOTE_NAME = "clock"


class ClockKeeper:
    """Keeper of one game's clock: starts, stops, saves and restores it; in a game without a clock, only its pauses.

    `now` is a function that returns the time in seconds.
    """

    def __init__(self, store: GameStore, log: GameLog, now: Callable[[], float]) -> None:
        """Restore the clock of a game from the store, or from its log if the store cannot be read."""
        self._store = store
        self._log = log
        self._now = now
        saved = None
        with log_store_errors("the clock is that of the last turn"):
            saved = store.read_note(log.number, NOTE_NAME)
        self._clock, self.paused = restore_clock(saved, log.game.state.clocks)
        self._saved_pause = self.paused
        self._clock = self._clock.advance_to(now())
        self._undone: list[tuple[Game, tuple[float, ...]]] = []
        """The games that undos have left, each with the seconds that the players had used; the last undo comes last."""

    @property
    def _has_clock(self) -> bool:
        return self._log.game.rules.clock_seconds > 0

    @property
    def view(self) -> ClockView | None:
        """The clock for display; None in a game without a clock."""
        if not self._has_clock:
            return None
        rules = self._log.game.rules
        return self._clock.to_view(rules.clock_seconds, rules.overtime_points, paused=self.paused)

    def stop(self, pressed: float) -> None:
        """Stop the clock at `pressed`, the time of the press (s). The time for reading the board does not count."""
        self._clock = self._clock.stop(pressed)

    def set_running(self, player: int | None) -> None:
        """Run the clock of `player` from now on; if `player` is None, stop all clocks."""
        now = self._now()
        self._clock = self._clock.stop(now) if player is None else self._clock.start_player(player, now)
        self.save()

    def restore(self, before: Game, after: Game) -> None:
        """Set the clocks back after an undo or a redo; `before` and `after` are the game before and after it.

        An undo sets them to the times recorded at the undone press: the clocks go back to the moment of the press, not
        to the beginning of its turn. A redo sets them to the times at the undo, or after a restart to those recorded at
        the press.
        """
        if not self._has_clock or before.state.clocks == after.state.clocks:
            return
        used = max(before.state.clocks, after.state.clocks, key=sum)
        if len(after.events) < len(before.events):
            self._undone.append((before, self._clock.used))
        elif self._undone and self._undone[-1][0] == after:
            _, used = self._undone.pop()
        self._clock = ChessClock(used).advance_to(self._now())

    def save(self) -> None:
        """Save the clock in the store. Called with each command, and every ten seconds in between.

        In a game without a clock, only the beginning and the end of a pause are saved.
        """
        if self._log.game.is_over or not (self._has_clock or self.paused != self._saved_pause):
            return
        text = serialise_clock(self._clock, self._now(), paused=self.paused)
        with log_store_errors("the clock is not saved"):
            self._store.save_note(self._log.number, NOTE_NAME, text)
            if not self._has_clock:  # the thread that saves a running clock must change nothing
                self._saved_pause = self.paused

    def read(self) -> tuple[float, ...] | None:
        """Return the seconds that each player has used, rounded to tenths; None in a game without a clock."""
        if not self._has_clock:
            return None
        return tuple(round(seconds, 1) for seconds in self._clock.advance_to(self._now()).used)
