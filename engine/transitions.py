"""Apply events to the state of a game. All functions in this module are pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from types import MappingProxyType

from engine.corrections import Ledger
from engine.ending import compute_end_scores
from engine.errors import NotationError, RulesError
from engine.events import (
    BlankTaken,
    Challenged,
    ClockRead,
    Exchanged,
    FirstDrawn,
    GameEnded,
    GameStarted,
    Passed,
    PlayerRenamed,
    PlayMade,
    PlayWithdrawn,
    PositionEntered,
    QuestionClosed,
    QuestionDeferred,
    RackRevealed,
    RecordImported,
    StateEvent,
    TileRecycled,
)
from engine.messages import make_message
from engine.position import set_up_position
from engine.rules import ChallengeRule
from engine.scoring import Status, describe_status, score_play
from engine.state import (
    CLOSING_KINDS,
    State,
    Turn,
    TurnKind,
    can_exchange,
    check_play,
    check_player_names,
    create_state,
    find_challengeable_turn,
    find_first_players,
    replace_at,
)
from engine.tiles import Tile

_RACK_KINDS = (TurnKind.PLAY, TurnKind.EXCHANGE, TurnKind.WITHDRAWN, TurnKind.RECYCLED, TurnKind.BLANK_TAKEN)
"""Kinds of turns that change the letters on the player's rack."""


def apply_event(state: State, event: StateEvent, ledger_index: int, entered_score: int | None = None) -> State:
    """Return the state after an event.

    `ledger_index` is the index of the event in the ledger (the events of the game as they happened). `entered_score`,
    the score that a player entered (points), replaces the computed score. An illegal play is applied without an error;
    its defects are recorded in `Turn.status`. If the game is over, the scores for unplayed letters and overtime are
    computed again.

    Raises `RulesError` for an impossible event, such as a challenge without a play, and `NotationError` for a tile that
    is not in the tile set.
    """
    after = _dispatch_event(_remove_closing_turns(state), event, ledger_index, entered_score)
    return _add_closing_turns(after, ledger_index)


def replay_ledger(started: GameStarted, ledger: Ledger) -> State:
    """Return the state after the events of a ledger, which may be incomplete. Raises what `apply_event` raises."""
    state = create_state(started)
    for at, entry in enumerate(ledger):
        state = apply_event(state, entry.event, at, entry.score)
    return state


def _dispatch_event(state: State, event: StateEvent, ledger_index: int, entered_score: int | None) -> State:
    points = entered_score or 0  # of a turn that has no score of its own
    match event:
        case PlayMade():
            return _apply_play(state, event, ledger_index, entered_score)
        case Passed(player):
            return _advance_turn(_add_turn(state, Turn(player, TurnKind.PASS, points, ledger_index)), player)
        case Exchanged(player, 0):  # an exchange of 0 tiles is a pass (rule 7: "all, some, or none")
            return _dispatch_event(state, Passed(player), ledger_index, entered_score)
        case Exchanged(player, count, tiles):
            status = Status.VALID if can_exchange(state, count, player) else Status.BAG_TOO_LOW
            turn = Turn(player, TurnKind.EXCHANGE, points, ledger_index, count=count, tiles=tiles, status=status)
            return _advance_turn(_add_turn(state, turn), player)
        case Challenged():
            return _apply_challenge(state, event, ledger_index, entered_score)
        case PlayWithdrawn(player):
            return _withdraw_play(state, _find_standing_play(state, player), ledger_index, entered_score)
        case TileRecycled(player, square, tile):
            # Neither of these two events ends the turn: `to_move` stays the same.
            state.board.tile(square)  # raises `RulesError` if the square is empty
            _check_tiles_exist(state, [tile.letter])
            board = state.board.with_tiles({square: tile})
            return _add_turn(replace(state, board=board), Turn(player, TurnKind.RECYCLED, points, ledger_index))
        case BlankTaken(player, square):
            tile = Tile(state.board.tile(square).letter)
            board = state.board.with_tiles({square: tile})
            return _add_turn(replace(state, board=board), Turn(player, TurnKind.BLANK_TAKEN, points, ledger_index))
        case PositionEntered():
            return _apply_position(state, event, ledger_index)
        case FirstDrawn(tiles):
            return state if state.turns else _apply_first_draw(state, tiles)
        case ClockRead(player, seconds):
            return replace(state, clocks=replace_at(state.clocks, player, seconds))
        case RackRevealed(player, tiles):
            _check_tiles_exist(state, tiles)
            return replace(state, revealed_racks=MappingProxyType({**state.revealed_racks, player: tiles}))
        case PlayerRenamed(player, name):
            return _rename_player(state, player, name)
        case RecordImported() | QuestionDeferred() | QuestionClosed():
            return state
        case GameEnded(reason):
            return replace(state, end_reason=reason)


