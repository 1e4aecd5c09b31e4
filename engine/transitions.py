"""Apply acts to the state of a game: the one place that knows whose turn it is. All functions are pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from types import MappingProxyType

from engine.ending import compute_end_scores
from engine.errors import NotationError, RulesError
from engine.events import (
    Act,
    BlankTaken,
    Challenged,
    ClockRead,
    Exchanged,
    FirstDrawn,
    GameEnded,
    GameStarted,
    Passed,
    PlayerRenamed,
    PlayerTurn,
    PlayMade,
    PlayWithdrawn,
    PointsGiven,
    PositionEntered,
    RackRevealed,
    RacksSkipped,
    Ref,
    SwapEvent,
    TileRecycled,
)
from engine.items import Item, Items
from engine.messages import make_message
from engine.position import set_up_position
from engine.rules import ChallengeRule
from engine.scoring import Status, check_placement, describe_status, score_play
from engine.state import (
    CLOSING_KINDS,
    State,
    Turn,
    TurnKind,
    can_exchange,
    check_play,
    check_player_names,
    create_state,
    find_first_players,
    replace_at,
)
from engine.tiles import Tile

END_REF = Ref(0, 0)
"""The identity of the lines that are computed at the end of a game: they follow from no single act."""
_RACK_KINDS = (TurnKind.PLAY, TurnKind.EXCHANGE, TurnKind.WITHDRAWN, TurnKind.RECYCLED, TurnKind.BLANK_TAKEN)
"""Kinds of turns that change the letters on the player's rack."""


def apply_items(state: State, items: Sequence[Item], *, skips_impossible: bool = False) -> State:
    """Return the state after several acts.

    An illegal play is applied without an error; its defects are recorded in `Turn.status`. If the game is over, the
    scores for unplayed letters and overtime are computed again. A challenge or a withdrawal of a play that an answer or
    an edit took away is left out. `skips_impossible` leaves out all impossible acts.

    Raises `RulesError` for an impossible act, and `NotationError` for a tile that is not in the tile set.
    """
    *_, state = _list_states(_remove_closing_turns(state), items, skips_impossible=skips_impossible)
    return _add_closing_turns(state)


def _list_states(state: State, items: Sequence[Item], *, skips_impossible: bool) -> Iterator[State]:
    """Yield the state before all items, and the state after each of them."""
    yield state
    for at, item in enumerate(items):
        try:
            state = _apply_item(state, item, items[at + 1 :])
        except (NotationError, RulesError):
            if not skips_impossible:
                raise
        yield state


@dataclass(frozen=True, slots=True)
class Timeline:
    """The states of a game before, between and after its `items`.

    Another game that begins with the same items need not be computed from its start. The states are large, so they are
    kept only while many answers are compared.
    """

    items: Items
    states: tuple[State, ...]

    @classmethod
    def compute(cls, started: GameStarted, items: Items, *, skips_impossible: bool = False) -> Timeline:
        """Return the states of a game. Raises what `apply_items` raises."""
        return cls(items, tuple(_list_states(create_state(started), items, skips_impossible=skips_impossible)))

    def apply_items(self, items: Items, *, skips_impossible: bool = False) -> State:
        """Return the state after `items`, computed from the last state that both games have in common.

        A play with unlisted words ends the common beginning: later plays decide whether it stays on the board.
        """
        pairs = zip(self.items, items, strict=False)
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1] and not _is_unlisted(pair[1]), pairs))
        return apply_items(self.states[same], items[same:], skips_impossible=skips_impossible)


def extend_state(state: State, started: GameStarted, items: Items, added: int) -> State:
    """Return the state after all `items`. `state` is the state before the last `added` items.

    A game with a play of unlisted words is computed from its start: later plays decide whether that play stays on the
    board.
    """
    if any(map(_is_unlisted, items)):
        return apply_items(create_state(started), items)
    return apply_items(state, items[len(items) - added :])


def _is_unlisted(item: Item) -> bool:
    return isinstance(item.act, PlayMade) and bool(item.act.unlisted)


