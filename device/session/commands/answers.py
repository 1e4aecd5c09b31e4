"""Answer the open question, cancel it, or close it before the board is read again."""

from __future__ import annotations

from dataclasses import replace

from device.session.game_controller import GameController
from device.session.messages import CommandRefusedError, make_refusal
from device.session.open_question import OpenQuestion
from device.session.snapshot import Phase
from device.session.turns.turn_validation import find_next_question
from engine.board import Square
from engine.events import Event
from engine.validation.deferred_questions import make_question_events


def answer_question(controller: GameController, answer: int) -> bool:
    """Apply the answer with the index `answer` to the open question; return True if the board is to be read again.

    Raises `CommandRefusedError`.
    """
    open_question = controller.open_question
    if open_question is None or not 0 <= answer < len(open_question.answers):
        raise make_refusal("nothing-asked")
    if open_question.question.offers_wait:
        if answer == 0:
            check_not_paused(controller)
        controller.open_question = None
        return answer == 0
    if open_question.stops_clock and answer == 0:
        return False  # the words are still being looked up: the question stays open
    if not open_question.deferred and open_question.asks_for_picture(answer):
        discard_reading(controller)
        return True
    controller.open_question = None
    if open_question.deferred:
        controller.answer_deferred_question(open_question.deferred, answer)
        return False
    events = _record_answer(controller, open_question, answer)
    if open_question.is_about_player and not events:  # pressed by mistake: an unconfirmed pass before stays so
        controller.memory.forget_missed_press()
        return False
    controller.memory.confirm_squares(open_question.question.squares)
    before = controller.log.game_before_last_press
    if before is not None and open_question.question.is_about_old_tiles and events:
        answered = open_question.make_deferred(controller.game.events[len(before.events) :], answer)
        controller.extend_last_press(make_question_events(controller.game, answered))
    if before is not None and open_question.is_about_player:
        decision = find_next_question(before, events, open_question.reading, controller.turn_context)
        controller.ask_question(decision, open_question.reading)
    return False


def _record_answer(controller: GameController, open_question: OpenQuestion, answer: int) -> tuple[Event, ...]:
    """Record the events of an answer, unless they are recorded already; return them."""
    events = open_question.answers[answer]
    if not open_question.is_answer_recorded:  # nothing is recorded yet
        return controller.commit_events(events)
    if answer != open_question.question.chosen:  # another answer is recorded
        events = controller.add_void_withdrawals(controller.log.game_before_last_press or controller.game, events)
        controller.replace_last_press(events)
    return events


def find_squares_in_question(controller: GameController) -> frozenset[Square]:
    """Return the squares on which the answers to the open question place different tiles.

    If there is only one answer, the question is whether the tiles on its squares are right: return these squares.
    """
    open_question = controller.open_question
    if open_question is None:
        return frozenset()
    answers = [events for events in open_question.answers if events]
    if len(answers) < 2 or open_question.deferred:
        return frozenset(open_question.question.squares)
    before = controller.log.game_before_last_press if open_question.is_answer_recorded else controller.game
    boards = [(before or controller.game).push(*events).board for events in answers]
    return frozenset(square for board in boards for square in boards[0].differences(board))


def check_not_paused(controller: GameController) -> None:
    """Raise `CommandRefusedError` during a pause, in which no picture is taken."""
    if controller.phase is Phase.PAUSED:
        raise make_refusal("paused")


def discard_reading(controller: GameController) -> None:
    """Close the open question and undo its turn, so that the board can be read again.

    Raises `CommandRefusedError`, also during a pause.
    """
    check_not_paused(controller)
    open_question, controller.open_question = controller.open_question, None
    controller.memory.forget_last_question()  # before the undo, which keeps the words of earlier questions
    if open_question is not None and open_question.is_answer_recorded:
        controller.move_in_history(controller.log.undo)


def cancel_question(controller: GameController) -> bool:
    """Close the open question without an answer; return True if nothing was recorded for its turn yet.

    If its turn counts provisionally, the question is stored with it, so that a redo brings both back.
    """
    open_question = controller.open_question
    if open_question is None:
        return False
    if open_question.reading is not None:
        controller.memory.forget_last_question()
    if open_question.is_answer_recorded:
        controller.defer_question()
        return False
    controller.open_question = None
    return True


def choose_next_answer(controller: GameController) -> bool:
    """Choose the next answer that has events; after the last such answer, close the question.

    Answers to a deferred question that later turns exclude are skipped. When the question is closed, the events that
    were recorded before the first choice are restored. Return True if no answer has events, so that the board must be
    read again. Raises `CommandRefusedError`.
    """
    open_question = controller.open_question
    if open_question is None:
        raise make_refusal("nothing-asked")
    later = range(open_question.question.chosen + 1, len(open_question.answers))
    candidates = (answer for answer in later if open_question.answers[answer])
    if open_question.deferred:
        answer = next(
            (answer for answer in candidates if _try_deferred_answer(controller, open_question, answer)), None
        )
    else:
        answer = next(candidates, None)
    if answer is None:
        if open_question.was_answer_unrecorded and open_question.question.chosen:
            controller.move_in_history(controller.log.undo)
            controller.open_question = None
            return False
        return answer_question(controller, 0)
    following = None
    if not open_question.deferred:
        answer_question(controller, answer)
        following = controller.open_question
    controller.open_question = replace(
        open_question,
        question=replace(open_question.question, chosen=answer),
        is_answer_recorded=True,
        stops_clock=False,
        was_answer_unrecorded=open_question.was_answer_unrecorded or not open_question.is_answer_recorded,
        following=following,
    )
    return False


def _try_deferred_answer(controller: GameController, open_question: OpenQuestion, answer: int) -> bool:
    """Let an answer to a deferred question take effect; return False if later turns exclude it."""
    try:
        controller.answer_deferred_question(open_question.deferred, answer, stays_open=True)
    except CommandRefusedError:
        return False
    return True
