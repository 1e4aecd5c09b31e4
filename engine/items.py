"""The acts of a game with their identities, in the order in which they happened, and the edits that change them.

Edits name acts by their identity (`Ref`). If an answer or an edit takes an act away, edits of it and acts about it have
no effect. They count again when the act comes back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from engine.board import Square, square_name
from engine.errors import RulesError
from engine.events import (
    Act,
    BlankNamed,
    BlankTaken,
    Challenged,
    Edit,
    Exchanged,
    GameEnded,
    Passed,
    PlayCounted,
    PlayJudged,
    PlayMade,
    PlayWithdrawn,
    PositionEntered,
    Ref,
    ScoreCorrected,
    SquareCorrected,
    TileRecycled,
    TurnCorrected,
    TurnGiven,
    TurnInserted,
)
from engine.messages import make_message
from engine.plays import Placement, Play
from engine.tiles import Tile


@dataclass(frozen=True, slots=True)
class Item:
    """An act of a game with its identity.

    - `seat`: the player whose own button or phone ended the turn, or None for a shared one. The turn belongs to this
      player, after passes of the players who are skipped.
    - `scores`: pairs of a player and the points that players entered. The player None is the player of the act.
    - `counts`: the players have decided that the play counts although the word list lacks a word.
    - `is_inserted`: the act was recorded later than it happened (`TurnInserted`).
    """

    ref: Ref
    act: Act
    seat: int | None = None
    scores: tuple[tuple[int | None, int], ...] = ()
    counts: bool = False
    is_inserted: bool = False

    @property
    def score(self) -> int | None:
        """The score that players entered for the act, or None."""
        return dict(self.scores).get(None)


Items = tuple[Item, ...]


def apply_edit(items: Items, edit: Edit, refs: Iterator[Ref]) -> Items:
    """Return the items after an edit. `refs` yields the identities of acts that the edit inserts.

    Raises `RulesError` if the edit is about an act, a tile or a blank that does not exist.
    """
    match edit:
        case BlankNamed(square, letter):
            return _name_blank(items, square, letter)
        case SquareCorrected(square, tile, of):
            return _correct_square(items, square, tile, of)
        case ScoreCorrected(of, score, player):
            return _change(items, of, lambda item: _enter_score(item, score, player))
        case TurnCorrected(of, None):
            _find_index(items, of)
            return tuple(item for item in items if item.ref != of)
        case TurnCorrected(of, act):
            assert act is not None
            if isinstance(items[_find_index(items, of)].act, PositionEntered):
                raise make_position_error()
            return _change(items, of, partial(_replace_act, act=act))
        case TurnGiven(of, player):
            return _change(items, of, lambda item: replace(item, act=_with_player(item.act, player), seat=None))
        case TurnInserted(before, act):
            return _insert(items, before, Item(next(refs), act, is_inserted=True))
        case PlayCounted(of):
            return _change(items, of, lambda item: replace(item, counts=True))
        case PlayJudged(of, unlisted):
            return _change(items, of, lambda item: replace(item, act=_with_verdict(item.act, unlisted)))


def _find_index(items: Items, ref: Ref | None) -> int:
    """Return the index of an item. Raises `RulesError` if there is none."""
    for at, item in enumerate(items):
        if item.ref == ref:
            return at
    raise RulesError(make_message("turn-gone", "This turn is not recorded any more. Look at the score sheet again."))


def _change(items: Items, ref: Ref, change: Callable[[Item], Item]) -> Items:
    """Return the items in which `change` has replaced the item with the identity `ref`."""
    at = _find_index(items, ref)
    return (*items[:at], change(items[at]), *items[at + 1 :])


def make_position_error() -> RulesError:
    """Return the error for a correction of a position as if it were a turn."""
    text = "A start from a position cannot be corrected as a turn. Correct the points or a square, or undo it."
    return RulesError(make_message("position-no-turn", text))


def _enter_score(item: Item, score: int, player: int | None) -> Item:
    """Return the item with a score that players entered, in points.

    A position has points of each player: then `score` replaces those of `player`.
    """
    if isinstance(item.act, PositionEntered) and player is not None:
        totals = item.act.totals
        return replace(item, act=replace(item.act, totals=(*totals[:player], score, *totals[player + 1 :])))
    return replace(item, scores=((None, score),))


def _replace_act(item: Item, act: Act) -> Item:
    """Return the item with a corrected act. What is known of the old act stays where it is still true.

    - The player and the `seat` stay if `act` names no player.
    - The unlisted words of a play stay if `act` is the same play.
    - An entered score stays for the same play, and for another act of the same kind.
    """
    seat = None
    if isinstance(act, _PLAYER_ACTS) and act.player is None and isinstance(item.act, _PLAYER_ACTS):
        act, seat = replace(act, player=item.act.player), item.seat
    keeps_score = act.kind == item.act.kind
    if isinstance(act, PlayMade) and isinstance(item.act, PlayMade):
        keeps_score = act.play == item.act.play
        if keeps_score:
            act = replace(act, unlisted=item.act.unlisted)
    return replace(item, act=act, seat=seat, scores=item.scores if keeps_score else ())


_PLAYER_ACTS = (PlayMade, Exchanged, Passed, TileRecycled, BlankTaken)
"""The acts that are a turn of their `player`, or a part of one."""


def _with_player(act: Act, player: int) -> Act:
    """Return the act of another player. Raises `RulesError` for an act that is not the turn of a player."""
    if isinstance(act, _PLAYER_ACTS):
        return replace(act, player=player)
    raise RulesError(make_message("no-player-of-line", "The player of this line of the score sheet cannot be changed."))


def _with_verdict(act: Act, unlisted: tuple[str, ...]) -> Act:
    """Return a play with its unlisted words. An act that is no play has none, and stays as it is."""
    return replace(act, unlisted=unlisted) if isinstance(act, PlayMade) else act


def _insert(items: Items, before: Ref | None, item: Item) -> Items:
    """Return the items with `item` before the act `before`. If that is None, `item` is the last before `GameEnded`."""
    if before is not None:
        at = _find_index(items, before)
    else:
        at = next((n for n, other in enumerate(items) if isinstance(other.act, GameEnded)), len(items))
    return (*items[:at], item, *items[at:])


# Tiles


def find_withdrawn_refs(items: Iterable[Item]) -> frozenset[Ref]:
    """Return the identities of the plays that players or a challenge withdrew, or that do not count by the word list.

    A play with unlisted words is always among them, even if it stays on the board because a later play needs its tiles.
    """
    return frozenset(filter(None, map(_find_withdrawn_ref, items)))


def _find_withdrawn_ref(item: Item) -> Ref | None:
    match item.act:
        case PlayWithdrawn(_, of) | Challenged(upheld=True, of=of):
            return of
        case PlayMade(unlisted=unlisted) if unlisted and not item.counts:
            return item.ref
    return None


def _find_covering_index(items: Items, square: Square) -> int | None:
    """Return the index of the last act that put or changed the tile on `square`, or None.

    A withdrawn play is returned only if no other act has covered the square.
    """
    withdrawn, fallback = find_withdrawn_refs(items), None
    for at in range(len(items) - 1, -1, -1):
        if not _covers(items[at].act, square):
            continue
        if items[at].ref not in withdrawn:
            return at
        fallback = at if fallback is None else fallback
    return fallback


def _covers(act: Act, square: Square) -> bool:
    """Return True if an act puts a tile on this square, or changes the tile there."""
    match act:
        case TileRecycled() | BlankTaken():
            return act.square == square
        case PositionEntered(board):
            return any(square == other for other, _ in board)
        case PlayMade(_, play):
            return any(square == other for other, _ in play.tiles + play.rearranged)
    return False


def _change_tile(items: Items, at: int, square: Square, change: Callable[[Tile], Tile | None]) -> Items:
    """Return the items after a change of the tile on `square`, which the act with the index `at` has placed.

    `change` returns the new tile, or None to remove the tile. A play that loses its last tile becomes a pass.
    `_correct_tile` handles the tiles that a player has swapped on the board: their acts cannot be without a tile.
    """
    item = items[at]
    match item.act:
        case TileRecycled(_, _, tile):
            new = change(tile)
            assert new is not None
            changed = replace(item, act=replace(item.act, tile=new))
        case PositionEntered(board):
            changed = replace(item, act=replace(item.act, board=_change_placement(board, square, change)))
        case PlayMade(player, play):
            play = Play(*(_change_placement(part, square, change) for part in (play.tiles, play.rearranged)))
            act = replace(item.act, play=play) if play.tiles else Passed(player)
            changed = replace(item, act=act, scores=item.scores if play.tiles else ())
        case _:
            raise AssertionError("the letter of a blank that was taken is that of the blank, see `_correct_tile`")
    return (*items[:at], changed, *items[at + 1 :])


def _change_placement(
    placements: tuple[Placement, ...], square: Square, change: Callable[[Tile], Tile | None]
) -> tuple[Placement, ...]:
    changed = ((s, change(tile) if s == square else tile) for s, tile in placements)
    return tuple((s, tile) for s, tile in changed if tile)


def _name_blank(items: Items, square: Square, letter: str) -> Items:
    """Return the items with a letter for the blank on a square. Raises `RulesError` unless its letter is open."""
    at = _find_covering_index(items, square)
    no_blank = RulesError(make_message("tile-no-blank", "The tile on {0} is not a blank.", square_name(square)))

    def name(tile: Tile) -> Tile:
        if not tile.is_blank:
            raise no_blank
        if not tile.is_unnamed:
            text = "The blank on {0} is {1} for the rest of the game."
            raise RulesError(make_message("blank-stays", text, square_name(square), tile.letter))
        return Tile(letter, is_blank=True)

    if at is None:
        text = "There is no blank on {0}. Choose another square."
        raise RulesError(make_message("no-blank", text, square_name(square)))
    if isinstance(items[at].act, BlankTaken):
        raise no_blank
    return _change_tile(items, at, square, name)


def _correct_tile(items: Items, at: int, square: Square, tile: Tile | None) -> Items:
    """Return the items with `tile` on `square`, which the act with the index `at` covers; None removes the tile.

    If that act swapped the tile on the square, the correction may concern the earlier act that put a tile there:

    - `BlankTaken`: the blank was replaced by the letter for which it stood. Another letter on the square therefore
      changes the letter of the blank. If the square has a blank or no tile, the act is removed: nothing was taken.
    - `TileRecycled`: if the square has no tile, the act is removed: nothing was swapped.
    """
    act = items[at].act
    if not isinstance(act, BlankTaken) and not (isinstance(act, TileRecycled) and tile is None):
        return _change_tile(items, at, square, lambda _: tile)
    earlier = _find_covering_index(items[:at], square)
    if earlier is None:
        raise RulesError(make_message("nothing-to-take", "There is no tile on {0} to remove.", square_name(square)))
    if tile is None or tile.is_blank:
        return _correct_tile(items[:at] + items[at + 1 :], earlier, square, tile)
    if isinstance(items[earlier].act, BlankTaken):
        return _correct_tile(items, earlier, square, tile)
    return _change_tile(items, earlier, square, lambda old: Tile(tile.letter, old.is_blank))


def _correct_square(items: Items, square: Square, tile: Tile | None, of: Ref | None) -> Items:
    """Return the items with `tile` on `square`. If no act has covered the square, the play `of` gets the tile."""
    at = _find_covering_index(items, square)
    # A withdrawn play is corrected only if the correction names it (`of`), or names no play: then its tile was still on
    # the board when the players corrected it.
    if at is not None and (of in (None, items[at].ref) or items[at].ref not in find_withdrawn_refs(items)):
        return _correct_tile(items, at, square, tile)
    if tile is None:
        raise RulesError(make_message("nothing-to-take", "There is no tile on {0} to remove.", square_name(square)))
    item = items[_find_index(items, of)]
    match item.act:
        case PositionEntered(board):
            act: Act = replace(item.act, board=tuple(sorted({**dict(board), square: tile}.items())))
        case PlayMade(_, play):
            act = replace(item.act, play=play.with_tile(square, tile))
        case _:
            text = "No tiles were played in this turn, so the tile on {0} cannot belong to it."
            raise RulesError(make_message("turn-laid-none", text, square_name(square)))
    return _change(items, item.ref, lambda item: replace(item, act=act))


def number_refs(entry: int, parts: Sequence[int] = ()) -> Iterator[Ref]:
    """Yield the identities of the acts of an entry: `parts` first, then further numbers.

    >>> refs = number_refs(4, (1, 0))
    >>> [str(next(refs)) for _ in range(3)]
    ['4.1', '4.0', '4.2']
    """
    yield from (Ref(entry, part) for part in parts)
    part = max(parts, default=-1)
    while True:
        part += 1
        yield Ref(entry, part)
