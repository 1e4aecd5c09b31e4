"""Find corrections of recorded plays and tiles that later readings show in another way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice

from engine.board import RAYS_BACK, RAYS_FORWARD, Board, Square
from engine.events import BlankNamed, SquareCorrected
from engine.game import Game
from engine.inference.evidence import MIN_CLEAR_PROBABILITY, is_consistent
from engine.inference.history import WINDOW, Observation, ReadingHistory
from engine.inference.placements import tile_from_face
from engine.plays import Play
from engine.reading import BLANK, EMPTY, BoardReading
from engine.state import Turn, TurnKind, check_play

_MAX_REMOVED_TILES = 3
"""Maximum number of old tiles that are removed from the record at once; with more, the board is being cleared."""


def list_revisions(
    game: Game,
    reading: BoardReading,
    observations: Sequence[Observation],
    told: Collection[int],
    answered: Collection[Square],
) -> Iterator[tuple[SquareCorrected, ...]]:
    """Yield possible corrections of one of the newest two recorded plays. All plays are legal after each of them.

    A play is corrected to what `reading` or an observation after the play shows: without the tiles that its player has
    taken back, and with other letters. It may also have new tiles in its line, as `reading` shows them.

    Some things are not corrected: plays that players have entered or corrected (the numbers of their entries are
    `told`), the letters of named blanks and on the squares `answered`, and any letter under a rule by which players may
    exchange it later.
    """
    rules = game.rules
    may_change = rules.rearrange or rules.recycle or rules.retake_blanks
    named = {event.square for event in game.events if isinstance(event, BlankNamed)}
    confirmed = find_confirmed_squares(game) - named
    squares = enumerate(reading.squares)
    new = {s for s, read in squares if read.is_tile and game.board[s] is None and s not in confirmed}
    if game.is_over:
        return
    for turn in islice(game.state.standing_plays(), WINDOW):
        assert turn.play is not None, "a play stands"
        if turn.play.rearranged or turn.ref.entry in told or not confirmed.isdisjoint(turn.play.squares):
            continue
        before = game.state.board_before(turn)
        readings = (reading, *(one.reading for one in observations if one.next_ref > turn.ref))
        kept = turn.play.squares if may_change else named.union(answered)
        seen = dict.fromkeys((turn.play, *(_read_play(turn.play, read, kept) for read in readings)))
        longer = chain.from_iterable(_lengthen(before, play, reading, new) for play in seen if play.tiles)
        for play in dict.fromkeys((*seen, *longer)):
            events = _correct(turn, play)
            if events and play.tiles and _is_possible(game, turn, play, events):
                yield events


def find_confirmed_squares(game: Game) -> frozenset[Square]:
    """Return the squares whose tile a player has named or corrected, and those of plays that withstood a challenge."""
    told = (
        event.square
        for event in game.events
        if isinstance(event, BlankNamed) or (isinstance(event, SquareCorrected) and event.told)
    )
    targets = (turn.target for turn in game.turns if turn.kind is TurnKind.CHALLENGE and turn.target is not None)
    challenged = (game.turns[number] for number in targets if game.turns[number].stands)
    return frozenset((*told, *(square for turn in challenged for square, _ in turn.placements)))


def _read_play(play: Play, reading: BoardReading, kept: Collection[Square]) -> Play:
    """Return a recorded play as a reading shows its squares.

    A tile is removed where the square is clearly empty. It is replaced where another letter is clearly read, except on
    the squares `kept`. All other tiles stay, for example those that are hidden or read as a blank.
    """
    tiles = {}
    for square, tile in play.tiles:
        read = reading.squares[square]
        is_clear = read.confidence > MIN_CLEAR_PROBABILITY
        is_letter = read.is_tile and read.symbol != BLANK
        if square not in kept and is_clear and is_letter and not is_consistent(read.symbol, tile):
            tile = tile_from_face(read.symbol)
        if not (is_clear and read.symbol == EMPTY):
            tiles[square] = tile
    return Play.from_tiles(tiles) if tiles else Play(())


def _lengthen(before: Board, play: Play, reading: BoardReading, new: Collection[Square]) -> Iterator[Play]:
    """Yield the longer plays that have more tiles at the ends of `play`, in its line.

    These tiles are on the squares `new`, as `reading` shows them. `before` is the board before the play.
    """
    board = play.apply_to(before)
    for across in (True, False):
        run = board.tile_run(play.squares[0], across)
        if not set(play.squares) <= set(run):
            continue
        ends = [_follow(before, rays[across][run[end]], new) for rays, end in ((RAYS_BACK, 0), (RAYS_FORWARD, -1))]
        for first in range(len(ends[0]) + 1):
            for last in range(len(ends[1]) + 1):
                added = {s: tile_from_face(reading.squares[s].symbol) for s in (*ends[0][:first], *ends[1][:last])}
                if added:
                    yield Play.from_tiles({**dict(play.tiles), **added})


def _follow(before: Board, ray: Sequence[Square], new: Collection[Square]) -> list[Square]:
    """Return the squares of `new` on a ray up to the first gap; tiles on the board `before` are no gaps."""
    found = []
    for square in ray:
        if square in new:
            found.append(square)
        elif before[square] is None:
            break
    return found


def _correct(turn: Turn, play: Play) -> tuple[SquareCorrected, ...]:
    """Return the corrections of squares that turn the play of `turn` into `play`."""
    old, new = dict(turn.placements), dict(play.tiles)
    added = {square: new.get(square) for square in {**new, **old} if old.get(square) != new.get(square)}
    return tuple(SquareCorrected(square, tile, turn.ref) for square, tile in added.items())


def _is_possible(game: Game, turn: Turn, play: Play, events: Sequence[SquareCorrected]) -> bool:
    """Return True if the rules allow `play` in place of that of `turn`, and the later plays after it."""
    if check_play(replace(game.state, board=game.state.board_before(turn)), play):
        return False
    after = game.push(*events)
    later = zip(game.turns[turn.number :], after.turns[turn.number :], strict=False)
    return not any(now.status & ~then.status for then, now in later)


def find_misread_tiles(game: Game, reading: BoardReading, history: ReadingHistory) -> tuple[SquareCorrected, ...]:
    """Return corrections of older tiles that were misread: `reading` and the reading before contradict them alike.

    Older tiles are those of the settled board, before the newest two plays. A tile that players have named or corrected
    is not changed, nor one of a play that withstood a challenge.
    """
    confirmed = find_confirmed_squares(game)
    contradictions = history.find_contradictions(game, reading)
    # If many tiles are gone, the players are clearing the board after the game. The tiles were not misread.
    is_cleared = sum(symbol == EMPTY for symbol in contradictions.values()) > _MAX_REMOVED_TILES
    wrong = {
        square: symbol
        for square, symbol in contradictions.items()
        if square not in confirmed and not (is_cleared and symbol == EMPTY)
    }
    # A correct tile must be in the set: it is unseen so far, or that of another wrong square.
    stock = game.unseen + Counter(game.board.tile(square).face for square in wrong)
    found = []
    for square, symbol in wrong.items():
        if symbol == EMPTY or stock[symbol] > 0:
            stock[symbol] -= 1
            found.append(SquareCorrected(square, None if symbol == EMPTY else tile_from_face(symbol)))
    return tuple(found)
