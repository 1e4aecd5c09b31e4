"""Determine the end of a game, the scores for unplayed letters, and the winners.

The rules are rule 9, Scoring 9, How to Win, and those of the Finish Line game.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain, takewhile
from math import ceil

from engine.events import EndReason
from engine.rules import ChallengeRule, UnplayedRule
from engine.state import CLOSING_KINDS, POINTS_KINDS, TURN_KINDS, State, TurnKind

_MID_TURN_KINDS = frozenset({TurnKind.RECYCLED, TurnKind.BLANK_TAKEN})


@dataclass(frozen=True, slots=True)
class EndScore:
    """A line of the score sheet for unplayed letters (kind `ENDRACK`) or overtime (kind `TIME`)."""

    player: int
    kind: TurnKind
    score: int
    tiles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a game, in points. More than one winner means a draw.

    The winners are provisional until all unplayed letters that count are known (`find_wanted_racks`).
    `totals_before_unplayed` are the totals without the scores for unplayed letters; they break a tie.
    """

    reason: EndReason
    winners: tuple[int, ...]
    totals: tuple[int, ...]
    totals_before_unplayed: tuple[int, ...]


def find_due_end(state: State) -> EndReason | None:
    """Return the reason to end the game now by the rules in force, or None if the game goes on.

    The reason is a proposal. Only the players end a game, because the last play may still be challenged.
    """
    turns = [turn for turn in state.turns if turn.kind not in _MID_TURN_KINDS | POINTS_KINDS]
    if state.end_reason or not turns:
        return None
    if _is_finish_line_reached(state):
        return EndReason.FINISH_LINE
    if _find_empty_rack(state) is not None:
        return EndReason.PLAYED_OUT
    is_exchange_impossible = state.bag_count < max(1, state.rules.exchange_minimum_bag)
    # Count players instead of passes: a player who lost a turn by a challenge may still have a play.
    passed = {turn.player for turn in takewhile(lambda turn: turn.kind is TurnKind.PASS, reversed(turns))}
    if is_exchange_impossible and len(passed) == len(state.players):
        return EndReason.NO_PLAY_LEFT
    limit = state.rules.scoreless_turns
    # Under the first-word variation the players pass until a player has a long enough first word. These passes do not
    # end the game.
    is_first_word_awaited = state.rules.first_word_minimum > 2 and not state.board
    if limit and not is_first_word_awaited and count_scoreless_turns(state) >= limit:
        return EndReason.SCORELESS
    return None


def count_scoreless_turns(state: State) -> int:
    """Return the number of consecutive turns without a score, counted back from the last turn.

    Turns without a score are passes, exchanges, withdrawn plays, plays of 0 points, and turns lost by a failed
    challenge.
    """
    count = 0
    for turn in reversed(state.turns):
        if turn.kind is TurnKind.PLAY and turn.stands and turn.score:
            break
        # Under this rule, the challenger loses a turn by a failed challenge.
        is_lost = turn.kind is TurnKind.CHALLENGE and state.rules.challenge is ChallengeRule.DOUBLE
        count += is_lost or turn.kind in TURN_KINDS
    return count


def _is_finish_line_reached(state: State) -> bool:
    lines = state.rules.finish_lines(len(state.players))
    if not any(total >= line for total, line in zip(state.totals, lines, strict=False)):
        return False
    return not state.rules.finish_round or _is_round_over(state)


def _is_round_over(state: State) -> bool:
    """Return True if every player has had a turn in this round.

    A turn that a player lost counts as well.
    """
    first, count = state.first_turn, len(state.players)
    assert first is not None, "an end is due after a turn"
    last = next((turn.player for turn in reversed(state.turns) if turn.kind in TURN_KINDS), None)
    if last is None:
        return state.to_move == first.player
    # A round is over when it is the turn of the player who began. Players between the last turn and the next one have
    # lost a turn; the player who began may be one of them.
    steps = (state.to_move - last) % count or count
    return first.player in {(last + step) % count for step in range(1, steps + 1)}


