"""Checks of the whole board: its identity, its orientation, the offset of the grid, and new tiles at a pass.

Nothing is recorded before the players answer these questions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice

from engine.board import NEIGHBOURS, SQUARES, Square, join_square_names
from engine.events import (
    EndReason,
    GameEnded,
    Passed,
    PositionEntered,
    TurnCorrected,
    filter_plays,
)
from engine.game import Game
from engine.inference.alignment import MIN_AGREEMENT, MIN_TILES_IN_SIGHT, align_reading, shift_reading
from engine.inference.evidence import MIN_CLEAR_PROBABILITY, is_consistent
from engine.inference.explain import infer_play
from engine.inference.placements import tile_from_face
from engine.inference.revisions import find_confirmed_squares
from engine.reading import BOARD_SIZE, EMPTY, BoardReading, SquareReading
from engine.state import TurnKind, find_withdrawn_turn
from engine.tiles import Tile
from engine.validation.findings import LOOK_AGAIN, Finding, Option, Proposal, Reason

MIN_GRID_CONFIDENCE = 0.99
"""Minimum probability, on a board with few tiles, that the board is upright, and that the grid is not one square off.
If one of the two is lower, the players are asked."""
_NEAREST_SHIFTS = ((0, 1), (0, -1), (1, 0), (-1, 0))
MAX_UNEXPLAINED_TILES = 2
"""Maximum number of new tiles that the inferred events may leave unexplained. With more, the players are asked."""
MIN_WRONG_LETTERS = 3
"""Minimum number of old tiles that a picture shows with other letters than before, to doubt its new letters."""
MIN_WRONG_LETTER_SHARE = 0.1
"""Minimum share (0..1) of old tiles with other letters than before, so that the new letters are in doubt, too.

