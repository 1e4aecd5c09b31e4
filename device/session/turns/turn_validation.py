"""Decide about a turn: validate the inferred events, and choose between the questions about them."""

from __future__ import annotations

from dataclasses import replace

from device.session.messages import (
    format_sentence,
    make_finding_notice,
)
from device.session.open_question import OpenQuestion, make_finding_question
from device.session.turns.decision import Decision, TurnContext
from device.session.turns.inferred_turn import decide_by_inference
from engine.board import Square
from engine.descriptions import describe_events
from engine.events import BlankNamed, Event, filter_plays
from engine.game import Game
from engine.inference.alignment import align_reading
from engine.inference.explain import Doubt, Inference, infer_play
from engine.lexicon import find_deciding_words
from engine.reading import BoardReading
from engine.validation import Finding, QuestionHistory, Reason, Source, validate_turn
from engine.validation.deferred_questions import find_provisional_squares
from engine.validation.findings import Option
from engine.validation.settlement import settle_questions

GRID_REASONS = (Reason.WHICH_SIDE_UP, Reason.GRID_MISPLACED)
"""Reasons of questions about the whole grid, which are asked before all other questions."""
WRONG_BOARD_REASONS = (Reason.OTHER_BOARD, Reason.BOARD_CLEARED, Reason.BOARD_ALREADY_FULL)
"""Reasons of questions about a board that cannot result from a turn of the current game."""
RECORD_REASONS = (Reason.TILES_REMOVED, Reason.OLD_TILE_DIFFERS, Reason.TILE_OF_EARLIER_PLAY)
"""Reasons of questions about turns that are already recorded, which are asked before questions about the new play."""
EARLIER_PLAY_REASONS = (Reason.TILE_OF_EARLIER_PLAY, Reason.TILE_ADDED)
"""Reasons of questions whether a new tile belongs to an earlier play. If it is already in question whether that play
has the tile, this matters more than a doubt about the letter."""


def decide(game: Game, inference: Inference, reading: BoardReading, context: TurnContext) -> Decision:
    """Return the decision about a turn: the inferred play, a pass or exchange, or a question.

    `inference` is the inference from `reading`. The decision has been validated.
    """
    return validate_decision(game, decide_by_inference(game, inference, reading), inference, reading, context)


def decide_reading(game: Game, reading: BoardReading, context: TurnContext) -> tuple[Game, Inference, Decision]:
    """Infer the turn from a reading of the board; return the game before it, the inference and the decision.

    The returned game is `game` with the deferred questions that the reading answers. Tiles about which the players were
    asked before count as recorded, and only tiles in open questions are corrected.
    """
    words, has_own_buttons = find_deciding_words(context.words), context.seat is not None
    before = settle_questions(game, reading, context.reading_history, words, has_own_buttons=has_own_buttons)
    reading = context.question_history.settle_reading(before, reading)
    inference = infer_play(before, reading, context.reading_history, find_provisional_squares(before))
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
    open_question = inferred.open_question
    finding = _choose_finding(result.question, open_question, find_provisional_squares(game))
    if finding is not None:
        decision = replace(decision, open_question=make_finding_question(game, finding), warning="")
    elif open_question is not None and open_question.is_answer_recorded:
        decision = replace(decision, open_question=_put_first(game, open_question, result.events))
    history = _extend_history(game, context, decision, inference, reading)
    return replace(decision, question_history=history)


def _put_first(game: Game, asked: OpenQuestion, events: tuple[Event, ...]) -> OpenQuestion:
    """Return the question with `events`, which count until the players answer, as its first answer."""
    if events == asked.answers[0]:
        return asked
    options = dict(zip(asked.answers, asked.question.answers, strict=True))
    first_text = options.pop(events, "") or format_sentence(describe_events(game, game.push(*events), events))
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
    finding: Finding | None, own: OpenQuestion | None, provisional_squares: frozenset[Square]
) -> Finding | None:
    """Choose the question to ask: return the validation's `finding`, or None for the inference's question `own`.

    The more urgent question is chosen. `finding` is None if the validation asks nothing, and `own` is None if the
    inference asks nothing. If both questions are about one blank, return a finding with the answers of both.
    `provisional_squares` are the squares of earlier questions about plays that are still open.
    """
    if finding is None or own is None:
        return finding
    is_in_question = finding.reason in EARLIER_PLAY_REASONS and not provisional_squares.isdisjoint(finding.squares)
    is_more_urgent = is_in_question or _is_more_urgent(finding, own)
    return _merge_blank_questions(finding, own) or (finding if is_more_urgent else None)


def _extend_history(
    game: Game, context: TurnContext, decision: Decision, inference: Inference, reading: BoardReading
) -> QuestionHistory:
    """Return the history in `context` with the question and the plays of `decision`, which follows from `inference`.

    `game` is the game before the events of the decision.
    """
    history, open_question = context.question_history, decision.open_question
    if open_question is not None and open_question.finding is not None:
        history = history.with_finding(open_question.finding)
    is_tile_lost = inference.question is not None and inference.question.doubt is Doubt.TILE_LOST
    if is_tile_lost and not _is_board_wrong(decision):
        history = replace(history, squares=history.squares | {*inference.best.missing_squares})
    reading = align_reading(game, reading) or reading
    history = history.without_confirmed(game.board, reading)
    for play in filter_plays(decision.events):
        history = history.with_play(play.play, reading)
    if decision.events:
        is_pass = open_question is not None and open_question.question.is_about_pass
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
        return own.is_answer_recorded
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
