"""Pure functions that decide, after the board was read, which events to record and which question to ask."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from device.catalogue import get_text
from device.session.messages import (
    PASS_OR_EXCHANGE,
    PASS_OR_MISTAKE,
    Notice,
    Question,
    format_sentence,
    make_finding_notice,
    make_question,
)
from device.session.open_question import OpenQuestion, list_symbols, make_finding_question
from device.session.snapshot_builder import find_max_exchange
from engine.board import NEIGHBOURS, SQUARES, Square, square_name
from engine.descriptions import describe_events
from engine.events import BlankNamed, Event, Exchanged, Passed, PlayMade, SquareCorrected, filter_plays
from engine.game import Game
from engine.inference.alignment import align_reading
from engine.inference.explain import Doubt, Explanation, Inference, InferenceQuestion, infer_play
from engine.inference.history import EMPTY_HISTORY, ReadingHistory
from engine.inference.hypotheses import replace_last_play
from engine.lexicon import WordList, find_deciding_words
from engine.reading import HIDDEN, BoardReading
from engine.validation import Finding, Proposal, QuestionHistory, Reason, Source, validate_turn
from engine.validation.deferred_questions import find_open_squares
from engine.validation.findings import Option
from engine.validation.play_checks import list_other_orders, pass_after_exchange
from engine.validation.settlement import settle_questions

MIN_OFFERED_LIKELIHOOD = 0.01
"""Smallest posterior probability of an explanation that is offered as an answer."""
MIN_HIDDEN_PROBABILITY = 0.5
"""Limit of the probability that a hand hides a square. Above it, the square counts as hidden, so it may have an
unseen tile."""
GRID_REASONS = (Reason.WHICH_SIDE_UP, Reason.GRID_MISPLACED)
"""Reasons of questions about the whole grid, which are asked before all other questions."""
WRONG_BOARD_REASONS = (Reason.OTHER_BOARD, Reason.BOARD_CLEARED, Reason.BOARD_ALREADY_FULL)
"""Reasons of questions about a board that cannot result from a turn of the current game."""
RECORD_REASONS = (Reason.TILES_REMOVED, Reason.OLD_TILE_DIFFERS, Reason.TILE_OF_EARLIER_PLAY)
"""Reasons of questions about turns that are already recorded, which are asked before questions about the new play."""
EARLIER_PLAY_REASONS = (Reason.TILE_OF_EARLIER_PLAY, Reason.TILE_ADDED)
"""Reasons of questions whether a new tile belongs to an earlier play. If it is already in question whether that play
has the tile, this matters more than a doubt about the letter."""


@dataclass(frozen=True, slots=True)
class TurnContext:
    """Context for the validation of a turn, in addition to the reading of the board.

    `words` is the word list in use; None means that words are not checked. `reading_history` is the evidence from
    earlier readings, and `question_history` has the questions asked before. `seat` is the index of the player whose
    button ended the turn; None for a shared button.
    """

    words: WordList | None = None
    reading_history: ReadingHistory = EMPTY_HISTORY
    question_history: QuestionHistory = field(default_factory=QuestionHistory)
    seat: int | None = None

    def propose(
        self, game: Game, events: tuple[Event, ...], source: Source, reading: BoardReading | None = None
    ) -> Proposal:
        """Return the proposal to add `events` to `game` in this context, for `validate_turn`."""
        return Proposal(
            game, events, source, reading, self.reading_history, self.words, self.question_history, self.seat
        )


@dataclass(frozen=True, slots=True)
class Decision:
    """Decision after a reading of the board: the events to record, the question to ask, notices and a warning.

    If there are no answers to choose from, there is a warning instead of a question. `question_history` has all
    questions that the players were asked, including the question of this decision.
    """

    events: tuple[Event, ...]
    open_question: OpenQuestion | None = None
    warning: str = ""
    notices: tuple[Notice, ...] = ()
    question_history: QuestionHistory = field(default_factory=QuestionHistory)

    @property
    def is_clear(self) -> bool:
        """True if nothing is in doubt, or if another picture would not answer the question."""
        question = self.open_question
        if self.warning or question is None:
            return not self.warning
        if question.finding is not None:
            return not question.finding.needs_picture
        return question.question.is_about_pass


def decide(game: Game, inference: Inference, reading: BoardReading, context: TurnContext = TurnContext()) -> Decision:
    """Return the decision about a turn: the inferred play, a pass or exchange, or a question.

    `inference` is the inference from `reading`. The decision has been validated.
    """
    return validate_decision(game, _decide_by_inference(game, inference, reading), inference, reading, context)


def decide_reading(game: Game, reading: BoardReading, context: TurnContext) -> tuple[Game, Inference, Decision]:
    """Infer the turn from a reading of the board; return the game before it, the inference and the decision.

    The returned game is `game` with the deferred questions that the reading answers. Tiles about which the players were
    asked before count as recorded, and only tiles in open questions are corrected.
    """
    words, has_own_buttons = find_deciding_words(context.words), context.seat is not None
    before = settle_questions(game, reading, context.reading_history, words, has_own_buttons=has_own_buttons)
    reading = context.question_history.settle_reading(before, reading)
    inference = infer_play(before, reading, context.reading_history, find_open_squares(before))
    return before, inference, decide(before, inference, reading, context)


def validate_decision(
    game: Game, inferred: Decision, inference: Inference, reading: BoardReading, context: TurnContext
) -> Decision:
    """Validate the events of the decision `inferred`, and return the resulting decision.

    The validation may change events and add notices or a question. If the inference also has a question, the more
    urgent of the two questions is asked.
    """
    result = validate_turn(context.propose(game, inferred.events, Source.CAMERA, reading))
    notices = tuple(map(make_finding_notice, result.notices))
    decision = replace(inferred, events=result.events, notices=notices)
    question = inferred.open_question
    finding = _choose_finding(result.question, question, find_open_squares(game))
    if finding is not None:
        decision = replace(decision, open_question=make_finding_question(game, finding), warning="")
    elif question is not None and question.chosen_counts:
        decision = replace(decision, open_question=_put_first(game, question, result.events))
    history = _extend_history(game, context, decision, inference, reading)
    return replace(decision, question_history=history)


def _put_first(game: Game, asked: OpenQuestion, events: tuple[Event, ...]) -> OpenQuestion:
    """Return the question with `events`, which count until the players answer, as its first answer."""
    if events == asked.answers[0]:
        return asked
    options = dict(zip(asked.answers, asked.question.answers, strict=True))
    first_text = options.pop(events, "") or format_sentence(_describe_events(game, events))
    question = replace(asked.question, answers=(first_text, *options.values()), symbols=())
    return replace(asked, question=question, answers=(events, *options))


def find_next_question(
    game: Game, events: tuple[Event, ...], reading: BoardReading | None, context: TurnContext
) -> Decision:
    """Return the events with the next question about them, after the players have answered whose turn it was.

    Questions about a turn are asked one after the other. So after this answer, there may be another question, such as
    the letter of a blank. `game` is the game before the events. The events are validated like a turn that was entered
    by hand. The seat in `context` is not used, because the players have just said whose turn it was.
    """
    history = context.question_history
    finding = validate_turn(replace(context, seat=None).propose(game, events, Source.HAND, reading)).question
    if finding is None:
        return Decision(events, question_history=history)
    question = make_finding_question(game, finding)
    return Decision(events, question, question_history=history.with_finding(finding))


def _choose_finding(
    finding: Finding | None, own: OpenQuestion | None, open_squares: frozenset[Square]
) -> Finding | None:
    """Choose the question to ask: return the validation's `finding`, or None for the inference's question `own`.

    The more urgent question is chosen. `finding` is None if the validation asks nothing, and `own` is None if the
    inference asks nothing. If both questions are about one blank, return a finding with the answers of both.
    `open_squares` are the squares of earlier questions about plays that are still open.
    """
    if finding is None or own is None:
        return finding
    is_in_question = finding.reason in EARLIER_PLAY_REASONS and not open_squares.isdisjoint(finding.squares)
    is_more_urgent = is_in_question or _is_more_urgent(finding, own)
    return _merge_blank_questions(finding, own) or (finding if is_more_urgent else None)


def _extend_history(
    game: Game, context: TurnContext, decision: Decision, inference: Inference, reading: BoardReading
) -> QuestionHistory:
    """Return the history in `context` with the question and the plays of `decision`, which follows from `inference`.

    `game` is the game before the events of the decision.
    """
    history, question = context.question_history, decision.open_question
    if question is not None and question.finding is not None:
        history = history.with_finding(question.finding)
    is_tile_lost = inference.question is not None and inference.question.doubt is Doubt.TILE_LOST
    if is_tile_lost and not _is_board_wrong(decision):
        history = replace(history, squares=history.squares | {*inference.best.missing_squares})
    reading = align_reading(game, reading) or reading
    history = history.without_confirmed(game.board, reading)
    for play in filter_plays(decision.events):
        history = history.with_play(play.play, reading)
    if decision.events:
        is_pass = question is not None and question.question.is_about_pass
        history = replace(history, unanswered_pass=len(inference.best.game.turns) if is_pass else None)
    return replace(history, has_missed_press=_is_press_missed(decision), missed_seat=context.seat)


def _is_press_missed(decision: Decision) -> bool:
    """Return True if the decision records nothing, and asks a question that is not about a wrong board."""
    return decision.open_question is not None and not decision.events and not _is_board_wrong(decision)


def _is_board_wrong(decision: Decision) -> bool:
    """Return True if the decision asks about a board that cannot result from a turn of the current game."""
    finding = decision.open_question.finding if decision.open_question else None
    return finding is not None and finding.reason in WRONG_BOARD_REASONS


def _is_more_urgent(finding: Finding, own: OpenQuestion) -> bool:
    """Return True if the validation's question about `finding` is more urgent than the inference's question `own`."""
    if finding.reason in (*GRID_REASONS, Reason.BOARD_ALREADY_FULL):
        return True
    if not finding.options[0].events:
        return own.chosen_counts
    if finding.reason is Reason.TILE_OF_EARLIER_PLAY and finding.options[0].events == own.answers[0]:
        return False  # nothing says that the tiles are of the earlier play: a doubt about the new play comes first
    return own.question.is_about_pass or finding.reason in RECORD_REASONS


def _merge_blank_questions(finding: Finding, own: OpenQuestion) -> Finding | None:
    """Merge the questions of validation and inference about one blank; return None if they cannot be merged.

    The validation asks for the letter of the blank. The inference asks if the tile is a blank or a certain letter. If
    the blank may stand for that letter, the questions are not merged: players would confuse the two answers, which have
    different scores.
    """
    first, *letters = finding.options
    is_same_blank = finding.reason is Reason.BLANK_UNNAMED and own.question.squares == finding.squares
    if not is_same_blank or own.answers[0] != first.events or () in own.answers:
        return None
    blank_letters = {event.letter for option in letters for event in option.events if isinstance(event, BlankNamed)}
    plays = [play for events in own.answers for play in filter_plays(events)]
    placed_tiles = [placed for play in plays for placed in play.play.tiles]
    if any(square in finding.squares and tile.letter in blank_letters for square, tile in placed_tiles):
        return None
    options = dict.fromkeys((first, *map(Option, own.answers[1:]), *letters))
    return replace(finding, options=tuple(options), needs_picture=True)


def _decide_by_inference(game: Game, inference: Inference, reading: BoardReading) -> Decision:
    """Return the decision about a turn from the inferred explanations only, without a validation of the events."""
    best = inference.best
    corrections = [event for event in best.events if isinstance(event, SquareCorrected) and game.board[event.square]]
    is_pass = len(corrections) == len(best.events) and not best.is_uncleared
    if inference.question is None:
        return _decide_without_play(game, reading, corrections) if is_pass else Decision(best.events)
    has_other_tiles = best.leftover_squares or best.missing_squares or best.misread_squares
    if is_pass and not has_other_tiles and _find_hidden_squares(game, reading):
        return _decide_without_play(game, reading, corrections)  # a play may be hidden; an old tile may be, too
    likely = _list_likely_explanations(inference)
    answers = _collect_answers(game, inference.question, likely)
    events = next(iter(answers.values()))
    if len(answers) == 1:
        return Decision(events, warning=inference.question.text)
    question = Question(
        format_sentence(_choose_question_text(inference.question, likely, len(answers))),
        tuple(map(format_sentence, answers)),
        squares=inference.question.squares,
    )
    if len(answers) == len(likely):  # an answer that is no explanation has no board
        boards = [explanation.game.board for explanation in likely]
        question = replace(question, symbols=list_symbols(boards, game.tiles, question.squares))
    return Decision(events, OpenQuestion(question, tuple(answers.values()), chosen_counts=bool(events)))


def _collect_answers(
    game: Game, question: InferenceQuestion, likely: Sequence[Explanation]
) -> dict[str, tuple[Event, ...]]:
    """Return the events of each answer to the question of an inference, by the text of the answer.

    The answers are the `likely` explanations, the best one first, and other ways in which players get these tiles.
    *Look again* is added to a single answer that is in doubt. If tiles of no play are on the board, the first answer
    has no events.
    """
    best, *_ = likely
    answers = {_describe_answer(game, explanation): _get_events(game, explanation) for explanation in likely}
    for explanation in likely:
        others = (find_other(game, explanation.events) for find_other in (replace_last_play, pass_after_exchange))
        for events in (*list_other_orders(game, explanation.events), *filter(None, others)):
            answers.setdefault(_describe_events(game, events), events)
    if best.leftover_squares and not best.events and not best.is_uncleared:
        answers = {question.text: (), **answers}
    is_unusual = question.doubt is Doubt.UNUSUAL_TURN or len(filter_plays(best.events)) > 1
    if len(answers) == 1 and (best.covered_squares or is_unusual):
        answers[get_text("answer-look-again")] = ()
    return answers


def _choose_question_text(question: InferenceQuestion, likely: Sequence[Explanation], answer_count: int) -> str:
    """Return the text of the question, or a general text if its list of explanations is long or lacks answers.

    The list is long if there are more than two answers, or if an explanation has several events. A question about one
    tile lacks the answers that lead to the same board as another answer.
    """
    is_long = answer_count > 2 or any(len(explanation.events) > 1 for explanation in likely)
    lacks_answers = answer_count > len(likely) and question.doubt in (Doubt.ONE_TILE, Doubt.UNUSUAL_TURN)
    is_general = lacks_answers or (is_long and question.doubt is Doubt.TWO_EXPLANATIONS)
    return get_text("which-of-these") if is_general else question.text


def ask_one_or_two_plays(game: Game, play: PlayMade, pairs: Sequence[tuple[PlayMade, PlayMade]]) -> OpenQuestion:
    """Return the question whether the new tiles are one play, or two plays by different players.

    `play` is the single play, which is recorded until the question is answered; `pairs` are the alternatives. The
    reason to ask is a key frame (an earlier picture) that shows only some of the tiles: the next player may have added
    the other tiles.
    """
    answers: tuple[tuple[Event, ...], ...] = ((play,), *pairs)
    texts = tuple(format_sentence(_describe_events(game, events)) for events in answers)
    first, second = pairs[0]
    names = game.players[first.player], game.players[second.player]
    squares = tuple(sorted({square for _, added in pairs for square in added.play.squares}))
    question = make_question("one-or-two", *names, answers=texts, squares=squares)
    return OpenQuestion(question, answers)


def _list_likely_explanations(inference: Inference) -> list[Explanation]:
    """Return the explanations that are offered as answers: the likely ones, or at least the best one.

    If this is a single explanation, the second best is offered, too, even with a low probability, if it differs from
    the best only on the doubtful squares.
    """
    best, *others = inference.explanations
    likely = [one for one in inference.explanations if one.likelihood >= MIN_OFFERED_LIKELIHOOD] or [best]
    if len(likely) == 1 and others:
        differences = {*best.game.board.differences(others[0].game.board)}
        if differences and differences <= {*inference.doubtful_squares}:
            likely.append(others[0])
    return likely


def _get_events(game: Game, explanation: Explanation) -> tuple[Event, ...]:
    return explanation.events or (() if explanation.is_uncleared else (Passed(game.to_move),))


def _describe_answer(game: Game, explanation: Explanation) -> str:
    """Return the text of an explanation as an answer; one without events is a pass."""
    is_pass = not (explanation.events or explanation.is_uncleared)
    return _describe_events(game, _get_events(game, explanation)) if is_pass else explanation.text


def _describe_events(game: Game, events: tuple[Event, ...]) -> str:
    return describe_events(game, game.push(*events), events)


def _decide_without_play(game: Game, reading: BoardReading, corrections: Sequence[Event]) -> Decision:
    """Return the decision about a turn without new tiles: a pass, an exchange, or a play that a hand hides.

    The players are asked about a pass even if no exchange is allowed: after a press by mistake, the next play would
    count for the wrong player. `corrections` of old tiles are recorded with every answer.
    """
    name = game.players[game.to_move]
    passed: tuple[Event, ...] = (*corrections, Passed(game.to_move))
    if hidden := _find_hidden_squares(game, reading):
        squares = ", ".join(map(square_name, hidden))
        answers = (get_text("answer-look-again"), get_text("answer-pass", name))
        question = make_question("hidden-pass", squares, name, answers=answers, squares=hidden)
        return Decision((), OpenQuestion(question, ((), passed), chosen_counts=False))
    counts = range(1, find_max_exchange(game) + 1)
    texts = (
        get_text("answer-pass", name),
        *(get_text("answer-exchange", name, str(count)) for count in counts),
        get_text("answer-mistake"),
    )
    exchanges = tuple((*corrections, Exchanged(game.to_move, count)) for count in counts)
    events: tuple[tuple[Event, ...], ...] = (passed, *exchanges, tuple(corrections))
    question = make_question(PASS_OR_EXCHANGE if counts else PASS_OR_MISTAKE, name, answers=texts)
    return Decision(passed, OpenQuestion(question, events))


def _find_hidden_squares(game: Game, reading: BoardReading) -> tuple[Square, ...]:
    """Return the hidden squares that may be part of a play: those next to a tile, or all if the board is empty."""
    board = game.board
    hidden = [square for square in SQUARES if reading.squares[square].probability(HIDDEN) > MIN_HIDDEN_PROBABILITY]
    free = [square for square in hidden if board[square] is None]
    return tuple(square for square in free if not board or any(board[near] for near in NEIGHBOURS[square]))
