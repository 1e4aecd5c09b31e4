"""A game that is rebuilt from its final board and its score sheet."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby, pairwise

from engine.blanks import find_invalid_words
from engine.board import Board, Layout, Square
from engine.errors import TilekeeperError
from engine.events import EndReason, GameEnded, Passed, PlayMade, ScoreCorrected
from engine.game import Game
from engine.lexicon import WordList
from engine.messages import make_message
from engine.play_orders import PlayFinder, PlayOrders, Squares, TooManyOrdersError, find_orders, unpack_squares
from engine.plays import Play
from engine.reading import BLANK, EMPTY, BoardReading
from engine.rules import MAX_PLAYERS, MIN_PLAYERS, STANDARD_RULES, Rules, UnplayedRule
from engine.sheet_errors import SheetError, find_sheet_errors, group_by_place
from engine.tiles import Tile, TileSet
from vision.recognition.reader import best_guess

MAX_ROWS = 60
_RUNNING_SHARE = 0.8
"""Smallest share of scores that are not below the player's previous score, for the scores to be running totals.

If the scores are the points of single turns, only about half of them are not below the previous score.
"""
_SCORE = re.compile(r"([+-]?)(\d{1,4})(?:\+(\d{1,3}))?\Z")
_MINUS_SIGNS = str.maketrans("\u2212\u2013\u2014", "---")
_NO_SCORE = frozenset({"", "-", "x", "/"})


SheetAct = tuple[PlayMade | Passed, int | None]
"""What happened in a turn of a score sheet, and the turn's score if that is not the one of the play."""


class ScoreSheetError(TilekeeperError):
    """Error for a score sheet that cannot be read; the message gives the reason in one sentence."""


@dataclass(frozen=True, slots=True)
class SheetTurn:
    """A turn on a score sheet: the points of the play, and `extra` points for a failed challenge.

    A pass, an exchange, and a play that was taken back have no points.
    """

    player: int
    points: int
    extra: int = 0


@dataclass(frozen=True, slots=True)
class ScoreSheet:
    """The turns of a score sheet in their order.

    `end` are the points of each player for unplayed letters, empty if there are none on the sheet.
    """

    players: tuple[str, ...]
    turns: tuple[SheetTurn, ...]
    end: tuple[int, ...] = ()

    @property
    def scored(self) -> tuple[SheetTurn, ...]:
        """The turns with points: the plays."""
        return tuple(turn for turn in self.turns if turn.points)


@dataclass(frozen=True, slots=True)
class _Cell:
    value: int
    is_signed: bool = False
    extra: int = 0


_Row = list[_Cell | None]


def parse_score_sheet(text: str) -> ScoreSheet:
    """Return the score sheet in a text of comma-separated values; semicolons and tabs separate as well.

    The first line may have the names of the players. Raises `ScoreSheetError`.

    >>> sheet = parse_score_sheet("Anna,Ben\\n14,9\\n25,\\n30,12\\n+4,-4")
    >>> [turn.points for turn in sheet.turns], sheet.end
    ([14, 9, 25, 0, 30, 12], (4, -4))
    """
    lines = list(csv.reader(re.sub(r"[;\t]", ",", text.removeprefix("\ufeff")).splitlines()))
    rows = [[cell.strip() for cell in line] for line in lines if any(map(str.strip, line))]
    width = max(map(len, rows), default=0)
    has_names = bool(rows) and not any(_SCORE.match(cell.translate(_MINUS_SIGNS)) for cell in rows[0])
    names = rows.pop(0) if has_names else [str(number + 1) for number in range(width)]
    return read_score_sheet(names, rows)


def read_score_sheet(names: Sequence[str], rows: Sequence[Sequence[str]]) -> ScoreSheet:
    """Return the score sheet with these cells. Raises `ScoreSheetError`."""
    if not MIN_PLAYERS <= len(names) <= MAX_PLAYERS or len(set(names)) < len(names):
        raise ScoreSheetError(
            make_message(
                "sheet-players", "A score sheet has a column for each of 2 to 4 players, with different names."
            )
        )
    cells = [_parse_row(row, number, len(names)) for number, row in enumerate(rows[:MAX_ROWS], 1)]
    while cells and not any(cells[-1]):
        cells.pop()
    if _has_totals(cells):
        cells = _subtract_totals(cells)
    ends = [row for row in cells if any(cell and cell.is_signed for cell in row)]
    if ends and ends != cells[-len(ends) :]:
        raise ScoreSheetError(
            make_message("sheet-signs", "Only the points for unplayed letters, after all turns, have a sign.")
        )
    turns = list(_list_turns(cells[: len(cells) - len(ends)]))
    if not any(turn.points for turn in turns):
        raise ScoreSheetError(make_message("sheet-empty", "Enter the scores of the turns."))
    end = tuple(sum(cell.value for cell in column if cell) for column in zip(*ends, strict=True))
    return ScoreSheet(tuple(names), tuple(turns), end)


