"""Infer the play from readings of the board, and ask the players if it is in doubt.

An explanation is a list of events that the rules in force allow. Its (posterior) probability is proportional to the
prior probability of the events times the likelihood of the board after them, given the reading, and of the boards
before them, given the observations since the settled board. A phony is inferred like any other word.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from itertools import chain, islice, product
from math import exp

from engine.board import Square, run_ends, square_name
from engine.descriptions import describe_events
from engine.events import (
    BlankTaken,
    Event,
    PlayWithdrawn,
    SquareCorrected,
    TileRecycled,
    TurnCorrected,
    filter_plays,
)
from engine.game import Game
from engine.inference.alignment import align_reading
from engine.inference.evidence import (
    MIN_CLEAR_PROBABILITY,
    MIN_TILE_PROBABILITY,
    Evidence,
    find_inconsistent_squares,
    tile_confidence,
)
from engine.inference.history import EMPTY_HISTORY, Observation, Past, ReadingHistory, Rest, find_next_ref
from engine.inference.hypotheses import Hypothesis, generate_hypotheses
from engine.inference.placements import build_play_as_seen
from engine.lexicon import WordList
from engine.messages import format_list, make_message
from engine.reading import EMPTY, HIDDEN, BoardReading
from engine.scoring import Status, check_placement, describe_status

MIN_CERTAINTY = 0.96
"""Minimum certainty (0..1); if it is lower, the players are asked. At 0.9, worn print and glare gave wrong letters."""
_MIN_ALARM_PROBABILITY = 0.8
"""Minimum probability of a surplus or missing tile for asking the players."""
_MIN_COVERED_PROBABILITY = 0.2
"""Minimum probability that a square is covered by a hand or glare for asking the players about it."""
_MAX_EXPLANATIONS = 6
_MAX_STRANGE_READINGS = 2
"""Maximum number of consecutive readings that are rejected; the next one is used even if it does not match."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """A possible explanation of a reading: the events since the last turn.

    `game` is the game after `events`. If nothing happened, `events` is empty. `probability` (0..1) is the posterior
    probability among all hypotheses about the reading; only the likeliest of these become explanations, so the sum of
    their probabilities is at most 1.

    Old tiles are those that were recorded before the reading. The following squares do not agree with the events, or
    are in doubt:

    - `leftover_squares`: squares with tiles that belong to no play. `status` says why they are not a legal play.
    - `missing_squares`: squares of old tiles that are clearly read as empty. If the reading shows another board, they
      are all squares of old tiles that are read as something else.
    - `misread_squares`: squares of old tiles that are clearly read as another tile.
    - `moved_tiles`: pairs of the old and the new square of an old tile. (Rule 5 forbids removing, exchanging and
      moving old tiles.)
    - `unsure_squares`: squares of new tiles whose letter is in doubt.
    - `covered_squares`: hidden squares at the ends of a play, so the word may be longer.

    `is_uncleared` is True while the tiles of a withdrawn play (rule 8) are still on the board, before the next turn.
    `is_order_shown` is True if there are several plays, and a reading shows the board between them.
    """

    events: tuple[Event, ...]
    probability: float
    text: str
    game: Game
    leftover_squares: tuple[Square, ...] = ()
    missing_squares: tuple[Square, ...] = ()
    misread_squares: tuple[Square, ...] = ()
    moved_tiles: tuple[tuple[Square, Square], ...] = ()
    unsure_squares: tuple[Square, ...] = ()
    covered_squares: tuple[Square, ...] = ()
    status: Status = Status.VALID
    is_uncleared: bool = False
    is_order_shown: bool = False


class DoubtKind(Enum):
    """Reason for an `InferenceQuestion`."""

    OTHER_BOARD = auto()  # the reading does not match the board of this game
    NO_PLAY = auto()  # the new tiles are no legal play
    TILE_MOVED = auto()  # an old tile is on another square
    TILE_LOST = auto()  # an old tile is no longer seen
    SURPLUS_TILE = auto()  # a tile belongs to no play
    ONE_TILE = auto()  # two explanations differ in the tile on one square
    TWO_EXPLANATIONS = auto()  # two explanations are nearly equally likely
    UNCLEARED_BOARD = auto()  # the tiles of a withdrawn play are still on the board
    LETTER = auto()  # the letter of a new tile
    HIDDEN_END = auto()  # the play may be longer than the picture shows
    UNUSUAL_TURN = auto()  # several plays, or a change of old tiles


@dataclass(frozen=True, slots=True)
class InferenceQuestion:
    """A question to the players about the explanations of a reading.

    `doubt` is the most urgent reason for the question. `squares` are all squares that are in doubt, also for other
    reasons; empty if only the events are in doubt.
    """

    doubt: DoubtKind
    text: str
    squares: tuple[Square, ...]


@dataclass(frozen=True, slots=True)
class Inference:
    """The result of `infer_play`: at least one explanation of the reading, the most likely explanation first.

    `question` is a question to the players if the best explanation is in doubt, for one of the reasons in `DoubtKind`,
    otherwise None. Pass `history` to the next call of `infer_play`: a misread old tile is then corrected as soon as
    later readings contradict the recorded letter.
    """

    explanations: tuple[Explanation, ...]
    question: InferenceQuestion | None
    history: ReadingHistory

    @property
    def best(self) -> Explanation:
        """The most likely explanation."""
        return self.explanations[0]

    @property
    def events(self) -> tuple[Event, ...]:
        """The events of the most likely explanation."""
        return self.best.events

    @property
    def doubtful_squares(self) -> tuple[Square, ...]:
        """The squares of the question; empty if there is no question."""
        return self.question.squares if self.question else ()

    @property
    def is_certain(self) -> bool:
        """True if there is no question."""
        return self.question is None


def infer_play(
    game: Game,
    reading: BoardReading,
    history: ReadingHistory = EMPTY_HISTORY,
    seat: int | None = None,
    rests: Sequence[Rest] = (),
    words: WordList | None = None,
    told: Collection[int] = (),
    *,
    answered: Collection[Square] = (),
    is_quick: bool = False,
) -> Inference:
    """Infer the events since the last turn from a reading of the board.

    `history` is `Inference.history` of the previous call, `rests` are the readings of the board at rest since then, and
    `seat` is the player whose button or phone ended the turn, or None. `is_quick` is True if the last turn was pressed
    only seconds ago. `words` is the list in use; it decides only between changes of recorded plays, and only if players
    may look words up at any time. The plays of the entries `told` were entered or corrected by players, who have also
    confirmed the letters on the squares `answered`. The function has no side effects and takes milliseconds.

    >>> game = Game.start(("Anna", "Ben"))
    >>> rows = ["." * 15] * 7 + [".....HORN......"] + ["." * 15] * 7
    >>> infer_play(game, BoardReading.from_rows(rows)).best.text
    'Anna played HORN at 8F for 14'
    """
    aligned = align_reading(game, reading)
    if aligned is None:
        history = replace(history, strange_count=history.strange_count + reading.shows_tiles)
        if history.strange_count <= _MAX_STRANGE_READINGS or not reading.shows_tiles:
            return _reject_reading(game, reading, history)
    else:
        history, reading = replace(history, strange_count=0), aligned
    evidence = Evidence(
        reading,
        game.board,
        history.find_false_readings(game),
        has_marked_blanks=not game.rules.retake_blanks,
    )
    next_ref = find_next_ref(game)
    for rest in rests:
        if rest.reading.symbols != reading.symbols:
            history = history.add_observation(Observation(rest.reading, next_ref, rest.seconds), game)
    dictionary = words if game.rules.open_dictionary else None
    past = Past(
        game,
        history.observations,
        dictionary,
        told=told,
        answered=answered,
        removed=history.removed,
        is_quick=is_quick,
    )
    ranked = generate_hypotheses(game, evidence, past, seat)
    explanations = _explain_hypotheses(past, ranked, evidence)
    question = _find_question(game, explanations, evidence)
    return Inference(explanations, question, history.add_observation(Observation(reading, next_ref), game))


def _reject_reading(game: Game, reading: BoardReading, history: ReadingHistory) -> Inference:
    """Return the inference for a reading that does not match this game's board: no events, and a question."""
    missing = tuple(s for s in find_inconsistent_squares(reading, game.board) if game.board[s])
    text = make_message("strange-board", "this does not look like the board of this game")
    nothing = Explanation((), 1.0, text, game, missing_squares=missing)
    why = "{0}. Check that the camera sees the whole board, and that no tile has moved."
    question = InferenceQuestion(DoubtKind.OTHER_BOARD, make_message("strange-board-why", why, text), missing)
    return Inference((nothing,), question, history)


