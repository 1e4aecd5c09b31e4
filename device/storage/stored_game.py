"""Immutable values that the store returns: games, events and pictures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

MAX_TIME_S = 1e11
"""Upper limit for the start time of a game, in seconds since 1970; a later time is invalid."""
EventBody = Mapping[str, Any]
"""An event as a JSON object."""


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """An event in a game's log: its number in the game (from 0), its time in seconds since 1970, and its body."""

    number: int
    time: float
    body: EventBody


@dataclass(frozen=True, slots=True)
class StoredGame:
    """A game in the list of the store: number, start time (seconds since 1970), first event and number of events.

    `imported` is True for a game from a file, which is not resumed at this table. `damage` is a message about damage,
    or empty.
    """

    id: int
    started: float
    first_event: EventBody
    length: int
    imported: bool = False
    damage: str = ""

    @property
    def players(self) -> tuple[str, ...]:
        """Names of the players in the first event; empty if the first event is damaged."""
        names = self.first_event.get("players")
        return tuple(map(str, names)) if isinstance(names, list | tuple) else ()


@dataclass(frozen=True, slots=True)
class StoredPicture:
    """A picture of an event: number of the event in the game, kind (`board` or `photo`) and JPEG data."""

    number: int
    kind: str
    jpeg: bytes
