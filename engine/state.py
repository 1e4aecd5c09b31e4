"""State of a game as a value, and its turns (the lines of the score sheet).

`engine.transitions` applies events to a state.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from engine.board import EMPTY_BOARD, Board, Layout, load_layout
from engine.errors import RulesError
from engine.events import (
    EndReason,
    GameStarted,
)
from engine.messages import said
from engine.plays import Placement, Play
from engine.reading import BLANK
from engine.rules import ChallengeRule, Rules
from engine.scoring import PlayScore, Status, WordScore, check_placement
from engine.tiles import TileSet, load_tile_set


class TurnKind(StrEnum):
    """The kind of a turn."""

    PLAY = "play"
    EXCHANGE = "exchange"
    PASS = "pass"
    WITHDRAWN = "withdrawn"  # a play was taken back, after a challenge or by its player
    CHALLENGE = "challenge"  # a challenge failed
    RECYCLED = "recycled"  # a tile of the board was exchanged for one of the rack; the player's turn goes on
    BLANK_TAKEN = "blank-taken"  # a blank of the board was taken for its letter; the player's turn goes on
    ENDRACK = "endrack"  # points for unplayed letters
    TIME = "time"  # points for overtime


CLOSING_KINDS = frozenset({TurnKind.ENDRACK, TurnKind.TIME})
"""Lines that the end of a game adds; they come after all others."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One line of the score sheet.

    `number` counts from 0; `ledger_index` is the index of its event in the ledger. `score` and `total` are points,
    `total` and `board` are those after the turn. `at` and `word` are the play in GCG notation, `status` its defects.
    `count` tiles were exchanged, `drawn_count` were taken from the bag. `tiles` are letters that were exchanged or
    left unplayed. `target` is the number of the play that was withdrawn or challenged, `by` the challenger.
    `computed_score` is the score by the rules if a player corrected it. `stands` is False for a play that was
    withdrawn later.
    """

    player: int
    kind: TurnKind
    score: int
    ledger_index: int
    number: int = 0
    total: int = 0
    board: Board = EMPTY_BOARD
    play: Play | None = None
    play_score: PlayScore | None = None
    at: str | None = None
    word: str | None = None
    status: Status = Status.VALID
    tiles: tuple[str, ...] = ()
    count: int = 0
    drawn_count: int = 0
    target: int | None = None
    by: int | None = None
    computed_score: int | None = None
    stands: bool = True

    @property
    def words(self) -> tuple[WordScore, ...]:
        """The words that the play formed or altered, the main word first."""
        return self.play_score.words if self.play_score else ()

    @property
    def bonus(self) -> int:
        """The bingo bonus in the score."""
        return self.play_score.bonus if self.play_score else 0

    @property
    def placements(self) -> tuple[Placement, ...]:
        """The newly covered squares and their tiles."""
        return self.play.tiles if self.play else ()


@dataclass(frozen=True, slots=True)
class State:
    """A game after the events so far.

    `totals` (points), `rack_counts` (tiles held), `turns_to_skip` (turns still to be lost) and `clocks` (seconds used)
    have one entry for each player, in seat order. `rack_counts` and `bag_count` (tiles left to draw) are as the rules
    determine them. `revealed_racks` maps players to the letters that were entered for their racks. `drawing` has the
    players who still have to draw for first play.
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

    def board_before(self, turn: Turn) -> Board:
        """Return the board before a turn."""
        return self.turns[turn.number - 1].board if turn.number else EMPTY_BOARD

    def unseen(self) -> Counter[str]:
        """Return the tiles that are not on the board: in the bag or on the racks. No count is negative."""
        return +self.stock()

    def stock(self) -> Counter[str]:
        """Return the number left of each tile of the set; negative if the board holds more than the set has."""
        return self.tiles.count_remaining(self.board.faces())


def create_state(event: GameStarted) -> State:
    """Return the state at the start of a game. Raises `RulesError` for a start that the rules do not allow."""
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
        board=EMPTY_BOARD,
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
    """Return the players who drew the tile closest to A; a blank beats any letter (Setup). Several must draw again.

    `drawn` has one tile for each player, an empty string for one who did not draw. Raises `RulesError` for a tile that
    the set does not have, or if no player drew.
    """
    order = {tile: place for place, tile in enumerate((BLANK, *tiles.letters))}
    unknown = [tile for tile in drawn if tile and tile not in order]
    if unknown or not any(drawn):
        text = "drawn for first play: {0} is no tile of {1}"
        raise RulesError(said("drawn-no-tile", text, ", ".join(unknown) or "–", repr(tiles.name)))
    best = min(order[tile] for tile in drawn if tile)
    return tuple(player for player, tile in enumerate(drawn) if tile and order[tile] == best)


def can_exchange(state: State, count: int, player: int) -> bool:
    """Return True if a player can exchange `count` tiles now (rule 7, with the minimum of the rules in force)."""
    most = min(state.bag_count, state.rack_counts[player])
    return 0 < count <= most and state.bag_count >= state.rules.exchange_minimum_bag


def check_play(state: State, play: Play, player: int | None = None) -> Status:
    """Return all defects of a play in this state; turn and rack of the player are only checked if `player` is given."""
    found = check_placement(state.board, play, state.layout, state.rules)
    if player is not None and player != state.to_move:
        found |= Status.OUT_OF_TURN
    if player is not None and len(play.tiles) > state.rack_counts[player]:
        found |= Status.TOO_MANY_TILES
    if state.end_reason:
        found |= Status.GAME_OVER
    if find_excess_tiles(state, play):
        found |= Status.MORE_THAN_SET
    return found


def find_excess_tiles(state: State, play: Play) -> tuple[str, ...]:
    """Return the tiles of which the board would hold more after the play than the set has."""
    return tuple(
        tile for tile, left in state.tiles.count_remaining(play.apply_to(state.board).faces()).items() if left < 0
    )


def find_challengeable_turn(state: State) -> Turn | None:
    """Return the last play while it may be challenged, that is until the next turn (rule 8); None otherwise."""
    last = state.turns[-1] if state.turns else None
    if last is None or last.kind is not TurnKind.PLAY or state.rules.challenge is ChallengeRule.VOID:
        return None
    return last
