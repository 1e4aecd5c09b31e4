"""A table for the slips: a camera whose pictures encode the tiles on the board, and a session with players who press.

No network runs: the reader decodes the symbol of each square from its patch and gives it the probabilities that
photographs have (`tests.support.disturbed_squares`), the same for a tile in each picture. Time moves only while the
players rest (`tests.support.stepped_time`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice, product
from random import Random

import numpy as np

from device.cameras.base import Frame
from device.session.commands.answers import AnswerDeferred, AnswerQuestion
from device.session.commands.base import TableCommand
from device.session.commands.games import ResumeGame
from device.session.commands.turns import EndTurn, ExchangeTiles
from device.session.messages import CommandRefusedError
from device.session.questions import asks_for_picture
from device.session.table_session import TableSession
from device.storage.store import GameStore
from engine.board import Board, Square
from engine.errors import NotationError, RulesError
from engine.events import BlankNamed, SquareCorrected, to_json
from engine.game import Game
from engine.ledger import Entry, Ledger, Source, find_open_entries, find_shown_entry
from engine.ledger_data import write_entry
from engine.lexicon import WordList
from engine.reading import BOARD_SIZE, EMPTY, HIDDEN, BoardReading, SquareReading
from engine.tiles import TileSet
from tests.support.disturbed_squares import draw_square
from tests.support.stepped_time import STEP_S, SteppedTime, pass_time, wait_for_readings
from vision.geometry import Image
from vision.recognition.reader import PhotoReading, ReadingTimes

Scene = tuple[str, ...]
"""The symbols of the 225 squares as they lie on the table."""
CELL_PX = 24
_LEVELS = np.array([70, 150, 230])
_HAND_LEVEL = 15
HAND_S = 0.5
"""Time for which a hand is over the tiles that it lays or takes, in seconds."""
SETTLING_S, LONG_STEP_S = 0.8, 0.5
"""Time, in seconds, after which the session sees that the board is at rest, and the steps of the clock after it."""
MAX_COMBINATIONS = 300
"""Combinations of answers that are tried to find the truth."""
BLANK_CODE = "asked-blank-unnamed"
"""Code of the question for the letter of a blank, which no reading answers."""


def make_scene(board: Board) -> Scene:
    """Return the tiles of a board as they lie on the table; blanks have no letter."""
    return tuple(EMPTY if tile is None else tile.face for tile in board.squares)


class SceneCamera:
    """Camera and reader in one: four patches in each square encode its symbol.

    A letter or square is read with a doubt of at most `max_doubt`. If `is_live` is False, the camera takes one picture
    a press and sees nothing between.
    """

    def __init__(
        self, tiles: TileSet, seed: str, clock: Callable[[], float], *, is_live: bool, max_doubt: float = 0.5
    ) -> None:
        self.is_live = is_live
        self.scene: Scene = (EMPTY,) * (BOARD_SIZE * BOARD_SIZE)
        self.hand: frozenset[Square] = frozenset()
        self._letters = tiles.letters
        self._symbols = (EMPTY, "?", *tiles.letters)
        codes = np.array([[number // 3**digit % 3 for digit in range(4)] for number in range(len(self._symbols))])
        self._patches = _LEVELS[codes].astype(np.uint8)
        self._numbers = {symbol: number for number, symbol in enumerate(self._symbols)}
        self._seed, self._clock, self._max_doubt = seed, clock, max_doubt
        self._squares: dict[tuple[Square, str], SquareReading] = {}
        self._pictures = 0
        self._previewed: tuple[Scene, frozenset[Square]] | None = None
        self._preview = self._paint()

    def capture_still(self) -> Frame:
        self._pictures += 1
        image = np.ascontiguousarray(np.repeat(self._paint()[:, :, None], 3, axis=2))
        image[0, :2, :2] = [divmod(self._pictures, 256)] * 2  # no two pictures of a camera are the same
        return Frame(image, self._clock(), "" if self.is_live else f"{self._pictures}.jpg")

    def capture_preview(self) -> Frame | None:
        if not self.is_live:
            return None
        shown = (self.scene, self.hand)
        if shown != self._previewed:
            self._previewed, self._preview = shown, self._paint()
        return Frame(self._preview, self._clock())

    def close(self) -> None:
        pass

    def read(self, image: Image, tiles: Collection[str], **place: object) -> PhotoReading:
        assert place.get("corners") is None and set(tiles) >= set(self._letters)
        grey = image[:, :, 0].astype(int)
        middle, step = CELL_PX // 4, CELL_PX // 2
        values = grey[middle::step, middle::step]
        near = np.abs(values[:, :, None] - _LEVELS).argmin(axis=2)
        codes = near[::2, ::2] + 3 * near[::2, 1::2] + 9 * near[1::2, ::2] + 27 * near[1::2, 1::2]
        is_hand = values[::2, ::2] < (_HAND_LEVEL + _LEVELS[0]) / 2
        symbols = [
            HIDDEN if hidden else self._symbols[code] for code, hidden in zip(codes.flat, is_hand.flat, strict=True)
        ]
        board = BoardReading(tuple(self.read_square(square, symbol) for square, symbol in enumerate(symbols)))
        side = float(BOARD_SIZE * CELL_PX)
        found = np.array([[0.0, 0.0], [side, 0.0], [side, side], [0.0, side]])
        return PhotoReading(board, found, (), ReadingTimes(1, 1, 2))

    def read_square(self, square: Square, symbol: str) -> SquareReading:
        """Return the reading of a square with a symbol."""
        if (known := self._squares.get((square, symbol))) is not None:
            return known
        if symbol == HIDDEN:
            read = SquareReading(((HIDDEN, 0.97), (EMPTY, 0.03)))
        else:
            chance = Random(f"{self._seed}/{square}/{symbol}")
            read = draw_square(symbol, self._letters, chance, self._max_doubt)
        self._squares[square, symbol] = read
        return read

    def _paint(self) -> Image:
        patches = self._patches[[self._numbers[symbol] for symbol in self.scene]]
        patches[sorted(self.hand)] = _HAND_LEVEL
        grid = patches.reshape(BOARD_SIZE, BOARD_SIZE, 2, 2).transpose(0, 2, 1, 3).reshape(2 * BOARD_SIZE, -1)
        return np.kron(grid, np.ones((CELL_PX // 2, CELL_PX // 2), np.uint8))


class SlipTable:
    """The players of a session: they lay tiles, rest, press, and answer with the truth. `asked` counts questions."""

    def __init__(self, session: TableSession, camera: SceneCamera, time: SteppedTime, *, own_buttons: bool) -> None:
        self.session, self.camera, self._time = session, camera, time
        self._has_own_buttons = own_buttons
        self._known: set[int] = set()
        self.asked: list[str] = []
        """The question codes so far; a question is counted once. Those for the letter of a blank are left out."""
        self.notices: list[str] = []

    @property
    def ledger(self) -> Ledger:
        """The ledger of the session's game."""
        return self.session._controller.ledger

    @property
    def open_entries(self) -> list[Entry]:
        """The entries with an open question, those for the letter of a blank left out."""
        return [entry for entry in find_open_entries(self.ledger) if not _is_about_blank(entry)]

    def lay(self, scene: Scene, rest_s: float) -> None:
        """Let the scene be on the board; a camera that sees it sees a hand first, and then the board at rest."""
        changed = frozenset(square for square, symbol in enumerate(scene) if symbol != self.camera.scene[square])
        if not self.camera.is_live:
            self.camera.scene = scene
            self._time.move_to(self._time.clock() + rest_s)
            return
        for step in range(round(HAND_S / STEP_S) if changed else 0):
            middle = Random(step).choice(sorted(changed))
            self.camera.hand = frozenset(s for s in (middle, middle - 1, middle - 15) if s >= 0)
            pass_time(self._time, self.session, STEP_S)
        self.camera.scene, self.camera.hand = scene, frozenset()
        pass_time(self._time, self.session, min(rest_s, SETTLING_S))
        end = self._time.clock() + max(0.0, rest_s - SETTLING_S)
        while self._time.clock() < end:
            self._time.move_to(min(end, self._time.clock() + LONG_STEP_S))
            wait_for_readings(self.session)

    def press(self, player: int) -> int:
        """End the turn with the player's button, or the shared one; return the number of new questions."""
        self._submit(EndTurn(), player if self._has_own_buttons else None)
        return self._note_questions()

    def exchange(self, count: int, player: int) -> None:
        """Exchange tiles with the command of the page."""
        self._submit(ExchangeTiles(count), player if self._has_own_buttons else None)

    def _submit(self, command: TableCommand, seat: int | None = None) -> None:
        try:
            state = self._time.finish(self.session.submit(command, seat=seat))
        except CommandRefusedError as error:
            self.notices.append(f"refused: {error}")
            return
        self.notices += [notice.text for notice in state.notices]

    def _note_questions(self) -> int:
        new = [entry for entry in self.open_entries if entry.number not in self._known]
        self._known |= {entry.number for entry in new}
        self.asked += [entry.doubt.code for entry in new if entry.doubt is not None]
        return len(new)

    # Answers

    def answer(self, truth: Game) -> bool:
        """Answer all open questions with the truth; return False if it is not among the answers.

        Then the answers are chosen that come nearest to it.
        """
        self._name_blanks(truth)
        entries = self.open_entries
        if entries:
            found = self._find_answers(entries, truth)
            for entry, chosen in zip(entries, found, strict=True):
                if chosen is not None:
                    self._choose(entry, chosen)
            self._note_questions()
            self._name_blanks(truth)
        return not entries or agrees(self.ledger.game, truth)

    def _find_answers(self, entries: Sequence[Entry], truth: Game) -> tuple[int | None, ...]:
        """Return the answer to each entry (None: leave it open) with which the game comes nearest to the truth."""
        ledger = self.ledger
        offers = [_list_answers(ledger, entry) for entry in entries]
        combinations = list(islice(product(*offers), MAX_COMBINATIONS))
        return min(combinations, key=lambda chosen: self._measure_answers(entries, chosen, truth))

    def _measure_answers(self, entries: Sequence[Entry], chosen: Sequence[int | None], truth: Game) -> float:
        ledger = self.ledger
        try:
            for entry, number in zip(entries, chosen, strict=True):
                if number is not None:
                    ledger = ledger.answer(entry.number, number, group=ledger.next_group)
            return measure_difference(ledger.game, truth)
        except (NotationError, RulesError):
            return float("inf")

    def _choose(self, entry: Entry, number: int) -> None:
        shown = find_shown_entry(self.ledger)
        is_shown = shown is not None and shown.number == entry.number
        self._submit(AnswerQuestion(number) if is_shown else AnswerDeferred(entry.number, number))

    def _name_blanks(self, truth: Game) -> None:
        for entry in [entry for entry in find_open_entries(self.ledger) if _is_about_blank(entry)]:
            steps = [_find_square_step(alternative, truth.board) for alternative in entry.alternatives]
            if True in steps:
                self._choose(entry, steps.index(True))


