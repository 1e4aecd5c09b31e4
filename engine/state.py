"""The state of a game, and how each event changes it. Every function here is pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from engine.board import Board, Layout, layout
from engine.ending import end_scores
from engine.errors import NotationError, RulesError
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
from engine.rules import Challenge, Rules
from engine.scoring import Status, describe, play_status, score_play
from engine.tiles import Tile, TileSet, tile_set
from engine.turns import CLOSING, Kind, Turn

FoldEvent = (
    FirstDrawn | PlayMade | Exchanged | Passed | Challenged | PlayWithdrawn | TileRecycled | BlankTaken | ClockRead
    | RackRevealed | GameEnded
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class State:
    """Where a game stands.

    `racks` counts the tiles each player holds, `bag` those left to draw, as far as the rules tell; `skips`
    the turns a player still has to sit out; `revealed` the letters of racks that somebody has told, by
    player; `clocks` the seconds each player has used; `drawing` the players who have to draw for first play.
    """

    players: tuple[str, ...]
    rules: Rules
    tiles: TileSet
    layout: Layout
    board: Board
    turns: tuple[Turn, ...]
    totals: tuple[int, ...]
    to_move: int
    racks: tuple[int, ...]
    bag: int
    skips: tuple[int, ...]
    clocks: tuple[float, ...]
    revealed: Mapping[int, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    ended: EndReason | None = None
    drawing: tuple[int, ...] = ()

    def unseen(self) -> Counter[str]:
        """The tiles that do not lie on the board: on the racks or in the bag. Never negative."""
        return +self.stock()

    def stock(self) -> Counter[str]:
        """What is left of each tile of the set; negative where the board holds more than there are."""
        return self.tiles.less(self.board.faces())


def start(event: GameStarted) -> State:
    """The state at the beginning. Raises `RulesError` for what no sheet allows."""
    count = len(event.players)
    if not 2 <= count <= 4:
        raise RulesError(said("players-2-to-4", "a game has 2 to 4 players, not {0}", count))
    if len(set(event.players)) != count:
        raise RulesError(said("same-name", "two players have the same name: {0}", ", ".join(event.players)))
    if not 0 <= event.first < count:
        raise RulesError(said("nobody-begins", "there is no player number {0} to begin", event.first))
    event.rules.finish_lines(count)
    tiles = tile_set(event.tile_set)
    return State(
        players=event.players,
        rules=event.rules,
        tiles=tiles,
        layout=layout(event.layout),
        board=Board(),
        turns=(),
        totals=(0,) * count,
        to_move=event.first,
        racks=(event.rules.rack_size,) * count,
        bag=tiles.total - count * event.rules.rack_size,
        skips=(0,) * count,
        clocks=(0.0,) * count,
        drawing=tuple(range(count)) if event.draw else (),
    )


def apply(state: State, event: FoldEvent, entry: int = 0, score: int | None = None) -> State:
    """The state after an event. `entry` numbers the event in the ledger, `score` overrules the rules.

    The event is trusted: a play is recorded as it lies, and its defects in `Turn.status`. Raises `RulesError`
    only for what makes no sense at all, such as a challenge of nothing, `NotationError` for a tile that the set does
    not have. After the end of the game, unplayed letters and overtime are counted anew with each event.
    """
    return _closed(_applied(_opened(state), event, entry, score), entry)


def _applied(state: State, event: FoldEvent, entry: int, score: int | None) -> State:
    match event:
        case PlayMade():
            return _play(state, event, entry, score)
        case Passed(player):
            return _pass_turn(_add(state, player, Kind.PASS, score or 0, entry), player)
        case Exchanged(player, 0):  # an exchange of none is a pass (rule 7: "all, some, or none")
            return _applied(state, Passed(player), entry, score)
        case Exchanged(player, count, tiles):
            status = Status.VALID if can_exchange(state, count) else Status.BAG_TOO_LOW
            turn = _add(state, player, Kind.EXCHANGE, score or 0, entry, count=count, tiles=tiles, status=status)
            return _pass_turn(turn, player)
        case Challenged():
            return _challenge(state, event, entry, score)
        case PlayWithdrawn(player):
            return _withdraw(state, _standing_play(state, player), entry, score)
        case TileRecycled(player, square, tile):
            state.board.tile(square)
            _refuse_unknown(state, [tile.letter])
            board = state.board.with_tiles({square: tile})
            return _add(replace(state, board=board), player, Kind.RECYCLED, score or 0, entry)
        case BlankTaken(player, square):
            tile = Tile(state.board.tile(square).letter)
            board = state.board.with_tiles({square: tile})
            return _add(replace(state, board=board), player, Kind.BLANK_TAKEN, score or 0, entry)
        case FirstDrawn(tiles):
            return state if state.turns else _draw(state, tiles)
        case ClockRead(player, seconds):
            return replace(state, clocks=_put(state.clocks, player, seconds))
        case RackRevealed(player, tiles):
            _refuse_unknown(state, tiles)
            return replace(state, revealed=MappingProxyType({**state.revealed, player: tiles}))
        case GameEnded(reason):
            return replace(state, ended=reason)


def _draw(state: State, tiles: tuple[str, ...]) -> State:
    best = first_players(tiles, state.tiles)
    return replace(state, to_move=best[0], drawing=()) if len(best) == 1 else replace(state, drawing=best)


def first_players(drawn: tuple[str, ...], tiles: TileSet) -> tuple[int, ...]:
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
    return 0 < count <= state.bag and state.bag >= state.rules.exchange_minimum_bag


def status(state: State, play: Play, player: int | None = None) -> Status:
    """Every defect of a play in this state."""
    found = play_status(state.board, play, state.layout, state.rules)
    if player is not None and player != state.to_move:
        found |= Status.OUT_OF_TURN
    if state.ended:
        found |= Status.GAME_OVER
    if more_than_set(state, play):
        found |= Status.MORE_THAN_SET
    return found


def more_than_set(state: State, play: Play) -> tuple[str, ...]:
    """The tiles of which the board would hold more than the set has."""
    return tuple(tile for tile, left in state.tiles.less(play.on(state.board).faces()).items() if left < 0)


def challengeable(state: State) -> Turn | None:
    """The play that may be challenged: the last thing that happened, until the next turn (rule 8)."""
    last = state.turns[-1] if state.turns else None
    if last is None or last.kind is not Kind.PLAY or state.rules.challenge is Challenge.VOID:
        return None
    return last


def _play(state: State, event: PlayMade, entry: int, override: int | None) -> State:
    player, play = event.player, event.play
    _refuse_unknown(state, [tile.letter for _, tile in play.tiles + play.rearranged])
    if not play.tiles:
        raise RulesError(describe(Status.NO_TILES))
    scored = score_play(state.board, play, state.layout, state.tiles, state.rules)
    drawn = min(len(play.tiles), state.bag)
    after = replace(
        state,
        board=play.on(state.board),
        bag=state.bag - drawn,
        racks=_put(state.racks, player, max(0, state.racks[player] - len(play.tiles)) + drawn),
    )
    after = _add(
        after,
        player,
        Kind.PLAY,
        scored.total if override is None else override,
        entry,
        play=play,
        scored=scored,
        at=play.position(state.board),
        word=play.word(state.board, state.tiles),
        status=status(state, play, player),
        drawn=drawn,
        computed=None if override is None else scored.total,
    )
    return _pass_turn(after, player)


def _refuse_unknown(state: State, letters: Iterable[str]) -> None:
    unknown = set(letters) - state.tiles.counts.keys()
    if unknown:
        lacking = repr(state.tiles.name), ", ".join(sorted(unknown))
        raise NotationError(said("set-has-no-tile", "the set {0} has no tile {1}", *lacking))


def _challenge(state: State, event: Challenged, entry: int, override: int | None) -> State:
    target = challengeable(state)
    if target is None:
        text = "there is no play to challenge: the next turn has begun, or these rules have no challenge"
        raise RulesError(said("no-challenge", text))
    if event.upheld:
        return _withdraw(state, target, entry, override, by=event.by)
    rules, points = state.rules, 0
    if rules.challenge is Challenge.POINTS:
        each = len(event.words or target.words) if rules.challenge_each_word else 1
        points = rules.challenge_points * each
    after = _add(
        state,
        target.player,
        Kind.CHALLENGE,
        points if override is None else override,
        entry,
        target=target.number,
        by=event.by,
    )
    if rules.challenge is Challenge.DOUBLE:
        after = replace(after, skips=_put(after.skips, event.by, after.skips[event.by] + 1))
    return _skip(after)


def _withdraw(state: State, target: Turn, entry: int, override: int | None, by: int | None = None) -> State:
    play = target.play
    assert play is not None
    before = state.turns[target.number - 1].board if target.number else Board()
    back = {square: before[square] for square, _ in play.tiles + play.rearranged}
    player = target.player
    turns = _put(state.turns, target.number, replace(target, stands=False))
    after = replace(
        state,
        board=state.board.with_tiles(back),
        turns=turns,
        bag=state.bag + target.drawn,
        racks=_put(state.racks, player, state.racks[player] + len(play.tiles) - target.drawn),
    )
    score = -target.score if override is None else override
    return _add(after, player, Kind.WITHDRAWN, score, entry, target=target.number, by=by)


def _standing_play(state: State, player: int) -> Turn:
    """The last play of a player that still stands."""
    for turn in reversed(state.turns):
        if turn.kind is Kind.PLAY and turn.stands and turn.player == player:
            return turn
    raise RulesError(said("no-play-back", "{0} has no play on the board to take back", state.players[player]))


def _add(state: State, player: int, kind: Kind, score: int, entry: int, **details: Any) -> State:
    """The state with one more turn on the score sheet."""
    total = state.totals[player] + score
    turn = Turn(len(state.turns), player, kind, score, total, state.board, entry, **details)
    totals = _put(state.totals, player, total)
    return replace(state, turns=(*state.turns, turn), totals=totals, drawing=())  # who plays has begun, drawn or not


def _pass_turn(state: State, player: int) -> State:
    """The turn goes to the left (rule 3), over players who lost theirs (rule 8)."""
    return _skip(replace(state, to_move=(player + 1) % len(state.players)))


def _skip(state: State) -> State:
    to_move, skips = state.to_move, state.skips
    while skips[to_move]:
        skips = _put(skips, to_move, skips[to_move] - 1)
        to_move = (to_move + 1) % len(state.players)
    return replace(state, to_move=to_move, skips=skips)


def _opened(state: State) -> State:
    """The state without the lines that the end of the game has written."""
    closing = [turn for turn in state.turns if turn.kind in CLOSING] if state.ended else []
    if not closing:
        return state
    totals = list(state.totals)
    for turn in closing:
        totals[turn.player] -= turn.score
    return replace(state, turns=state.turns[: -len(closing)], totals=tuple(totals))


def _closed(state: State, entry: int) -> State:
    """The state with unplayed letters and overtime counted, once the game is over."""
    for line in end_scores(state) if state.ended else ():
        state = _add(state, line.player, line.kind, line.score, entry, tiles=line.tiles)
    return state


def _put(values: tuple[Any, ...], at: int, value: Any) -> tuple[Any, ...]:
    return (*values[:at], value, *values[at + 1 :])
