"""Checks of turns that were recorded before. The score of such a turn changes only after an answer of the players."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from engine.board import Board, Square, square_name
from engine.errors import NotationError, RulesError
from engine.events import Event, GameEnded, Passed, PlayMade, PlayWithdrawn, SquareCorrected, TurnCorrected
from engine.game import Game
from engine.inference.history import ReadingHistory, align_reading, is_consistent
from engine.inference.hypotheses import find_misread_tiles
from engine.lexicon import WordList
from engine.plays import Play
from engine.scoring import score_play
from engine.state import Turn, TurnKind, check_play
from engine.tiles import Tile
from engine.validation.board_checks import find_last_play_squares
from engine.validation.findings import LOOK_AGAIN, Finding, Option, Proposal, Reason, push_events
from engine.validation.play_checks import find_end_squares, find_unlisted_words

MIN_EARLIER_TILE_PROBABILITY = 0.005
"""Probability of a tile in an earlier reading from which the tile may already have been on the board."""


def check_removed_tiles(proposal: Proposal) -> Iterator[Finding]:
    """Ask the players before a play is withdrawn because its tiles are gone, without an upheld challenge."""
    withdrawn = [event for event in proposal.events if isinstance(event, PlayWithdrawn)]
    if not withdrawn:
        return
    game, removed = proposal.game, Option(proposal.events)
    options: tuple[Option, ...] = (removed, LOOK_AGAIN)
    if game.bag_count == 0:
        options = (LOOK_AGAIN, Option((GameEnded(game.end_due) if game.end_due else GameEnded(),)), removed)
    squares = tuple(sorted(find_last_play_squares(game)))
    yield Finding(Reason.TILES_REMOVED, (game.players[withdrawn[0].player],), options, squares, needs_picture=True)


def check_old_tiles(proposal: Proposal) -> Iterator[Finding]:
    """Ask the players before a misread tile on the board is corrected, once for each square.

    The recorded tile counts until the question is answered. If the confidence of the tile was low when it was placed,
    the correction counts instead.
    """
    reading, game, asked = proposal.reading, proposal.game, proposal.asked
    if reading is None or not proposal.events:
        return
    reading = align_reading(game, reading) or reading
    if all(
        is_consistent(reading.squares[square].symbol, game.board[square]) for square in game.board.occupied_squares()
    ):
        return
    history = (proposal.earlier or ReadingHistory()).with_reading(reading, game.board)
    misread = find_misread_tiles(game, reading, history)
    changes = tuple(event for event in misread if event.square not in asked.squares | asked.open_squares)
    if not changes:
        return
    changed = tuple(event.square for event in changes)
    kept, corrected = Option(proposal.events), Option((*changes, *proposal.events))
    if not _are_possible(game, corrected.events):
        corrected = LOOK_AGAIN
    elif asked.doubtful_squares.issuperset(changed):
        kept, corrected = corrected, kept
    yield Finding(Reason.OLD_TILE_DIFFERS, (_name(changed),), (kept, corrected), changed)


def check_added_tiles(proposal: Proposal) -> Iterator[Finding]:
    """Ask if a tile that was missed before belongs to an earlier play. Until the answer, the tile is in that play."""
    game, asked = proposal.game, proposal.asked
    added = [e for e in proposal.events if isinstance(e, SquareCorrected) and game.board[e.square] is None]
    if added and not all(event.square in asked.open_squares for event in added):
        squares = tuple(event.square for event in added)
        yield Finding(Reason.TILE_ADDED, (_name(squares),), (Option(proposal.events), LOOK_AGAIN), squares)


def check_earlier_play(proposal: Proposal) -> Iterator[Finding]:
    """Ask if a tile at an end of the new play belongs to the previous play and was missed in that play's reading.

    The tile may belong to the previous play if the earlier reading does not exclude a tile on the square, or if the
    tile completes an unlisted word of the previous play to a valid word.
    """
    event, last = proposal.single_play, _find_last_turn(proposal.game)
    if event is None or last is None or last.play is None or last.player == event.player or last.play.rearranged:
        return
    before = proposal.game.turns[last.number - 1].board if last.number else Board()
    ends = set(find_end_squares(last.board, last.play))
    for square, tile in event.play.tiles:
        if square not in ends or not _may_be_earlier(proposal, last, before, square, tile):
            continue
        events = _move_tile(proposal, last, before, square, tile)
        if events is None:
            continue
        options = (Option(events), Option(proposal.events))
        if not _is_completed(proposal, last, before, square, tile):
            options = (options[1], options[0])
        values = (square_name(square), proposal.game.players[last.player])
        yield Finding(Reason.TILE_OF_EARLIER_PLAY, values, options, (square,))
        return


def _are_possible(game: Game, events: tuple[Event, ...]) -> bool:
    """Return True if the rules allow all plays among the events."""
    try:
        for event in events:
            if isinstance(event, PlayMade) and game.check_play(event.play):
                return False
            game = game.push(event)
    except (NotationError, RulesError):
        return False
    return True


def _find_last_turn(game: Game) -> Turn | None:
    """Return the last turn if this turn is a play that was not withdrawn, otherwise None."""
    last = game.turns[-1] if game.turns else None
    return last if last is not None and last.kind is TurnKind.PLAY and last.stands else None


def _may_be_earlier(proposal: Proposal, last: Turn, before: Board, square: Square, tile: Tile) -> bool:
    earlier = proposal.earlier.faint_tiles.get(square, 0.0) if proposal.earlier else 0.0
    return earlier >= MIN_EARLIER_TILE_PROBABILITY or _is_completed(proposal, last, before, square, tile)


def _is_completed(proposal: Proposal, last: Turn, before: Board, square: Square, tile: Tile) -> bool:
    """Return True if the previous play has an unlisted word and becomes a play of listed words with the extra tile."""
    words, game = proposal.words, proposal.game
    if words is None or not game.rules.open_dictionary or last.play is None:
        return False
    longer = Play.from_tiles({**dict(last.play.tiles), square: tile})
    return bool(_find_unlisted(game, before, last.play, words)) and not _find_unlisted(game, before, longer, words)


def _find_unlisted(game: Game, before: Board, play: Play, words: WordList) -> tuple[str, ...]:
    return find_unlisted_words(score_play(before, play, game.layout, game.tiles, game.rules), words)


def _move_tile(proposal: Proposal, last: Turn, before: Board, square: Square, tile: Tile) -> tuple[Event, ...] | None:
    """Return the events in which a tile of the new play belongs to the previous play.

    If the rules do not allow these events, return None.
    """
    event, game = proposal.single_play, proposal.game
    assert event is not None and last.play is not None
    longer = Play.from_tiles({**dict(last.play.tiles), square: tile})
    if check_play(replace(game.state, board=before), longer):
        return None
    rest = {at: other for at, other in event.play.tiles if at != square}
    follows: Event = replace(event, play=Play.from_tiles(rest)) if rest else Passed(event.player)
    events = (TurnCorrected(last.number, PlayMade(last.player, longer)), follows)
    between = push_events(game, events[:1])
    if isinstance(follows, PlayMade) and between.check_play(follows.play):
        return None
    return events


def _name(squares: tuple[Square, ...]) -> str:
    return ", ".join(map(square_name, squares))