def _is_about_blank(entry: Entry) -> bool:
    return entry.doubt is not None and entry.doubt.code == BLANK_CODE


def _find_square_step(alternative: Sequence[object], board: Board) -> bool:
    """Return True if an answer about a blank says what is on the board."""
    for step in alternative:
        match step:
            case BlankNamed(square, letter):
                tile = board[square]
                return tile is not None and tile.is_blank and tile.letter == letter
            case SquareCorrected(square, tile):
                return tile == board[square]
    return False


def _list_answers(ledger: Ledger, entry: Entry) -> list[int | None]:
    """Return the answers to the question of an entry, the one in effect first; None leaves it open."""
    chosen = ledger.find_chosen(entry)
    answers = [n for n in range(len(entry.alternatives)) if not asks_for_picture(n, entry)]
    ordered: list[int | None] = sorted(answers, key=lambda number: number != chosen)
    return ordered if chosen in answers else [None, *ordered]


def agrees(game: Game, truth: Game) -> bool:
    """Return True if totals, the player to move and the board are those of the truth, blanks without a letter aside."""
    return measure_difference(game, truth) == 0


def has_right_totals(game: Game, truth: Game) -> bool:
    """Return True if totals and the player to move are those of the truth."""
    return game.totals == truth.totals and game.to_move == truth.to_move and game.is_over == truth.is_over


