"""Checks of whose turn it was: the order of the turns, and the player whose button or phone ended a turn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from engine.events import (
    BlankTaken,
    Event,
    Passed,
    PlayerTurn,
    PlayMade,
    SquareCorrected,
    TileRecycled,
    TurnCorrected,
    filter_plays,
)
from engine.game import Game
from engine.ledger import Source
from engine.plays import Play
from engine.scoring import Status
from engine.state import TurnKind
from engine.validation.alternative_plays import SwapEvent, find_unlisted_words, list_other_orders
from engine.validation.findings import LOOK_AGAIN, PRESSED_BY_MISTAKE, Finding, Option, Proposal, Reason

MAX_SPLITS = 3
"""Maximum number of ways to divide a play between two players that are offered in one question."""


def check_order(proposal: Proposal) -> Iterator[Finding]:
    """Report a turn of a player who is not to move. After a correction, report later turns that are now out of turn."""
    game, after = proposal.game, proposal.game_after
    for event in proposal.events:
        if isinstance(event, PlayerTurn):
            player = game.find_player(event)
            if player != game.to_move:
                yield Finding(Reason.OUT_OF_TURN, (game.players[player], game.players[game.to_move]))
            return
    known = {turn.ref for turn in game.turns if Status.OUT_OF_TURN in turn.status}
    for turn in after.turns:
        if Status.OUT_OF_TURN in turn.status and turn.ref not in known:
            names = after.players[turn.player], after.players[turn.due]
            yield Finding(Reason.OUT_OF_TURN, names, squares=turn.play.squares if turn.play else ())


def check_seat(proposal: Proposal) -> Iterator[Finding]:
    """Ask whose turn it was, if another player's button or phone ended the last turn.

    If no button or phone of a player ended the turn, ask nothing. A turn without a play was probably ended by mistake.
    A single play may also be two plays: the first player forgot the button, and the second player lengthened the word.
    A tile on the board that was swapped in the turn may also have been misread.
    """
    game, seat = proposal.game, proposal.seat
    turns = [event for event in proposal.events if isinstance(event, PlayerTurn)]
    others = [event for event in proposal.events if event not in turns]
    if seat is None or seat >= len(game.players):
        return
    if not turns or (player := turns[-1].player) is None or player == seat:
        return
    if not all(isinstance(event, SquareCorrected | SwapEvent) for event in others):
        return  # the question about these events comes first
    values = (game.players[seat], game.players[player])
    if proposal.source is Source.HAND:
        moved = move_to_seat(game, proposal.events, seat)
        yield Finding(Reason.OUT_OF_TURN, values, (Option(proposal.events), Option(moved)))
        return
    options = _list_players(proposal, seat) if filter_plays(turns) else (PRESSED_BY_MISTAKE, Option(proposal.events))
    # A hand may hide the tiles of the player to move, who forgot the button.
    yield Finding(Reason.OUT_OF_TURN, values, (*options, LOOK_AGAIN), needs_picture=True)


def _list_players(proposal: Proposal, seat: int) -> tuple[Option, ...]:
    """Return the answers to the question who has made the proposed plays, if the player `seat` has ended the turn.

    The proposed players are always among the answers. The plays may also be in another order, be moved to `seat`, be
    one play divided between two players, or replace a pass that no player has confirmed.
    """
    game = proposal.game
    unswapped = tuple(event for event in proposal.events if not isinstance(event, SwapEvent))
    orders = (proposal.events, unswapped, *islice(list_other_orders(game, proposal.events), 1))
    answers = [events for order in orders for events in (order, move_to_seat(game, order, seat))]
    answers += [move_to_seat(game, plays, seat) for plays in islice(_split_play(proposal), MAX_SPLITS)]
    return tuple(map(Option, dict.fromkeys((*_replace_unanswered_pass(proposal), *answers))))


def _replace_unanswered_pass(proposal: Proposal) -> Iterator[tuple[Event, ...]]:
    """Yield the proposed play in place of the last turn, if that is an unconfirmed pass by the player who has pressed.

    The player has pressed the button too early, before placing the tiles, and again after placing them.
    """
    event, last = proposal.single_play, proposal.game.last_turn
    if event is None or last is None or last.kind is not TurnKind.PASS or last.player != proposal.seat:
        return
    if last.ref.entry == proposal.question_history.unanswered_pass:
        yield (TurnCorrected(last.ref, PlayMade(None, event.play)),)


def move_to_seat(game: Game, events: Sequence[Event], seat: int) -> tuple[Event, ...]:
    """Return the events with other players: the last turn by `seat`, and the turns before by the players before.

    A swap of a tile on the board belongs to the turn that follows. A pass is added for each player who is skipped, but
    none for a player who has lost the turn.
    """
    if not any(isinstance(event, PlayerTurn) for event in events):
        return tuple(events)
    first = next(number for number, event in enumerate(events) if isinstance(event, PlayerTurn | SwapEvent))
    game = game.push(*events[:first])
    passes: list[Event] = []
    max_passes = len(game.players) + sum(game.state.turns_to_skip)
    while len(passes) <= max_passes:
        moved = _give_to_players_to_move(game, events[first:])
        if [event.player for event in moved if isinstance(event, PlayerTurn)][-1] == seat:
            return (*events[:first], *passes, *moved)
        passes.append(Passed(game.to_move))
        game = game.push(passes[-1])
    raise AssertionError(f"each player is to move after at most {max_passes} passes")


def _give_to_players_to_move(game: Game, events: Sequence[Event]) -> tuple[Event, ...]:
    """Return the events with each turn and swap by the player who is then to move."""
    moved: list[Event] = []
    for event in events:
        if isinstance(event, PlayerTurn | TileRecycled | BlankTaken):
            event = replace(event, player=game.to_move)
        moved.append(event)
        game = game.push(event)
    return tuple(moved)


def _split_play(proposal: Proposal) -> Iterator[tuple[PlayMade, PlayMade]]:
    """Yield pairs of plays by two players that together may be the proposed play.

    Pairs with a longer first play come first.

    - With a word list in which players may look words up at any time, the first play has consecutive tiles of the
      proposed play, and both plays have only listed words.
    - Otherwise, the first play has the first tiles of the proposed play. Words are not checked: the question to the
      players would show which ones are listed.

    There are no pairs if the proposal has other events, or rearranges tiles.
    """
    game, event = proposal.game, proposal.single_play
    words = proposal.words if game.rules.open_dictionary else None
    if event is None or len(proposal.events) > 1 or event.play.rearranged:
        return
    tiles = event.play.tiles
    parts = ((start, size) for size in range(len(tiles) - 1, 0, -1) for start in range(len(tiles) - size + 1))
    for start, size in parts:
        first = replace(event, play=Play(tiles[start : start + size]))
        if game.check_play(first.play) or (words is None and start):
            continue
        between = game.push(first)
        second = PlayMade(between.to_move, Play(tiles[:start] + tiles[start + size :]))
        scores = game.score_play(first.play), between.score_play(second.play)
        if between.check_play(second.play):
            continue
        if words is None or not any(find_unlisted_words(score, words, game.tiles) for score in scores):
            yield first, second


def check_missed_press(proposal: Proposal) -> Iterator[Finding]:
    """Ask whether the next player has passed, if the first of two presses recorded nothing.

    The play was only found at the second press. Either its player has pressed twice, or the first press ended the play
    and the second press ended a pass of the next player.
    """
    event, game, after = proposal.single_play, proposal.game, proposal.game_after
    if not proposal.question_history.has_missed_press or proposal.seat is not None:
        return
    if event is None or len(proposal.events) > 1:
        return
    values = (after.players[game.find_player(event)], after.players[after.to_move])
    options = (Option(proposal.events), Option((*proposal.events, Passed(after.to_move))))
    yield Finding(Reason.PRESS_MISSED, values, options)


def check_withdrawn_play(proposal: Proposal) -> Iterator[Finding]:
    """Report a correction of a play that was withdrawn: the play stays withdrawn.

    The players may have withdrawn the play only because of the error that they correct now.
    """
    game, after = proposal.game, proposal.game_after
    for turn in after.turns:
        before = game.find_turn(turn.ref)
        if before is not None and turn.play and not turn.stands and turn.play != before.play:
            yield Finding(Reason.STILL_WITHDRAWN, (after.players[turn.player],))
