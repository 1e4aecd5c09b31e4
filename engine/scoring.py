"""Score a play, word by word, and check its placement.

The rules are Gameplay 1, 3, 4 (placing) and Scoring 1 to 8 of every sheet. Scores are named tuples because these are
cheap to create: a search for plays scores 50,000 plays per second.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from enum import IntFlag
from typing import NamedTuple

from engine.board import NEIGHBOURS, Board, Layout, Square, find_tile_run, position_name
from engine.messages import join_messages, make_message
from engine.plays import Play
from engine.reading import BOARD_SIZE
from engine.rules import Rules
from engine.tiles import Tile, TileSet


class LetterScore(NamedTuple):
    """A letter in a word: its tile, its value, and the letter multiplier of its square.

    `premium` is 1 for a tile that was on the board before the play.
    """

    tile: Tile
    value: int
    premium: int


class WordScore(NamedTuple):
    """A word formed or altered by a play, and the parts of its score.

    `start` is the first square. `tiles`, `values` and `premiums` (letter multipliers) have one entry for each square.
    `multiplier` is the product of the word premiums.
    """

    start: Square
    across: bool
    tiles: tuple[Tile, ...]
    values: tuple[int, ...]
    premiums: tuple[int, ...]
    multiplier: int
    score: int

    @property
    def word(self) -> str:
        """The word in capitals, with `?` for an unnamed blank."""
        return "".join([tile.letter for tile in self.tiles])

    @property
    def tile_letters(self) -> tuple[str, ...]:
        """The letter of each tile, with `?` for an unnamed blank."""
        return tuple([tile.letter for tile in self.tiles])

    @property
    def squares(self) -> range:
        """The squares of the word."""
        step = 1 if self.across else BOARD_SIZE
        return range(self.start, self.start + step * len(self.tiles), step)

    @property
    def position(self) -> str:
        """The position of the word in GCG notation."""
        return position_name(self.start, self.across)

    @property
    def letters(self) -> tuple[LetterScore, ...]:
        """The letters with their values and premiums."""
        return tuple(map(LetterScore, self.tiles, self.values, self.premiums))


class PlayScore(NamedTuple):
    """The score of a play: its words with the main word first, the bingo bonus, and the total in points."""

    words: tuple[WordScore, ...]
    bonus: int
    total: int


class Status(IntFlag):
    """The defects of a play, as flags. `VALID` means no defect."""

    VALID = 0
    NO_TILES = 1
    SQUARE_TAKEN = 2
    NOT_IN_LINE = 4
    GAP = 8
    CENTRE_MISSED = 16
    NOT_JOINED = 32
    FIRST_WORD_SHORT = 64
    TOO_MANY_TILES = 128
    MORE_THAN_SET = 256
    OLD_TILE_CHANGED = 512
    OUT_OF_TURN = 1024
    BAG_TOO_LOW = 2048
    GAME_OVER = 4096


STATUS_TEXT = {
    Status.NO_TILES: make_message("no-tile-laid", "No tile was played."),
    Status.SQUARE_TAKEN: make_message("square-taken", "A tile is on a square that already had one."),
    Status.NOT_IN_LINE: make_message("not-in-line", "The tiles are not in one row or column."),
    Status.GAP: make_message("gap", "There is a gap between the tiles."),
    Status.CENTRE_MISSED: make_message("centre-missed", "The first word does not cover the centre."),
    Status.NOT_JOINED: make_message("not-joined", "The tiles do not touch the words on the board."),
    Status.FIRST_WORD_SHORT: make_message("first-word-short", "The first word is too short."),
    Status.TOO_MANY_TILES: make_message("too-many-tiles", "More tiles were played than a rack holds."),
    Status.MORE_THAN_SET: make_message("more-than-set", "The tile set does not have that many of one letter."),
    Status.OLD_TILE_CHANGED: make_message(
        "old-tile-changed", "A tile already on the board has changed. Put it back, or correct the turn."
    ),
    Status.OUT_OF_TURN: make_message("out-of-turn", "It is the turn of another player."),
    Status.BAG_TOO_LOW: make_message("bag-too-low", "There are too few tiles in the bag for an exchange."),
    Status.GAME_OVER: make_message("game-over", "The game is over."),
}


def describe_status(status: Status) -> str:
    """Return the defects of a play, a sentence for each, or an empty text for a valid play."""
    return join_messages(" ", [text for flag, text in STATUS_TEXT.items() if flag in status])


def score_play(board: Board, play: Play, layout: Layout, tiles: TileSet, rules: Rules) -> PlayScore:
    """Return the score of a play. The play need not be legal.

    All words that contain a newly covered or a rearranged square count. Premiums count only on newly covered squares
    (Scoring 5, and rule 5 A of travel-case for a rearranged word). Blanks count zero, but a word premium under a blank
    counts (Scoring 6). A letter common to two words counts in both words (Scoring 7).
    """
    merged = list(board.squares)
    new_tiles = dict(play.tiles)
    for square, tile in play.tiles:
        merged[square] = tile
    touched = new_tiles
    if play.rearranged:
        touched = new_tiles | dict(play.rearranged)
        for square, tile in play.rearranged:
            merged[square] = tile
    squares = sorted(touched)
    lies_across = len(squares) > 1 and squares[-1] - squares[0] < BOARD_SIZE  # first and last square are in one row
    words: list[WordScore] = []
    for across in (lies_across, not lies_across):
        main_start: Square | None = None  # start of the main word, which is the same for most of its squares
        for square in squares:
            run = find_tile_run(merged, square, across)
            if len(run) == 1 or (across == lies_across and run.start == main_start):
                continue
            if across == lies_across:
                main_start = run.start
            words.append(_score_word(merged, new_tiles, run, layout, tiles))
    if len(words) > 1:  # remove words that were found from several squares
        words = list({(word.start, word.across): word for word in words}.values())
        if len(squares) == 1:  # the longer word through a single tile is the main word
            words.sort(key=lambda word: (-len(word.tiles), not word.across))
    bonus = rules.bonus(len(new_tiles))
    total = bonus
    for word in words:
        total += word.score
    return PlayScore(tuple(words), bonus, total)


def _score_word(
    merged: list[Tile | None], new_tiles: dict[Square, Tile], run: range, layout: Layout, tiles: TileSet
) -> WordScore:
    """Return the score of the word on the squares `run`; `merged` has the tile of each square after the play."""
    letter_multipliers, word_multipliers = layout.letter_multipliers, layout.word_multipliers
    word_tiles: list[Tile] = []
    points: list[int] = []
    premiums: list[int] = []
    multiplier = 1
    total = 0
    for square in run:
        tile = merged[square]
        assert tile is not None
        value = tiles.values[tile.face]
        premium = 1
        if square in new_tiles:
            premium = letter_multipliers[square]
            multiplier *= word_multipliers[square]
        word_tiles.append(tile)
        points.append(value)
        premiums.append(premium)
        total += value * premium
    return WordScore(
        run.start, run.step == 1, tuple(word_tiles), tuple(points), tuple(premiums), multiplier, total * multiplier
    )


def check_placement(board: Board, play: Play, layout: Layout, rules: Rules) -> Status:
    """Return the defects of the placement of a play: squares, first word, number of tiles, rearranged tiles.

    This check is fast enough for a search. `engine.state.check_play` also checks the turn, the player's rack, the end
    of the game and the number of tiles in the set.
    """
    old = board.squares
    placed = play.tiles
    if not placed:
        return Status.NO_TILES
    status = 0
    new_squares = {square for square, _ in placed}
    for square in new_squares:
        if old[square] is not None:
            status |= Status.SQUARE_TAKEN.value
            break
    first, last = placed[0][0], placed[-1][0]
    across = first // BOARD_SIZE == last // BOARD_SIZE
    step = 1 if across else BOARD_SIZE
    if (last - first) % step:
        status |= Status.NOT_IN_LINE.value
    else:
        in_line = 0
        for square in range(first, last + 1, step):
            if square in new_squares:
                in_line += 1
            elif old[square] is None:
                status |= Status.GAP.value
        if in_line != len(new_squares):  # some tiles are beside the line, so that a gap in it means nothing
            status = (status | Status.NOT_IN_LINE.value) & ~Status.GAP.value
    if not _has_neighbour(old, new_squares):
        if any(old):
            status |= Status.NOT_JOINED.value
        else:
            if layout.centre not in new_squares:
                status |= Status.CENTRE_MISSED.value
            if len(new_squares) < rules.first_word_minimum:
                status |= Status.FIRST_WORD_SHORT.value
    if len(new_squares) > rules.rack_size:
        status |= Status.TOO_MANY_TILES.value
    if play.rearranged and not (rules.rearrange and is_one_word_rearranged(board, play)):
        status |= Status.OLD_TILE_CHANGED.value
    return Status(status)


def _has_neighbour(tiles: Sequence[Tile | None], squares: Iterable[Square]) -> bool:
    """Return True if a tile is on a neighbour of at least one of the squares."""
    for square in squares:
        for near in NEIGHBOURS[square]:
            if tiles[near] is not None:
                return True
    return False


def is_one_word_rearranged(board: Board, play: Play) -> bool:
    """Return True if a play rearranges the tiles of one word on the board and adds tiles of the rack (rule 5 A).

    All tiles of the old word must be in the new word. These tiles may be on newly covered squares, and tiles of the
    rack may be on squares of the old word. The rule is that of travel-case.
    """
    squares = [square for square, _ in play.rearranged]
    if any(board[square] is None for square in squares):
        return False
    after = play.apply_to(board)
    for across in (True, False):
        old_word, new_word = board.tile_run(squares[0], across), after.tile_run(squares[0], across)
        is_one_word = len(old_word) > 1 and set(squares) <= set(old_word)
        if is_one_word and not set(play.squares).isdisjoint(new_word):
            return _count_faces(board, old_word) <= _count_faces(after, new_word)
    return False


def _count_faces(board: Board, squares: Iterable[Square]) -> Counter[str]:
    return Counter(board.tile(square).face for square in squares)