def _explain_hypotheses(past: Past, ranked: Sequence[Hypothesis], evidence: Evidence) -> tuple[Explanation, ...]:
    """Return the explanations of the likeliest hypotheses, the likeliest first.

    Among them are the likeliest that changes no recorded turn, and the likeliest of these that explains all tiles.
    `ranked` has all hypotheses, the likeliest first.
    """
    # Divide by the posterior of the best hypothesis, which could be too small for a float.
    weights = [exp(hypothesis.log_posterior - ranked[0].log_posterior) for hypothesis in ranked]
    total = sum(weights)
    recorded = [number for number, one in enumerate(ranked) if not changes_record(one.events)]
    explained = (number for number in recorded if not ranked[number].find_unexplained_squares())
    numbers = dict.fromkeys((*range(min(len(ranked), _MAX_EXPLANATIONS)), *recorded[:1], *islice(explained, 1)))
    return tuple(_build_explanation(past, ranked[number], evidence, weights[number] / total) for number in numbers)


def changes_record(events: Sequence[Event]) -> bool:
    """Return True if events change turns that are recorded already."""
    return any(isinstance(event, SquareCorrected | TurnCorrected | PlayWithdrawn) for event in events)


def _build_explanation(past: Past, hypothesis: Hypothesis, evidence: Evidence, probability: float) -> Explanation:
    """Return the explanation for a hypothesis: its events, and the squares that contradict them or are in doubt."""
    squares, board, before = evidence.reading.squares, hypothesis.board, past.game
    changed = set(before.board.differences(board))
    # Hidden squares show nothing, and the question about a moved tile names both of its squares.
    ignored = evidence.hidden_squares.union(*hypothesis.moved_tiles)
    different = [s for s in find_inconsistent_squares(evidence.reading, board) if s not in ignored]
    leftover = tuple(s for s in different if board[s] is None and s in evidence.clear_tile_squares)
    old_tiles = [s for s in different if board[s] and s not in changed]
    clear_old = [s for s in old_tiles if squares[s].confidence > MIN_CLEAR_PROBABILITY]
    play_as_seen = build_play_as_seen(hypothesis.game.state, evidence) if leftover else None
    status = check_placement(hypothesis.game.board, play_as_seen, before.layout, before.rules) if play_as_seen else None
    return Explanation(
        events=hypothesis.events,
        probability=probability,
        text=hypothesis.note or describe_events(before, hypothesis.game, hypothesis.events),
        game=hypothesis.game,
        leftover_squares=leftover,
        missing_squares=tuple(s for s in clear_old if squares[s].symbol == EMPTY),
        misread_squares=tuple(s for s in clear_old if squares[s].symbol != EMPTY),
        moved_tiles=hypothesis.moved_tiles,
        unsure_squares=tuple(
            s for s in sorted(changed - ignored) if tile_confidence(squares[s], board[s]) < MIN_CLEAR_PROBABILITY
        ),
        covered_squares=_find_covered_squares(before, hypothesis, evidence),
        status=status or Status.VALID,
        is_uncleared=hypothesis.uncleared_board is not None,
        is_order_shown=_is_order_shown(past, hypothesis),
    )


