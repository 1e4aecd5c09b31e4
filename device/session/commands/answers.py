"""The commands about a question: answer it, defer it, read the board again, and the panel's answer button."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from device.cameras.base import Image
from device.session.commands.base import CommandContext, QuestionCommand, TableCommand
from device.session.commands.challenges import tell_outcome
from device.session.commands.turns import EndTurnWithPicture
from device.session.game_controller import GameController
from device.session.messages import CommandRefusedError, make_refusal
from device.session.phases import Transition
from device.session.questions import asks_for_picture
from device.session.snapshot import Phase
from engine.events import Challenged, Exchanged
from engine.ledger import Entry, Source, find_open_entries


class AnswerQuestion(QuestionCommand, frozen=True):
    """Answer the open question."""

    name = "answer"
    transition = Transition.ANSWER
    operation_id = "answer"
    schema_name = "AnswerOrder"

    answer: Annotated[int, Meta(ge=0, le=1000, description="The number of the chosen answer, from 0.")]

    def run(self, context: CommandContext) -> None:
        """Apply the answer, or read the board again; refuse the command if no question with this answer is open."""
        if _answer(context.controller, self.answer):
            context.turn_recorder.take_turn()


def _answer(controller: GameController, answer: int) -> bool:
    """Apply an answer to the question that is shown; return True if the board is to be read again.

    Raises `CommandRefusedError`.
    """
    # The question whether to wait for a reading that takes long: 0 is to wait, 1 to enter the turn by hand.
    if controller.wait_question is not None:
        if answer not in (0, 1):
            raise make_refusal("nothing-asked")
        if answer == 0:
            check_not_paused(controller)
        controller.wait_question = None
        return answer == 0
    entry = controller.shown_entry
    if entry is not None and asks_for_picture(answer, entry):
        discard_reading(controller, entry)
        return True
    if entry is None or not 0 <= answer < len(entry.alternatives):
        raise make_refusal("nothing-asked")
    if controller.undecided_challenge is entry and answer == 0:
        return False  # the words are still being looked up: the question stays open
    _apply(controller, entry, answer)
    return False


def _apply(controller: GameController, entry: Entry, answer: int) -> None:
    """Apply an answer to the question of an entry; tell the outcome of a challenge."""
    before = controller.game
    controller.answer(entry.number, answer)
    for step in entry.alternatives[answer]:
        if isinstance(step, Challenged) and step.of is not None and (play := before.find_turn(step.of)):
            tell_outcome(controller, step, play)


def check_not_paused(controller: GameController) -> None:
    """Raise `CommandRefusedError` during a pause, in which no picture is taken."""
    if controller.phase is Phase.PAUSED:
        raise make_refusal("paused")


def discard_reading(controller: GameController, entry: Entry) -> None:
    """Undo the press that asked the question of an entry, so that the board can be read again.

    Raises `CommandRefusedError`, also during a pause.
    """
    check_not_paused(controller)
    if entry.group == controller.ledger.last_group:
        controller.undo()
    else:  # something was recorded after the question: an undo would take that back
        controller.answer(entry.number, 0)


class DeferQuestion(QuestionCommand, frozen=True):
    """Answer the open question later. Until then, the turn counts with the answer that is in effect now."""

    name = "later"
    transition = Transition.ANSWER
    operation_id = "defer_question"

    def run(self, context: CommandContext) -> None:
        """Close the question for now; refuse the command while a challenge is to be decided."""
        controller = context.controller
        if controller.wait_question is not None or controller.undecided_challenge is not None:
            raise make_refusal("answer-first")
        if (entry := controller.shown_entry) is not None:
            controller.defer(entry)


class ReadAgain(QuestionCommand, frozen=True):
    """Answer the open question with another picture: undo its turn, and read the board again."""

    name = "look-again"
    transition = Transition.ANSWER
    operation_id = "look_again"

    def run(self, context: CommandContext) -> None:
        """Undo the turn and read the board again. Raises `CameraError`.

        The command is refused if no question about a picture is open.
        """
        discard_reading(context.controller, _find_entry_of_picture(context))
        context.turn_recorder.take_turn()


class ReadAgainWithPicture(QuestionCommand, frozen=True):
    """Answer the open question with another picture, `(H, W, 3) uint8 BGR`, that a phone has taken."""

    transition = Transition.ANSWER

    picture: Image

    def run(self, context: CommandContext) -> None:
        """Undo the turn of the question and read the picture.

        The command is refused if no question about a picture is open.
        """
        entry = _find_entry_of_picture(context)
        if context.phone_camera is None:
            raise make_refusal("own-camera")
        discard_reading(context.controller, entry)
        EndTurnWithPicture(self.picture).run(context)


def _find_entry_of_picture(context: CommandContext) -> Entry:
    """Return the entry whose question is shown. Raises `CommandRefusedError` unless it is about a picture."""
    entry = context.controller.shown_entry
    if entry is None or entry.source not in (Source.PRESS, Source.AUTOMATIC):
        raise make_refusal("nothing-asked")
    return entry


class AnswerDeferred(TableCommand, frozen=True):
    """Answer a deferred question, one of the `open_questions` of a state.

    The turn of the question is changed, and the later turns are scored again.
    """

    name = "answer-later"
    transition = Transition.CORRECT
    operation_id = "answer_deferred"
    schema_name = "DeferredOrder"
    keeps_turn = True

    question: Annotated[int, Meta(ge=1, le=100_000, description="The number of the question.")]
    answer: Annotated[int, Meta(ge=0, le=1000, description="The number of the chosen answer, from 0.")]

    def run(self, context: CommandContext) -> None:
        """Apply the answer; refuse an answer that does not exist, or that makes a later turn impossible."""
        controller = context.controller
        entry = controller.ledger.find_entry(self.question)
        if entry is None or not 0 <= self.answer < len(entry.alternatives):
            raise make_refusal("nothing-asked")
        _apply(controller, entry, self.answer)


class RecallQuestion(QuestionCommand, frozen=True):
    """Open the oldest open question again, so that it can be answered at the panel."""

    transition = Transition.CORRECT

    def run(self, context: CommandContext) -> None:
        """Show the oldest question again; refuse the command if the players have answered all questions."""
        entries = find_open_entries(context.controller.ledger)
        if not entries:
            raise make_refusal("nothing-asked")
        context.controller.recall(entries[0])


class ConfirmExchange(QuestionCommand, frozen=True):
    """Answer the question \"pass or exchange?\" with an exchange of an unknown number of tiles."""

    transition = Transition.ANSWER

    def run(self, context: CommandContext) -> None:
        """Choose the exchange of the most tiles (the last one); refuse the command if no answer is an exchange."""
        entry = context.controller.shown_entry
        alternatives = entry.alternatives if entry is not None else ()
        exchanges = [n for n, steps in enumerate(alternatives) if any(isinstance(step, Exchanged) for step in steps)]
        if not exchanges:
            raise make_refusal("nothing-asked")
        _answer(context.controller, exchanges[-1])


