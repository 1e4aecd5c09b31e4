"""The chess clock of a table: how long each player has thought, and what overtime costs. Pure: time comes in.

Moments are seconds of a clock that never jumps (`time.monotonic`), so that setting the wall clock changes nothing. No
rule sheet knows a clock; tournaments play 25 minutes each and take 10 points for each minute begun over the time.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from math import ceil, isfinite

SECONDS_PER_MINUTE = 60.0


@dataclass(frozen=True, slots=True)
class ClockView:
    """The clocks of a game as they stood at one moment.

    `limit` is the time of each player in seconds, `overtime` the points for each minute begun beyond it, `used` the
    seconds each player had used at `since` (`time.monotonic()`); from then on the time of player `running` goes on,
    nobody's where that is None. `paused` is True while people have stopped the game.
    """

    limit: float
    overtime: int
    used: tuple[float, ...]
    running: int | None = None
    paused: bool = False
    since: float = 0.0

    def used_by(self, player: int, now: float) -> float:
        """The seconds a player has used by `now`."""
        return self.used[player] + (max(0.0, now - self.since) if player == self.running else 0.0)

    def left(self, player: int, now: float) -> float:
        """The seconds a player has left at `now`; below zero in overtime."""
        return self.limit - self.used_by(player, now)

    def penalty(self, player: int, now: float) -> int:
        """The points that overtime has cost a player by `now`."""
        return ceil(max(0.0, -self.left(player, now)) / SECONDS_PER_MINUTE) * self.overtime


@dataclass(frozen=True, slots=True)
class ChessClock:
    """The seconds each player has `used` by `since`, and whose time has run from then on (None: nobody's).

    >>> clock = ChessClock.for_players(2).start_player(0, now=100.0).start_player(1, now=130.0)
    >>> clock.advance_to(135.0).used
    (30.0, 5.0)
    """

    used: tuple[float, ...]
    running: int | None = None
    since: float = 0.0

    @classmethod
    def for_players(cls, players: int) -> ChessClock:
        """A clock on which nobody has used any time."""
        return cls((0.0,) * players)

    def advance_to(self, now: float) -> ChessClock:
        """The same clock with the time up to `now` counted; a moment before the last one counts as that."""
        if self.running is None:
            return replace(self, since=now)
        passed = max(0.0, now - self.since)
        used = tuple(used + passed * (player == self.running) for player, used in enumerate(self.used))
        return replace(self, used=used, since=max(now, self.since))

    def start_player(self, player: int, now: float) -> ChessClock:
        """From `now` on it is the time of `player`."""
        return replace(self.advance_to(now), running=player)

    def stop(self, now: float) -> ChessClock:
        """From `now` on it is nobody's time."""
        return replace(self.advance_to(now), running=None)

    def to_view(self, limit: float, overtime: int, *, paused: bool = False) -> ClockView:
        """The clock for showing."""
        return ClockView(limit, overtime, self.used, self.running, paused, self.since)


def serialise_clock(clock: ChessClock, now: float, *, paused: bool) -> str:
    """What a table keeps beside the log, so that a clock is right again after the power went."""
    return json.dumps({"used": [round(used, 3) for used in clock.advance_to(now).used], "paused": paused})


def restore_clock(text: str | None, read: tuple[float, ...]) -> tuple[ChessClock, bool]:
    """The clock, standing still, and whether the game was paused, from the note and from the log's last readings.

    Neither goes back: the larger counts. A note that cannot be read, or of another number of players, is as none.
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