def find_known_racks(state: State) -> tuple[tuple[str, ...] | None, ...]:
    """Return the letters on each player's rack at the end of the game, or None for a rack that is not known.

    A rack is known in these cases:

    - The player revealed the letters (`find_revealed_racks`).
    - The game started from a position with a known rack, and all tiles played since are known.
    - The rack is empty. The number of tiles on a rack is not known for certain in a game that started from a position
      with unknown racks and an empty bag.
    - The bag is empty and all other racks are known: this rack has all unseen tiles.
    """
    revealed, unseen = find_revealed_racks(state), state.unseen()
    known: list[tuple[str, ...] | None] = []
    for player in range(len(state.players)):
        if player in revealed:
            known.append(revealed[player])
        elif not unseen or _has_no_letters(state, player):
            known.append(())
        else:
            known.append(_find_position_rack(state, player))
    unknown = [player for player, tiles in enumerate(known) if tiles is None]
    if len(unknown) == 1 and state.bag_count == 0:
        left = unseen - Counter(tile for tiles in known if tiles for tile in tiles)
        known[unknown[0]] = tuple(sorted(left.elements()))
    return tuple(known)


def find_revealed_racks(state: State) -> Mapping[int, tuple[str, ...]]:
    """Return the letters that the players revealed.

    A rack is left out if its player went out, or if a later correction put one of its letters on the board.

    >>> from dataclasses import replace
    >>> from engine.events import GameStarted
    >>> from engine.state import create_state
    >>> state = create_state(GameStarted(("Anna", "Ben")))
    >>> find_revealed_racks(replace(state, revealed_racks={0: ("Q",), 1: ("Q", "A")}))
    {}
    """
    racks = {player: tiles for player, tiles in state.revealed_racks.items() if not _has_no_letters(state, player)}
    excess = Counter(tile for tiles in racks.values() for tile in tiles) - state.unseen()
    return {player: tiles for player, tiles in racks.items() if excess.keys().isdisjoint(tiles)}


def _has_no_letters(state: State, player: int) -> bool:
    """Return True if a player's rack is empty for certain, by the count of tiles."""
    return state.rack_counts[player] == 0 and state.bag_count == 0 and not _are_counts_estimated(state)


def _find_position_rack(state: State, player: int) -> tuple[str, ...] | None:
    """Return a player's unplayed letters, computed from the rack in the position from which the game started.

    Return None if that rack is not known, or if the player later exchanged a tile of the rack for one on the board.
    """
    own = [turn for turn in state.turns if turn.player == player]
    if not own or own[0].kind is not TurnKind.POSITION or any(turn.kind in _MID_TURN_KINDS for turn in own):
        return None
    left = Counter(own[0].tiles)
    left.subtract(tile.face for turn in own if turn.stands for _, tile in turn.placements)
    return tuple(sorted(left.elements())) if left and min(left.values()) >= 0 else None


def find_wanted_racks(state: State) -> tuple[int, ...]:
    """Return the players who must enter their unplayed letters before the final scores are correct."""
    if not _is_unplayed_counted(state):
        return ()
    held = find_known_racks(state)
    # The player who went out gets twice all unseen letters, so it does not matter who has which.
    if state.rules.unplayed is UnplayedRule.TWICE and _find_player_out(state) is not None:
        return ()
    return tuple(player for player, tiles in enumerate(held) if tiles is None)


def find_derived_racks(before: State, after: State) -> Mapping[int, tuple[str, ...]]:
    """Return the racks that players need not enter any more, because they follow from the letters just revealed.

    `before` and `after` are the states before and after a player revealed letters. The result has the letters by
    player, without empty racks.
    """
    held, revealed = find_known_racks(after), find_revealed_racks(after)
    known = {player: tiles for player, tiles in enumerate(held) if tiles and player not in revealed}
    return {player: known[player] for player in find_wanted_racks(before) if player in known}


def compute_end_scores(state: State) -> list[EndScore]:
    """Return the lines of the score sheet for unplayed letters (Scoring 9) and overtime."""
    lines = _score_unplayed_letters(state) if _is_unplayed_counted(state) else []
    rules = state.rules
    if rules.clock_seconds:
        for player, used in enumerate(state.clocks):
            over = ceil(max(0.0, used - rules.clock_seconds) / 60)
            if over:
                lines.append(EndScore(player, TurnKind.TIME, -over * rules.overtime_points))
    return lines


def _is_unplayed_counted(state: State) -> bool:
    """Return True if unplayed letters count.

    They do not count if the players skip them, and in a Finish Line game in which a player has reached the line, even
    if the line was reached only by a correction after the end.
    """
    if state.skips_racks or state.rules.unplayed is UnplayedRule.NONE:
        return False
    lines = state.rules.finish_lines(len(state.players))
    is_line_reached = state.end_reason is EndReason.FINISH_LINE or bool(_find_finishers(state, lines))
    return not is_line_reached or state.rules.finish_unplayed