def _apply_item(state: State, item: Item, later: Sequence[Item]) -> State:
    """Return the state after one item, with all that follows from it by the rules. `later` are the items after it."""
    act, scores = item.act, dict(item.scores)
    entered_score, ref = scores.get(None), item.ref
    if isinstance(act, PlayerTurn | SwapEvent):
        if item.seat is not None and act.player is None:
            state = _pass_to(state, item.seat, ref)
        act = replace(act, player=state.to_move if act.player is None else act.player)
    state = _apply_act(state, act, item, entered_score)
    if isinstance(act, PlayMade) and act.unlisted and not item.counts and state.rules.challenge is ChallengeRule.VOID:
        state = _withdraw_void_play(state, ref, later)
    return state


def _pass_to(state: State, player: int, ref: Ref) -> State:
    """Return the state in which it is the turn of `player`. The players before get implied passes."""
    for _ in range(len(state.players) + sum(state.turns_to_skip)):
        if state.to_move == player:
            return state
        state = _apply_pass(state, state.to_move, ref, 0, is_implied=True)
    raise RulesError(make_message("nobody-begins", "Player {0} cannot begin, because there is no such player.", player))


def _withdraw_void_play(state: State, ref: Ref, later: Sequence[Item]) -> State:
    """Return the state without the last play, which does not count because of an unlisted word.

    The state is returned unchanged if a play among the `later` acts needs the tiles of this play, or if the players
    withdraw the play themselves by a later act.
    """
    if any(isinstance(item.act, PlayWithdrawn) and item.act.of == ref for item in later):
        return state
    withdrawn = _withdraw_play(state, state.turns[-1], ref, None, is_implied=True)
    kept, board = state.board, withdrawn.board
    for item in later:
        if not isinstance(item.act, PlayMade):
            continue
        play = item.act.play
        without, with_play = (check_placement(one, play, state.layout, state.rules) for one in (board, kept))
        if without & ~with_play:  # only without the tiles of the unlisted play, this play has a defect
            return state
        kept, board = play.apply_to(kept), play.apply_to(board)
    return withdrawn


def _apply_act(state: State, act: Act, item: Item, entered_score: int | None) -> State:
    """Return the state after an act. `entered_score` is the score that players entered in place of the computed one."""
    ref, points = item.ref, entered_score or 0  # of a turn that has no score of its own
    match act:
        case PlayMade():
            return _apply_play(state, act, ref, entered_score)
        case Passed(int(player)) | Exchanged(int(player), 0):  # rule 7: an exchange of "all, some, or none"
            return _apply_pass(state, player, ref, points)
        case Exchanged(int(player), count, tiles):
            status = Status.VALID if can_exchange(state, count, player) else Status.BAG_TOO_LOW
            status |= _check_order(state, player)
            turn = Turn(player, TurnKind.EXCHANGE, points, ref, count=count, tiles=tiles, status=status)
            return _advance_turn(_add_turn(state, turn), player)
        case Challenged():
            return _apply_challenge(state, act, item, entered_score)
        case PlayWithdrawn(_, of):
            target = _find_play(state, of)
            return state if target is None else _withdraw_play(state, target, ref, entered_score)
        case TileRecycled(int(player), square, tile):
            # Neither of these two acts ends the turn: `to_move` stays the same.
            state.board.tile(square)  # raises `RulesError` if the square is empty
            _check_tiles_exist(state, [tile.letter])
            board = state.board.with_tiles({square: tile})
            return _add_turn(replace(state, board=board), Turn(player, TurnKind.RECYCLED, points, ref, square=square))
        case BlankTaken(int(player), square):
            tile = Tile(state.board.tile(square).letter)
            board = state.board.with_tiles({square: tile})
            turn = Turn(player, TurnKind.BLANK_TAKEN, points, ref, square=square)
            return _add_turn(replace(state, board=board), turn)
        case PositionEntered():
            return _apply_position(state, act, ref)
        case PointsGiven(player, amount, reason):
            score = amount if entered_score is None else entered_score
            return _add_turn(state, Turn(player, TurnKind[reason.name], score, ref))
        case FirstDrawn(tiles):
            return state if state.turns else _apply_first_draw(state, tiles)
        case ClockRead(player, seconds):
            return replace(state, clocks=replace_at(state.clocks, player, seconds))
        case RackRevealed(player, tiles):
            _check_tiles_exist(state, tiles)
            racks = MappingProxyType({**state.revealed_racks, player: tiles})
            return replace(state, revealed_racks=racks, skips_racks=False)
        case RacksSkipped():
            return replace(state, skips_racks=True)
        case PlayerRenamed(player, name):
            return _rename_player(state, player, name)
        case GameEnded(reason):
            return replace(state, end_reason=reason)
    return state  # a `RecordImported` changes nothing


