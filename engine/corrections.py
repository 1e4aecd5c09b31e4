"""Apply corrections to the ledger, the list of the events of a game as they really happened.

A correction changes an earlier event in the ledger. `Game.push` then computes the state again from the whole ledger.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from engine.board import Square, square_name
from engine.errors import RulesError
from engine.events import (
    BlankNamed,
    BlankTaken,
    Correction,
    Event,
    GameEnded,
    Passed,
    PlayMade,
    PositionEntered,
    ScoreCorrected,
    SquareCorrected,
    StateEvent,
    TileRecycled,
    TurnCorrected,
    TurnInserted,
)
from engine.messages import make_message
from engine.plays import Placement, Play
from engine.state import CLOSING_KINDS, Turn, TurnKind, replace_at
from engine.tiles import Tile


@dataclass(frozen=True, slots=True)
class CorrectedEvent:
    """An event of the ledger (the events as they happened). `score` is a score that a player entered, or None."""

    event: StateEvent
    score: int | None = None


Ledger = tuple[CorrectedEvent, ...]


def apply_correction(ledger: Ledger, turns: Sequence[Turn], event: Correction) -> Ledger:
    """Return the ledger (the events of a game as they happened) after a correction.

    `turns` are the turns of the game so far. Raises `RulesError` if the turn, tile or blank to correct does not exist.
    """
    match event:
        case BlankNamed(square, letter):
            return _name_blank(ledger, turns, square, letter)
        case SquareCorrected(square, tile, turn):
            return _correct_square(ledger, turns, square, tile, turn)
        case ScoreCorrected(turn, score):
            return _correct_score(ledger, turns, turn, score)
        case TurnCorrected(turn, None):
            at = _find_turn_index(ledger, turns, turn)
            return ledger[:at] + ledger[at + 1 :]
        case TurnCorrected(turn, other):
            at = _find_turn_index(ledger, turns, turn)
            return replace_at(ledger, at, CorrectedEvent(_require_state_event(other)))
        case TurnInserted(turn, other):
            played = [line for line in turns if line.kind not in CLOSING_KINDS]
            at = _find_turn_index(ledger, turns, turn) if turn < len(played) else _find_end_index(ledger)
            return (*ledger[:at], CorrectedEvent(_require_state_event(other)), *ledger[at:])


def _require_state_event(event: Event | None) -> StateEvent:
    if not isinstance(event, StateEvent):
        raise RulesError(f"a turn cannot become {event!r}")
    return event


def _find_ledger_index(turns: Sequence[Turn], number: int) -> int:
    if not 0 <= number < len(turns):
        raise RulesError(
            make_message(
                "no-turn", "There is no turn number {0}. The last turn has the number {1}.", number, len(turns)
            )
        )
    if turns[number].kind in CLOSING_KINDS:
        text = (
            "This line is calculated from the unplayed letters and the overtime. "
            "Correct the letters, or the score of a turn of this player, instead."
        )
        raise RulesError(make_message("end-follows", text))
    return turns[number].ledger_index


def _find_turn_index(ledger: Ledger, turns: Sequence[Turn], number: int) -> int:
    """Return the index, in the ledger, of the event of turn `number`.

    Raises `RulesError` if this line of the score sheet is not a turn.
    """
    at = _find_ledger_index(turns, number)
    if isinstance(ledger[at].event, PositionEntered):
        text = "A start from a position cannot be corrected as a turn. Correct the points or a square, or undo it."
        raise RulesError(make_message("position-no-turn", text))
    return at


def _correct_score(ledger: Ledger, turns: Sequence[Turn], number: int, score: int) -> Ledger:
    """Return the ledger with a corrected score, in points, of turn `number`.

    If the turn belongs to a position from which the game started, correct the player's points in the position.
    """
    at = _find_ledger_index(turns, number)
    entry = ledger[at]
    if not isinstance(entry.event, PositionEntered):
        return replace_at(ledger, at, replace(entry, score=score))
    player, totals = turns[number].player, entry.event.totals
    return _change_event(ledger, at, replace(entry.event, totals=replace_at(totals, player, score)))


def _find_end_index(ledger: Ledger) -> int:
    """Return the index of the `GameEnded` event in the ledger, or the length of the ledger if the game is not over."""
    return next((at for at, entry in enumerate(ledger) if isinstance(entry.event, GameEnded)), len(ledger))


def _change_event(ledger: Ledger, at: int, event: StateEvent) -> Ledger:
    """Return the ledger with another event at the index `at`. A corrected score of the replaced event is kept."""
    return replace_at(ledger, at, replace(ledger[at], event=event))


def _find_covering_index(ledger: Ledger, turns: Sequence[Turn], square: Square) -> int | None:
    """Return the index, in the ledger, of the last event that placed or changed a tile on `square`, or None.

    If the square has a tile now, withdrawn plays are skipped, because the tile belongs to another play.
    """
    is_covered = bool(turns) and turns[-1].board[square] is not None
    withdrawn = {turn.ledger_index for turn in turns if not turn.stands} if is_covered else set[int]()
    for at in range(len(ledger) - 1, -1, -1):
        event = ledger[at].event
        if at in withdrawn:
            continue
        if isinstance(event, TileRecycled | BlankTaken) and event.square == square:
            return at
        if isinstance(event, PositionEntered) and any(square == s for s, _ in event.board):
            return at
        if isinstance(event, PlayMade) and any(square == s for s, _ in event.play.tiles + event.play.rearranged):
            return at
    return None


def _change_tile(ledger: Ledger, at: int, square: Square, change: Callable[[Tile], Tile | None]) -> Ledger:
    """Return the ledger after a change of the tile on `square`, which the event with the index `at` has placed.

    `change` returns the new tile. If it returns None, the tile is removed; a play without tiles becomes a pass. A tile
    that was exchanged for one on the board is not removed alone: see `_correct_tile`.
    """
    event = ledger[at].event
    assert not isinstance(event, BlankTaken), "its letter is that of the blank, see `_correct_tile`"
    if isinstance(event, TileRecycled):
        tile = change(event.tile)
        assert tile is not None
        return _change_event(ledger, at, replace(event, tile=tile))
    if isinstance(event, PositionEntered):
        changed = replace(event, board=_change_placement(event.board, square, change))
        return _change_event(ledger, at, changed)
    assert isinstance(event, PlayMade)
    play = Play(*(_change_placement(part, square, change) for part in (event.play.tiles, event.play.rearranged)))
    made: StateEvent = PlayMade(event.player, play) if play.tiles else Passed(event.player)
    return replace_at(ledger, at, CorrectedEvent(made, ledger[at].score if play.tiles else None))


def _change_placement(
    placements: tuple[Placement, ...], square: Square, change: Callable[[Tile], Tile | None]
) -> tuple[Placement, ...]:
    changed = ((s, change(tile) if s == square else tile) for s, tile in placements)
    return tuple((s, tile) for s, tile in changed if tile)


def _name_blank(ledger: Ledger, turns: Sequence[Turn], square: Square, letter: str) -> Ledger:
    at = _find_covering_index(ledger, turns, square)
    no_blank = RulesError(make_message("tile-no-blank", "The tile on {0} is not a blank.", square_name(square)))

    def name(tile: Tile) -> Tile:
        if not tile.is_blank:
            raise no_blank
        if not tile.is_unnamed:
            text = "The blank on {0} is {1} for the rest of the game."
            raise RulesError(make_message("blank-stays", text, square_name(square), tile.letter))
        return Tile(letter, is_blank=True)

    if at is None:
        raise RulesError(
            make_message("no-blank", "There is no blank on {0}. Choose another square.", square_name(square))
        )
    if isinstance(ledger[at].event, BlankTaken):
        raise no_blank
    return _change_tile(ledger, at, square, name)


def _correct_tile(ledger: Ledger, turns: Sequence[Turn], at: int, square: Square, tile: Tile | None) -> Ledger:
    """Return the ledger with `tile` on `square`, which the event with the index `at` covers; None removes the tile.

    If a player has taken a blank from the square, the letter in its place is that of the blank. So another letter there
    is another letter of the blank. If the square still has a blank, or no tile, no blank was taken. Likewise, no tile
    was exchanged for another one on a square that has no tile.
    """
    event = ledger[at].event
    if not isinstance(event, BlankTaken) and not (isinstance(event, TileRecycled) and tile is None):
        return _change_tile(ledger, at, square, lambda _: tile)
    earlier = _find_covering_index(ledger[:at], turns, square)
    assert earlier is not None, "a tile is taken only from a square with a tile"
    if tile is None or tile.is_blank:
        return _correct_tile(ledger[:at] + ledger[at + 1 :], turns, earlier, square, tile)
    if isinstance(ledger[earlier].event, BlankTaken):
        return _correct_tile(ledger, turns, earlier, square, tile)
    return _change_tile(ledger, earlier, square, lambda old: Tile(tile.letter, old.is_blank))


def _correct_square(
    ledger: Ledger, turns: Sequence[Turn], square: Square, tile: Tile | None, turn: int | None
) -> Ledger:
    at = _find_covering_index(ledger, turns, square)
    standing = bool(turns) and turns[-1].board[square] is not None
    if at is not None and standing:
        return _correct_tile(ledger, turns, at, square, tile)
    if tile is None:
        raise RulesError(make_message("nothing-to-take", "There is no tile on {0} to remove.", square_name(square)))
    plays = [t.number for t in turns if (t.play and t.stands) or t.kind is TurnKind.POSITION]
    if turn is None and not plays:
        raise RulesError(
            make_message(
                "no-play-for",
                "The tile on {0} does not belong to any play. Enter the missing turn first.",
                square_name(square),
            )
        )
    at = _find_ledger_index(turns, plays[-1] if turn is None else turn)
    event = ledger[at].event
    if isinstance(event, PositionEntered):
        longer = replace(event, board=tuple(sorted({**dict(event.board), square: tile}.items())))
        return _change_event(ledger, at, longer)
    if not isinstance(event, PlayMade):
        text = "No tiles were played in turn {0}, so the tile on {1} cannot belong to it."
        raise RulesError(make_message("turn-laid-none", text, turn, square_name(square)))
    return _change_event(ledger, at, PlayMade(event.player, event.play.with_tile(square, tile)))
