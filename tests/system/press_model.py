"""The presses of a session as a model: a reading is inferred, decided and recorded, and questions are answered."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from itertools import zip_longest

from device.session.open_question import OpenQuestion
from device.session.turns.decision import Decision, TurnContext
from device.session.turns.turn_validation import decide
from engine.board import Board
from engine.descriptions import describe_turn
from engine.errors import NotationError, RulesError
from engine.game import Game
from engine.inference.explain import infer_play
from engine.inference.history import EMPTY_HISTORY, ReadingHistory
from engine.lexicon import WordList, is_listed
from engine.reading import BoardReading
from engine.validation import QuestionHistory
from engine.validation.deferred_questions import defer_question, find_deferred_questions, find_provisional_squares
from engine.validation.settlement import settle_questions
from tests.support.disturbed_squares import (
    make_clear_reading,
)
from tests.support.recorded_positions import (
    Picture,
    Press,
    Scenario,
)


class Outcome(StrEnum):
    """The result of a disturbed press, before a question is answered."""

    RIGHT = "right"
    RIGHT_NOTICE = "right, with a notice"
    RIGHT_ASKED = "right, but asked"
    OFFERED = "asked, truth offered"
    NOT_OFFERED = "asked, truth not offered"
    NOTICE = "wrong, notice only"
    SILENT = "silently wrong"

    @property
    def is_right(self) -> bool:
        """True if the right events were recorded."""
        return self in (Outcome.RIGHT, Outcome.RIGHT_NOTICE, Outcome.RIGHT_ASKED)


_ORDER = list(Outcome)


class PressModel:
    """A session without camera, store and clock (`GameController`, `TurnRecorder.take_turn`).

    `words` is the word list in use, None if words are not checked.
    """

    def __init__(self, game: Game, words: WordList | None = None, history: ReadingHistory = EMPTY_HISTORY) -> None:
        self.game = game
        self.words = words
        self.history = history
        self.open_question: OpenQuestion | None = None
        self.has_notice = False
        self.question_history = QuestionHistory()
        self._before = game
        self._reading: BoardReading | None = None
        self._shown_warnings: set[str] = set()

    def press(self, picture: Picture) -> Decision:
        """End a turn with this picture: record the events of the decision, and keep its question.

        A question that was not answered is deferred, and the reading may settle deferred questions.
        """
        self._defer_question()
        self.game = settle_questions(self.game, picture.reading, self.history)
        self._before, self.open_question, self.has_notice = self.game, None, False
        self._reading = picture.reading
        reading = self.question_history.settle_reading(self.game, picture.reading)
        inference = infer_play(self.game, reading, self.history, find_provisional_squares(self.game))
        context = TurnContext(self.words, self.history, self.question_history)
        decision = decide(self.game, inference, reading, context)
        try:
            self.game = self.game.push(*decision.events)
        except (NotationError, RulesError):
            self.has_notice = True  # the session shows why the command failed, and has recorded nothing
            return decision
        self.open_question, self.history, self.question_history = (
            decision.open_question,
            inference.history,
            decision.question_history,
        )
        self.has_notice = bool(decision.notices)
        if decision.warning and (decision.warning not in self._shown_warnings or not decision.events):
            self._shown_warnings.add(decision.warning)
            self.has_notice = True
        return decision

    def _defer_question(self) -> None:
        asked = self.open_question
        if asked is not None and asked.is_deferrable:
            question = asked.make_deferred(self.game.events[len(self._before.events) :])
            self.game = self.game.push(*defer_question(self.game, question, self._reading))

    @property
    def has_open_question(self) -> bool:
        """True if a question is open, now or deferred. Questions about a pass do not count."""
        asked = self.open_question
        return bool(find_deferred_questions(self.game)) or (asked is not None and not asked.question.is_about_pass)

    def find_true_answer(self, truth: Game) -> int | None:
        """Return the answer of the open question that makes the game right; None if none does.

        An answer that is refused does not: a board with more tiles than the set is no position.
        """
        fitting = []
        for number in range(len(self.open_question.answers) if self.open_question else 0):
            with suppress(RulesError):
                if agrees(self._game_after(number), truth):
                    fitting.append(number)
        exact = (number for number in fitting if self._game_after(number).board == truth.board)
        return next(exact, next(iter(fitting), None))

    def answer_question(self, number: int) -> None:
        """Choose an answer of the open question."""
        if self.open_question:
            self.question_history = self.question_history.without_squares(self.open_question.question.squares)
        self.game, self.open_question = self._game_after(number), None

    def _game_after(self, number: int) -> Game:
        """Return the game after an answer; the first one leaves what is recorded."""
        asked = self.open_question
        assert asked is not None, "there is no question to answer"
        return self._before.push(*asked.answers[number]) if number else self.game


def agrees(game: Game, truth: Game) -> bool:
    """Return True if board, totals and the player to move are those of the truth."""
    return game.totals == truth.totals and game.to_move == truth.to_move and _boards_agree(game.board, truth.board)


def _boards_agree(board: Board, truth: Board) -> bool:
    return all(
        tile == other or (tile and other and tile.is_blank and other.is_blank and tile.is_unnamed)
        for tile, other in zip(board.squares, truth.squares, strict=True)
    )


@dataclass(frozen=True, slots=True)
class Course:
    """What became of one position.

    `record` is the score sheet's last line after the disturbed press. `is_pass_question` is True if its question was
    only "pass or exchange", `is_flagged` if the word list lacks a word of a play that is wrong on record. `has_spoken`
    is True if there was a question or a notice at any press.
    """

    outcome: Outcome
    record: str
    is_pass_question: bool
    is_flagged: bool
    is_right_after_next: bool
    is_right_at_end: bool
    is_open_after_next: bool
    is_open_at_end: bool
    has_spoken: bool


def follow_scenario(scenario: Scenario, words: WordList | None, answers_truth: bool) -> Course:
    """Play a scenario: one good reading of the board at the start, the disturbed presses, the good ones.

    The outcome is that of the first disturbed press that is wrong; the most troublesome one if none is.
    """
    session = PressModel(scenario.start, words, make_history(scenario.start))
    outcome, record, is_pass_question, is_flagged, has_spoken = Outcome.RIGHT, "", False, False, False
    for press in scenario.disturbed:
        session.press(press.picture)
        if outcome.is_right:
            outcome = max(outcome, classify_press(session, press.truth), key=_ORDER.index)
            record = describe_turn(session.game, session.game.turns[-1]) if session.game.turns else ""
            asked = session.open_question
            is_pass_question = asked is not None and asked.question.is_about_pass
            is_flagged = not outcome.is_right and has_unlisted_word(session.game, press.truth, words)
        has_spoken |= _finish_press(session, press, answers_truth)
    rights, opens = [], []
    for press in scenario.following:
        session.press(press.picture)
        has_spoken |= _finish_press(session, press, answers_truth)
        rights.append(agrees(session.game, press.truth))
        opens.append(session.has_open_question)
    return Course(outcome, record, is_pass_question, is_flagged, rights[0], rights[-1], opens[0], opens[-1], has_spoken)


def _finish_press(session: PressModel, press: Press, answers_truth: bool) -> bool:
    """Answer the question if the truth is offered; return True if there was a question or a notice."""
    has_spoken = session.has_notice or session.open_question is not None
    answer = session.find_true_answer(press.truth) if answers_truth else None
    if answer is not None:
        session.answer_question(answer)
    return has_spoken


def make_history(game: Game) -> ReadingHistory:
    """Return what the session remembers after one good reading of the board as it is."""
    return infer_play(game, make_clear_reading(game.board)).history if game.board else EMPTY_HISTORY


def classify_press(session: PressModel, truth: Game) -> Outcome:
    """Return what the last press came to."""
    if agrees(session.game, truth):
        if session.open_question:
            return Outcome.RIGHT_ASKED
        return Outcome.RIGHT_NOTICE if session.has_notice else Outcome.RIGHT
    if session.open_question:
        return Outcome.NOT_OFFERED if session.find_true_answer(truth) is None else Outcome.OFFERED
    return Outcome.NOTICE if session.has_notice else Outcome.SILENT


def has_unlisted_word(game: Game, truth: Game, words: WordList | None) -> bool:
    """Return True if a play on record that was not made has a word that the list lacks."""
    pairs = zip_longest(game.turns, truth.turns[: len(game.turns)])
    wrong = [turn for turn, true in pairs if turn and turn.stands and (true is None or turn.play != true.play)]
    return any(is_listed(word.word, words) is False for turn in wrong for word in turn.words)
