"""Generate hypotheses that may explain a reading, each with its log-posterior."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from heapq import nlargest, nsmallest
from itertools import islice, product
from math import log
from operator import attrgetter
from typing import NamedTuple

from engine.board import Board, Square, column_of, row_of
from engine.errors import RulesError
from engine.events import Event, PlayerTurn, PlayMade, PlayWithdrawn, Ref, SquareCorrected, TurnCorrected, filter_plays
from engine.game import Game
from engine.inference.alignment import MAX_PLAYS_TAKEN_BACK
from engine.inference.evidence import MIN_CLEAR_PROBABILITY, Evidence, face_of, is_consistent
from engine.inference.history import Past, find_settled_board
from engine.inference.log_priors import (
    CONTINUED_PLAY_LOG_PRIOR,
    NUDGED_TILE_LOG_PRIOR,
    PARTLY_CLEARED_LOG_PRIOR,
    REPEATED_PLAY_LOG_PRIOR,
    TWO_PLAYS_LOG_PRIOR,
    UNCLEARED_LOG_PRIOR,
    WITHDRAWN_LOG_PRIOR,
    WRONG_SEAT_LOG_PRIOR,
)
from engine.inference.overlooked_tiles import can_be_overlooked
from engine.inference.placements import (
    find_letterings,
    find_play_squares,
    find_variations,
    is_legal_placement,
    tile_from_face,
)
from engine.inference.revisions import list_revisions
from engine.messages import make_message
from engine.plays import Play
from engine.reading import EMPTY
from engine.state import find_withdrawn_turn

_MAX_SQUARE_SETS = 40
"""Maximum number of sets of squares on which a play is tried."""
_MAX_UNEXPLAINED_TILES = 20
"""Maximum number of unexplained tiles; with more, the reading is too poor to look for missed tiles."""
_BEAM_WIDTH = 6
"""Maximum number of hypotheses that are extended by one more play."""
_MAX_PLAYS = 8
"""Maximum number of plays between two readings."""
_MAX_NUDGE_SQUARES = 2
"""Maximum distance that a tile slips, in squares."""


@dataclass(frozen=True)
class Hypothesis:
    """Events that may explain a reading and the observations before it, and the game after these events.

    - `log_prior`: the log-prior of the events, in nats.
    - `past`: the observations before the reading (`evidence`).
    - `seat`: the player whose own button or phone ended the turn, or None.
    - `moved_tiles`: pairs of the old and the new square of a tile that has slipped.
    - `uncleared_board`: the board with the tiles of a withdrawn play, if they are still there; otherwise None.
    - `note`: a sentence that describes a hypothesis without events.
    """

    game: Game
    events: tuple[Event, ...]
    log_prior: float
    evidence: Evidence
    past: Past
    seat: int | None = None
    moved_tiles: tuple[tuple[Square, Square], ...] = ()
    uncleared_board: Board | None = None
    note: str = ""

    @property
    def board(self) -> Board:
        """The board that the camera should see under this hypothesis."""
        return self.game.board if self.uncleared_board is None else self.uncleared_board

    @cached_property
    def log_posterior(self) -> float:
        """The log-prior plus the log-likelihood, in nats. A constant that is equal for all hypotheses is left out."""
        turns = [event for event in self.events if isinstance(event, PlayerTurn)]
        is_own = self.seat is None or not turns or turns[-1].player == self.seat
        log_prior = self.log_prior + (0.0 if is_own else WRONG_SEAT_LOG_PRIOR)
        return log_prior + self.evidence.board_log_likelihood(self.board) + self.past.compare(self.game)

    def push(self, *events: Event, log_prior: float = 0.0) -> Hypothesis:
        """Return the hypothesis with more events. `log_prior` (nats) is added to the prior of the hypothesis."""
        game, log_prior = self.game.push(*events), self.log_prior + log_prior
        return replace(self, game=game, events=self.events + events, log_prior=log_prior)

    def find_unexplained_squares(self) -> frozenset[Square]:
        """Return the squares that are clearly read as a tile but are empty under this hypothesis."""
        on_board = self.board.squares
        return frozenset([square for square in self.evidence.clear_tile_squares if on_board[square] is None])


def generate_hypotheses(game: Game, evidence: Evidence, past: Past, seat: int | None = None) -> list[Hypothesis]:
    """Return all hypotheses that may explain the evidence, the most likely hypothesis first.

    `past` has the earlier observations, and `seat` is that of `Hypothesis`. If the reading has more new tiles than
    `_MAX_PLAYS` plays can have, the only hypothesis is that nothing happened: the picture shows another board, or the
    game began before.
    """
    start = Hypothesis(game, (), 0.0, evidence, past, seat)
    unexplained = start.find_unexplained_squares()
    if len(unexplained) > _MAX_PLAYS * game.rules.rack_size:
        return [start]
    withdrawn = list(_withdraw_plays(start))
    # The bases explain what happened to recorded turns and tiles. New plays are added to them below.
    bases = [start, *withdrawn, *_restore_uncleared_tiles(start)]
    bases += [
        base.push(*events, log_prior=log_prior)
        for base in (start, *withdrawn)
        for events, log_prior in find_variations(base.game, base.evidence)
    ]
    if len(unexplained) <= _MAX_UNEXPLAINED_TILES:
        revisions = [*list_revisions(game, evidence.reading, past.observations, past.told, past.answered)]
        bases += [start.push(*events, log_prior=-log(len(revisions))) for events in revisions]
        bases += (*_move_last_play(start, withdrawn[:1]), *_split_at_observation(start))
        exceptions = (*_add_overlooked_tile(start), *_nudge_tile(start))
        bases += nlargest(_BEAM_WIDTH, exceptions, key=attrgetter("log_posterior"))
    found = _add_plays(bases, allow_overlooked=False)
    best = max(found, key=attrgetter("log_posterior"))
    has_several_plays = len(filter_plays(best.events)) > 1  # two plays may be one play with a missed tile
    if 0 < len(best.find_unexplained_squares()) <= _MAX_UNEXPLAINED_TILES or has_several_plays:
        found += _add_plays(bases, allow_overlooked=True)
    return sorted(_remove_duplicates(found), key=attrgetter("log_posterior"), reverse=True)


def _add_plays(bases: list[Hypothesis], allow_overlooked: bool) -> list[Hypothesis]:
    """Return the hypotheses in `bases`, and these hypotheses with one or more plays added.

    Several plays are possible if a player forgot to end a turn. The search is a beam search: each step keeps the
    `_BEAM_WIDTH` best hypotheses. With `allow_overlooked`, a play may have one square that is read as empty.
    """
    found = list(bases)
    front = bases
    for number in range(_MAX_PLAYS):
        incomplete = [base for base in front if number == 0 or base.find_unexplained_squares()]
        candidates = [candidate for base in incomplete for candidate in _find_candidate_plays(base, allow_overlooked)]
        best = _select_best(candidates)
        if number == 0:  # always try plays after the turns as they are recorded, even if other bases are likelier
            best += _select_best([candidate for candidate in candidates if candidate.base is bases[0]])
        if number == 0:
            best += _select_best(_find_first_of_two(bases[0], candidates))
        front = _remove_duplicates([candidate.push() for candidate in best])
        if not front:
            break
        found += front
    return found


def _find_first_of_two(base: Hypothesis, candidates: list[_PlayCandidate]) -> list[_PlayCandidate]:
    """Return the candidates after `base` that are the first of exactly two plays: the other new tiles are the second.

    Return none if a candidate explains all new tiles. Without this function, a longer play that leaves tiles of no
    play, or needs a missed tile, would take the places of these candidates in the search.
    """
    unexplained, state = base.find_unexplained_squares(), base.game.state
    found = []
    for candidate in candidates:
        rest = unexplained.difference(candidate.play.squares)
        if candidate.base is base and not rest:
            return []
        after = replace(state, board=candidate.play.apply_to(state.board))
        if candidate.base is base and len(rest) <= state.rules.rack_size and is_legal_placement(after, sorted(rest)):
            found.append(candidate)
    return found


def _select_best(candidates: list[_PlayCandidate]) -> list[_PlayCandidate]:
    return nlargest(_BEAM_WIDTH, candidates, key=attrgetter("log_posterior"))


def _remove_duplicates(found: list[Hypothesis]) -> list[Hypothesis]:
    """Return the hypotheses without repetitions; of several equal ones, the likeliest stays.

    Hypotheses are equal if they have the same events, the same tiles that have slipped, and the same note. Without
    events, only the last two tell them apart.
    """
    best: dict[object, Hypothesis] = {}
    for hypothesis in found:
        key = (hypothesis.events, hypothesis.moved_tiles, hypothesis.note)
        if key not in best or best[key].log_posterior < hypothesis.log_posterior:
            best[key] = hypothesis
    return list(best.values())


class _PlayCandidate(NamedTuple):
    """A play that may be added to the hypothesis `base`.

    `log_prior` is the log-prior of the play. `gain` is the difference that the play makes to the log-posterior of
    `base`. Both are in nats.
    """

    base: Hypothesis
    play: Play
    log_prior: float
    gain: float

    @property
    def log_posterior(self) -> float:
        """The log-posterior, in nats, of the hypothesis with this play."""
        return self.gain + self.base.log_posterior

    def push(self) -> Hypothesis:
        """Return the hypothesis with this play."""
        return self.base.push(PlayMade(self.base.game.to_move, self.play), log_prior=self.log_prior)


def _find_candidate_plays(base: Hypothesis, allow_overlooked: bool) -> Iterator[_PlayCandidate]:
    """Yield the possible plays of the player to move, after the plays of `base`."""
    game, evidence = base.game, base.evidence
    turn_log_prior = TWO_PLAYS_LOG_PRIOR if filter_plays(base.events) else 0.0
    if game.is_over or base.uncleared_board is not None:
        return
    square_sets = nsmallest(
        _MAX_SQUARE_SETS,
        find_play_squares(game.state, evidence, allow_overlooked),
        key=lambda squares: sum([evidence.empty_log_likelihoods[square] for square in squares]),
    )
    stock = game.state.stock()
    for squares in square_sets:
        for lettering in find_letterings(evidence, squares, stock):
            play = Play.from_tiles(dict(zip(squares, lettering.tiles, strict=True)))
            log_prior = turn_log_prior + lettering.log_prior
            log_prior += _repeated_play_log_prior(base, play)
            log_prior += CONTINUED_PLAY_LOG_PRIOR * _continues_play(base, play)
            yield _PlayCandidate(base, play, log_prior, gain=log_prior + _log_likelihood_gain(base, play))


def _continues_play(base: Hypothesis, play: Play) -> bool:
    """Return True if `play` is in one unbroken line with the play before it, so that both may be a single play.

    The play before is the last one that `base` makes, puts elsewhere or lengthens. If `base` has no events, it is the
    last recorded play, but only if the same player has pressed the button again. A play after which a reading showed
    exactly the board was complete, so it is not continued.
    """
    last = next(base.game.state.standing_plays(), None)
    match base.events[-1:]:
        case (PlayMade(_, before),) | (TurnCorrected(_, PlayMade(_, before)),) if not base.past.has_shown(base.board):
            squares = before.squares
        case (SquareCorrected(_, _, Ref() as ref),):
            old, new = base.past.game.find_turn(ref), base.game.find_turn(ref)
            squares = new.play.squares if new is not None and new.play is not None else ()
            if old is None or {*squares} <= {square for square, _ in old.placements}:
                return False  # the correction has not added a tile
        case () if last is not None and last.play is not None and last.player == base.seat:
            squares = last.play.squares
        case _:
            return False
    board = play.apply_to(base.board)
    return any({*squares, *play.squares} <= {*board.tile_run(play.squares[0], across)} for across in (True, False))


def _repeated_play_log_prior(base: Hypothesis, play: Play) -> float:
    """Return the log-prior (nats) of a play that repeats tiles which were just taken off the board; 0 for other plays.

    After a challenge the next player often covers the same squares, but rarely with the same tiles. It is as rare that
    a player places the same tile where a correction has removed one.
    """
    tiles, board = dict(play.tiles), base.past.game.board
    taken = [event.square for event in base.events if isinstance(event, SquareCorrected) and event.tile is None]
    again = sum(square in tiles and face_of(board[square]) == tiles[square].face for square in taken)
    if again:
        return REPEATED_PLAY_LOG_PRIOR * again
    withdrawn = find_withdrawn_turn(base.game.state)
    if withdrawn is None:
        return 0.0
    squares = base.evidence.reading.squares
    if any(isinstance(event, PlayWithdrawn) for event in base.events):
        repeated_count = sum(squares[square].is_tile for square, _ in withdrawn.placements)
    else:
        repeated_count = sum(squares[square].symbol == tile.face for square, tile in withdrawn.placements)
    old_faces, new_faces = (sorted(tile.face for _, tile in tiles) for tiles in (withdrawn.placements, play.tiles))
    return REPEATED_PLAY_LOG_PRIOR * max(repeated_count, int(old_faces == new_faces))


def _log_likelihood_gain(base: Hypothesis, play: Play) -> float:
    """Return the log-likelihood (nats) of the tiles of `play`, relative to that of empty squares."""
    evidence = base.evidence
    return sum([evidence.tile_log_likelihood(s, tile) - evidence.empty_log_likelihoods[s] for s, tile in play.tiles])


def _withdraw_plays(base: Hypothesis) -> Iterator[Hypothesis]:
    """Yield the hypothesis that the last play was withdrawn, if the reading contradicts the tiles of this play.

    If at most `MAX_PLAYS_TAKEN_BACK` plays are on the board and all their tiles are gone, also yield the hypothesis
    that all these plays were withdrawn because the players started again.
    """
    squares = base.evidence.reading.squares
    plays = list(islice(base.game.state.standing_plays(), MAX_PLAYS_TAKEN_BACK))
    if not plays or base.game.is_over:
        return
    last, *earlier = plays
    if all(is_consistent(squares[square].symbol, tile) for square, tile in last.placements):
        return
    withdrawn = base.push(PlayWithdrawn(last.player), log_prior=WITHDRAWN_LOG_PRIOR)
    yield withdrawn
    if earlier and all(squares[square].symbol == EMPTY for turn in plays for square, _ in turn.placements):
        for turn in earlier:
            withdrawn = withdrawn.push(PlayWithdrawn(turn.player), log_prior=WITHDRAWN_LOG_PRIOR)
        if not withdrawn.board:
            yield withdrawn


def _restore_uncleared_tiles(base: Hypothesis) -> Iterator[Hypothesis]:
    """Yield the hypotheses that tiles of the last withdrawn play are still on the board.

    The next player may already have played beside them. This new play is on the board of the hypothesis, but not among
    its events: the players must take the old tiles off first, and end the turn again. Beside a new play, only some of
    the withdrawn tiles may be left.
    """
    withdrawn = find_withdrawn_turn(base.game.state)
    if withdrawn is None or withdrawn.play is None or base.game.is_over:
        return
    name = base.game.players[withdrawn.player]
    note = make_message("still-there", "the tiles that {0} must take back are still on the board", name)
    placed = {square: base.evidence.drop_unseen_letter(square, tile) for square, tile in withdrawn.placements}
    board, log_prior = withdrawn.play.apply_to(base.board).with_tiles(placed), base.log_prior + UNCLEARED_LOG_PRIOR
    uncleared = replace(base, uncleared_board=board, log_prior=log_prior, note=note)
    yield uncleared
    squares = base.evidence.reading.squares
    left = {square: tile for square, tile in placed.items() if squares[square].symbol == tile.face}
    if not left:
        return
    partly_cleared = replace(
        uncleared,
        uncleared_board=base.board.with_tiles(left),
        log_prior=base.log_prior + PARTLY_CLEARED_LOG_PRIOR + REPEATED_PLAY_LOG_PRIOR * len(left),
    )
    for play, play_log_prior in _find_plays_beside(base, {*placed}):
        for before in (uncleared, partly_cleared):
            assert before.uncleared_board is not None, "both hypotheses have such a board"
            after = play.apply_to(before.uncleared_board)
            yield replace(before, uncleared_board=after, log_prior=before.log_prior + play_log_prior)


def _find_plays_beside(base: Hypothesis, squares: set[Square]) -> list[tuple[Play, float]]:
    """Return the likeliest plays without a tile on `squares`, each with its log-prior in nats."""
    candidates = [
        candidate
        for candidate in _find_candidate_plays(base, allow_overlooked=False)
        if squares.isdisjoint(candidate.play.squares)
    ]
    return [
        (candidate.play, candidate.log_prior - _repeated_play_log_prior(base, candidate.play))
        for candidate in _select_best(candidates)
    ]


def _add_overlooked_tile(base: Hypothesis) -> Iterator[Hypothesis]:
    """Yield hypotheses in which an unexplained tile belongs to a play before the settled board, or to the position.

    The tile was missed when that play was read.
    """
    state, settled = base.game.state, find_settled_board(base.game)
    turns = [turn for turn in state.turns if all(settled[square] for square, _ in turn.placements)]
    places = [
        (square, turn)
        for square, turn in product(base.find_unexplained_squares(), turns)
        if can_be_overlooked(state, turn, (square,))
    ]
    for square, turn in places:
        for lettering in find_letterings(base.evidence, (square,), state.stock(), 2):
            with suppress(RulesError):  # the tile was elsewhere in the position, until a player recycled it
                yield base.push(SquareCorrected(square, lettering.tiles[0], turn.ref), log_prior=-log(len(places)))


def _move_last_play(base: Hypothesis, withdrawals: Sequence[Hypothesis]) -> Iterator[Hypothesis]:
    """Yield hypotheses in which the player has made a play elsewhere in place of the last one, after the press.

    No tile of the last play has stayed. The next player's play seldom covers its squares already, and more seldom with
    the same letters. `withdrawals` has the hypothesis that the last play was withdrawn, if the reading allows it.
    """
    last, squares = next(base.game.state.standing_plays(), None), base.evidence.reading.squares
    if last is None or last.ref.entry in base.past.told:
        return
    covered = [is_consistent(squares[s].symbol, tile) for s, tile in last.placements if squares[s].is_tile]
    covered_log_prior = REPEATED_PLAY_LOG_PRIOR * (bool(covered) + sum(covered))
    for withdrawn in withdrawals:
        candidates = list(_find_candidate_plays(withdrawn, allow_overlooked=False))
        for candidate in _select_best(candidates) + _select_best(_find_first_of_two(withdrawn, candidates)):
            if not {*last.placements}.isdisjoint(candidate.play.tiles):
                continue
            log_prior = candidate.log_prior - _repeated_play_log_prior(withdrawn, candidate.play) + covered_log_prior
            yield base.push(TurnCorrected(last.ref, PlayMade(None, candidate.play)), log_prior=log_prior)


def _split_at_observation(base: Hypothesis) -> Iterator[Hypothesis]:
    """Yield hypotheses in which some new tiles are a play of their own, because an earlier reading shows only these.

    No turn was recorded from that reading: a player made the play and forgot to end the turn.
    """
    game, squares = base.game, base.evidence.reading.squares
    for observation in base.past.observations:
        if observation.is_recorded(game):
            continue
        shown = enumerate(observation.reading.squares)
        symbols = {s: read.symbol for s, read in shown if read.is_tile and game.board[s] is None}
        if symbols and all(squares[square].symbol == symbol for square, symbol in symbols.items()):
            play = Play.from_tiles({square: tile_from_face(symbol) for square, symbol in symbols.items()})
            if not game.check_play(play):
                yield base.push(PlayMade(game.to_move, play))


def _nudge_tile(base: Hypothesis) -> Iterator[Hypothesis]:
    """Yield hypotheses in which a recorded tile slipped to a nearby square on which an unexplained tile is read."""
    board, squares = base.board, base.evidence.reading.squares
    missing = [s for s in board.occupied_squares() if squares[s].probability(EMPTY) > MIN_CLEAR_PROBABILITY]
    for old, new in product(missing, base.find_unexplained_squares()):
        distance = max(abs(row_of(old) - row_of(new)), abs(column_of(old) - column_of(new)))
        is_read = squares[new].probability(board.tile(old).face) > MIN_CLEAR_PROBABILITY
        if distance <= _MAX_NUDGE_SQUARES and is_read:
            yield replace(
                base,
                evidence=base.evidence.with_swapped_squares(old, new),
                moved_tiles=((old, new),),
                log_prior=base.log_prior + NUDGED_TILE_LOG_PRIOR,
            )