def _apply_pass(state: State, player: int, ref: Ref, points: int, *, is_implied: bool = False) -> State:
    status = _check_order(state, player)
    turn = Turn(player, TurnKind.PASS, points, ref, status=status, is_implied=is_implied)
    return _advance_turn(_add_turn(state, turn), player)


def _check_order(state: State, player: int) -> Status:
    return Status.VALID if player == state.to_move else Status.OUT_OF_TURN


def _find_play(state: State, ref: Ref | None) -> Turn | None:
    """Return the turn of a play that stands, or None if there is no such play now."""
    turns = (turn for turn in state.turns if turn.ref == ref and turn.kind is TurnKind.PLAY and turn.stands)
    return next(turns, None)


def _rename_player(state: State, player: int, name: str) -> State:
    players = replace_at(state.players, player, name)
    if not name:
        raise RulesError(make_message("no-name", "Each player needs a name. Enter the missing name."))
    check_player_names(players)
    return replace(state, players=players)


def _apply_first_draw(state: State, tiles: tuple[str, ...]) -> State:
    """Return the state in which the winner of the draw begins. In a tie, the tied players must draw again."""
    best = find_first_players(tiles, state.tiles)
    return replace(state, to_move=best[0], drawing=()) if len(best) == 1 else replace(state, drawing=best)


def _apply_position(state: State, event: PositionEntered, ref: Ref) -> State:
    """Return the state after a position. Each player gets a score sheet line, first the player who begins."""
    beginner, count = state.to_move, len(state.players)
    state = set_up_position(state, event)
    for player in ((beginner + n) % count for n in range(count)):
        rack = event.racks[player] if event.racks else ()
        state = _add_turn(state, Turn(player, TurnKind.POSITION, event.totals[player], ref, tiles=rack))
    return state


def _apply_play(state: State, event: PlayMade, ref: Ref, entered_score: int | None) -> State:
    """Return the state after a play: with its tiles, its score, and new tiles from the bag on the rack."""
    player, play = event.player, event.play
    assert player is not None, "the player was found before"
    _check_tiles_exist(state, [tile.letter for _, tile in play.tiles + play.rearranged])
    if not play.tiles:
        raise RulesError(describe_status(Status.NO_TILES))
    scored = score_play(state.board, play, state.layout, state.tiles, state.rules)
    drawn_count = min(len(play.tiles), state.bag_count)
    rack_before = state.rack_counts[player]
    # A play that was misread may have more tiles than the rack.
    rack_after = max(0, rack_before - len(play.tiles) + drawn_count)
    after = replace(
        state,
        board=play.apply_to(state.board),
        bag_count=state.bag_count - drawn_count,
        rack_counts=replace_at(state.rack_counts, player, rack_after),
    )
    turn = Turn(
        player,
        TurnKind.PLAY,
        scored.total if entered_score is None else entered_score,
        ref,
        play=play,
        play_score=scored,
        at=play.position(state.board),
        word=play.word(state.board, state.tiles),
        status=check_play(state, play, player),
        drawn_count=drawn_count,
        rack_loss=rack_before - rack_after,
        computed_score=None if entered_score is None else scored.total,
    )
    return _advance_turn(_add_turn(after, turn), player)


def _check_tiles_exist(state: State, letters: Iterable[str]) -> None:
    unknown = set(letters) - state.tiles.counts.keys()
    if unknown:
        lacking = repr(state.tiles.name), ", ".join(sorted(unknown))
        raise NotationError(make_message("set-has-no-tile", "The tile set {0} has no tile {1}.", *lacking))


