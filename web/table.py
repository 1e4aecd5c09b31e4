"""What the page needs of the table session, and no more."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from types import EllipsisType
from typing import Protocol

from device.session.snapshot import Listener, Moment, Notice, SetUpView, TableState, TurnChange
from device.session.snapshot_builder import Words
from engine.events import GameStarted


class Table(Protocol):
    """A table to look at and to steer. `seen` is the `TableState.moment` that a command was meant for."""

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

    def known_players(self) -> tuple[tuple[str, str], ...]:
        """Everybody who played at this table, and the colour of each (empty: none chosen). Raises `StoreError`."""

    def look_up(self, word: str) -> bool | None:
        """Whether the word list has it; None where there is no list. Raises `Refused` while nobody may look."""

    def letters_for(self, square: str) -> tuple[str, ...]:
        """The letters that the blank on a square may stand for, those that make words where there are any."""

    def start_game(
        self,
        started: GameStarted,
        seen: Moment | None = None,
        *,
        words: Words | EllipsisType | None = ...,
        colours: Sequence[str] = (),
    ) -> Future[TableState]:
        """Begin a game, its words checked by `words` (None: by nobody), the players in these colours from now on."""

    def draw_first(self, letters: tuple[str, ...], seen: Moment | None = None) -> Future[TableState]:
        """The players drew these tiles for first play, in seat order (empty: did not draw)."""

    def end_turn(self, seen: Moment | None = None) -> Future[TableState]:
        """The player whose turn it is has played, or passes."""

    def pass_turn(self, seen: Moment | None = None) -> Future[TableState]:
        """The player whose turn it is lays nothing."""

    def exchange(self, count: int, seen: Moment | None = None) -> Future[TableState]:
        """The player whose turn it is exchanges tiles."""

    def challenge(self, seen: Moment | None = None) -> Future[TableState]:
        """The last play is challenged."""

    def answer(self, number: int, seen: Moment | None = None) -> Future[TableState]:
        """The people choose one of the answers of the open question."""

    def correct(self, square: str, symbol: str, seen: Moment | None = None) -> Future[TableState]:
        """A square was read wrong: `symbol` lies there (small: a blank, `.`: nothing)."""

    def name_blank(self, square: str, letter: str, seen: Moment | None = None) -> Future[TableState]:
        """Somebody says what a blank stands for."""

    def correct_turn(self, number: int, change: TurnChange, seen: Moment | None = None) -> Future[TableState]:
        """A turn (`TurnView.number`) was something else than what was recorded."""

    def insert_turn(self, number: int, change: TurnChange, seen: Moment | None = None) -> Future[TableState]:
        """A turn was forgotten: it becomes the one with this number."""

    def tell_rack(self, player: int, letters: str, seen: Moment | None = None) -> Future[TableState]:
        """Somebody tells the unplayed letters of a player."""

    def end_game(self, seen: Moment | None = None) -> Future[TableState]:
        """The players end the game."""

    def undo(self, seen: Moment | None = None) -> Future[TableState]:
        """What was done last never happened."""

    def redo(self, seen: Moment | None = None) -> Future[TableState]:
        """What was taken back last counts again."""

    def pause(self, seen: Moment | None = None) -> Future[TableState]:
        """The clocks stand still."""

    def go_on(self, seen: Moment | None = None) -> Future[TableState]:
        """The game goes on after a pause."""

    def look_around(self) -> Future[SetUpView]:
        """The camera's whole picture, and where the board is in it."""

    def place_corners(self, corners: Sequence[tuple[float, float]] | None) -> Future[SetUpView]:
        """People say where the corners are, in pixels of that picture; None: the table finds them by itself."""

    def teach(self, rows: Sequence[Sequence[str]]) -> Future[tuple[str, ...]]:
        """The board shows these letters now (15 rows of faces): the table learns them, and says what was in the way."""
