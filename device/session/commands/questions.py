"""The commands about an open question: answer it, defer it, read the board again, and the panel's answer button."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from device.cameras import Image
from device.session.commands.answers import answer_question, choose_next_answer, discard_reading
from device.session.commands.base import (
    CommandContext,
    QuestionCommand,
    QuestionEffect,
    TableCommand,
    is_challenge_open,
)
from device.session.commands.turns import EndTurnWithPicture
from device.session.messages import make_refusal
from device.session.open_question import make_recalled_question
from device.session.phases import Transition
from engine.events import Exchanged
from engine.validation.deferred_questions import find_deferred_questions


class AnswerQuestion(QuestionCommand, frozen=True):
    """Answer the open question."""

    name = "answer"
    transition = Transition.ANSWER
    operation_id = "answer"
    schema_name = "AnswerOrder"
    question_effect = QuestionEffect.KEEP

    answer: Annotated[int, Meta(ge=0, le=1000, description="The number of the chosen answer, from 0.")]

    def run(self, context: CommandContext) -> None:
        """Apply the answer, or read the board again; refuse the command if no question with this answer is open."""
        if answer_question(context.controller, self.answer):
            context.turn_recorder.take_turn()


class DeferQuestion(QuestionCommand, frozen=True):
    """Answer the open question later. Until then, the turn counts with the answer that is in effect now.

    At most eight questions can be deferred: one more closes the oldest. Ending the next turn also defers the open
    question.
    """

    name = "later"
    transition = Transition.ANSWER
    operation_id = "defer_question"
    question_effect = QuestionEffect.KEEP

    def run(self, context: CommandContext) -> None:
        """Close the question, and store it with its turn; refuse the command while a challenge is to be decided."""
        open_question = context.controller.open_question
        if open_question is not None and open_question.stops_clock:
            raise make_refusal("answer-first")
        context.controller.defer_question()


class ReadAgain(QuestionCommand, frozen=True):
    """Answer the open question with another picture: undo its turn, and read the board again."""

    name = "look-again"
    transition = Transition.ANSWER
    operation_id = "look_again"
    question_effect = QuestionEffect.KEEP

    def run(self, context: CommandContext) -> None:
        """Undo the turn and read the board again. Raises `CameraError`.

        The command is refused if no question about a picture is open.
        """
        _check_is_about_picture(context)
        discard_reading(context.controller)
        context.turn_recorder.take_turn()


class ReadAgainWithPicture(QuestionCommand, frozen=True):
    """Answer the open question with another picture, `(H, W, 3) uint8 BGR`, that a phone has taken."""

    transition = Transition.ANSWER
    question_effect = QuestionEffect.KEEP

    picture: Image

    def run(self, context: CommandContext) -> None:
        """Undo the turn of the question and read the picture.

        The command is refused if no question about a picture is open.
        """
        _check_is_about_picture(context)
        if context.phone_camera is None:
            raise make_refusal("own-camera")
        discard_reading(context.controller)
        EndTurnWithPicture(self.picture).run(context)


def _check_is_about_picture(context: CommandContext) -> None:
    """Raise `CommandRefusedError` unless a question about a picture of the board is open."""
    open_question = context.controller.open_question
    if open_question is None or open_question.reading is None:
        raise make_refusal("nothing-asked")


class AnswerDeferred(TableCommand, frozen=True):
    """Answer a deferred question, one of the `open_questions` of a state.

    The turn of the question is changed, and the later turns are scored again.
    """

    name = "answer-later"
    transition = Transition.CORRECT
    operation_id = "answer_deferred"
    schema_name = "DeferredOrder"
    needs_recorded_play = True  # the answer may change whose turn it is

    question: Annotated[int, Meta(ge=1, le=1000, description="The number of the question.")]
    answer: Annotated[int, Meta(ge=0, le=1000, description="The number of the chosen answer, from 0.")]

    @property
    def answered_question(self) -> int:
        """The number of the question."""
        return self.question

    def find_question_effect(self, context: CommandContext) -> QuestionEffect:
        """Return `CLOSE` if the open question is this question, which was opened again at the panel.

        During a challenge, return `KEEP`: the answer may say which word is challenged.
        """
        open_question = context.controller.open_question
        if open_question is not None and open_question.deferred == self.question:
            return QuestionEffect.CLOSE
        return QuestionEffect.KEEP if is_challenge_open(context) else QuestionEffect.DEFER

    def run(self, context: CommandContext) -> None:
        """Apply the answer; refuse an answer that does not exist, or that makes a later turn impossible."""
        context.controller.answer_deferred_question(self.question, self.answer)


class RecallQuestion(QuestionCommand, frozen=True):
    """Open the oldest deferred question again, so that it can be answered at the panel."""

    transition = Transition.CORRECT
    question_effect = QuestionEffect.KEEP

    def run(self, context: CommandContext) -> None:
        """Open the question; refuse the command if no question was deferred."""
        game = context.controller.game
        questions = find_deferred_questions(game)
        if not questions:
            raise make_refusal("nothing-asked")
        context.controller.open_question = make_recalled_question(game, questions[0])


class ConfirmExchange(QuestionCommand, frozen=True):
    """Answer the question \"pass or exchange?\" with an exchange of an unknown number of tiles."""

    transition = Transition.ANSWER
    question_effect = QuestionEffect.KEEP

    def run(self, context: CommandContext) -> None:
        """Choose the exchange of the most tiles (the last one); refuse the command if no answer is an exchange."""
        open_question = context.controller.open_question
        answers = open_question.answers if open_question else ()
        exchanges = [
            number for number, events in enumerate(answers) if any(isinstance(event, Exchanged) for event in events)
        ]
        if not exchanges:
            raise make_refusal("nothing-asked")
        answer_question(context.controller, exchanges[-1])


class ChooseNextAnswer(QuestionCommand, frozen=True):
    """Choose the next answer of the open question, or close the question if its last answer was chosen.

    With this command, players can answer questions with a single button.
    """

    transition = Transition.ANSWER
    question_effect = QuestionEffect.KEEP

    def run(self, context: CommandContext) -> None:
        """Choose the next answer, or read the board again; refuse the command if no question is open."""
        if choose_next_answer(context.controller):
            context.turn_recorder.take_turn()


QUESTION_COMMANDS = (
    AnswerQuestion,
    DeferQuestion,
    ReadAgain,
    ReadAgainWithPicture,
    AnswerDeferred,
    RecallQuestion,
    ConfirmExchange,
    ChooseNextAnswer,
)
