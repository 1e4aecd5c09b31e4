"""Describe turns and events in sentences."""

from __future__ import annotations

from collections.abc import Sequence

from engine.board import Square, square_name
from engine.events import BlankNamed, Event, SquareCorrected, TurnCorrected
from engine.game import Game
from engine.messages import join_messages, make_message
from engine.state import Turn, TurnKind


def describe_turn(game: Game, turn: Turn) -> str:
    """Return a sentence for a turn, for example `Anna played HORN at 8F for 14`."""
    name = game.players[turn.player]
    match turn.kind:
        case TurnKind.POSITION:
            return make_message("position", "{0} starts with {1} points", name, turn.score)
        case TurnKind.PLAY:
            word = turn.words[0].word if turn.words else (turn.word or "")
            return make_message("played", "{0} played {1} at {2} for {3}", name, word, turn.at, turn.score)
        case TurnKind.WITHDRAWN:
            target = game.turns[turn.target] if turn.target is not None else turn
            return make_message("took-back", "{0} took back the play at {1} for {2}", name, target.at, turn.score)
        case TurnKind.EXCHANGE:
            if turn.count == 1:
                return make_message("exchanged-one", "{0} exchanged 1 tile", name)
            return make_message("exchanged", "{0} exchanged {1} tiles", name, turn.count)
        case TurnKind.PASS:
            return make_message("passed", "{0} passed", name)
        case TurnKind.CHALLENGE:
            target = game.turns[turn.target] if turn.target is not None else turn
            return make_message("in-vain", "the challenge of the play of {0} failed", game.players[target.player])
        case TurnKind.RECYCLED:
            return make_message("recycled", "{0} swapped a tile on the board for one from the rack", name)
        case TurnKind.BLANK_TAKEN:
            return make_message("blank-taken", "{0} took a blank for its letter", name)
        case TurnKind.ENDRACK:
            return make_message("unplayed", "{0}: {1} for unplayed letters", name, f"{turn.score:+d}")
        case TurnKind.TIME:
            return make_message("overtime", "{0}: {1} for overtime", name, f"{turn.score:+d}")


def describe_events(before: Game, after: Game, events: Sequence[Event]) -> str:
    """Return a sentence that describes the events between two games.

    If a tile was overlooked before, the sentence also has the earlier turn to which it is added.
    """
    parts: list[str] = []
    lengthened: dict[int, Turn] = {}
    for event in events:
        if isinstance(event, SquareCorrected):
            square, tile = square_name(event.square), event.tile
            if tile:
                parts.append(make_message("read-wrong", "{0} was misread: it is {1}", square, tile))
                if before.board[event.square] is None:
                    lengthened |= _find_earlier_turn(before, after, event.square)
            else:
                parts.append(make_message("read-wrong-empty", "{0} was misread: there is no tile", square))
        elif isinstance(event, TurnCorrected):
            turn = describe_turn(after, after.turns[event.turn])
            is_moved = before.turns[event.turn].play is not None
            parts.append(make_message("laid-elsewhere", "tiles were placed elsewhere: {0}", turn) if is_moved else turn)
        elif isinstance(event, BlankNamed):
            parts.append(make_message("blank-is", "the blank on {0} is {1}", square_name(event.square), event.letter))
    parts += [describe_turn(after, turn) for turn in lengthened.values()]
    parts += [describe_turn(after, turn) for turn in after.turns[len(before.turns) :]]
    return join_messages(", ", parts) if parts else make_message("nothing-added", "nothing was added")


def _find_earlier_turn(before: Game, after: Game, square: Square) -> dict[int, Turn]:
    """Return the turn of `before` that has a tile on `square` in the game `after`, by its number; empty if none has."""
    turns = after.turns[: len(before.turns)]
    return {turn.number: turn for turn in turns if turn.stands and square in dict(turn.placements)}
