"""What the page needs of the table session, and no more."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from types import EllipsisType
from typing import Protocol

from device.session.snapshot import Listener, Moment, Notice, SetupView, TableSnapshot, TurnChange
from device.session.snapshot_builder import WordList
from engine.events import GameStarted


class Table(Protocol):
    """A table to look at and to steer. `seen` is the `TableSnapshot.moment` that a command was meant for."""

    @property
    def state(self) -> TableSnapshot:
        """The table now."""

    def add_listener(self, listener: Listener) -> None:
        """Tell `listener` each new state from now on."""

    def remove_listener(self, listener: Listener) -> None:
        """Tell it no more."""

    def notify(self, notice: Notice) -> None:
        """Let everybody know something that is no part of the game."""

    def picture(self, name: str) -> bytes | None:
        """A JPEG that a state names, or None."""

    def list_players(self) -> tuple[tuple[str, str], ...]:
        """Everybody who played at this table, and the colour of each (empty: none chosen). Raises `StoreError`."""

    def look_up(self, word: str) -> bool | None:
        """Whether the word list has it; None where there is no list. Raises `CommandRefusedError` while nobody may
        look."""

    def list_blank_letters(self, square: str) -> tuple[str, ...]:
        """The letters that the blank on a square may stand for, those that make words where there are any."""

    def start_game(
        self,
        started: GameStarted,
        expected: Moment | None = None,
        *,
        words: WordList | EllipsisType | None = ...,
        colours: Sequence[str] = (),
    ) -> Future[TableSnapshot]:
        """Begin a game, its words checked by `words` (None: by nobody), the players in these colours from now on."""

    def draw_first(self, letters: tuple[str, ...], expected: Moment | None = None) -> Future[TableSnapshot]:
        """The players drew these tiles for first play, in seat order (empty: did not draw)."""

    def end_turn(self, expected: Moment | None = None) -> Future[TableSnapshot]:
        """The player whose turn it is has played, or passes."""

    def pass_turn(self, expected: Moment | None = None) -> Future[TableSnapshot]:
        """The player whose turn it is lays nothing."""

    def exchange_tiles(self, count: int, expected: Moment | None = None) -> Future[TableSnapshot]:
        """The player whose turn it is exchanges tiles."""

    def challenge_play(self, expected: Moment | None = None) -> Future[TableSnapshot]:
        """The last play is challenged."""

    def answer_question(self, number: int, expected: Moment | None = None) -> Future[TableSnapshot]:
        """The people choose one of the answers of the open question."""

    def correct_square(self, square: str, symbol: str, expected: Moment | None = None) -> Future[TableSnapshot]:
        """A square was read wrong: `symbol` lies there (small: a blank, `.`: nothing)."""

    def name_blank(self, square: str, letter: str, expected: Moment | None = None) -> Future[TableSnapshot]:
        """Somebody says what a blank stands for."""

    def correct_turn(self, number: int, change: TurnChange, expected: Moment | None = None) -> Future[TableSnapshot]:
        """A turn (`TurnView.number`) was something else than what was recorded."""

    def insert_turn(self, number: int, change: TurnChange, expected: Moment | None = None) -> Future[TableSnapshot]:
        """A turn was forgotten: it becomes the one with this number."""

    def reveal_rack(self, player: int, letters: str, expected: Moment | None = None) -> Future[TableSnapshot]:
        """Somebody tells the unplayed letters of a player."""

    def end_game(self, expected: Moment | None = None) -> Future[TableSnapshot]:
        """The players end the game."""

    def undo(self, expected: Moment | None = None) -> Future[TableSnapshot]:
        """What was done last never happened."""

    def redo(self, expected: Moment | None = None) -> Future[TableSnapshot]:
        """What was taken back last counts again."""

    def pause(self, expected: Moment | None = None) -> Future[TableSnapshot]:
        """The clocks stand still."""

    def end_pause(self, expected: Moment | None = None) -> Future[TableSnapshot]:
        """The game goes on after a pause."""

    def capture_setup_view(self) -> Future[SetupView]:
        """The camera's whole picture, and where the board is in it."""

    def place_corners(self, corners: Sequence[tuple[float, float]] | None) -> Future[SetupView]:
        """People say where the corners are, in pixels of that picture; None: the table finds them by itself."""

    def enrol_tiles(self, rows: Sequence[Sequence[str]]) -> Future[tuple[str, ...]]:
        """The board shows these letters now (15 rows of faces): the table learns them, and says what was in the way."""
