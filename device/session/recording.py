"""Record what happened in a ledger: a decision about a turn, the questions that it raises, and the answers. Pure.

The live session, the replay of videos and the measurements of the tests record with these functions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from device.session.evidence import TableEvidence
from device.session.messages import OLD_TILE_KEYS, PASS_KEYS
from device.session.questions import find_asked_words, make_blank_doubts, make_doubt
from device.session.turns.decision import Decision
from engine.board import Square
from engine.errors import NotationError, RulesError
from engine.events import Edit, PlayerTurn, PlayWithdrawn, SquareCorrected
from engine.game import Game
from engine.inference.history import ReadingHistory
from engine.ledger import (
    Alternative,
    Answered,
    Doubt,
    Entry,
    Judge,
    Ledger,
    Source,
    find_counting_entries,
    find_open_entries,
    make_relative,
)
from engine.lexicon import WordList, find_deciding_words
from engine.reading import BoardReading
from engine.validation import QuestionHistory, Reason
from engine.validation.open_questions import find_corrected_entries, find_open_squares
from engine.validation.void_plays import find_void_turn, judge_alternatives, judge_changed_plays

_WRONG_BOARD_CODES = frozenset(
    f"asked-{reason}" for reason in (Reason.OTHER_BOARD, Reason.BOARD_CLEARED, Reason.BOARD_ALREADY_FULL)
)
"""Codes of the questions about a board that cannot result from a turn of the current game."""


def find_missed_press(ledger: Ledger) -> Entry | None:
    """Return the entry of the last press that has recorded nothing, because its question is not answered, or None.

    A question that is about another board, or that changes an earlier turn, does not mean that a turn was missed.
    """
    counting = find_counting_entries(ledger)
    waiting = [entry for entry in find_open_entries(ledger) if entry not in counting]
    missed = waiting[-1] if waiting else None
    if missed is None or missed.source is not Source.PRESS or missed.doubt is None:
        return None
    if any(isinstance(step, Edit) for alternative in missed.alternatives for step in alternative):
        return None
    return None if missed.doubt.code in _WRONG_BOARD_CODES else missed


def make_question_history(ledger: Ledger, evidence: TableEvidence, asked_words: frozenset[str]) -> QuestionHistory:
    """Return the earlier questions of a game, so that the players are not asked the same again.

    `asked_words` are the unlisted words about which the players were asked in earlier games.
    """
    doubts = [entry.doubt for entry in ledger.in_effect if entry.doubt is not None]
    last = ledger.game.last_turn
    passes = [e.number for e in find_open_entries(ledger) if e.doubt is not None and e.doubt.code in PASS_KEYS]
    return QuestionHistory(
        words=asked_words | find_asked_words(ledger),
        squares=evidence.lost.union(
            evidence.history.find_overruled(ledger.game, _find_answered_squares(ledger)),
            *(doubt.squares for doubt in doubts if doubt.code in OLD_TILE_KEYS),
        ),
        doubtful_squares=frozenset(evidence.doubtful),
        has_missed_press=find_missed_press(ledger) is not None,
        unanswered_pass=last.ref.entry if last is not None and last.ref.entry in passes else None,
        open_squares=find_open_squares(ledger),
    )


def _find_answered_squares(ledger: Ledger) -> Iterator[Square]:
    """Yield the squares of recorded tiles about which players have answered a question."""
    for entry in ledger.in_effect:
        answer = ledger.answers.get(entry.number)
        if answer is not None and answer.by is Judge.PLAYER:
            steps = (step for alternative in entry.alternatives for step in alternative)
            yield from (step.square for step in steps if isinstance(step, SquareCorrected))


def add_evidence(
    evidence: TableEvidence, game: Game, decision: Decision, reading: BoardReading, history: ReadingHistory
) -> TableEvidence:
    """Return the evidence after a reading and the decision about it.

    `game` is the game before the turn, and `history` has the last readings with this one. Recorded tiles that the
    reading does not show are added to the lost ones, so that they are reported only once. Raises `RulesError` or
    `NotationError` for impossible events.
    """
    opened = decision.open_question
    asked = opened.question.squares if opened is not None else ()
    evidence = replace(evidence, lost=evidence.lost.union(decision.lost_squares))
    return evidence.add_reading(reading, history, game.push(*decision.events), decision.events, asked=asked)


@dataclass(frozen=True, slots=True)
class Record:
    """What a command records: the alternatives of its entry, the first in effect, and why they are in doubt.

    `seat` is the player whose own button or phone was pressed, or None.
    """

    alternatives: tuple[Alternative, ...]
    doubt: Doubt | None = None
    seat: int | None = None
    source: Source = Source.HAND

    @property
    def is_empty(self) -> bool:
        """True if nothing happened, and nothing is asked."""
        return self.doubt is None and not any(self.alternatives)


def make_record(
    game: Game, decision: Decision, source: Source, seat: int | None, reading: BoardReading | None
) -> Record:
    """Return the record of a decision about a turn; `game` is the game before it.

    Raises `RulesError` or `NotationError` for impossible events.
    """
    if decision.open_question is None:
        return Record((make_relative(game, decision.events, seat),), None, seat, source)
    asked, offers_picture = decision.open_question.split_picture()
    alternatives: list[Alternative] = [make_relative(game, asked.answers[0], seat)]
    for events in asked.answers[1:]:
        try:
            alternatives.append(make_relative(game, events, seat))
        except (NotationError, RulesError):  # the players are told when they choose it
            alternatives.append(events)
    doubt = make_doubt(game, asked, alternatives, seat, reading, offers_picture=offers_picture)
    return Record(tuple(alternatives), doubt, seat, source)


def add_record(
    ledger: Ledger, record: Record, words: WordList | None, *, group: int, clocks: tuple[float, ...] | None = None
) -> tuple[Ledger, int]:
    """Return the ledger with a record, and the number of its entry (0 if the record is empty).

    `words` is the list that decides about words, or None. Raises `RulesError` or `NotationError` for impossible acts.
    """
    if record.is_empty:
        return ledger, 0
    # The last play does not count because of an unlisted word. If the next turn follows, the players have taken its
    # tiles off, as the table told them: so its withdrawal is an act now.
    void = find_void_turn(ledger.game)
    if void is not None and any(isinstance(s, PlayerTurn) for steps in record.alternatives for s in steps):
        ledger = ledger.record([((PlayWithdrawn(None, void.ref),),)], group=group)
    alternatives = judge_alternatives(ledger.game, record.alternatives, words)
    ledger = ledger.record(
        [alternatives], group=group, doubt=record.doubt, seat=record.seat, source=record.source, clocks=clocks
    )
    return ledger, len(ledger.entries)


def close_questions(
    ledger: Ledger, words: WordList | None, reading: BoardReading | None, *, group: int, source: Source
) -> Ledger:
    """Return the ledger with the answers that corrections have given, and with a question about each new blank.

    `words` is the word list in use, and `reading` the last reading of the board; each may be None. `group` and `source`
    are those of the new entries.
    """
    for entry in find_corrected_entries(ledger):
        if entry.number in ledger.answers:  # the players have chosen this answer at the panel, and may choose another
            continue
        ledger = ledger.record([((Answered(entry.number, ledger.find_chosen(entry)),),)], group=group)
    for alternatives, doubt in make_blank_doubts(ledger, words, reading):
        ledger = ledger.record([alternatives], group=group, doubt=doubt, source=source)
    return ledger


def answer_question(
    ledger: Ledger,
    entry: Entry,
    chosen: int,
    words: WordList | None,
    reading: BoardReading | None,
    *,
    is_final: bool = True,
) -> Ledger:
    """Return the ledger with the answer number `chosen` of the players to the question of an entry.

    What follows from the answer is recorded, too: unlisted words of plays that it changes, and questions about new
    blanks. `words` is the word list in use, and `reading` the last reading of the board; each may be None. If
    `is_final` is False, the question stays open. Raises `RulesError` or `NotationError` for an impossible answer.
    """
    group = entry.group if entry.group == ledger.last_group else ledger.next_group
    after = ledger.answer(entry.number, chosen, is_final=is_final, group=group)
    if judged := judge_changed_plays(ledger.game, after.game, find_deciding_words(words)):
        after = after.record([(judged,)], group=group)
    return close_questions(after, words, reading, group=group, source=entry.source)
