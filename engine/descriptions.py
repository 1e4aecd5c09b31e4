"""Describe turns and events in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.board import square_name
from engine.events import BlankNamed, Event, SquareCorrected, TurnCorrected
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
            return make_message("swapped", "{0} swapped the tile on {1} for {2}", name, *_find_swapped_tile(turn))
        case TurnKind.BLANK_TAKEN:
            return make_message("took-blank", "{0} took the blank on {1} for {2}", name, *_find_swapped_tile(turn))
        case TurnKind.ENDRACK:
            return make_message("unplayed", "{0}: {1} for unplayed letters", name, f"{turn.score:+d}")
        case TurnKind.TIME:
            return make_message("overtime", "{0}: {1} for overtime", name, f"{turn.score:+d}")
        case TurnKind.PENALTY:
            return make_message("penalty", "{0}: {1} as a penalty", name, f"{turn.score:+d}")
        case TurnKind.BONUS:
            return make_message("bonus", "{0}: {1} as a bonus", name, f"{turn.score:+d}")


def _find_swapped_tile(turn: Turn) -> tuple[str, Tile]:
    """Return the name of the square on which a turn has swapped a tile, and the tile on it after the swap."""
    assert turn.square is not None
    return square_name(turn.square), turn.board.tile(turn.square)


def describe_events(before: Game, after: Game, events: Sequence[Event]) -> str:
    """Return a sentence for `events`, which lead from the game `before` to the game `after`.

    A play that they correct is described as it is after the correction.
    """
    parts: list[str] = []
    corrected: dict[int, Turn] = {}
    for event in events:
        if isinstance(event, SquareCorrected):
            turn = after.find_turn(event.of) if event.of is not None else None
            if turn is not None and turn.kind is TurnKind.PLAY:
                corrected[turn.number] = turn
            else:
                parts.append(_describe_square(event))
        elif isinstance(event, TurnCorrected):
            parts += _describe_correction(before, after, event)
        elif isinstance(event, BlankNamed):
            parts.append(make_message("blank-is", "the blank on {0} is {1}", square_name(event.square), event.letter))
    parts += [describe_turn(after, turn) for turn in corrected.values()]
    parts += [describe_turn(after, turn) for turn in after.turns[len(before.turns) :]]
    return join_messages(", ", parts) if parts else make_message("nothing-added", "nothing was added")


def _describe_correction(before: Game, after: Game, event: TurnCorrected) -> Iterator[str]:
    old, new = before.find_turn(event.of), after.find_turn(event.of)
    if old is None or new is None:
        return
    is_moved = old.play is not None and new.play is not None and not {*old.play.squares} & {*new.play.squares}
    turn = describe_turn(after, new)
    yield make_message("laid-elsewhere", "tiles were placed elsewhere: {0}", turn) if is_moved else turn


def _describe_square(event: SquareCorrected) -> str:
    square = square_name(event.square)
    if event.tile is None:
        return make_message("read-wrong-empty", "{0} was misread: there is no tile", square)
    return make_message("read-wrong", "{0} was misread: it is {1}", square, event.tile)
