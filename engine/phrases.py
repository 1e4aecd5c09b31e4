"""Explanations and questions in words, for the page, the voice and the command line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from engine.events import BlankNamed, Event, SquareCorrected, TurnCorrected
from engine.game import Game
from engine.scoring import describe
from engine.squares import Square, square_name
from engine.turns import Kind, Turn

if TYPE_CHECKING:
    from engine.explain import Explanation


def turn_text(game: Game, turn: Turn) -> str:
    """A turn in a sentence: `Anna played HORN at 8F for 14`."""
    name = game.players[turn.player]
    match turn.kind:
        case Kind.PLAY:
            word = turn.words[0].word if turn.words else (turn.word or "")
            return f"{name} played {word} at {turn.at} for {turn.score}"
        case Kind.WITHDRAWN:
            target = game.turns[turn.target] if turn.target is not None else turn
            return f"{name} took back the play at {target.at} for {turn.score}"
        case Kind.EXCHANGE:
            return f"{name} exchanged {turn.count} tile{'s' * (turn.count != 1)}"
        case Kind.PASS:
            return f"{name} passed"
        case Kind.CHALLENGE:
            return f"the play of {name} was challenged in vain"
        case Kind.RECYCLED:
            return f"{name} recycled a tile of the board"
        case Kind.BLANK_TAKEN:
            return f"{name} took a blank for its letter"
        case Kind.ENDRACK:
            return f"{name}: {turn.score:+d} for unplayed letters"
        case Kind.TIME:
            return f"{name}: {turn.score:+d} for overtime"


def explanation_text(before: Game, after: Game, events: Sequence[Event], note: str) -> str:
    """What an explanation says happened, in a sentence."""
    if note:
        return note
    parts = []
    for event in events:
        if isinstance(event, SquareCorrected):
            square, tile = square_name(event.square), event.tile
            parts.append(f"{square} was read wrong: {f'it is {tile}' if tile else 'nothing lies there'}")
        elif isinstance(event, TurnCorrected):
            parts.append(f"tiles were laid elsewhere: {turn_text(after, after.turns[event.turn])}")
        elif isinstance(event, BlankNamed):
            parts.append(f"the blank on {square_name(event.square)} is {event.letter}")
    parts += [turn_text(after, turn) for turn in after.turns[len(before.turns) :]]
    return ", ".join(parts) or "nothing was added"


def question_text(best: Explanation, rival: Explanation | None, alarms: Sequence[Square]) -> str:
    """What to ask about a reading that is not clear."""
    names = _names(best.leftover)
    if best.leftover and best.status and not best.events:
        return f"This is no play: {describe(best.status)} ({names}). What was played?"
    for square, other in best.moved:
        return f"The tile on {square_name(square)} has moved to {square_name(other)}: please put it back. Right?"
    lost = [square for square in best.missing if square in alarms]
    if lost:
        return f"No tile is seen on {_names(lost)}, where one was played: has it been moved?"
    if best.leftover and any(square in alarms for square in best.leftover):
        return f"{best.text}: but what lies on {names}?"
    if rival is not None:
        squares = best.game.board.differences(rival.game.board)
        both = [(best.game.board[s], rival.game.board[s]) for s in squares]
        if len(squares) == 1 and both[0][0] and both[0][1]:
            return f"Which tile lies on {square_name(squares[0])}: {both[0][0]} or {both[0][1]}?"
        return f"Which is right: {best.text}, or {rival.text}?"
    if best.waits:
        return best.text
    if best.unsure:
        return f"{best.text}: is the tile on {_names(best.unsure)} right?"
    if best.covered:
        return f"{best.text}: does a tile lie on {_names(best.covered)} too? It cannot be seen"
    return f"{best.text}: is that right?"


def _names(squares: Sequence[Square]) -> str:
    names = [square_name(square) for square in squares]
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
