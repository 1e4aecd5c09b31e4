"""Describe turns and events in sentences."""

from __future__ import annotations

from collections.abc import Sequence

from engine.board import Square, square_name
from engine.events import BlankNamed, BlankTaken, Event, SquareCorrected, TileRecycled, TurnCorrected
from engine.game import Game
from engine.messages import join_messages, make_message
from engine.state import Turn, TurnKind
from engine.tiles import Tile


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
            square, tile = _find_swapped_tile(game, turn)
            return make_message("swapped", "{0} swapped the tile on {1} for {2}", name, square, tile)
        case TurnKind.BLANK_TAKEN:
            square, tile = _find_swapped_tile(game, turn)
            return make_message("took-blank", "{0} took the blank on {1} for {2}", name, square, tile)
        case TurnKind.ENDRACK:
            return make_message("unplayed", "{0}: {1} for unplayed letters", name, f"{turn.score:+d}")
        case TurnKind.TIME:
            return make_message("overtime", "{0}: {1} for overtime", name, f"{turn.score:+d}")


def _find_swapped_tile(game: Game, turn: Turn) -> tuple[str, Tile]:
    """Return the name of the square on which a turn has swapped a tile, and the tile on it after the swap."""
    event = game.ledger[turn.ledger_index].event
    assert isinstance(event, TileRecycled | BlankTaken)
    return square_name(event.square), turn.board.tile(event.square)


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
