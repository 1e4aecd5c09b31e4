"""Games and results that do not count in the hall's current event, as a note in the hall's file."""

from __future__ import annotations

import msgspec

from device.hall.receiving.received_games import ReceivedGames

_NOTE = "event"


class EventLimits(msgspec.Struct, frozen=True):
    """Games and results that do not count in the hall's current event, because they are older.

    `earlier` are the ids of these games. `begun` is the time at which the event began, in seconds since 1970: results
    that the director entered up to this time do not count. It is not earlier than the last of these
    results, even if the clock was set back. `games_since` is the same time for the games of tables, by the clock alone;
    the games `counted` count although they may have ended before it by the clock of their table.
    """

    earlier: tuple[int, ...] = ()
    begun: float = 0.0
    games_since: float = 0.0
    counted: tuple[int, ...] = ()


def read_limits(games: ReceivedGames) -> EventLimits:
    """Return the limits of the current event. Raises `StoreError`."""
    return msgspec.json.decode(games.read_note(_NOTE) or "{}", type=EventLimits)


def save_limits(games: ReceivedGames, limits: EventLimits) -> None:
    """Save the limits of the current event. Raises `StoreError`."""
    games.save_note(_NOTE, msgspec.json.encode(limits).decode())