def _is_order_shown(past: Past, hypothesis: Hypothesis) -> bool:
    """Return True if readings show the board between the plays of a hypothesis."""
    count = len(filter_plays(hypothesis.events))
    boards = (turn.board for turn in hypothesis.game.turns[-count:-1])
    return count > 1 and all(map(past.has_shown, boards))


def _find_covered_squares(before: Game, hypothesis: Hypothesis, evidence: Evidence) -> tuple[Square, ...]:
    """Return the hidden squares directly before and after the main word of a play."""
    if not filter_plays(hypothesis.events):
        return ()
    board, squares = hypothesis.game.board, evidence.reading.squares
    new_squares = {square for square in board.differences(before.board) if board[square]}
    ends: set[Square] = set()
    for square, across in product(new_squares, (True, False)):
        run = board.tile_run(square, across)
        # A cross word has only one new tile; of a play of a single tile, both words count.
        if len(new_squares) == 1 or len(new_squares.intersection(run)) > 1:
            ends.update(run_ends(run, across))
    return tuple(sorted(s for s in ends if squares[s].probability(HIDDEN) > _MIN_COVERED_PROBABILITY))


def _find_question(before: Game, explanations: Sequence[Explanation], evidence: Evidence) -> InferenceQuestion | None:
    """Return the question to the players, or None if nothing is unclear."""
    best, rival = explanations[0], None
    if len(explanations) > 1 and _estimate_certainty(before, best, evidence) < MIN_CERTAINTY:
        rival = explanations[1]
    alarms = _find_alarm_squares(best, evidence)
    doubtful = {*alarms, *best.unsure_squares, *best.covered_squares}
    if rival:
        doubtful.update(best.game.board.differences(rival.game.board))
    doubtful.update(event.square for event in best.events if isinstance(event, SquareCorrected))
    if not (doubtful or rival or _is_confirmation_needed(best)):
        return None
    doubt, text = _choose_doubt(best, rival, alarms)
    return InferenceQuestion(doubt, text, tuple(sorted(doubtful)))


