"""Positions of recorded games with readings that a camera, a hand or the players have disturbed.

`ROWS` names the kinds of disturbance. A row makes a `Scenario` of a `Position`: the game as the session knows it, the
disturbed presses and the good presses that follow, each with the true game after it.

The probabilities of a disturbed square (`make_square`): the symbol that is read has the confidence of the row. A
runner-up has most of the rest: the true symbol if the square is read wrong, a similar letter if it is read right. It
has 2/3 if one letter is taken for another (a letter that is wrong at 0.97 leaves 0.02 for the true one) and 9/10 if the
mistake is whether a tile is there at all. What is left goes to up to three letters that look like the true one. All
other squares are read with probability 1.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from pathlib import Path
from random import Random

from engine.board import NEIGHBOURS, SQUARES, Board, Square, column_of, row_of, square_at
from engine.events import Challenged, Event, Exchanged, Passed, PlayMade, PlayWithdrawn, ScoreCorrected
from engine.game import Game
from engine.gcg import build_game, parse_gcg
from engine.reading import BLANK, BOARD_SIZE, EMPTY, HIDDEN, BoardReading, SquareReading

FOLLOWING_TURNS = 3
"""Turns with good readings after the disturbed ones."""
REPEATED_MISREADINGS = 5
"""Presses in a row at which one square is misread alike."""
SWAPPED_READINGS = 3
"""Presses in a row at which a swapped tile is seen."""
LETTER_RUNNER_UP_SHARE = 2 / 3
PRESENCE_RUNNER_UP_SHARE = 0.9
HIDDEN_PROBABILITY = 0.95
MARKED_BLANK_CONFIDENCE = 0.95
MIN_GRID_CONFIDENCE = 0.25
"""Least confidence in the orientation or offset of a grid that is wrong: it is the likeliest of four."""
HALF_FULL_TILES = range(25, 51)
MIN_OTHER_BOARD_TILES = 7
NOISE_SHARE = 0.5
"""Share of the squares on which noise shows a letter."""

_SIMILAR_LETTERS = (
    "EFB", "ILTJ", "UJV", "OQCGD", "MNHW", "VYUW", "PRBF", "SZB", "KXH", "ARK",
    "ЕЭВ", "ИНМ", "ШЩЦ", "ЬЪЫ", "ΕΣΞ", "ΟΘΦ", "ΛΑΔ",
)  # fmt: skip
_MAX_OTHERS = 3
_LETTER_DOUBTS = {1e-4: 0.7985, 1e-3: 0.116, 1e-2: 0.0726, 0.03: 0.0068, 0.1: 0.0035, 0.5: 0.0026}
"""Shares of the letters of photographs by the probability of not being what they are, up to each limit."""
_EMPTY_SQUARE_DOUBTS = {1e-4: 0.9209, 1e-3: 0.0692, 2e-3: 0.0066, 5e-3: 0.0027, 1e-2: 0.0002, 0.1: 0.0003, 0.5: 0.0001}
"""The same for empty squares and the probability of a tile."""

Squares = Mapping[Square, SquareReading]


@dataclass(frozen=True, slots=True)
class RecordedGame:
    """A game of a file: `states[n]` is the game before `events[n]`, the last one the game at the end."""

    name: str
    states: tuple[Game, ...]
    events: tuple[Event, ...]

    def find_turns(self, count: int) -> list[int]:
        """Return where a play begins `count` turns in a row that all stand: plays, exchanges and passes."""
        return [
            at
            for at in range(len(self.events) - count + 1)
            if isinstance(self.events[at], PlayMade)
            and all(isinstance(event, PlayMade | Exchanged | Passed) for event in self.events[at : at + count])
            and not any(
                isinstance(event, PlayWithdrawn | Challenged | ScoreCorrected)
                for event in self.events[at + count : at + count + 1]
            )
        ]


def load_game(file: Path) -> RecordedGame | None:
    """Return the game of a GCG file; None if a line cannot be read. Raises `NotationError`, `RulesError`."""
    record = parse_gcg(file.read_bytes())
    if record.problems or not record.entries:
        return None
    final = build_game(record)
    game = Game.from_events(final.events[:1])
    states = [game]
    for event in final.events[1:]:
        game = game.push(event)
        states.append(game)
    return RecordedGame(f"{file.parent.name}/{file.name}", tuple(states), final.events[1:])


@dataclass(frozen=True)
class Position:
    """A turn of a recorded game, and the board of another game."""

    recorded: RecordedGame
    at: int
    other_board: Board | None = None

    @property
    def before(self) -> Game:
        """The game before the turn."""
        return self.recorded.states[self.at]

    @property
    def after(self) -> Game:
        """The game after the turn."""
        return self.recorded.states[self.at + 1]

    @property
    def event(self) -> PlayMade:
        """The play of the turn."""
        event = self.recorded.events[self.at]
        assert isinstance(event, PlayMade), "a position is that of a play"
        return event

    @cached_property
    def new_letters(self) -> list[Square]:
        """The squares of the play that hold a letter, not a blank."""
        return [square for square, tile in self.event.play.tiles if not tile.is_blank]

    @cached_property
    def old_letters(self) -> list[Square]:
        """The squares of earlier plays that hold a letter, not a blank."""
        board = self.before.board
        return [square for square in board.occupied_squares() if not board.tile(square).is_blank]

    def play_on(self, game: Game, skipped: int, count: int = FOLLOWING_TURNS) -> tuple[Game, ...] | None:
        """Return the game after each of the next `count` turns; None if the record does not have so many.

        The turns are those of the record from the one `skipped` after this turn, made by whoever is to move. A turn
        that the rules do not allow on this board is left out.
        """
        games: list[Game] = []
        for event in self.recorded.events[self.at + skipped :]:
            if len(games) == count:
                break
            if not isinstance(event, PlayMade | Exchanged | Passed):
                continue
            event = replace(event, player=game.to_move)
            if isinstance(event, PlayMade) and game.check_play(event.play):
                continue
            game = game.push(event)
            games.append(game)
        return tuple(games) if len(games) == count else None


@dataclass(frozen=True, slots=True)
class Picture:
    """What the reader reports of one picture."""

    reading: BoardReading


@dataclass(frozen=True, slots=True)
class Press:
    """One press of the button: the picture, and the true game after it."""

    picture: Picture
    truth: Game


@dataclass(frozen=True, slots=True)
class Scenario:
    """The game that the session has, the disturbed presses, and the good presses after them."""

    start: Game
    disturbed: tuple[Press, ...]
    following: tuple[Press, ...]


BuildScenario = Callable[[Position, Random], Scenario | None]
"""Returns None for a position that the row cannot disturb."""
ChangeSquares = Callable[[Position, Random], Squares | None]
"""Returns the squares that are read wrong, None for a position that the row cannot disturb."""


@dataclass(frozen=True, slots=True)
class Row:
    """A kind of disturbance: how it is made, how many turns it takes with those after it, and where it applies."""

    name: str
    build: BuildScenario
    turns: int = 1 + FOLLOWING_TURNS
    is_first_word: bool = False


# Readings


def make_clear_reading(board: Board) -> BoardReading:
    """Return the reading of a board without doubt; a blank is seen as a blank, whatever its name."""
    return BoardReading(tuple(make_certain_square(EMPTY if tile is None else tile.face) for tile in board.squares))


def make_lifelike_reading(board: Board, letters: Sequence[str], seed: str) -> BoardReading:
    """Return the right reading of a board with the doubts that photographs have, the same for each tile every time.

    The probabilities are those of 6,351 letters and 26,500 empty squares in 186 photographs of games.
    """
    squares = []
    for square, tile in enumerate(board.squares):
        chance = Random(f"{seed}/{square}/{tile and tile.face}")
        if tile is None:
            faint = _draw_doubt(chance, _EMPTY_SQUARE_DOUBTS)
            candidates = {EMPTY: 1 - faint, chance.choice(letters): faint}
            squares.append(SquareReading(tuple(candidates.items())))
        else:
            squares.append(make_square(tile.face, 1 - _draw_doubt(chance, _LETTER_DOUBTS), tile.face, letters, chance))
    return BoardReading(tuple(squares))


def _draw_doubt(chance: Random, shares: Mapping[float, float]) -> float:
    """Return a probability of being wrong: of the squares, `shares` maps the limits of classes to their shares."""
    limits = sorted(shares)
    at = chance.choices(range(len(limits)), [shares[limit] for limit in limits])[0]
    return chance.uniform(limits[at - 1] if at else 0.0, limits[at])


@lru_cache(maxsize=256)
def make_certain_square(symbol: str) -> SquareReading:
    """Return the reading of a square without doubt."""
    return SquareReading(((symbol, 1.0),))


def change_reading(reading: BoardReading, changed: Squares) -> BoardReading:
    """Return the reading with these squares changed."""
    return BoardReading(tuple(changed.get(square, read) for square, read in enumerate(reading.squares)))


def make_square(symbol: str, confidence: float, truth: str, letters: Sequence[str], chance: Random) -> SquareReading:
    """Return a square that is read as `symbol`, right or wrong, with plausible probabilities of other symbols.

    `letters` are those of the tile set. See the module for the model.
    """
    similar = find_similar_letters(truth if truth not in (EMPTY, BLANK) else symbol, letters)
    runner_up = truth if truth != symbol else chance.choice(similar)
    is_presence = (symbol == EMPTY) != (runner_up == EMPTY)
    share = PRESENCE_RUNNER_UP_SHARE if is_presence else LETTER_RUNNER_UP_SHARE
    others = [letter for letter in similar if letter not in (symbol, runner_up)]
    others = chance.sample(others, min(_MAX_OTHERS, len(others)))
    rest = 1 - confidence
    probabilities = {symbol: confidence, runner_up: rest * share}
    probabilities |= {letter: rest * (1 - share) / len(others) for letter in others}
    return SquareReading(tuple(sorted(probabilities.items(), key=lambda pair: (-pair[1], pair[0]))))


def make_hidden_square(truth: str) -> SquareReading:
    """Return a square that a hand covers."""
    return SquareReading(((HIDDEN, HIDDEN_PROBABILITY), (truth, 1 - HIDDEN_PROBABILITY)))


def find_similar_letters(symbol: str, letters: Sequence[str]) -> list[str]:
    """Return the letters that look like `symbol`: of its group, or with other accents; all if there are none."""
    base = _strip_accents(symbol)
    others = [letter for letter in letters if letter != symbol]
    groups = [group for group in _SIMILAR_LETTERS if base in group]
    similar = [
        letter
        for letter in others
        if (plain := _strip_accents(letter)) == base or any(plain in group for group in groups)
    ]
    return similar or others


def _strip_accents(letter: str) -> str:
    return "".join(sign for sign in unicodedata.normalize("NFD", letter) if not unicodedata.combining(sign))


def misplace_grid(reading: BoardReading, source: Callable[[int, int], tuple[int, int]]) -> BoardReading:
    """Return the reading whose square (row, column) shows what is at `source(row, column)`; outside it is empty."""
    squares = []
    for square in SQUARES:
        row, column = source(row_of(square), column_of(square))
        inside = 0 <= row < BOARD_SIZE and 0 <= column < BOARD_SIZE
        squares.append(reading[row, column] if inside else make_certain_square(EMPTY))
    return BoardReading(tuple(squares))


def draw_grid_confidence(chance: Random) -> float:
    """Return the confidence of a reader whose grid is wrong.

    Of the 190 photographs of games with tiles, none has less than 0.9999 in its orientation, which is right in all; a
    wrong one may be anything.
    """
    return chance.uniform(MIN_GRID_CONFIDENCE, 1.0)


# Scenarios


def _take_clear_pictures(games: Sequence[Game]) -> tuple[Press, ...]:
    return tuple(Press(Picture(make_clear_reading(game.board)), game) for game in games)


def _press_with(start: Game, picture: Picture, truth: Game, later: Sequence[Game] | None) -> Scenario | None:
    """Return one disturbed press and the good ones after it; None if there are no later turns."""
    return None if later is None else Scenario(start, (Press(picture, truth),), _take_clear_pictures(later))


def _press_once(position: Position, picture: Picture) -> Scenario | None:
    """Return the turn ended with this picture."""
    return _press_with(position.before, picture, position.after, position.play_on(position.after, 1))


def _build_clear(position: Position, _: Random) -> Scenario | None:
    return _press_once(position, Picture(make_clear_reading(position.after.board)))


def _disturb_squares(change: ChangeSquares) -> BuildScenario:
    """Return the row in which some squares of the picture are read wrong."""

    def build(position: Position, chance: Random) -> Scenario | None:
        changed = change(position, chance)
        reading = make_clear_reading(position.after.board)
        return None if changed is None else _press_once(position, Picture(change_reading(reading, changed)))

    return build


def _disturb_again(change: ChangeSquares, presses: int) -> BuildScenario:
    """Return the row in which the same squares are read wrong at so many presses."""

    def build(position: Position, chance: Random) -> Scenario | None:
        changed = change(position, chance)
        later = position.play_on(position.before, 0, presses + FOLLOWING_TURNS)
        if changed is None or later is None:
            return None
        disturbed = tuple(
            Press(Picture(change_reading(make_clear_reading(game.board), changed)), game) for game in later[:presses]
        )
        return Scenario(position.before, disturbed, _take_clear_pictures(later[presses:]))

    return build


def _leave_unchanged(start: Game, reading: BoardReading, later: Sequence[Game] | None) -> Scenario | None:
    """Return a press after which nothing should be recorded."""
    return _press_with(start, Picture(reading), start, later)


# Squares that are read wrong


def _misread(position: Position, square: Square, confidence: float, chance: Random) -> Squares:
    letters, truth = position.before.tiles.letters, position.after.board.tile(square).face
    wrong = chance.choice(find_similar_letters(truth, letters))
    return {square: make_square(wrong, confidence, truth, letters, chance)}


def _read_as(position: Position, square: Square, symbol: str, confidence: float, chance: Random) -> Squares:
    tile = position.after.board[square]
    truth = EMPTY if tile is None else tile.face
    return {square: make_square(symbol, confidence, truth, position.before.tiles.letters, chance)}


def _misread_new_letter(position: Position, chance: Random, confidence: float) -> Squares | None:
    new = position.new_letters
    return _misread(position, chance.choice(new), confidence, chance) if new else None


def _misread_old_letter(position: Position, chance: Random, confidence: float) -> Squares | None:
    old = position.old_letters
    return _misread(position, chance.choice(old), confidence, chance) if old else None


def _doubt_new_letter(position: Position, chance: Random, confidence: float) -> Squares | None:
    if not position.new_letters:
        return None
    square = chance.choice(position.new_letters)
    return _read_as(position, square, position.after.board.tile(square).face, confidence, chance)


def _miss_new_tile(position: Position, chance: Random, confidence: float) -> Squares | None:
    return _read_as(position, chance.choice(position.event.play.squares), EMPTY, confidence, chance)


def _miss_end_tile(position: Position, chance: Random, confidence: float) -> Squares | None:
    """The first or last tile of the word, if it is new and not the only new one."""
    squares, board = position.event.play.squares, position.after.board
    run = board.tile_run(squares[0], position.event.play.is_across(position.before.board))
    ends = [square for square in (run[0], run[-1]) if square in squares]
    if len(squares) < 2 or not ends:
        return None
    return _read_as(position, chance.choice(ends), EMPTY, confidence, chance)


def _miss_single_tile(position: Position, chance: Random, confidence: float) -> Squares | None:
    return _miss_new_tile(position, chance, confidence) if len(position.event.play.squares) == 1 else None


def _miss_old_tile(position: Position, chance: Random, confidence: float) -> Squares | None:
    old = position.before.board.occupied_squares()
    return _read_as(position, chance.choice(old), EMPTY, confidence, chance) if old else None


def _draw_letter(position: Position, chance: Random) -> str:
    """A letter that nobody has laid yet; any letter once the last ones are laid."""
    unseen = [letter for letter in position.after.unseen.elements() if letter != BLANK]
    return chance.choice(unseen or position.before.tiles.letters)


def _add_far_tile(position: Position, chance: Random, confidence: float) -> Squares | None:
    """A tile that touches none, not at a corner either."""
    taken = [(row_of(square), column_of(square)) for square in position.after.board.occupied_squares()]
    free = [
        square_at(row, column)
        for row in range(BOARD_SIZE)
        for column in range(BOARD_SIZE)
        if all(max(abs(row - r), abs(column - c)) > 1 for r, c in taken)
    ]
    if not free:
        return None
    return _read_as(position, chance.choice(free), _draw_letter(position, chance), confidence, chance)


def _add_touching_tile(position: Position, chance: Random, confidence: float) -> Squares | None:
    """A tile beside one of the play."""
    board = position.after.board
    free = [near for square in position.event.play.squares for near in NEIGHBOURS[square] if board[near] is None]
    if not free:
        return None
    return _read_as(position, chance.choice(free), _draw_letter(position, chance), confidence, chance)


def _cover_play(position: Position, chance: Random) -> Squares:
    """A hand over 3 x 3 squares around a tile of the play."""
    middle, board = chance.choice(position.event.play.squares), position.after.board
    return {
        square: make_hidden_square(EMPTY if (tile := board[square]) is None else tile.face)
        for square in SQUARES
        if max(abs(row_of(square) - row_of(middle)), abs(column_of(square) - column_of(middle))) <= 1
    }


def _wash_new_letter(position: Position, chance: Random, confidence: float) -> Squares | None:
    new = position.new_letters
    return _read_as(position, chance.choice(new), BLANK, confidence, chance) if new else None


def _turn_over_old_tile(position: Position, chance: Random, confidence: float) -> Squares | None:
    old = position.old_letters
    return _read_as(position, chance.choice(old), BLANK, confidence, chance) if old else None


def _nudge_old_tile(position: Position, chance: Random) -> Squares | None:
    """An old tile on the square beside its own."""
    board = position.after.board
    pairs = [(s, near) for s in position.old_letters for near in NEIGHBOURS[s] if board[near] is None]
    if not pairs:
        return None
    square, other = chance.choice(pairs)
    face = board.tile(square).face
    gone = _read_as(position, square, EMPTY, 0.97, chance)
    return {**gone, **_read_as(position, other, face, 0.97, chance)}


def _swap_old_tile(position: Position, chance: Random) -> Squares | None:
    """An old tile that was exchanged for one of another letter: read without doubt."""
    if not position.old_letters:
        return None
    square = chance.choice(position.old_letters)
    unseen = sorted(position.after.unseen.keys() - {BLANK, position.before.board.tile(square).face})
    return {square: make_certain_square(chance.choice(unseen))} if unseen else None


def _mark_blank(position: Position, chance: Random) -> Squares | None:
    """A new blank with a letter written on it."""
    blanks = [(s, tile) for s, tile in position.event.play.tiles if tile.is_blank and not tile.is_unnamed]
    if not blanks:
        return None
    square, tile = chance.choice(blanks)
    return _read_as(position, square, tile.letter, MARKED_BLANK_CONFIDENCE, chance)


def _shift_word(position: Position, chance: Random) -> Squares | None:
    """The new tiles a row higher or lower: tiles stand above the board, so a low camera sees them shifted."""
    step = chance.choice((-BOARD_SIZE, BOARD_SIZE))
    old = position.before.board
    moved = {square + step: tile for square, tile in position.event.play.tiles}
    if any(square not in SQUARES or old[square] is not None for square in moved):
        return None
    gone = dict.fromkeys(position.event.play.squares, make_certain_square(EMPTY))
    return {**gone, **{square: make_certain_square(tile.face) for square, tile in moved.items()}}


def _swap_new_letters(position: Position, chance: Random) -> Squares | None:
    """Two new tiles side by side in the wrong order, noticed and put right after the press."""
    tiles = dict(position.event.play.tiles)
    step = 1 if position.event.play.is_across(position.before.board) else BOARD_SIZE
    pairs = [(s, s + step) for s in tiles if s + step in tiles and tiles[s].face != tiles[s + step].face]
    if not pairs:
        return None
    one, other = chance.choice(pairs)
    return {one: make_certain_square(tiles[other].face), other: make_certain_square(tiles[one].face)}


def _begin_next_play(position: Position, chance: Random) -> Squares | None:
    """The next player lays tiles before the press: some of the next play, from one of its ends."""
    event = position.recorded.events[position.at + 1]
    if not isinstance(event, PlayMade) or len(event.play.tiles) < 2:
        return None
    count = chance.randrange(1, len(event.play.tiles))
    tiles = event.play.tiles[:count] if chance.random() < 0.5 else event.play.tiles[-count:]
    return {square: make_certain_square(tile.face) for square, tile in tiles}


# Pictures and turns that are wrong as a whole


def _rotate_180(position: Position, chance: Random) -> Scenario | None:
    last = BOARD_SIZE - 1
    return _press_rotated(position, chance, lambda row, column: (last - row, last - column))


def _rotate_90(position: Position, chance: Random) -> Scenario | None:
    last = BOARD_SIZE - 1
    if chance.random() < 0.5:
        return _press_rotated(position, chance, lambda row, column: (last - column, row))
    return _press_rotated(position, chance, lambda row, column: (column, last - row))


def _press_rotated(
    position: Position, chance: Random, source: Callable[[int, int], tuple[int, int]]
) -> Scenario | None:
    reading = misplace_grid(make_clear_reading(position.after.board), source)
    return _press_once(position, Picture(replace(reading, orientation_confidence=draw_grid_confidence(chance))))


def _shift_grid(position: Position, chance: Random) -> Scenario | None:
    step = chance.choice((-1, 1))
    reading = misplace_grid(make_clear_reading(position.after.board), lambda row, column: (row, column + step))
    return _press_once(position, Picture(replace(reading, offset_confidence=draw_grid_confidence(chance))))


def _forget_presses(position: Position, _: Random, turns: int) -> Scenario | None:
    """Several turns ended with one press."""
    later = position.play_on(position.before, 0, turns + FOLLOWING_TURNS)
    if later is None or not all(isinstance(game.events[-1], PlayMade) for game in later[:turns]):
        return None
    presses = _take_clear_pictures(later[turns - 1 :])
    return Scenario(position.before, presses[:1], presses[1:])


def _lift_last_play(position: Position, _: Random) -> Scenario | None:
    """The players agree that the play just recorded does not count; its tiles are gone at the next press."""
    truth = position.after.push(PlayWithdrawn(position.event.player))
    picture = Picture(make_clear_reading(truth.board))
    return _press_with(position.after, picture, truth, position.play_on(truth, 1))


def _forget_pass(position: Position, _: Random) -> Scenario | None:
    """A pass without a press, then the play of the next player."""
    passed = position.before.push(Passed(position.before.to_move))
    later = position.play_on(passed, 0, 1 + FOLLOWING_TURNS)
    if later is None or not isinstance(later[0].events[-1], PlayMade):
        return None
    presses = _take_clear_pictures(later)
    return Scenario(position.before, presses[:1], presses[1:])


def _clear_board(position: Position, _: Random) -> Scenario | None:
    if not position.before.board:
        return None
    return _leave_unchanged(position.before, make_clear_reading(Board()), position.play_on(position.before, 0))


def _show_other_game(position: Position, _: Random) -> Scenario | None:
    other = position.other_board
    if other is None or not position.before.board:
        return None
    return _leave_unchanged(position.before, make_clear_reading(other), position.play_on(position.before, 0))


def _show_noise(position: Position, chance: Random) -> Scenario | None:
    """Random letters on half of the squares, sure and unsure."""
    letters = position.before.tiles.letters
    squares = []
    for _ in SQUARES:
        if chance.random() < NOISE_SHARE:
            squares.append(make_square(chance.choice(letters), chance.uniform(0.3, 0.99), EMPTY, letters, chance))
        else:
            squares.append(make_certain_square(EMPTY))
    return _leave_unchanged(position.before, BoardReading(tuple(squares)), position.play_on(position.before, 0))


def _keep_tiles_of_last_game(position: Position, _: Random) -> Scenario | None:
    """A new game whose first press shows the board of the game before, half full; then it is cleared."""
    if len(position.before.board.occupied_squares()) not in HALF_FULL_TILES:
        return None
    start = position.recorded.states[0]
    later = Position(position.recorded, 0).play_on(start, 0)
    return _leave_unchanged(start, make_clear_reading(position.before.board), later)


def _show_stale_frame(position: Position, _: Random) -> Scenario | None:
    """The camera delivers a picture from before the play."""
    return _press_once(position, Picture(make_clear_reading(position.before.board)))


def _square_row(name: str, change: Callable[..., Squares | None], confidence: float | None = None) -> Row:
    return Row(name, _disturb_squares(change if confidence is None else partial(change, confidence=confidence)))


def _repeated_row(name: str, change: ChangeSquares, presses: int) -> Row:
    return Row(name, _disturb_again(change, presses), presses + FOLLOWING_TURNS)


ROWS: Mapping[str, Row] = {
    row.name: row
    for row in (
        Row("clear", _build_clear),
        _square_row("new-letter-wrong-97", _misread_new_letter, 0.97),
        _square_row("new-letter-wrong-90", _misread_new_letter, 0.90),
        _square_row("new-letter-wrong-60", _misread_new_letter, 0.60),
        _square_row("new-letter-right-60", _doubt_new_letter, 0.60),
        _square_row("old-letter-wrong-97", _misread_old_letter, 0.97),
        _square_row("new-tile-unseen-97", _miss_new_tile, 0.97),
        _square_row("new-tile-unseen-60", _miss_new_tile, 0.60),
        _square_row("end-tile-unseen-99", _miss_end_tile, 0.99),
        _square_row("old-tile-unseen-97", _miss_old_tile, 0.97),
        _square_row("extra-tile-far-90", _add_far_tile, 0.90),
        _square_row("extra-tile-touching-90", _add_touching_tile, 0.90),
        _square_row("extra-tile-touching-40", _add_touching_tile, 0.40),
        _square_row("hand-over-play", _cover_play),
        _square_row("new-letter-as-blank-97", _wash_new_letter, 0.97),
        _square_row("new-letter-as-blank-60", _wash_new_letter, 0.60),
        _square_row("old-tile-nudged", _nudge_old_tile),
        Row("grid-rotated-180", _rotate_180),
        Row("grid-rotated-90", _rotate_90),
        Row("grid-shifted", _shift_grid),
        Row("first-word-rotated-180", _rotate_180, is_first_word=True),
        Row("first-word-rotated-90", _rotate_90, is_first_word=True),
        Row("first-word-shifted", _shift_grid, is_first_word=True),
        Row("two-turns", partial(_forget_presses, turns=2), 2 + FOLLOWING_TURNS),
        Row("three-turns", partial(_forget_presses, turns=3), 3 + FOLLOWING_TURNS),
        Row("last-play-lifted", _lift_last_play),
        Row("pass-not-pressed", _forget_pass),
        Row("board-cleared", _clear_board),
        Row("other-game", _show_other_game),
        Row("noise", _show_noise),
        Row("new-game-half-full", _keep_tiles_of_last_game),
        _repeated_row("old-letter-wrong-5-times", partial(_misread_old_letter, confidence=0.97), REPEATED_MISREADINGS),
        _repeated_row("old-tile-unseen-5-times", partial(_miss_old_tile, confidence=0.97), REPEATED_MISREADINGS),
        _repeated_row("old-tile-swapped", _swap_old_tile, SWAPPED_READINGS),
        _square_row("blank-marked", _mark_blank),
        _square_row("word-shifted-one-row", _shift_word),
        _square_row("new-letters-swapped", _swap_new_letters),
        _square_row("old-tile-face-down", _turn_over_old_tile, 0.97),
        _square_row("single-tile-unseen-97", _miss_single_tile, 0.97),
        _square_row("next-play-begun", _begin_next_play),
        Row("stale-frame", _show_stale_frame),
    )
}