def measure_difference(game: Game, truth: Game) -> float:
    """Return how far a game is from the truth: 0 if board, totals and the player to move are right."""
    squares = sum(
        not (tile == other or (tile and other and tile.is_blank and other.is_blank and tile.is_unnamed))
        for tile, other in zip(game.board.squares, truth.board.squares, strict=True)
    )
    players = sum(total != other for total, other in zip(game.totals, truth.totals, strict=True))
    return 10 * squares + 3 * players + (game.to_move != truth.to_move) + 5 * (game.is_over != truth.is_over)


@contextmanager
def open_slip_table(
    start: Game,
    words: WordList | None,
    seed: str,
    *,
    is_live: bool,
    own_buttons: bool,
    max_doubt: float = 0.5,
) -> Iterator[SlipTable]:
    """Open a session that resumes a game, with its tiles on the board. Its turns count as pressed by their players."""
    time = SteppedTime()
    camera = SceneCamera(start.tiles, seed, time.clock, is_live=is_live, max_doubt=max_doubt)
    camera.scene = make_scene(start.board)
    with GameStore(":memory:") as store:
        number = store.begin_game(to_json(start.start_event))
        ledger = Ledger(start.start_event)
        for turn, event in zip(start.turns, start.events, strict=True):
            seat = turn.player if own_buttons else None
            ledger = ledger.record([((event,),)], source=Source.PRESS, seat=seat)
        assert ledger.game.totals == start.totals
        store.append_events(number, [write_entry(entry) for entry in ledger.entries])
        with TableSession(camera, camera, store, words, clock=time.clock, closing=time) as session:
            time.finish(session.submit(ResumeGame()))
            table = SlipTable(session, camera, time, own_buttons=own_buttons)
            if is_live:
                pass_time(time, session, 1.0)
            yield table
