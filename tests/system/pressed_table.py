"""A table without camera, store and clock, and what becomes of a game if readings of its board are disturbed."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from itertools import zip_longest

from device.session.evidence import TableEvidence
from device.session.messages import PASS_KEYS
from device.session.questions import find_asked_words
from device.session.recording import (
    add_evidence,
    add_record,
    answer_question,
    close_questions,
    make_question_history,
    make_record,
)
from device.session.turns.decision import TurnContext
from device.session.turns.turn_validation import decide_reading
from engine.board import Board
from engine.descriptions import describe_turn
from engine.errors import NotationError, RulesError
from engine.game import Game
from engine.inference.explain import infer_play
from engine.inference.history import EMPTY_HISTORY, ReadingHistory
from engine.ledger import Entry, Ledger, Source, find_open_entries, find_shown_entry
from engine.lexicon import WordList, find_deciding_words, is_listed
from engine.reading import BoardReading
from tests.support.disturbed_squares import make_clear_reading
from tests.support.recorded_positions import Press, Scenario

BLANK_CODE = "asked-blank-unnamed"
"""Code of the question for the letter of a blank, which no reading answers."""


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


@dataclass(frozen=True)
class PressedTable:
    """What the session knows between two presses of a shared button; it decides and records as the live session does.

    `words` is the word list in use, None if words are not checked. `has_notice` is True if the last press has led to a
    notice.
    """

    ledger: Ledger
    words: WordList | None = None
    evidence: TableEvidence = field(default_factory=TableEvidence)
    asked_words: frozenset[str] = frozenset()
    shown_warnings: frozenset[str] = frozenset()
    has_notice: bool = False

    @property
    def game(self) -> Game:
        """The game so far."""
        return self.ledger.game

    @cached_property
    def shown_entry(self) -> Entry | None:
        """The entry whose question is shown, or None."""
        return find_shown_entry(self.ledger)

    @property
    def has_open_question(self) -> bool:
        """True if a question is open that a reading may answer."""
        codes = {entry.doubt.code for entry in find_open_entries(self.ledger) if entry.doubt is not None}
        return not codes <= {*PASS_KEYS, BLANK_CODE}

    def press(self, reading: BoardReading) -> PressedTable:
        """Return the table after a press: the reading is explained, decided and recorded."""
        questions = make_question_history(self.ledger, self.evidence, self.asked_words)
        turn = decide_reading(reading, TurnContext(self.ledger, self.words, self.evidence.history, questions))
        decision, before = turn.decision, turn.ledger.game
        try:
            record = make_record(before, decision, Source.PRESS, None, reading)
            evidence = add_evidence(self.evidence, before, decision, reading, turn.inference.history)
            group = self.ledger.next_group
            ledger, _ = add_record(turn.ledger, record, find_deciding_words(self.words), group=group)
            ledger = close_questions(ledger, self.words, reading, group=group, source=Source.PRESS)
        except (NotationError, RulesError):  # the session shows why the command failed, and has recorded nothing
            return replace(self, has_notice=True)
        is_warned = decision.warning and (decision.warning not in self.shown_warnings or not decision.events)
        return replace(
            self,
            ledger=ledger,
            evidence=evidence,
            shown_warnings=self.shown_warnings | {decision.warning},
            has_notice=bool(decision.notices or is_warned),
        )

    def answer(self, chosen: int) -> PressedTable:
        """Return the table after an answer to the shown question. Raises `RulesError`, `NotationError`."""
        entry = self.shown_entry
        assert entry is not None, "there is no question to answer"
        assert entry.doubt is not None
        evidence = self.evidence.confirm_squares(entry.doubt.squares)
        ledger = answer_question(self.ledger, entry, chosen, self.words, self.evidence.reading)
        return replace(self, ledger=ledger, evidence=evidence)

    def find_true_answer(self, truth: Game) -> PressedTable | None:
        """Return the table after the answer to the shown question that makes the game right; None if none does.

        An answer that is refused does not: a board with more tiles than the set is no position.
        """
        fitting = []
        for number in range(len(self.shown_entry.alternatives) if self.shown_entry else 0):
            with suppress(NotationError, RulesError):
                after = self.answer(number)
                if agrees(after.game, truth):
                    fitting.append(after)
        exact = (after for after in fitting if after.game.board == truth.board)
        return next(exact, next(iter(fitting), None))

    def answer_truly(self, truth: Game) -> PressedTable:
        """Return the table after all questions are answered that are shown and offer the truth."""
        after = self.find_true_answer(truth)
        return self if after is None else after.answer_truly(truth)

    def continue_with(self, game: Game) -> PressedTable:
        """Return the table with another game, which the players have entered by hand."""
        if game == self.game:
            return self
        asked_words = self.asked_words | find_asked_words(self.ledger)
        return replace(self, ledger=make_ledger(game), asked_words=asked_words)


def make_ledger(game: Game) -> Ledger:
    """Return a ledger that has the events of a game as one entry."""
    return Ledger(game.start_event, (Entry(1, 1, (game.events,), source=Source.PRESS),))


def agrees(game: Game, truth: Game) -> bool:
    """Return True if board, totals and the player to move are those of the truth."""
    return game.totals == truth.totals and game.to_move == truth.to_move and _boards_agree(game.board, truth.board)


def _boards_agree(board: Board, truth: Board) -> bool:
    return all(
        tile == other or (tile and other and tile.is_blank and other.is_blank and tile.is_unnamed)
        for tile, other in zip(board.squares, truth.squares, strict=True)
    )


def is_about_pass(entry: Entry | None) -> bool:
    """Return True if the question of an entry is only whether it was a pass or an exchange."""
    return entry is not None and entry.doubt is not None and entry.doubt.code in PASS_KEYS


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
    evidence = TableEvidence(make_history(scenario.start))
    table = PressedTable(make_ledger(scenario.start), words, evidence)
    outcome, record, is_pass_question, is_flagged, has_spoken = Outcome.RIGHT, "", False, False, False
    for press in scenario.disturbed:
        table = table.press(press.picture.reading)
        if outcome.is_right:
            outcome = max(outcome, classify_press(table, press.truth), key=_ORDER.index)
            record = describe_turn(table.game, table.game.turns[-1]) if table.game.turns else ""
            is_pass_question = is_about_pass(table.shown_entry)
            is_flagged = not outcome.is_right and has_unlisted_word(table.game, press.truth, words)
        has_spoken |= has_spoken_at(table)
        table = _finish_press(table, press, answers_truth)
    rights, opens = [], []
    for press in scenario.following:
        table = table.press(press.picture.reading)
        has_spoken |= has_spoken_at(table)
        table = _finish_press(table, press, answers_truth)
        rights.append(agrees(table.game, press.truth))
        opens.append(table.has_open_question)
    return Course(outcome, record, is_pass_question, is_flagged, rights[0], rights[-1], opens[0], opens[-1], has_spoken)


def has_spoken_at(table: PressedTable) -> bool:
    """Return True if the last press has led to a question or a notice."""
    return table.has_notice or table.shown_entry is not None


def _finish_press(table: PressedTable, press: Press, answers_truth: bool) -> PressedTable:
    return table.answer_truly(press.truth) if answers_truth else table


def make_history(game: Game) -> ReadingHistory:
    """Return what the session remembers after one good reading of the board as it is."""
    return infer_play(game, make_clear_reading(game.board)).history if game.board else EMPTY_HISTORY


def classify_press(table: PressedTable, truth: Game) -> Outcome:
    """Return what the last press came to."""
    if agrees(table.game, truth):
        if table.shown_entry:
            return Outcome.RIGHT_ASKED
        return Outcome.RIGHT_NOTICE if table.has_notice else Outcome.RIGHT
    if table.shown_entry:
        return Outcome.NOT_OFFERED if table.find_true_answer(truth) is None else Outcome.OFFERED
    return Outcome.NOTICE if table.has_notice else Outcome.SILENT


def has_unlisted_word(game: Game, truth: Game, words: WordList | None) -> bool:
    """Return True if a play on record that was not made has a word that the list lacks."""
    pairs = zip_longest(game.turns, truth.turns[: len(game.turns)])
    wrong = [turn for turn, true in pairs if turn and turn.stands and (true is None or turn.play != true.play)]
    return any(is_listed(word.word, words) is False for turn in wrong for word in turn.words)
