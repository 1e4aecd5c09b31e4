"""The state of a game as a value, with its turns (the lines of the score sheet).

`engine.transitions` applies events to a state.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import TypeVar

from engine.board import EMPTY_BOARD, Board, Layout, Square, load_layout
from engine.errors import RulesError
from engine.events import EndReason, GameStarted, Ref
from engine.messages import make_message
from engine.plays import Placement, Play
from engine.reading import BLANK
from engine.rules import MAX_PLAYERS, MIN_PLAYERS, ChallengeRule, Rules
from engine.scoring import PlayScore, Status, WordScore, check_placement
from engine.tiles import TileSet, load_tile_set

_Item = TypeVar("_Item")


class TurnKind(StrEnum):
    """The kind of a line of the score sheet (`Turn`)."""

    POSITION = "position"  # points of a position from which the game starts, one line for each player
    PLAY = "play"
    EXCHANGE = "exchange"
    PASS = "pass"
    WITHDRAWN = "withdrawn"  # a play was taken back, after a challenge or by its player
    CHALLENGE = "challenge"  # a challenge failed
    RECYCLED = "recycled"  # a tile of the board was exchanged for a tile of the rack; the player's turn goes on
    BLANK_TAKEN = "blank-taken"  # a blank of the board was exchanged for its letter; the player's turn goes on
    ENDRACK = "endrack"  # points for unplayed letters
    TIME = "time"  # points for overtime
    PENALTY = "penalty"  # points by a rule of the club that no other line explains
    BONUS = "bonus"


TURN_KINDS = frozenset({TurnKind.PLAY, TurnKind.EXCHANGE, TurnKind.PASS})
"""Kinds of the lines with which a player ends a turn, so that the next player is to move."""
POINTS_KINDS = frozenset({TurnKind.PENALTY, TurnKind.BONUS})
"""Kinds of the lines that belong to no turn: they may be entered at any time."""
CLOSING_KINDS = frozenset({TurnKind.ENDRACK, TurnKind.TIME})
"""Kinds of the lines that the end of a game adds after all other lines of the score sheet."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One line of the score sheet: a play, a turn without a play (such as a pass), or points at the end of the game.

    - `number`: index of the line, from 0.
    - `ref`: the identity of the act from which the line follows. `is_implied` is True if that act is another one: the
      pass of a player whom the next player skipped, and the withdrawal of a play that does not count.
    - `due`: the player whose turn it was. This may be another one than `player`.
    - `score`: the points of the line. `total`: the total of `player` after it. `computed_score`: the score by the
      rules, if players have entered another one.
    - `board`: the board after the turn.
    - For a play: `at` is its position, `word` its main word in GCG notation, `status` its defects. `stands` is False if
      the play was withdrawn later.
    - For a swap of a tile on the board: `square`.
    - `count`: number of exchanged tiles. `drawn_count`: number of tiles drawn from the bag. `rack_loss`: number of
      tiles by which the rack became smaller.
    - `tiles`: exchanged or unplayed letters, or the rack in a position.
    - `target`: number of the turn that was withdrawn or challenged. `by`: the challenger.
    """

    player: int
    kind: TurnKind
    score: int
    ref: Ref
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
    rack_loss: int = 0
    target: int | None = None
    by: int | None = None
    computed_score: int | None = None
    stands: bool = True
    due: int = 0
    is_implied: bool = False
    square: Square | None = None

    @property
    def words(self) -> tuple[WordScore, ...]:
        """The words that the play formed or altered, the main word first. Empty for other kinds of turns."""
        return self.play_score.words if self.play_score else ()

    @property
    def bonus(self) -> int:
        """The bingo bonus included in the score, in points."""
        return self.play_score.bonus if self.play_score else 0

    @property
    def placements(self) -> tuple[Placement, ...]:
        """The newly covered squares of the play and their tiles. Empty for other kinds of turns."""
        return self.play.tiles if self.play else ()


@dataclass(frozen=True, slots=True)
class State:
    """The state of a game after the events so far.

    - One entry for each player, in seat order: `totals` (points), `rack_counts` (tiles on the rack), `turns_to_skip`
      (turns that the player must still miss) and `clocks` (seconds used).
    - `bag_count`: tiles in the bag. It is computed from the plays, like `rack_counts`: the camera sees neither.
    - `revealed_racks`: the letters of players who revealed their racks. `skips_racks` is True if the players count no
      unplayed letters.
    - `drawing`: the players who must still draw for first play.
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
    skips_racks: bool = False
    end_reason: EndReason | None = None
    drawing: tuple[int, ...] = ()

    @property
    def first_turn(self) -> Turn | None:
        """The first line of the score sheet that belongs to a turn, or None if there is no turn."""
        return next((turn for turn in self.turns if turn.kind not in POINTS_KINDS), None)

    @property
    def last_turn(self) -> Turn | None:
        """The last line of the score sheet, or None. Bonus and penalty points, which belong to no turn, are skipped."""
        return next((turn for turn in reversed(self.turns) if turn.kind not in POINTS_KINDS), None)

    @property
    def played_turns(self) -> tuple[Turn, ...]:
        """The lines of the score sheet that belong to a turn.

        Left out are bonus and penalty points, and the lines that the end of the game adds.
        """
        return tuple(turn for turn in self.turns if turn.kind not in CLOSING_KINDS | POINTS_KINDS)

    def standing_plays(self) -> Iterator[Turn]:
        """Yield the turns of the plays that were not withdrawn, the last play first."""
        return (turn for turn in reversed(self.turns) if turn.kind is TurnKind.PLAY and turn.stands)

    def board_before(self, turn: Turn) -> Board:
        """Return the board before a turn."""
        return self.turns[turn.number - 1].board if turn.number else EMPTY_BOARD

    def unseen(self) -> Counter[str]:
        """Return the tiles that are in the bag or on the racks. No count is negative."""
        return +self.stock()

    def stock(self) -> Counter[str]:
        """Return how many of each tile of the set are not on the board.

        The number is negative if the board has more of a tile than the tile set.
        """
        return self.tiles.count_remaining(self.board.faces())