def _parse_row(row: Sequence[str], number: int, width: int) -> _Row:
    cells = [_parse_cell(text, number) for text in row]
    if any(cells[width:]):
        raise ScoreSheetError(
            make_message(
                "sheet-players", "A score sheet has a column for each of 2 to 4 players, with different names."
            )
        )
    return (cells + [None] * width)[:width]


def _parse_cell(text: str, row: int) -> _Cell | None:
    written = "".join(text.split()).translate(_MINUS_SIGNS).lower()
    if written in _NO_SCORE:
        return None
    match = _SCORE.match(written)
    if match is None:
        raise ScoreSheetError(make_message("sheet-score", "{0} in row {1} is not a score", repr(text), row))
    sign, digits, extra = match.groups()
    return _Cell(int(sign + digits), bool(sign), int(extra or 0))


def _has_totals(rows: Sequence[_Row]) -> bool:
    """Return True if the cells are running totals."""
    columns = ([cell.value for cell in column if cell and not cell.is_signed] for column in zip(*rows, strict=True))
    pairs = [pair for values in columns for pair in pairwise(values)]
    return len(pairs) > 3 and sum(after >= before for before, after in pairs) >= _RUNNING_SHARE * len(pairs)


def _subtract_totals(rows: Sequence[_Row]) -> list[_Row]:
    """Return the points of each turn. A row in which a total falls has points for unplayed letters, with signs."""
    totals = [0] * len(rows[0])
    subtracted: list[_Row] = []
    for row in rows:
        values = [
            total if cell is None else cell.value + total * cell.is_signed
            for cell, total in zip(row, totals, strict=True)
        ]
        changes = [value - total for value, total in zip(values, totals, strict=True)]
        is_end = any(cell and cell.is_signed for cell in row) or min(changes) < 0
        subtracted.append([cell and _Cell(change, is_end) for cell, change in zip(row, changes, strict=True)])
        totals = values
    return subtracted


def _list_turns(rows: Sequence[_Row]) -> Iterator[SheetTurn]:
    """Yield the turns row by row; an empty cell is a turn without points, unless no turn follows."""
    cells = [(player, cell) for row in rows for player, cell in enumerate(row)]
    last = max((number for number, (_, cell) in enumerate(cells) if cell), default=-1)
    for player, cell in cells[: last + 1]:
        yield SheetTurn(player, cell.value if cell else 0, cell.extra if cell else 0)


MIN_CONFIDENCE = 0.9
"""Minimum confidence of a square; if it is lower, the square is named as doubtful."""
MAX_PLACES = 3
"""Number of places at which a mistake may be that are shown."""


@dataclass(frozen=True, slots=True)
class PlayView:
    """A play as it is shown: its squares, its position such as `8H`, and its main word.

    Letters of the word that were on the board before are in parentheses: `(HORN)S`.
    """

    squares: Squares
    at: str
    word: str


