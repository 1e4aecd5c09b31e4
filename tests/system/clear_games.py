"""Count the questions that whole recorded games lead to if they are read without a disturbance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import Any

from engine.events import Challenged, Exchanged, Passed, PlayMade, PlayWithdrawn
from engine.ledger import Entry
from engine.lexicon import WordList, is_listed
from tests.support.disturbed_squares import (
    make_clear_reading,
    make_lifelike_reading,
)
from tests.support.recorded_positions import RecordedGame, find_words
from tests.system.pressed_table import BLANK_CODE, PressedTable, agrees, is_about_pass, make_ledger


class Topic(StrEnum):
    """Subject of a question."""

    BLANK = "blank's letter"
    PASS = "pass or exchange"
    CHALLENGE = "challenge"
    OTHER = "other"


@dataclass
class ClearGames:
    """Questions at the turns of undisturbed games."""

    games: int = 0
    turns: int = 0
    wrong: int = 0
    notices: int = 0
    questions: Counter[Topic] = field(default_factory=Counter)

    def add(self, other: ClearGames) -> None:
        """Add the counts of other games."""
        self.games += other.games
        self.turns += other.turns
        self.wrong += other.wrong
        self.notices += other.notices
        self.questions += other.questions

    def to_json(self) -> dict[str, Any]:
        """Return the counts as plain data."""
        questions = {str(topic): self.questions[topic] for topic in Topic}
        return {
            "games": self.games,
            "turns": self.turns,
            "questions": questions,
            "notices": self.notices,
            "wrong": self.wrong,
        }


def measure_clear_games(
    games: Sequence[RecordedGame], use_words: bool, is_lifelike: bool = False
) -> dict[str, ClearGames]:
    """Count the questions over all games, and over those of which the list has every word.

    `wrong` counts the turns that are not right after the true answer, if it is offered.
    """
    found = {"all games": ClearGames(), "games with all words listed": ClearGames()}
    for recorded in games:
        words = find_words(recorded) if use_words else None
        counts = _read_clear_game(recorded, words, is_lifelike)
        found["all games"].add(counts)
        if words is not None and _has_listed_words_only(recorded, words):
            found["games with all words listed"].add(counts)
    return found


def _read_clear_game(recorded: RecordedGame, words: WordList | None, is_lifelike: bool) -> ClearGames:
    """Press after each play, exchange and pass; what the record does otherwise (challenges) is done by command."""
    counts = ClearGames(1)
    table = PressedTable(make_ledger(recorded.states[0]), words)
    for event, truth in zip(recorded.events, recorded.states[1:], strict=True):
        if isinstance(event, PlayMade | Exchanged | Passed):
            letters = truth.tiles.letters
            read = (
                partial(make_lifelike_reading, letters=letters, seed=recorded.name)
                if is_lifelike
                else make_clear_reading
            )
            table = table.press(read(truth.board))
            counts.turns += 1
            counts.notices += table.has_notice
            if table.shown_entry is not None:
                counts.questions[find_topic(table.shown_entry)] += 1
            table = table.answer_truly(truth)
            counts.wrong += not agrees(table.game, truth)
        table = table.continue_with(truth)
    return counts


def find_topic(entry: Entry) -> Topic:
    """Return what the question of an entry is about."""
    if is_about_pass(entry):
        return Topic.PASS
    if entry.doubt is not None and entry.doubt.code == BLANK_CODE:
        return Topic.BLANK
    events = [step for steps in entry.alternatives for step in steps]
    return Topic.CHALLENGE if any(isinstance(event, Challenged | PlayWithdrawn) for event in events) else Topic.OTHER


def _has_listed_words_only(recorded: RecordedGame, words: WordList) -> bool:
    return all(is_listed(word.word, words) for turn in recorded.states[-1].turns for word in turn.words)