class ChooseNextAnswer(QuestionCommand, frozen=True):
    """Choose the next answer of the open question, or close the question if its last answer was chosen.

    With this command, players can answer questions with a single button.
    """

    transition = Transition.ANSWER

    def run(self, context: CommandContext) -> None:
        """Choose the next answer, or read the board again; refuse the command if no question is open.

        Answers that later turns make impossible are skipped. After the last answer, the first one counts and is final.
        """
        controller = context.controller
        entry = controller.shown_entry
        if entry is None:  # only the question whether to wait for a reading has no entry
            if _answer(controller, 0):
                context.turn_recorder.take_turn()
            return
        chosen = controller.ledger.find_chosen(entry)
        for number in range(chosen + 1, len(entry.alternatives)):
            if entry.alternatives[number] and _try_answer(controller, entry, number):
                return
        if chosen != 0 or not asks_for_picture(0, entry):
            controller.answer(entry.number, 0)
        elif _answer(controller, 0):
            context.turn_recorder.take_turn()


def _try_answer(controller: GameController, entry: Entry, number: int) -> bool:
    """Let an answer count while its question stays open; return False if the answer makes later turns impossible."""
    try:
        controller.answer(entry.number, number, is_final=False)
    except CommandRefusedError:
        return False
    return True


ANSWER_COMMANDS = (
    AnswerQuestion,
    DeferQuestion,
    ReadAgain,
    ReadAgainWithPicture,
    AnswerDeferred,
    RecallQuestion,
    ConfirmExchange,
    ChooseNextAnswer,
)
