"""The state of a game as a value, and what can be known from it. `engine.transitions` applies events to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from engine.board import Board, Layout, load_layout
from engine.errors import RulesError
from engine.events import (
    BlankTaken,
    Challenged,
    ClockRead,
    EndReason,
    Exchanged,
    FirstDrawn,
    GameEnded,
    GameStarted,
    Passed,
    PlayMade,
    PlayWithdrawn,
    RackRevealed,
    TileRecycled,
)
from engine.messages import said
from engine.plays import Play
from engine.reading import BLANK
from engine.rules import ChallengeRule, Rules
from engine.scoring import Status, check_placement
from engine.tiles import TileSet, load_tile_set
from engine.turns import Turn, TurnKind

StateEvent = (
    FirstDrawn | PlayMade | Exchanged | Passed | Challenged | PlayWithdrawn | TileRecycled | BlankTaken | ClockRead
    | RackRevealed | GameEnded
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class State:
    """A game after its events so far.

    `rack_counts` is the number of tiles that each player holds and `bag_count` the number left to draw, as far as the
    rules determine them. `turns_to_skip` counts the turns that each player still loses, `clocks` the seconds that each
    has used. `revealed_racks` has the letters of racks that were entered, by player; `drawing` the players who have to
    draw for first play.
    """

    players: tuple[str, ...]
    rules: Rules
    tiles: TileSet
    layout: Layout
    board: Board
    turns: tuple[Turn, ...]
    totals: tuple[int, ...]
    to_move: int
    rack_counts: tuple[int, ...]
    bag_count: int
    turns_to_skip: tuple[int, ...]
    clocks: tuple[float, ...]
    revealed_racks: Mapping[int, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    end_reason: EndReason | None = None
    drawing: tuple[int, ...] = ()

    def unseen(self) -> Counter[str]:
        """The tiles that do not lie on the board: on the racks or in the bag. Never negative."""
        return +self.stock()

    def stock(self) -> Counter[str]:
        """What is left of each tile of the set; negative where the board holds more than there are."""
        return self.tiles.count_remaining(self.board.faces())


def create_state(event: GameStarted) -> State:
    """The state at the beginning. Raises `RulesError` for what no sheet allows."""
    count = len(event.players)
    if not 2 <= count <= 4:
        raise RulesError(said("players-2-to-4", "a game has 2 to 4 players, not {0}", count))
    if len(set(event.players)) != count:
        raise RulesError(said("same-name", "two players have the same name: {0}", ", ".join(event.players)))
    if not 0 <= event.first < count:
        raise RulesError(said("nobody-begins", "there is no player number {0} to begin", event.first))
    event.rules.finish_lines(count)
    tiles = load_tile_set(event.tile_set)
    return State(
        players=event.players,
        rules=event.rules,
        tiles=tiles,
        layout=load_layout(event.layout),
        board=Board(),
        turns=(),
        totals=(0,) * count,
        to_move=event.first,
        rack_counts=(event.rules.rack_size,) * count,
        bag_count=tiles.tile_count - count * event.rules.rack_size,
        turns_to_skip=(0,) * count,
        clocks=(0.0,) * count,
        drawing=tuple(range(count)) if event.draw else (),
    )


def find_first_players(drawn: tuple[str, ...], tiles: TileSet) -> tuple[int, ...]:
    """Who drew the tile closest to A; a blank beats any letter (Setup). Several: they draw again.

    An empty string is a player who did not draw. Raises `RulesError` for a tile that the set does not have.
    """
    order = {tile: place for place, tile in enumerate((BLANK, *tiles.letters))}
    unknown = [tile for tile in drawn if tile and tile not in order]
    if unknown or not any(drawn):
        text = "drawn for first play: {0} is no tile of {1}"
        raise RulesError(said("drawn-no-tile", text, ", ".join(unknown) or "–", repr(tiles.name)))
    best = min(order[tile] for tile in drawn if tile)
    return tuple(player for player, tile in enumerate(drawn) if tile and order[tile] == best)


def can_exchange(state: State, count: int) -> bool:
    """True when so many tiles can be exchanged now (rule 7, and the note of travel-case when it is on)."""
    return 0 < count <= state.bag_count and state.bag_count >= state.rules.exchange_minimum_bag


def check_play(state: State, play: Play, player: int | None = None) -> Status:
    """Every defect of a play in this state."""
    found = check_placement(state.board, play, state.layout, state.rules)
    if player is not None and player != state.to_move:
        found |= Status.OUT_OF_TURN
    if state.end_reason:
        found |= Status.GAME_OVER
    if find_excess_tiles(state, play):
        found |= Status.MORE_THAN_SET
    return found


def find_excess_tiles(state: State, play: Play) -> tuple[str, ...]:
    """The tiles of which the board would hold more than the set has."""
    return tuple(
        tile for tile, left in state.tiles.count_remaining(play.apply_to(state.board).faces()).items() if left < 0
    )


def find_challengeable_turn(state: State) -> Turn | None:
    """The play that may be challenged: the last thing that happened, until the next turn (rule 8)."""
    last = state.turns[-1] if state.turns else None
    if last is None or last.kind is not TurnKind.PLAY or state.rules.challenge is ChallengeRule.VOID:
        return None
    return last