At this share, a play of four tiles is right in two of three cases.
"""
MAX_LOST_TILES = 2
"""Maximum number of missing old tiles, not counting the last play. With more, the players are clearing the board."""
MAX_CLEARED_SHARE = 0.2
"""Maximum share (0..1) of the old tiles that are still on a cleared board."""
MAX_PLAYS = 3
"""Maximum number of plays from one picture that are recorded without a question."""
MAX_FIRST_PLAYS = 2
"""Maximum number of plays in the first picture of a game. With more, the game may have begun before the first picture.
"""
MIN_NEW_TILE_PROBABILITY = 0.02
"""Minimum probability of a new tile on a square; if it is reached, the players are asked to confirm a pass."""


def check_cleared_board(proposal: Proposal) -> Iterator[Finding]:
    """Ask whether the game is over, if several old tiles are gone. New tiles may belong to the next game."""
    reading, game = proposal.reading, proposal.game
    if reading is None or game.is_over:
        return
    in_sight = _find_tiles_in_sight(game, reading)
    missing = {square for square in in_sight if reading.squares[square].symbol == EMPTY}
    missing_before_last_play = missing - find_last_play_squares(game)
    are_all_missing = len(missing) == len(in_sight)
    # If only tiles of the last play are gone, it was withdrawn. A few other tiles may be in a hand, or misread.
    if not missing_before_last_play or (len(missing_before_last_play) <= MAX_LOST_TILES and not are_all_missing):
        return
    if len(find_unexplained_squares(game, reading)) > game.rules.rack_size:
        return  # this is another board: see `check_board_identity`
    if game.rules.rearrange and len(missing) < (1 - MAX_CLEARED_SHARE) * len(in_sight):
        return  # the tiles of a rearranged word are on other squares
    squares = tuple(sorted(missing))
    yield Finding(Reason.BOARD_CLEARED, (str(len(missing)),), _offer_end(proposal), squares, needs_picture=True)


def check_board_identity(proposal: Proposal) -> Iterator[Finding]:
    """If a reading contradicts the old tiles, ask the players: the picture may show another board or be unusable."""
    reading, game = proposal.reading, proposal.game
    if reading is None or game.is_over:
        return
    if game.rules.rearrange or game.rules.recycle:
        return  # these rules allow any old tile to change
    in_sight = _find_tiles_in_sight(game, reading)
    wrong = tuple(s for s in in_sight if not is_consistent(reading.squares[s].symbol, game.board[s]))
    last = find_last_play_squares(game)
    has_few_tiles = len(set(in_sight) - last) < MIN_TILES_IN_SIGHT  # with more tiles, `align_reading` decides
    is_contradicted = has_few_tiles and len(wrong) > len(in_sight) * MIN_AGREEMENT and not last.issuperset(wrong)
    if is_contradicted or (align_reading(game, reading) is None and reading.shows_tiles):
        yield Finding(Reason.OTHER_BOARD, (), _offer_end(proposal), wrong, needs_picture=True)


def check_finished_game(proposal: Proposal) -> Iterator[Finding]:
    """Ask whether the game is over, if there is a new play although a player has used the last letter.

    The new tiles may belong to the next game, or show a play that a player could have made.
    """
    game, plays = proposal.game, filter_plays(proposal.events)
    if plays and game.end_due is EndReason.PLAYED_OUT:
        squares = tuple(sorted(square for event in plays for square in event.play.squares))
        yield Finding(Reason.OTHER_BOARD, (), _offer_end(proposal), squares, needs_picture=True)


def check_first_board(proposal: Proposal) -> Iterator[Finding]:
    """Ask whether the game starts from this board, because the first picture with tiles shows more than a few plays.

    The reasons are too many tiles, more than `MAX_FIRST_PLAYS` plays, or tiles that plays do not explain. If the
    players confirm, no turns are inferred, and the points so far are 0 until the players enter them. Passes and
    exchanges that were recorded on the empty board are removed. After any other turn, confirming is not offered.
    """
    reading, game = proposal.reading, proposal.game
    if reading is None or game.board:
        return
    tiles = {s: tile_from_face(reading.squares[s].symbol) for s in SQUARES if reading.squares[s].is_tile}
    unexplained = find_unexplained_squares(proposal.game_after, reading) if len(tiles) > game.rules.rack_size else ()
    has_many_tiles = len(tiles) > MAX_FIRST_PLAYS * game.rules.rack_size
    has_many_plays = len(filter_plays(proposal.events)) > MAX_FIRST_PLAYS
    if not (has_many_tiles or has_many_plays or len(unexplained) > MAX_UNEXPLAINED_TILES):
        return
    player_count = len(game.players)
    to_move = game.to_move if proposal.seat is None else (proposal.seat + 1) % player_count
    position = PositionEntered(tuple(tiles.items()), (0,) * player_count, to_move)
    options = [LOOK_AGAIN]
    if all(turn.kind in (TurnKind.PASS, TurnKind.EXCHANGE) for turn in game.turns):
        # A position comes before all turns. An implied pass goes with the act from which it follows.
        removed = [TurnCorrected(turn.ref, None) for turn in game.turns if not turn.is_implied]
        options.append(Option((*removed, position)))
    yield Finding(Reason.BOARD_ALREADY_FULL, (str(len(tiles)),), tuple(options), tuple(tiles), needs_picture=True)


def check_letters(proposal: Proposal) -> Iterator[Finding]:
    """Ask about a new play if its picture shows several old tiles with wrong letters.

    The letters of a bad picture may be wrong although their confidence is high. If several old tiles are misread, the
    letters of the new play may be wrong, too.

    Some old tiles do not count, because their letter may be in a typeface that is never read correctly: tiles that an
    earlier picture showed with another letter, and tiles that players have named, corrected or been asked about.
    """
    reading, game = proposal.reading, proposal.game
    if reading is None or not filter_plays(proposal.events):
        return
    if game.rules.rearrange or game.rules.recycle:
        return  # these rules allow any old tile to change
    reading = align_reading(game, reading) or reading
    known = {
        *proposal.reading_history.find_doubtful_squares(game),
        *proposal.question_history.squares,
        *proposal.question_history.open_squares,
        *find_confirmed_squares(game),
    }
    after = proposal.game_after.board  # the events may move or replace old tiles
    squares = {*game.board.occupied_squares()}.intersection(after.occupied_squares()) - known
    old = sorted(s for s in squares if reading.squares[s].is_tile)
    wrong = tuple(s for s in old if _shows_other_letter(reading.squares[s], after.tile(s)))
    if len(wrong) >= max(MIN_WRONG_LETTERS, MIN_WRONG_LETTER_SHARE * len(old)):
        options = (LOOK_AGAIN, Option(proposal.events))
        yield Finding(Reason.LETTERS_UNRELIABLE, (str(len(wrong)),), options, wrong, needs_picture=True)


def _shows_other_letter(read: SquareReading, tile: Tile) -> bool:
    """Return True if the square of `tile` is clearly read as another tile, or as empty."""
    return read.candidates[0][1] > MIN_CLEAR_PROBABILITY and not is_consistent(read.symbol, tile)


def check_unexplained_tiles(proposal: Proposal) -> Iterator[Finding]:
    """Ask about the new tiles if too many of them belong to no play, or if they are too many plays.

    The limits are `MAX_UNEXPLAINED_TILES` and `MAX_PLAYS`. Nothing is asked while tiles of a withdrawn play are still
    on the board: then nothing is recorded, so no new tile has a play.
    """
    reading = proposal.reading
    if reading is None:
        return
    reading = align_reading(proposal.game, reading) or reading
    if not proposal.events and _shows_withdrawn_tiles(proposal.game, reading):
        return
    unexplained = find_unexplained_squares(proposal.game_after, reading)
    known = proposal.reading_history.find_false_readings(proposal.game)
    squares = tuple(square for square in unexplained if square not in known)
    if len(squares) > MAX_UNEXPLAINED_TILES or len(filter_plays(proposal.events)) > MAX_PLAYS:
        options = (LOOK_AGAIN, Option(proposal.events)) if proposal.events else (LOOK_AGAIN,)
        if not squares:  # only the plays are too many: ask about all new tiles
            squares = find_unexplained_squares(proposal.game, reading)
        yield Finding(Reason.TILES_UNEXPLAINED, (str(len(squares)),), options, squares, needs_picture=True)


def check_orientation(proposal: Proposal) -> Iterator[Finding]:
    """Ask which side of the board is the top, while too few tiles show it. A picture may also be mirrored."""
    reading = _find_sparse_reading(proposal)
    if reading is not None and reading.orientation_confidence < MIN_GRID_CONFIDENCE:
        turned = (_rotate_reading(reading, turns) for turns in (2, 1, 3))
        options = _offer_readings(proposal, (*filter(None, [reading.alternative]), *turned))
        yield Finding(Reason.WHICH_SIDE_UP, (), options, needs_picture=True)


def check_offset(proposal: Proposal) -> Iterator[Finding]:
    """Ask whether the play is one square off, while too few tiles show where the grid is."""
    reading = _find_sparse_reading(proposal)
    if reading is not None and reading.offset_confidence < MIN_GRID_CONFIDENCE:
        new = find_unexplained_squares(proposal.game, reading)
        moved = (shift_reading(reading, rows, columns) for rows, columns in _NEAREST_SHIFTS)
        options = _offer_readings(proposal, moved)
        yield Finding(Reason.GRID_MISPLACED, (join_square_names(new),), options, new, needs_picture=True)


def _find_sparse_reading(proposal: Proposal) -> BoardReading | None:
    """Return the reading if it has new tiles, but the board has too few old ones to show orientation and offset."""
    reading, game = proposal.reading, proposal.game
    has_enough_tiles = len(game.board.occupied_squares()) >= MIN_TILES_IN_SIGHT
    return reading if reading and not has_enough_tiles and find_unexplained_squares(game, reading) else None


def _offer_readings(proposal: Proposal, readings: Iterable[BoardReading]) -> tuple[Option, ...]:
    """Return these options: read again, accept the events, or record the plays in one of `readings`."""
    options = [LOOK_AGAIN]
    if filter_plays(proposal.events):
        options.append(Option(proposal.events))
    for reading in readings:
        best = infer_play(proposal.game, reading, proposal.reading_history).best
        if filter_plays(best.events) and not best.leftover_squares:
            options.append(Option(best.events))
    return tuple(dict.fromkeys(options))


def _rotate_reading(reading: BoardReading, quarter_turns: int) -> BoardReading:
    """Return a reading turned anticlockwise by quarter turns. The letters of the squares do not change."""
    rows = [reading.squares[start : start + BOARD_SIZE] for start in range(0, len(SQUARES), BOARD_SIZE)]
    for _ in range(quarter_turns):
        rows = list(zip(*(row[::-1] for row in rows), strict=True))
    return replace(reading, squares=tuple(square for row in rows for square in row))


def check_pass(proposal: Proposal) -> Iterator[Finding]:
    """Ask the players to confirm a pass if the board may have a new tile or if an old tile is missing."""
    reading, game = proposal.reading, proposal.game
    is_pass = bool(proposal.events) and all(isinstance(event, Passed) for event in proposal.events)
    if reading is None or not is_pass:
        return
    reading = align_reading(game, reading) or reading
    possibly_covered = {s for s in SQUARES if reading.occupancy[s].tile >= MIN_NEW_TILE_PROBABILITY}
    known = {*game.board.occupied_squares(), *proposal.reading_history.find_false_readings(game)}
    new = [
        square
        for square in possibly_covered - known
        if not game.board or any(game.board[near] for near in NEIGHBOURS[square])
    ]
    missing = [
        square
        for square in game.board.occupied_squares()
        if square not in proposal.question_history.squares
        and reading.squares[square].probability(EMPTY) > MIN_CLEAR_PROBABILITY
    ]
    squares = tuple(sorted([*new, *missing]))
    if squares:
        values = (join_square_names(squares), game.players[game.to_move])
        options = (LOOK_AGAIN, Option(proposal.events))
        yield Finding(Reason.PASS_UNSURE, values, options, squares, needs_picture=True)


def find_last_play_squares(game: Game) -> set[Square]:
    """Return the squares of the last play on the board, or an empty set if the board has no play."""
    return {square for turn in islice(game.state.standing_plays(), 1) for square, _ in turn.placements}


def find_unexplained_squares(game: Game, reading: BoardReading) -> tuple[Square, ...]:
    """Return the squares that are clearly read as a tile but are empty on the board of the game."""
    withdrawn = find_withdrawn_turn(game.state)
    to_remove = {square for square, _ in withdrawn.placements} if withdrawn else set()
    tiles = [square for square in SQUARES if reading.occupancy[square].tile > MIN_CLEAR_PROBABILITY]
    return tuple(square for square in tiles if game.board[square] is None and square not in to_remove)


def _shows_withdrawn_tiles(game: Game, reading: BoardReading) -> bool:
    """Return True if a tile of the play that was just withdrawn is still on its square."""
    withdrawn = find_withdrawn_turn(game.state)
    placements = withdrawn.placements if withdrawn else ()
    return any(reading.squares[square].symbol == tile.face for square, tile in placements)


def _find_tiles_in_sight(game: Game, reading: BoardReading) -> list[Square]:
    """Return the squares of the old tiles that are not hidden in the reading."""
    squares = game.board.occupied_squares()
    return [square for square in squares if reading.occupancy[square].hidden <= MIN_CLEAR_PROBABILITY]


def _offer_end(proposal: Proposal) -> tuple[Option, ...]:
    """Return these options: read again, end the game, and record the events (unless they are only a pass)."""
    options = (LOOK_AGAIN, make_end_option(proposal.game))
    if all(isinstance(event, Passed) for event in proposal.events):
        return options
    return (*options, Option(proposal.events))


def make_end_option(game: Game) -> Option:
    """Return the option to end the game: for the reason in the rules if there is one now, or because players agree."""
    return Option((GameEnded(game.end_due or EndReason.AGREED),))
