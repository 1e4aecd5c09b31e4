"""The chess clock: time used by each player and the penalty for overtime. Pure: the time is passed in.

Times are seconds of `time.monotonic`, so that setting the wall clock has no effect. The rule sheets have no clock;
tournaments use 25 minutes for each player and 10 penalty points for each started minute of overtime.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from math import ceil, isfinite

SECONDS_PER_MINUTE = 60.0


@dataclass(frozen=True, slots=True)
class ClockView:
    """The clocks of a game at one moment.

    `limit` is each player's time in seconds, `overtime` the penalty in points for each started minute beyond it, `used`
    the seconds used at `since` (`time.monotonic()`). From then on the time of player `running` counts (None: no clock
    is running). `paused` is True while the game is paused.
    """

    limit: float
    overtime: int
    used: tuple[float, ...]
    running: int | None = None
    paused: bool = False
    since: float = 0.0

    def used_by(self, player: int, now: float) -> float:
        """Return the seconds a player has used at `now`."""
        return self.used[player] + (max(0.0, now - self.since) if player == self.running else 0.0)

    def left(self, player: int, now: float) -> float:
        """Return the seconds a player has left at `now`; negative in overtime."""
        return self.limit - self.used_by(player, now)

    def penalty(self, player: int, now: float) -> int:
        """Return the overtime penalty of a player at `now`, in points."""
        return ceil(max(0.0, -self.left(player, now)) / SECONDS_PER_MINUTE) * self.overtime


@dataclass(frozen=True, slots=True)
class ChessClock:
    """The seconds each player has `used` at `since`, and whose clock is running since then (None: no one's).

    >>> clock = ChessClock.for_players(2).start_player(0, now=100.0).start_player(1, now=130.0)
    >>> clock.advance_to(135.0).used
    (30.0, 5.0)
    """

    used: tuple[float, ...]
    running: int | None = None
    since: float = 0.0

    @classmethod
    def for_players(cls, players: int) -> ChessClock:
        """Return a clock with no time used."""
        return cls((0.0,) * players)

    def advance_to(self, now: float) -> ChessClock:
        """Return the clock with the time up to `now` added; a time before `since` counts as `since`."""
        if self.running is None:
            return replace(self, since=now)
        passed = max(0.0, now - self.since)
        used = tuple(used + passed * (player == self.running) for player, used in enumerate(self.used))
        return replace(self, used=used, since=max(now, self.since))

    def start_player(self, player: int, now: float) -> ChessClock:
        """Return the clock with the time of `player` running from `now`."""
        return replace(self.advance_to(now), running=player)

    def stop(self, now: float) -> ChessClock:
        """Return the clock stopped at `now`."""
        return replace(self.advance_to(now), running=None)

    def to_view(self, limit: float, overtime: int, *, paused: bool = False) -> ClockView:
        """Return the clock for display."""
        return ClockView(limit, overtime, self.used, self.running, paused, self.since)


def serialise_clock(clock: ChessClock, now: float, *, paused: bool) -> str:
    """Return the text that is saved beside the log, to restore the clock after a power cut."""
    return json.dumps({"used": [round(used, 3) for used in clock.advance_to(now).used], "paused": paused})


def restore_clock(text: str | None, read: tuple[float, ...]) -> tuple[ChessClock, bool]:
    """Return the stopped clock and True if the game was paused, from the saved text and the times in the log.

    Of the two times of a player the larger one counts. A text that is damaged or for another number of players is
    ignored.
    """
    used, paused = read, False
    try:
        data = json.loads(text or "{}")
        seconds = tuple(float(value) for value in data["used"])
        paused = data["paused"] is True
    except (ValueError, KeyError, TypeError):
        return ChessClock(used), False
    if len(seconds) == len(read) and all(isfinite(value) and value >= 0 for value in seconds):
        used = tuple(max(pair) for pair in zip(read, seconds, strict=True))
    return ChessClock(used), paused
