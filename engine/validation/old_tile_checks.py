"""Checks of the old tiles, those recorded before: a picture may show that tiles are gone or have other letters.

The score of a recorded turn changes only after an answer of the players.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice

from engine.board import join_square_names
from engine.errors import NotationError, RulesError
from engine.events import (
    Event,
    PlayMade,
    PlayWithdrawn,
    TurnCorrected,
    filter_plays,
)
from engine.game import Game
from engine.inference.alignment import align_reading
from engine.inference.evidence import is_consistent
from engine.inference.explain import infer_play
from engine.inference.revisions import find_misread_tiles
from engine.state import TurnKind, check_play
from engine.validation.board_checks import find_last_play_squares, make_end_option
from engine.validation.findings import LOOK_AGAIN, Finding, Option, Proposal, Reason
from engine.validation.turn_checks import move_to_seat


def check_removed_tiles(proposal: Proposal) -> Iterator[Finding]:
    """Ask whether the last play was withdrawn, if its tiles are gone without an upheld challenge.

    If there are also new tiles, the players choose between these answers:

    - The same player has replaced the play by another one. This counts until the answer if the player's own button or
      phone ended the turn.
    - The play was withdrawn, and the new tiles are a play of the next player. This counts in all other cases.
    - The play stands: its tiles were only lifted while the next player made a play. Tiles of it that are back already
      are not counted as tiles of the next player.
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
    removed, end = tuple(map(Option, dict.fromkeys((*answers, *with_play)))), make_end_option(game)
    options: tuple[Option, ...] = (*removed, LOOK_AGAIN)
    if game.bag_count == 0:
        options = (LOOK_AGAIN, end, *removed)
    elif not proposal.game_after.board:  # the board may be cleared, because the game is over
        options = (*removed, end, LOOK_AGAIN)
    squares = tuple(sorted(find_last_play_squares(game)))
    yield Finding(Reason.TILES_REMOVED, (game.players[player],), options, squares, needs_picture=True)


def replace_last_play(game: Game, events: Sequence[Event]) -> tuple[Event, ...]:
    """Return the events if the player of the last play has replaced it by another one after pressing the button.

    `events` explain the same board as a withdrawal of the last play and a play of the next player. For other `events`,
    and if the rules do not allow the new play in place of the last one, return no events.
    """
    last = game.last_turn
    match events:
        case (PlayWithdrawn(), PlayMade(_, play)) if last is not None and last.kind is TurnKind.PLAY:
            before = replace(game.state, board=game.state.board_before(last))
            return () if check_play(before, play) else (TurnCorrected(last.ref, PlayMade(None, play)),)
    return ()


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
    misread = find_misread_tiles(game, reading, proposal.reading_history)
    known = questions.squares | questions.open_squares
    changes = tuple(event for event in misread if event.square not in known)
    if not changes:
        return
    changed = tuple(event.square for event in changes)
    as_recorded = Option(proposal.events)
    options = (as_recorded, LOOK_AGAIN)
    if _are_possible(game, changes):
        as_read = Option((*changes, *_read_after(changes, proposal)))
        if _are_possible(game, as_read.events):
            is_doubtful = questions.doubtful_squares.issuperset(changed)
            options = (as_read, as_recorded) if is_doubtful else (as_recorded, as_read)
    yield Finding(Reason.OLD_TILE_DIFFERS, (join_square_names(changed),), options, changed)


def _read_after(changes: Sequence[Event], proposal: Proposal) -> tuple[Event, ...]:
    """Return the proposed events with the letters that the reading shows once the old tiles are corrected.

    A letter that was recorded wrong may have been the last one of its kind, so that the new tile had to be a blank.
    """
    assert proposal.reading is not None, "the changes are read"
    found = infer_play(proposal.game.push(*changes), proposal.reading, proposal.reading_history)
    tiles = dict(chain.from_iterable(event.play.tiles for event in filter_plays(found.events)))
    return tuple(
        replace(event, play=replace(event.play, tiles=tuple((s, tiles.get(s, tile)) for s, tile in event.play.tiles)))
        if isinstance(event, PlayMade)
        else event
        for event in proposal.events
    )


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
