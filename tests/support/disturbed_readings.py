"""Positions of recorded games with readings that a camera, a hand or the players have disturbed.

`ROWS` names the kinds of disturbance. A row makes a `Scenario` of a `Position`: the game as the session knows it, the
disturbed presses and the good presses that follow, each with the true game after it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from random import Random

from engine.board import SQUARES, Board, column_of, row_of
from engine.events import Passed, PlayMade, PlayWithdrawn
from engine.game import Game
from engine.reading import BOARD_SIZE, EMPTY, BoardReading
from tests.support.disturbed_squares import (
    add_far_tile,
    add_touching_tile,
    begin_next_play,
    change_reading,
    cover_play,
    doubt_new_letter,
    make_certain_square,
    make_clear_reading,
    make_square,
    mark_blank,
    misread_letters,
    misread_new_letter,
    misread_old_letter,
    miss_end_tile,
    miss_new_tile,
    miss_old_tile,
    miss_single_tile,
    nudge_old_tile,
    shift_word,
    swap_new_letters,
    swap_old_tile,
    turn_over_old_tile,
    wash_new_letter,
)
from tests.support.recorded_positions import (
    FOLLOWING_TURNS,
    HALF_FULL_TILES,
    BuildScenario,
    ChangeSquares,
    Picture,
    Position,
    Press,
    Row,
    Scenario,
    Squares,
)

REPEATED_MISREADINGS = 5
"""Presses in a row at which one square is misread alike."""
SWAPPED_READINGS = 3
"""Presses in a row at which a swapped tile is seen."""
MIN_GRID_CONFIDENCE = 0.25
"""Least confidence in the orientation or offset of a grid that is wrong: it is the likeliest of four."""
NOISE_SHARE = 0.5
"""Share of the squares on which noise shows a letter."""


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
    """Return the row in which the same squares are read wrong at the next `presses` presses."""

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
        _square_row("new-letter-wrong-97", misread_new_letter, 0.97),
        _square_row("new-letter-wrong-90", misread_new_letter, 0.90),
        _square_row("new-letter-wrong-60", misread_new_letter, 0.60),
        _square_row("new-letter-right-60", doubt_new_letter, 0.60),
        _square_row("old-letter-wrong-97", misread_old_letter, 0.97),
        _square_row("fifth-of-letters-wrong-97", partial(misread_letters, share=0.2), 0.97),
        _square_row("new-tile-unseen-97", miss_new_tile, 0.97),
        _square_row("new-tile-unseen-60", miss_new_tile, 0.60),
        _square_row("end-tile-unseen-99", miss_end_tile, 0.99),
        _square_row("old-tile-unseen-97", miss_old_tile, 0.97),
        _square_row("extra-tile-far-90", add_far_tile, 0.90),
        _square_row("extra-tile-touching-90", add_touching_tile, 0.90),
        _square_row("extra-tile-touching-40", add_touching_tile, 0.40),
        _square_row("hand-over-play", cover_play),
        _square_row("new-letter-as-blank-97", wash_new_letter, 0.97),
        _square_row("new-letter-as-blank-60", wash_new_letter, 0.60),
        _square_row("old-tile-nudged", nudge_old_tile),
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
        _repeated_row("old-letter-wrong-5-times", partial(misread_old_letter, confidence=0.97), REPEATED_MISREADINGS),
        _repeated_row("old-tile-unseen-5-times", partial(miss_old_tile, confidence=0.97), REPEATED_MISREADINGS),
        _repeated_row("old-tile-swapped", swap_old_tile, SWAPPED_READINGS),
        _square_row("blank-marked", mark_blank),
        _square_row("word-shifted-one-row", shift_word),
        _square_row("new-letters-swapped", swap_new_letters),
        _square_row("old-tile-face-down", turn_over_old_tile, 0.97),
        _square_row("single-tile-unseen-97", miss_single_tile, 0.97),
        _square_row("next-play-begun", begin_next_play),
        Row("stale-frame", _show_stale_frame),
    )
}