def create_state(event: GameStarted) -> State:
    """Return the state at the start of a game. Raises `RulesError` for rules or players that are not allowed."""
    count = len(event.players)
    if not MIN_PLAYERS <= count <= MAX_PLAYERS:
        raise RulesError(make_message("players-2-to-4", "A game has 2 to 4 players, not {0}.", count))
    check_player_names(event.players)
    check_first_player(event.first, count)
    event.rules.finish_lines(count)
    tiles = load_tile_set(event.tile_set, event.lost)
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


def check_player_names(names: Sequence[str]) -> None:
    """Raise `RulesError` if two players have the same name."""
    if len(set(names)) < len(names):
        text = "Two players have the same name: {0}. Change one of the names."
        raise RulesError(make_message("same-name", text, ", ".join(names)))


def check_first_player(player: int, count: int) -> None:
    """Raise `RulesError` if the player who begins is not one of the `count` players."""
    if not 0 <= player < count:
        text = "Player {0} cannot begin, because there is no such player."
        raise RulesError(make_message("nobody-begins", text, player))


def find_first_players(drawn: tuple[str, ...], tiles: TileSet) -> tuple[int, ...]:
    """Return the players who drew the tile closest to A. A blank is closer to A than any letter (Setup).

    If there are several, they must draw again. `drawn` has one tile for each player, or an empty string for a player
    who did not draw. Raises `RulesError` for a tile that is not in the tile set, or if no player drew a tile.
    """
    order = {tile: place for place, tile in enumerate((BLANK, *tiles.letters))}
    unknown = [tile for tile in drawn if tile and tile not in order]
    if unknown or not any(drawn):
        text = "{0} cannot be drawn, because the tile set {1} has no such tile."
        raise RulesError(make_message("drawn-no-tile", text, ", ".join(unknown) or "–", repr(tiles.name)))
    best = min(order[tile] for tile in drawn if tile)
    return tuple(player for player, tile in enumerate(drawn) if tile and order[tile] == best)


def can_exchange(state: State, count: int, player: int) -> bool:
    """Return True if a player may exchange `count` tiles now.

    By rule 7, the bag must contain at least `count` tiles and at least `Rules.exchange_minimum_bag` tiles.
    """
    most = min(state.bag_count, state.rack_counts[player])
    return 0 < count <= most and state.bag_count >= state.rules.exchange_minimum_bag


def check_play(state: State, play: Play, player: int | None = None) -> Status:
    """Return all defects of a play in a state of the game.

    If `player` is given, also check that it is this player's turn and that the rack has enough tiles.
    """
    found = check_placement(state.board, play, state.layout, state.rules)
    if player is not None and player != state.to_move:
        found |= Status.OUT_OF_TURN
    if player is not None and len(play.tiles) > state.rack_counts[player]:
        found |= Status.TOO_MANY_TILES
    if state.end_reason:
        found |= Status.GAME_OVER
    if state.tiles.find_excess(play.apply_to(state.board).faces()):
        found |= Status.MORE_THAN_SET
    return found


def find_challengeable_turn(state: State) -> Turn | None:
    """Return the turn of the last play if this play may still be challenged, otherwise None.

    By rule 8, a play may be challenged until the next turn begins. No play may be challenged under
    `ChallengeRule.VOID`.
    """
    last = state.last_turn
    if last is None or last.kind is not TurnKind.PLAY or state.rules.challenge is ChallengeRule.VOID:
        return None
    return last


def find_withdrawn_turn(state: State) -> Turn | None:
    """Return the turn of the play that was just withdrawn, whose tiles may still be on the board, otherwise None.

    Under `ChallengeRule.VOID`, one press may end two turns, and the first of them may be withdrawn. So under this rule
    the withdrawal may also be the last turn but one.
    """
    count = 2 if state.rules.challenge is ChallengeRule.VOID else 1
    turns = state.played_turns[-count:]
    for turn in reversed(turns):
        if turn.kind is TurnKind.WITHDRAWN and turn.target is not None:
            withdrawn = state.turns[turn.target]
            # A turn after the withdrawal may have used the squares: then the withdrawn tiles are not there any more.
            is_covered = any(state.board[square] for square, _ in withdrawn.placements)
            return None if is_covered and turn is not turns[-1] else withdrawn
    return None


def replace_at(values: tuple[_Item, ...], at: int, value: _Item) -> tuple[_Item, ...]:
    """Return a tuple of values in which `value` replaces the value at index `at`."""
    return (*values[:at], value, *values[at + 1 :])