def _apply_challenge(state: State, act: Challenged, item: Item, entered_score: int | None) -> State:
    """Return the state after a challenge.

    If it is upheld, the play is withdrawn. Otherwise the rules decide: the player gets points, the challenger loses
    points or the next turn, or nothing happens. Without a play to challenge, the state is returned unchanged.
    """
    target = _find_play(state, act.of)
    if target is None:
        return state
    by = _find_challenger(state, target) if act.by is None else act.by
    if act.upheld:
        return _withdraw_play(state, target, item.ref, entered_score, by=by)
    rules, points, player = state.rules, 0, target.player  # the points go to this player
    if rules.challenge is ChallengeRule.POINTS:
        points = rules.challenge_points * (len(act.words or target.words) if rules.challenge_each_word else 1)
        if rules.challenger_pays:
            points, player = -points, by
    score = points if entered_score is None else entered_score
    status = Status.VALID if by != target.player else Status.OUT_OF_TURN
    turn = Turn(player, TurnKind.CHALLENGE, score, item.ref, target=target.number, by=by, status=status)
    after = _add_turn(state, turn)
    # A challenge that is entered later does not take away a turn that the challenger has had.
    if rules.challenge is ChallengeRule.DOUBLE and not item.is_inserted:
        skips = after.turns_to_skip
        after = replace(after, turns_to_skip=replace_at(skips, by, skips[by] + 1))
    return _skip_lost_turns(after)


def _find_challenger(state: State, target: Turn) -> int:
    """Return the player who most likely has challenged a play: the player to move, or the next one after the play's."""
    return state.to_move if state.to_move != target.player else (target.player + 1) % len(state.players)


def _withdraw_play(
    state: State, target: Turn, ref: Ref, entered_score: int | None, by: int | None = None, *, is_implied: bool = False
) -> State:
    """Return the state after the withdrawal of the play of `target`. Its tiles are back on the rack."""
    play = target.play
    assert play is not None
    board_before = state.board_before(target)
    restored = {square: board_before[square] for square, _ in play.tiles + play.rearranged}
    player = target.player
    turns = replace_at(state.turns, target.number, replace(target, stands=False))
    after = replace(
        state,
        board=state.board.with_tiles(restored),
        turns=turns,
        bag_count=state.bag_count + target.drawn_count,
        rack_counts=replace_at(state.rack_counts, player, state.rack_counts[player] + target.rack_loss),
    )
    score = -target.score if entered_score is None else entered_score
    turn = Turn(player, TurnKind.WITHDRAWN, score, ref, target=target.number, by=by, is_implied=is_implied)
    return _add_turn(after, turn)


def _add_turn(state: State, turn: Turn) -> State:
    """Return the state with one more turn on the score sheet.

    The function sets the number of the turn, and the total and the board after it. If the turn changes the rack, the
    letters that its player revealed are forgotten.
    """
    total = state.totals[turn.player] + turn.score
    turn = replace(turn, number=len(state.turns), total=total, board=state.board, due=state.to_move)
    totals = replace_at(state.totals, turn.player, total)
    racks = state.revealed_racks
    if turn.kind in _RACK_KINDS and turn.player in racks:
        racks = MappingProxyType({player: rack for player, rack in racks.items() if player != turn.player})
    # A first turn ends the drawing.
    return replace(state, turns=(*state.turns, turn), totals=totals, drawing=(), revealed_racks=racks)


def _advance_turn(state: State, player: int) -> State:
    """Return the state with the next player to move (rule 3). Players who lost a turn are skipped (rule 8)."""
    return _skip_lost_turns(replace(state, to_move=(player + 1) % len(state.players)))


def _skip_lost_turns(state: State) -> State:
    while state.turns_to_skip[state.to_move]:
        skips = replace_at(state.turns_to_skip, state.to_move, state.turns_to_skip[state.to_move] - 1)
        state = replace(state, to_move=(state.to_move + 1) % len(state.players), turns_to_skip=skips)
    return state


def _remove_closing_turns(state: State) -> State:
    """Return the state without the lines for unplayed letters and overtime."""
    closing = [turn for turn in state.turns if turn.kind in CLOSING_KINDS] if state.end_reason else []
    if not closing:
        return state
    totals = list(state.totals)
    for turn in closing:
        totals[turn.player] -= turn.score
    return replace(state, turns=state.turns[: -len(closing)], totals=tuple(totals))


def _add_closing_turns(state: State) -> State:
    """Return the state with the lines for unplayed letters and overtime; unchanged while the game goes on."""
    if state.end_reason is None:
        return state
    for line in compute_end_scores(state):
        state = _add_turn(state, Turn(line.player, line.kind, line.score, END_REF, tiles=line.tiles))
    return state
