"""What the store returns: games, events and pictures, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

EventBody = Mapping[str, Any]
"""An event as JSON values."""


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """An event in a game's log: its number in the game (from 0), its time in seconds since 1970, and its body."""

    number: int
    time: float
    body: EventBody


@dataclass(frozen=True, slots=True)
class StoredGame:
    """A game in the list of the store: its number, start time (seconds since 1970), first event and number of events.

    `imported` games came from a file: they are not resumed at this table. A game with `damage`, a sentence, has only
    the events before it; it is not resumed either.
    """

    id: int
    started: float
    first: EventBody
    length: int
    imported: bool = False
    damage: str = ""

    @property
    def players(self) -> tuple[str, ...]:
        """Names of the players, as far as the first event has them."""
        names = self.first.get("players")
        return tuple(map(str, names)) if isinstance(names, list | tuple) else ()


@dataclass(frozen=True, slots=True)
class StoredPicture:
    """A picture of an event (by its number in the game), its kind (`board`, `photo`) and its bytes."""

    number: int
    kind: str
    jpeg: bytes
