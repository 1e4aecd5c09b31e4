"""The chess clock: time used by each player and the penalty for overtime.

`ChessClock` is a pure value, which the snapshots contain; `ClockKeeper` runs the clock of a game and saves it.

Times are seconds of `time.monotonic`, so that setting the wall clock has no effect. The rule sheets have no clock;
tournaments use 25 minutes for each player and 10 penalty points for each started minute of overtime.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated

import msgspec
from msgspec import Meta

from device.storage.errors import log_store_errors
from device.storage.game_log import GameLog
from device.storage.notes import load_note
from device.storage.store import GameStore
from engine.game import Game


@dataclass(frozen=True, slots=True)
class ChessClock:
    """The clocks of a game at one moment. Immutable.

    - `limit`: time of each player in seconds. `overtime`: penalty in points for each started minute beyond it.
    - `used`: seconds that each player had used at the time `since` (`time.monotonic()`).
    - `running`: the player whose clock has been running since then, or None.
    - `paused`: True while the game is paused.

    >>> clock = ChessClock(1500.0, 10, (0.0, 0.0)).run(0, now=100.0).run(1, now=130.0)
    >>> clock.advance_to(135.0).used
    (30.0, 5.0)
    """

    limit: float
    overtime: int
    used: tuple[float, ...]
    running: int | None = None
    paused: bool = False
    since: float = 0.0

    def advance_to(self, now: float) -> ChessClock:
        """Return the clock at time `now`, with the time since `since` added for the running player."""
        if self.running is None:
            return replace(self, since=now)
        passed = max(0.0, now - self.since)
        used = tuple(used + passed * (player == self.running) for player, used in enumerate(self.used))
        return replace(self, used=used, since=max(now, self.since))

    def run(self, player: int | None, now: float) -> ChessClock:
        """Return the clock after that of `player` was started at time `now`; after all were stopped for None."""
        return replace(self.advance_to(now), running=player)

    def compute_left(self, player: int, now: float) -> float:
        """Return the seconds that a player has left at time `now`; negative in overtime."""
        return self.limit - self.advance_to(now).used[player]


def format_clock(seconds: float) -> str:
    """Return the seconds that a player has left as minutes and seconds; in overtime they are negative.

    >>> format_clock(65.9), format_clock(-30.2)
    ('1:05', '-0:30')
    """
    whole = abs(int(seconds))
    return f"{'-' if seconds < 0 else ''}{whole // 60}:{whole % 60:02}"


NOTE_NAME = "clock"
_Seconds = Annotated[float, Meta(ge=0, lt=1e9)]


class _StoredClock(msgspec.Struct, frozen=True):
    """Contents of the note with the clock, which is restored after a power cut."""

    used: tuple[_Seconds, ...]
    paused: bool


class ClockKeeper:
    """Keeper of one game's clock: starts, stops, saves and restores it; in a game without a clock, only its pauses.

    `now` is a function that returns the time in seconds.
    """

    def __init__(self, store: GameStore, log: GameLog, now: Callable[[], float]) -> None:
        """Restore the clock of a game from the store, or from its log if the store cannot be read.

        The restored clock stands still. If store and log differ, the larger time of a player is used.
        """
        self._store = store
        self._log = log
        self._now = now
        saved = load_note(store, log.number, NOTE_NAME, _StoredClock, "the clock is that of the last turn")
        self.paused = self._saved_pause = saved is not None and saved.paused
        rules, used = log.game.rules, log.game.state.clocks
        if saved is not None and len(saved.used) == len(used):
            used = tuple(map(max, used, saved.used))
        self._clock = ChessClock(rules.clock_seconds, rules.overtime_points, used, since=now())
        self._undone: list[tuple[Game, tuple[float, ...]]] = []
        """The games that undos have left, each with the seconds that the players had used; the last undo comes last."""

    @property
    def _has_clock(self) -> bool:
        return self._clock.limit > 0

    @property
    def view(self) -> ChessClock | None:
        """The clock for display; None in a game without a clock."""
        return replace(self._clock, paused=self.paused) if self._has_clock else None

    def stop(self, pressed: float) -> None:
        """Stop the clock at `pressed`, the time of the press (s). The time for reading the board does not count."""
        self._clock = self._clock.run(None, pressed)

    def set_running(self, player: int | None) -> None:
        """Run the clock of `player` from now on; if `player` is None, stop all clocks."""
        self._clock = self._clock.run(player, self._now())
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
        self._clock = replace(self._clock, used=used, running=None, since=self._now())

    def save(self) -> None:
        """Save the clock in the store. Called with each command, and every ten seconds in between.

        In a game without a clock, only the beginning and the end of a pause are saved.
        """
        if self._log.game.is_over or not (self._has_clock or self.paused != self._saved_pause):
            return
        used = tuple(round(seconds, 3) for seconds in self._clock.advance_to(self._now()).used)
        text = msgspec.json.encode(_StoredClock(used, self.paused)).decode()
        with log_store_errors("the clock is not saved"):
            self._store.save_note(self._log.number, NOTE_NAME, text)
            if not self._has_clock:  # the thread that saves a running clock must change nothing
                self._saved_pause = self.paused

    def read(self) -> tuple[float, ...] | None:
        """Return the seconds that each player has used, rounded to tenths; None in a game without a clock."""
        if not self._has_clock:
            return None
        return tuple(round(seconds, 1) for seconds in self._clock.advance_to(self._now()).used)