def _rename_player(state: State, player: int, name: str) -> State:
    players = replace_at(state.players, player, name)
    if not name:
        raise RulesError(make_message("no-name", "Each player needs a name. Enter the missing name."))
    check_player_names(players)
    return replace(state, players=players)


def _apply_first_draw(state: State, tiles: tuple[str, ...]) -> State:
    best = find_first_players(tiles, state.tiles)
    return replace(state, to_move=best[0], drawing=()) if len(best) == 1 else replace(state, drawing=best)


def _apply_position(state: State, event: PositionEntered, ledger_index: int) -> State:
    """Return the state after a position. Each player gets a score sheet line, first the player who begins."""
    beginner, count = state.to_move, len(state.players)
    state = set_up_position(state, event)
    for player in ((beginner + n) % count for n in range(count)):
        rack = event.racks[player] if event.racks else ()
        state = _add_turn(state, Turn(player, TurnKind.POSITION, event.totals[player], ledger_index, tiles=rack))
    return state


def _apply_play(state: State, event: PlayMade, ledger_index: int, entered_score: int | None) -> State:
    player, play = event.player, event.play
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
        ledger_index,
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


def _apply_challenge(state: State, event: Challenged, ledger_index: int, entered_score: int | None) -> State:
    target = find_challengeable_turn(state)
    if target is None:
        text = "There is no play to challenge. Only the last play can be challenged, and only if the rules allow it."
        raise RulesError(make_message("no-challenge", text))
    if event.upheld:
        return _withdraw_play(state, target, ledger_index, entered_score, by=event.by)
    rules, points, player = state.rules, 0, target.player  # the points go to this player
    if rules.challenge is ChallengeRule.POINTS:
        points = rules.challenge_points * (len(event.words or target.words) if rules.challenge_each_word else 1)
        if rules.challenger_pays:
            points, player = -points, event.by
    score = points if entered_score is None else entered_score
    turn = Turn(player, TurnKind.CHALLENGE, score, ledger_index, target=target.number, by=event.by)
    after = _add_turn(state, turn)
    if rules.challenge is ChallengeRule.DOUBLE:
        skips = after.turns_to_skip
        after = replace(after, turns_to_skip=replace_at(skips, event.by, skips[event.by] + 1))
    return _skip_lost_turns(after)


def _withdraw_play(
    state: State, target: Turn, ledger_index: int, entered_score: int | None, by: int | None = None
) -> State:
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
    return _add_turn(after, Turn(player, TurnKind.WITHDRAWN, score, ledger_index, target=target.number, by=by))


def _find_standing_play(state: State, player: int) -> Turn:
    """Return a player's last play that was not withdrawn. Raises `RulesError` if the player has no such play."""
    play = next((turn for turn in state.standing_plays() if turn.player == player), None)
    if play is None:
        text = "{0} has no play on the board to take back."
        raise RulesError(make_message("no-play-back", text, state.players[player]))
    return play


def _add_turn(state: State, turn: Turn) -> State:
    """Return the state with one more turn on the score sheet.

    The function sets the number of the turn, and the total and the board after it. If the turn changes the rack, the
    letters that its player revealed are forgotten.
    """
    total = state.totals[turn.player] + turn.score
    turn = replace(turn, number=len(state.turns), total=total, board=state.board)
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


def _add_closing_turns(state: State, ledger_index: int) -> State:
    """Return the state with the lines for unplayed letters and overtime; unchanged while the game goes on."""
    if state.end_reason is None:
        return state
    for line in compute_end_scores(state):
        state = _add_turn(state, Turn(line.player, line.kind, line.score, ledger_index, tiles=line.tiles))
    return state
