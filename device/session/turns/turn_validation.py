"""Decide about a turn: validate the inferred events, and choose between the questions about them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from device.session.messages import (
    format_sentence,
    make_finding_notice,
)
from device.session.questions import TurnQuestion, make_finding_question
from device.session.turns.decision import Decision, TurnContext
from device.session.turns.inferred_turn import decide_by_inference
from engine.descriptions import describe_events
from engine.events import Event
from engine.game import Game
from engine.inference.explain import Inference, changes_record, infer_play
from engine.ledger import Ledger, Source
from engine.reading import BoardReading
from engine.validation import Finding, Reason, validate_turn
from engine.validation.open_questions import find_answered_squares, find_open_squares, find_told_entries
from engine.validation.settlement import settle_questions

GRID_REASONS = (Reason.WHICH_SIDE_UP, Reason.GRID_MISPLACED)
"""Reasons of questions about the whole grid, which are asked before the question of the inference."""
RECORD_REASONS = (Reason.TILES_REMOVED, Reason.OLD_TILE_DIFFERS)
"""Reasons of questions about turns that are already recorded, which are asked before questions about the new play."""


def decide(game: Game, inference: Inference, reading: BoardReading, context: TurnContext) -> Decision:
    """Return the decision about a turn: the inferred play, a pass or exchange, or a question.

    `inference` is the inference from `reading`. The decision has been validated.
    """
    return validate_decision(game, decide_by_inference(game, inference, reading, context.seat), reading, context)


@dataclass(frozen=True, slots=True)
class ReadTurn:
    """A turn that a reading shows: the ledger before it, the inference and the decision.

    The ledger has the answers that the reading gives to open questions.
    """

    ledger: Ledger
    inference: Inference
    decision: Decision


def decide_reading(reading: BoardReading, context: TurnContext) -> ReadTurn:
    """Infer the turn from a reading of the board, and decide about it.

    The reading may first answer earlier questions. On squares of recorded tiles about which the players were asked, the
    recorded tiles count instead of the reading.
    """
    ledger = settle_questions(context.ledger, reading, context.reading_history)
    if ledger is not context.ledger:
        history = replace(context.question_history, open_squares=find_open_squares(ledger))
        context = replace(context, ledger=ledger, question_history=history)
    known = context.question_history.settle_reading(ledger.game, reading)
    inference = infer_play(
        ledger.game,
        known,
        context.reading_history,
        context.seat,
        context.rests,
        words=context.words,
        told=find_told_entries(ledger),
        answered=context.reading_history.find_overruled(ledger.game, find_answered_squares(ledger)),
        is_quick=context.is_quick,
    )
    return ReadTurn(ledger, inference, decide(ledger.game, inference, known, context))


def validate_decision(game: Game, inferred: Decision, reading: BoardReading, context: TurnContext) -> Decision:
    """Validate the events of the decision `inferred`, and return the resulting decision.

    The validation may change events and add notices or a question. If the inference also has a question, the more
    urgent of the two questions is asked.
    """
    result = validate_turn(context.propose(game, inferred.events, Source.PRESS, reading))
    notices = tuple(map(make_finding_notice, result.notices))
    decision = replace(inferred, events=result.events, notices=notices)
    asked = inferred.open_question
    finding = _choose_finding(result.question, asked)
    if finding is not None:
        asked_instead = make_finding_question(game, finding)
        return replace(decision, open_question=asked_instead, warning="", lost_squares=())
    if asked is not None and asked.is_answer_recorded:
        return replace(decision, open_question=_put_first(game, asked, result.events))
    return decision


def _put_first(game: Game, asked: TurnQuestion, events: tuple[Event, ...]) -> TurnQuestion:
    """Return the question with `events` as its first answer: the first answer counts until the players choose."""
    if events == asked.answers[0]:
        return asked
    options = dict(zip(asked.answers, asked.question.answers, strict=True))
    first_text = options.pop(events, "") or format_sentence(describe_events(game, game.push(*events), events))
    question = replace(asked.question, answers=(first_text, *options.values()), symbols=())
    return replace(asked, question=question, answers=(events, *options))


def _choose_finding(finding: Finding | None, own: TurnQuestion | None) -> Finding | None:
    """Choose the question to ask: return the validation's `finding`, or None for the inference's question `own`.

    The more urgent question is chosen. `finding` is None if the validation asks nothing, and `own` is None if the
    inference asks nothing.
    """
    if finding is None or own is None:
        return finding
    return finding if _is_more_urgent(finding, own) else None


def _is_more_urgent(finding: Finding, own: TurnQuestion) -> bool:
    """Return True if the validation's question about `finding` is more urgent than the inference's question `own`."""
    if finding.reason in (*GRID_REASONS, Reason.BOARD_ALREADY_FULL):
        return True
    if finding.reason is Reason.PASS_UNSURE and sum(map(bool, own.answers)) > 1:
        return False  # it asks about the same change of the board
    if finding.reason is Reason.OUT_OF_TURN and any(map(changes_record, own.answers)):
        return False  # its answers name the players
    if not finding.options[0].events:
        return own.is_answer_recorded
    return own.question.is_about_pass or finding.reason in RECORD_REASONS
