"""Checks of the old tiles, those recorded before: a picture may show them as removed, as other letters or as added.

The score of a recorded turn changes only after an answer of the players.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from engine.board import join_square_names
from engine.errors import NotationError, RulesError
from engine.events import (
    Event,
    PlayMade,
    PlayWithdrawn,
    SquareCorrected,
    filter_plays,
)
from engine.game import Game
from engine.inference.alignment import align_reading
from engine.inference.evidence import is_consistent
from engine.inference.hypotheses import replace_last_play
from engine.inference.misread_tiles import find_misread_tiles
from engine.validation.board_checks import find_last_play_squares, make_end_option
from engine.validation.findings import LOOK_AGAIN, Finding, Option, Proposal, Reason
from engine.validation.turn_checks import move_to_seat


def check_removed_tiles(proposal: Proposal) -> Iterator[Finding]:
    """Ask whether the last play was withdrawn, if its tiles are gone without an upheld challenge.

    If there are also new tiles, the same player may have replaced the play. If the button or phone that ended the turn
    is this player's, this counts until the answer; otherwise the new tiles are a play of the next player. The last play
    may also count, because its tiles were only lifted while the next player made a play. If some of them are back
    already, these are no tiles of the next player.
    """
    withdrawn = [event for event in proposal.events if isinstance(event, PlayWithdrawn)]
    if not withdrawn:
        return
    game, replaced = proposal.game, replace_last_play(proposal.game, proposal.events)
    player = withdrawn[0].player
    assert player is not None, "the inference names the player"
    answers = [proposal.events, *([replaced] if replaced else [])]
    with_play = [
        events
        for events in (proposal.events, _keep_last_play(game, proposal.events))
        if filter_plays(events) and _are_possible(game, events)
    ]
    if proposal.seat == player:
        answers.reverse()
    elif proposal.seat is not None:
        with_play += [move_to_seat(game, events, proposal.seat) for events in with_play]
    removed = tuple(map(Option, dict.fromkeys((*answers, *with_play))))
    options: tuple[Option, ...] = (*removed, LOOK_AGAIN)
    if game.bag_count == 0:
        options = (LOOK_AGAIN, make_end_option(game), *removed)
    squares = tuple(sorted(find_last_play_squares(game)))
    yield Finding(Reason.TILES_REMOVED, (game.players[player],), options, squares, needs_picture=True)


def _keep_last_play(game: Game, events: Sequence[Event]) -> tuple[Event, ...]:
    """Return the events without the withdrawal of the last play, and without the tiles of this play in later plays.

    A later play without any other tile is left out.
    """
    last = {placed for turn in islice(game.state.standing_plays(), 1) for placed in turn.placements}
    kept: list[Event] = []
    for event in events:
        if isinstance(event, PlayMade):
            event = replace(event, play=replace(event.play, tiles=tuple(p for p in event.play.tiles if p not in last)))
        if not isinstance(event, PlayWithdrawn) and not (isinstance(event, PlayMade) and not event.play.tiles):
            kept.append(event)
    return tuple(kept)


def check_old_tiles(proposal: Proposal) -> Iterator[Finding]:
    """Ask the players, once for each square, before a misread tile on the board is corrected.

    Until the answer, the recorded tile counts. If the recorded tile had a low confidence when it was placed, the
    correction counts instead.
    """
    reading, game, questions = proposal.reading, proposal.game, proposal.question_history
    if reading is None or not proposal.events:
        return
    reading = align_reading(game, reading) or reading
    if all(
        is_consistent(reading.squares[square].symbol, game.board[square]) for square in game.board.occupied_squares()
    ):
        return
    misread = find_misread_tiles(game, reading, proposal.reading_history.with_reading(reading, game.board))
    known = questions.squares | questions.open_squares
    changes = tuple(event for event in misread if event.square not in known)
    if not changes:
        return
    changed = tuple(event.square for event in changes)
    as_recorded, as_read = Option(proposal.events), Option((*changes, *proposal.events))
    if not _are_possible(game, as_read.events):
        options = (as_recorded, LOOK_AGAIN)
    elif questions.doubtful_squares.issuperset(changed):
        options = (as_read, as_recorded)
    else:
        options = (as_recorded, as_read)
    yield Finding(Reason.OLD_TILE_DIFFERS, (join_square_names(changed),), options, changed)


def check_added_tiles(proposal: Proposal) -> Iterator[Finding]:
    """Ask whether a tile that was missed before belongs to an earlier play.

    Until the answer, the tile counts as part of that play.
    """
    game = proposal.game
    added = [e for e in proposal.events if isinstance(e, SquareCorrected) and game.board[e.square] is None]
    squares = tuple(event.square for event in added)
    if squares and proposal.question_history.open_squares.isdisjoint(squares):
        yield Finding(Reason.TILE_ADDED, (join_square_names(squares),), (Option(proposal.events), LOOK_AGAIN), squares)


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