def _find_player_out(state: State) -> int | None:
    """Return the player who has gone out, with an empty rack and an empty bag, or None.

    If the numbers of tiles on the racks are estimates, only a rack that is known to be empty counts.
    """
    if not _are_counts_estimated(state):
        return _find_empty_rack(state)
    return next((player for player, tiles in enumerate(find_known_racks(state)) if tiles == ()), None)


def _find_empty_rack(state: State) -> int | None:
    """Return the player who went out first, by the count of tiles, or None if no player has."""
    if state.bag_count:
        return None
    last_plays = {turn.player: turn.number for turn in state.turns if turn.kind is TurnKind.PLAY and turn.stands}
    without_tiles = [player for player, count in enumerate(state.rack_counts) if count == 0]
    return min(without_tiles, key=lambda player: last_plays.get(player, -1), default=None)


def _are_counts_estimated(state: State) -> bool:
    """Return True if the number of tiles on the racks was not known in the position from which the game started.

    This is the case if the bag was empty, the racks were not full, and at least two racks were unknown.
    """
    lines = [turn for turn in state.turns if turn.kind is TurnKind.POSITION]  # one for each player
    if sum(not turn.tiles for turn in lines) < 2:
        return False
    unseen_count = state.tiles.tile_count - len(lines[0].board.occupied_squares())
    return unseen_count < len(state.players) * state.rules.rack_size


def _score_unplayed_letters(state: State) -> list[EndScore]:
    """Return the points that players gain or lose for unplayed letters at the end, by the rule of the game."""
    held = find_known_racks(state)
    out = _find_player_out(state)
    lines: list[EndScore] = []
    if out is not None:
        racks = [tiles for player, tiles in enumerate(held) if player != out and tiles is not None]
        is_known = len(racks) == len(held) - 1  # unseen tiles that are on no rack were lost from the set
        others = tuple(sorted(chain.from_iterable(racks) if is_known else state.unseen().elements()))
        factor = 2 if state.rules.unplayed is UnplayedRule.TWICE else 1
        lines.append(EndScore(out, TurnKind.ENDRACK, factor * state.tiles.points(others), others))
        if state.rules.unplayed is UnplayedRule.TWICE:
            return lines
    for player, tiles in enumerate(held):
        if tiles and player != out:
            lines.append(EndScore(player, TurnKind.ENDRACK, -state.tiles.points(tiles), tiles))
    return lines


def determine_outcome(state: State) -> Outcome | None:
    """Return the outcome of a game that is over, or None while the game goes on.

    The highest total wins. In a tie, the highest total before unplayed letters wins (How to Win). In a Finish Line
    game, the player who reaches the finish line first wins. If the players agreed to finish the round, several may
    reach it, and the rule sheet names no winner. This program takes the player whose total exceeds the player's own
    finish line by the most points.
    """
    if state.end_reason is None:
        return None
    before = list(state.totals)
    for turn in state.turns:
        if turn.kind is TurnKind.ENDRACK:
            before[turn.player] -= turn.score
    lines = state.rules.finish_lines(len(state.players)) or (0,) * len(state.players)
    # Compare points beyond the finish line (0 in other games): the totals and, in a tie, those before unplayed letters.
    scores = [(total - line, score - line) for total, score, line in zip(state.totals, before, lines, strict=True)]
    seats = _find_finishers(state, lines) or tuple(range(len(scores)))
    winners = tuple(seat for seat in seats if scores[seat] == max(scores[other] for other in seats))
    return Outcome(state.end_reason, winners, state.totals, tuple(before))


def _find_finishers(state: State, lines: tuple[int, ...]) -> tuple[int, ...]:
    """Return the player who reached the finish line first.

    If the players finish the round, return all players who reached the finish line in that round. If no player
    reached the line, return an empty tuple. A player who falls below the line again, by a withdrawn play or the points
    of a challenge, has not reached it.
    """
    if not state.rules.finish_line:
        return ()
    reached: list[int] = []
    for turn in state.turns:
        if turn.kind in CLOSING_KINDS:
            continue
        if turn.total < lines[turn.player]:
            reached = [player for player in reached if player != turn.player]
        elif turn.player not in reached:
            reached.append(turn.player)
    return tuple(sorted(reached)) if state.rules.finish_round else tuple(reached[:1])
