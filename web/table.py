"""What the page needs of the table session, and no more."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Protocol

from device.state import Listener, TableState


class Table(Protocol):
    """A table that can be looked at and steered."""

    @property
    def state(self) -> TableState:
        """The table now."""

    def listen(self, listener: Listener) -> None:
        """Tell `listener` each new state from now on."""

    def forget(self, listener: Listener) -> None:
        """Tell it no more."""

    def picture(self, name: str) -> bytes | None:
        """A JPEG that a state names, or None."""

    def end_turn(self, seen: int | None = None) -> Future[TableState]:
        """The player whose turn it is has played, or passes."""

    def challenge(self, seen: int | None = None) -> Future[TableState]:
        """The last play is challenged."""

    def answer(self, number: int, seen: int | None = None) -> Future[TableState]:
        """The people choose one of the answers of the open question."""

    def end_game(self, seen: int | None = None) -> Future[TableState]:
        """The players end the game."""

    def undo(self, seen: int | None = None) -> Future[TableState]:
        """The last turn never happened."""