@dataclass(frozen=True)
class PaperGame:
    """The final board and the score sheet of a game."""

    sheet: ScoreSheet
    board: Board
    tiles: TileSet
    layout: Layout

    @cached_property
    def finder(self) -> PlayFinder:
        """The search for plays on the final board."""
        return PlayFinder.build(self.board, self.layout, self.tiles, STANDARD_RULES)

    @cached_property
    def unplayed_points(self) -> int:
        """The value of all letters that are not on the board."""
        return self.tiles.points((+self.tiles.count_remaining(self.board.faces())).elements())

    def find_orders(self) -> PlayOrders:
        """Return the orders that fit. Raises `TooManyOrdersError`."""
        return find_orders(self.finder, [turn.points for turn in self.sheet.scored])

    def with_end(self) -> PaperGame:
        """Return the game with the last score as points for unplayed letters, if it has their value and no sign."""
        last = self.sheet.turns[-1]
        if self.sheet.end or not last.points or last.points not in (self.unplayed_points, 2 * self.unplayed_points):
            return self
        end = tuple(last.points * (seat == last.player) for seat in range(len(self.sheet.players)))
        return replace(self, sheet=replace(self.sheet, turns=self.sheet.turns[:-1], end=end))

    def find_mistakes(self) -> list[list[SheetError]]:
        """Return the places of a mistake that would explain why no order fits, no more than `MAX_PLACES`.

        The list is empty if there is more than one mistake, or if too much is possible.
        """
        try:
            errors = find_sheet_errors(self.finder, self.tiles, [turn.points for turn in self.sheet.scored])
        except TooManyOrdersError:
            return []
        return group_by_place(errors, self.finder.full)[:MAX_PLACES]

    def locate(self, scored: int) -> tuple[str, int, int]:
        """Return the player, the row from 1 and the points of the scored turn number `scored`."""
        turn = self.sheet.scored[scored]
        row = (self.find_turn_number(scored) - 1) // len(self.sheet.players) + 1
        return self.sheet.players[turn.player], row, turn.points

    def find_turn_number(self, scored: int) -> int:
        """Return the number, from 1, that a turn has on the sheet, on which turns without points are numbered, too.

        `scored` is the number of the turn, from 0, among the turns with points. If it is beyond the last of these,
        return the number after the last turn of the sheet.
        """
        numbers = [number for number, turn in enumerate(self.sheet.turns, 1) if turn.points]
        return numbers[scored] if scored < len(numbers) else len(self.sheet.turns) + 1

    def make_play(self, squares: Squares) -> Play:
        """Return the play that covers squares of the final board."""
        return Play.from_tiles({square: self.board.tile(square) for square in unpack_squares(squares)})

    def view_play(self, before: Squares, squares: Squares) -> PlayView:
        """Return how a play is shown that was made when the squares `before` were covered."""
        missing = dict.fromkeys(unpack_squares(squares & ~self.finder.full), Tile.unnamed())
        board = self.board.with_tiles(missing)
        play = Play.from_tiles({square: board.tile(square) for square in unpack_squares(squares)})
        board = board.without_tiles(unpack_squares((self.finder.full | squares) & ~before))
        after = play.apply_to(board)
        run = after.tile_run(play.squares[0], play.is_across(board))
        parts = groupby(run, lambda square: board[square] is None)
        texts = ((is_new, "".join(self.tiles.text(after.tile(square)) for square in part)) for is_new, part in parts)
        word = "".join(text if is_new else f"({text})" for is_new, text in texts)
        return PlayView(squares, play.position(board), word)

    def list_plays(self, orders: PlayOrders, turn: int) -> list[PlayView]:
        """Return the plays that are possible at a scored turn, that of the most orders first."""
        before = {play: covered for covered, play in reversed(orders.steps[turn])}
        return [self.view_play(before[play], play) for play, _ in orders.count_plays(turn).most_common()]

    def list_acts(self, order: Sequence[Squares]) -> Iterator[SheetAct]:
        """Yield the turns of the sheet, each with the score to enter; None if the score follows from the play.

        `order` has the squares of the plays, one for each turn with points. A turn without points becomes a pass.
        """
        plays = iter(order)
        for turn in self.sheet.turns:
            act = PlayMade(turn.player, self.make_play(next(plays))) if turn.points else Passed(turn.player)
            yield act, (turn.points + turn.extra if turn.extra else None)

    def build_game(self, order: Sequence[Squares], rules: Rules = STANDARD_RULES, lexicon: str | None = None) -> Game:
        """Return the game with the plays in an order. Raises `RulesError`."""
        game = Game.start(
            self.sheet.players,
            replace(rules, unplayed=self._choose_unplayed_rule()),
            self.tiles.name,
            lexicon,
            self.layout.name,
        )
        for act, score in self.list_acts(order):
            game = game.push(act)
            if score is not None:
                game = game.push(ScoreCorrected(game.turns[-1].ref, score))
        return game.push(GameEnded(game.end_due or EndReason.AGREED))

    def _choose_unplayed_rule(self) -> UnplayedRule:
        if not any(self.sheet.end):
            return UnplayedRule.NONE
        is_lost = min(self.sheet.end) < 0 or max(self.sheet.end) == self.unplayed_points
        return UnplayedRule.BOTH if is_lost else UnplayedRule.TWICE


def rebuild(game: PaperGame) -> tuple[PaperGame, PlayOrders]:
    """Return the game and the possible orders of its plays.

    If no order fits, the last score is tried as the points for unplayed letters (`PaperGame.with_end`). If orders fit
    then, the returned game is the one with this end. Raises `TooManyOrdersError`.
    """
    orders = game.find_orders()
    ended = game.with_end()
    if not orders.count and ended is not game and (ended_orders := ended.find_orders()).count:
        return ended, ended_orders
    return game, orders


def build_board(reading: BoardReading) -> Board:
    """Return the board with the most probable tile of each square, blanks unnamed."""
    symbols = [best_guess(square)[0] for square in reading.squares]
    tiles = {
        square: Tile.unnamed() if face == BLANK else Tile(face) for square, face in enumerate(symbols) if face != EMPTY
    }
    return Board().with_tiles(tiles)


def find_doubts(reading: BoardReading) -> list[Square]:
    """Return the squares that were read with less than `MIN_CONFIDENCE`."""
    return [square for square, read in enumerate(reading.squares) if best_guess(read)[1] < MIN_CONFIDENCE]


def find_unlisted_words(game: Game, words: WordList) -> set[str]:
    """Return the words of all plays that are not in the word list."""
    return {word for turn in game.turns for word in find_invalid_words(turn.words, game.tiles, words)}