def _estimate_certainty(before: Game, best: Explanation, evidence: Evidence) -> float:
    """Return the probability of the best explanation, taking into account letters that no hypothesis contains.

    Hypotheses contain only the likeliest letters of each square. Therefore the probabilities of the letters are also
    multiplied here: seven letters that are each slightly in doubt make the whole play doubtful.
    """
    board = best.game.board
    letters_p = 1.0
    for square in before.board.differences(board):
        if board[square] and square not in evidence.hidden_squares:
            read = evidence.reading.squares[square]
            tile_p = max(read.occupancy().tile, MIN_TILE_PROBABILITY)
            letters_p *= min(1.0, tile_confidence(read, board[square]) / tile_p)
    return min(best.probability, letters_p)


def _is_confirmation_needed(best: Explanation) -> bool:
    """Return True if the players must confirm an explanation or remove tiles.

    There are three reasons: recorded turns or tiles have changed (rule 5); there are several plays, and no picture
    shows the board between them; or the tiles of a withdrawn play are still on the board.
    """
    plays = filter_plays(best.events)
    kinds = TileRecycled | BlankTaken | TurnCorrected | SquareCorrected
    is_changed = any(isinstance(event, kinds) for event in best.events)
    are_in_doubt = len(plays) > 1 and not best.is_order_shown
    return best.is_uncleared or is_changed or are_in_doubt or any(event.play.rearranged for event in plays)


def _find_alarm_squares(best: Explanation, evidence: Evidence) -> tuple[Square, ...]:
    """Return the squares about which the players must be asked: surplus, missing and moved tiles."""
    reading = evidence.reading
    surplus = [s for s in best.leftover_squares if reading.occupancy[s].tile > _MIN_ALARM_PROBABILITY]
    missing = [s for s in best.missing_squares if reading.squares[s].confidence > _MIN_ALARM_PROBABILITY]
    return (*surplus, *missing, *chain.from_iterable(best.moved_tiles))


def _choose_doubt(best: Explanation, rival: Explanation | None, alarms: Sequence[Square]) -> tuple[DoubtKind, str]:
    """Return the most urgent doubt about an unclear reading, and the text of its question.

    `rival` is an explanation nearly as likely as `best`, or None. `alarms` are the squares of surplus, missing and
    moved tiles.
    """
    names = _format_squares(best.leftover_squares)
    if best.leftover_squares and best.status and not best.events:
        text = "This is not a valid play. {0} What was played on {1}?"
        return DoubtKind.NO_PLAY, make_message("no-play", text, describe_status(best.status), names)
    if best.moved_tiles:
        text = "Was the tile on {0} moved to {1}? If so, please put it back."
        return DoubtKind.TILE_MOVED, make_message("tile-moved", text, *map(square_name, best.moved_tiles[0]))
    missing = [square for square in best.missing_squares if square in alarms]
    if missing:
        text = "A tile was played on {0}, but the camera does not see it there. Was it moved?"
        return DoubtKind.TILE_LOST, make_message("tile-lost", text, _format_squares(missing))
    if best.leftover_squares and any(square in alarms for square in best.leftover_squares):
        return DoubtKind.SURPLUS_TILE, make_message("what-lies", "{0}. But what is on {1}?", best.text, names)
    if rival is not None:
        squares = best.game.board.differences(rival.game.board)
        tiles = [explanation.game.board[squares[0]] for explanation in (best, rival)] if len(squares) == 1 else []
        letters = [tile for tile in tiles if tile and not tile.is_blank]
        if len(letters) == 1 and any(tile and tile.is_unnamed for tile in tiles):
            text = "Is the tile on {0} the letter {1}, or a blank?"
            return DoubtKind.ONE_TILE, make_message("letter-or-blank", text, square_name(squares[0]), *letters)
        if tiles and all(tiles):
            text = "Which tile is on {0}: {1} or {2}?"
            return DoubtKind.ONE_TILE, make_message("which-tile", text, square_name(squares[0]), *tiles)
        text = "Which is right: {0}, or {1}?"
        return DoubtKind.TWO_EXPLANATIONS, make_message("which-is-right", text, best.text, rival.text)
    if best.is_uncleared:
        return DoubtKind.UNCLEARED_BOARD, best.text
    if best.unsure_squares:
        text = "{0}. Is the tile on {1} right?"
        return DoubtKind.LETTER, make_message("tile-right", text, best.text, _format_squares(best.unsure_squares))
    if best.covered_squares:
        text = "{0}. The camera cannot see {1}. Is there a tile, too?"
        covered = _format_squares(best.covered_squares)
        return DoubtKind.HIDDEN_END, make_message("tile-covered", text, best.text, covered)
    return DoubtKind.UNUSUAL_TURN, make_message("is-that-right", "{0}. Is that right?", best.text)


def _format_squares(squares: Sequence[Square]) -> str:
    return format_list([square_name(square) for square in squares])
