"""What the page needs of the table session, and no more."""

from __future__ import annotations

from concurrent.futures import Future
from types import EllipsisType
from typing import Protocol

from device.state import Listener, Notice, TableState
from device.view import Words
from engine.events import GameStarted


class Table(Protocol):
    """A table to look at and to steer. `seen` is `TableState.events` of the moment that a command was meant for."""

    @property
    def state(self) -> TableState:
        """The table now."""

    def listen(self, listener: Listener) -> None:
        """Tell `listener` each new state from now on."""

    def forget(self, listener: Listener) -> None:
        """Tell it no more."""

    def tell(self, notice: Notice) -> None:
        """Let everybody know something that is no part of the game."""

    def picture(self, name: str) -> bytes | None:
        """A JPEG that a state names, or None."""

    def known_names(self) -> tuple[str, ...]:
        """Everybody who played at this table."""

    def start_game(
        self, started: GameStarted, seen: int | None = None, *, words: Words | EllipsisType | None = ...
    ) -> Future[TableState]:
        """Begin a game, its words checked by `words` (None: by nobody)."""

    def end_turn(self, seen: int | None = None) -> Future[TableState]:
        """The player whose turn it is has played, or passes."""

    def pass_turn(self, seen: int | None = None) -> Future[TableState]:
        """The player whose turn it is lays nothing."""

    def exchange(self, count: int, seen: int | None = None) -> Future[TableState]:
        """The player whose turn it is exchanges tiles."""

    def challenge(self, seen: int | None = None) -> Future[TableState]:
        """The last play is challenged."""

    def answer(self, number: int, seen: int | None = None) -> Future[TableState]:
        """The people choose one of the answers of the open question."""

    def correct(self, square: str, symbol: str, seen: int | None = None) -> Future[TableState]:
        """A square was read wrong: `symbol` lies there (small: a blank, `.`: nothing)."""

    def name_blank(self, square: str, letter: str, seen: int | None = None) -> Future[TableState]:
        """Somebody says what a blank stands for."""

    def tell_rack(self, player: int, letters: str, seen: int | None = None) -> Future[TableState]:
        """Somebody tells the unplayed letters of a player."""

    def end_game(self, seen: int | None = None) -> Future[TableState]:
        """The players end the game."""

    def undo(self, seen: int | None = None) -> Future[TableState]:
        """The last turn never happened."""
