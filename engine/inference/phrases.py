"""Sentences for explanations and questions, for the web page, the voice and the command line."""

from __future__ import annotations

from collections.abc import Sequence

from engine.events import BlankNamed, Event, SquareCorrected, TurnCorrected
from engine.game import Game
from engine.inference.explanation import Explanation
from engine.messages import format_list, join_messages, said
from engine.scoring import describe_status
from engine.squares import Square, square_name
from engine.turns import Turn, TurnKind


def turn_text(game: Game, turn: Turn) -> str:
    """Return a sentence for a turn, for example `Anna played HORN at 8F for 14`."""
    name = game.players[turn.player]
    match turn.kind:
        case TurnKind.PLAY:
            word = turn.words[0].word if turn.words else (turn.word or "")
            return said("played", "{0} played {1} at {2} for {3}", name, word, turn.at, turn.score)
        case TurnKind.WITHDRAWN:
            target = game.turns[turn.target] if turn.target is not None else turn
            return said("took-back", "{0} took back the play at {1} for {2}", name, target.at, turn.score)
        case TurnKind.EXCHANGE:
            if turn.count == 1:
                return said("exchanged-one", "{0} exchanged 1 tile", name)
            return said("exchanged", "{0} exchanged {1} tiles", name, turn.count)
        case TurnKind.PASS:
            return said("passed", "{0} passed", name)
        case TurnKind.CHALLENGE:
            return said("in-vain", "the play of {0} was challenged in vain", name)
        case TurnKind.RECYCLED:
            return said("recycled", "{0} recycled a tile of the board", name)
        case TurnKind.BLANK_TAKEN:
            return said("blank-taken", "{0} took a blank for its letter", name)
        case TurnKind.ENDRACK:
            return said("unplayed", "{0}: {1} for unplayed letters", name, f"{turn.score:+d}")
        case TurnKind.TIME:
            return said("overtime", "{0}: {1} for overtime", name, f"{turn.score:+d}")


def explanation_text(before: Game, after: Game, events: Sequence[Event], note: str) -> str:
    """Return a sentence for what the events changed between two games; a `note` replaces it."""
    if note:
        return note
    parts: list[str] = []
    for event in events:
        if isinstance(event, SquareCorrected):
            square, tile = square_name(event.square), event.tile
            if tile:
                parts.append(said("read-wrong", "{0} was read wrong: it is {1}", square, tile))
            else:
                parts.append(said("read-wrong-empty", "{0} was read wrong: nothing lies there", square))
        elif isinstance(event, TurnCorrected):
            turn = turn_text(after, after.turns[event.turn])
            parts.append(said("laid-elsewhere", "tiles were laid elsewhere: {0}", turn))
        elif isinstance(event, BlankNamed):
            parts.append(said("blank-is", "the blank on {0} is {1}", square_name(event.square), event.letter))
    parts += [turn_text(after, turn) for turn in after.turns[len(before.turns) :]]
    return join_messages(", ", parts) if parts else said("nothing-added", "nothing was added")


def question_text(best: Explanation, rival: Explanation | None, alarms: Sequence[Square]) -> str:
    """Return the most urgent question to the players about an unclear reading.

    `alarms` are the squares that need attention in any case, `rival` is an explanation that is nearly as likely.
    """
    names = _format_squares(best.leftover_squares)
    if best.leftover_squares and best.status and not best.events:
        return said("no-play", "This is no play: {0} ({1}). What was played?", describe_status(best.status), names)
    for square, other in best.moved_tiles:
        moved = square_name(square), square_name(other)
        return said("tile-moved", "The tile on {0} has moved to {1}: please put it back. Right?", *moved)
    lost = [square for square in best.missing_squares if square in alarms]
    if lost:
        text = "No tile is seen on {0}, where one was played: has it been moved?"
        return said("tile-lost", text, _format_squares(lost))
    if best.leftover_squares and any(square in alarms for square in best.leftover_squares):
        return said("what-lies", "{0}: but what lies on {1}?", best.text, names)
    if rival is not None:
        squares = best.game.board.differences(rival.game.board)
        both = [(best.game.board[s], rival.game.board[s]) for s in squares]
        if len(squares) == 1 and both[0][0] and both[0][1]:
            return said("which-tile", "Which tile lies on {0}: {1} or {2}?", square_name(squares[0]), *both[0])
        return said("which-is-right", "Which is right: {0}, or {1}?", best.text, rival.text)
    if best.is_waiting:
        return best.text
    if best.unsure_squares:
        return said("tile-right", "{0}: is the tile on {1} right?", best.text, _format_squares(best.unsure_squares))
    if best.covered_squares:
        text = "{0}: does a tile lie on {1} too? It cannot be seen"
        return said("tile-covered", text, best.text, _format_squares(best.covered_squares))
    return said("is-that-right", "{0}: is that right?", best.text)


def _format_squares(squares: Sequence[Square]) -> str:
    return format_list([square_name(square) for square in squares])
