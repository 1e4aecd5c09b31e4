"""The memory of earlier questions: the words of a table are stored, the squares belong to the current game."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable

from device.storage.store import TABLE_NOTES, GameStore, StoreError
from engine.game import Game
from engine.messages import key_of
from engine.validation import QuestionHistory, Reason
from engine.validation.deferred_questions import find_open_questions

_log = logging.getLogger(__name__)

ASKED_WORDS_NOTE = "asked-words"
"""Name of the note of the table with the words that the players were asked about, as a JSON list."""
_OLD_TILE_KEY = f"asked-{Reason.OLD_TILE_DIFFERS}"


class QuestionMemory:
    """The questions that the players of a table were asked. A word is asked about only once, even after a restart."""

    def __init__(self, store: GameStore) -> None:
        self._store = store
        self._before = self.history = QuestionHistory(self._load_words())

    def _load_words(self) -> frozenset[str]:
        try:
            words = json.loads(self._store.read_note(TABLE_NOTES, ASKED_WORDS_NOTE) or "[]")
            return frozenset(map(str, words))
        except (StoreError, ValueError, TypeError) as error:
            _log.warning("the words of earlier questions are not known: %s", error)
            return frozenset()

    def start_game(self, game: Game) -> None:
        """Forget the squares of the previous game, and recall the squares of the deferred questions of `game`."""
        history = self.history.for_new_game()
        for question in find_open_questions(game):
            history = history.with_squares(question.squares, is_old=key_of(question.text) == _OLD_TILE_KEY)
        self._before = self.history = history

    def add_questions(self, history: QuestionHistory) -> None:
        """Remember `history`, which has the questions of the last turn, and save the words in it."""
        self._before, self.history = self.history, history
        if history.words != self._before.words:
            try:
                words = json.dumps(sorted(history.words), ensure_ascii=False)
                self._store.save_note(TABLE_NOTES, ASKED_WORDS_NOTE, words)
            except StoreError as error:
                _log.warning("the words of a question are not kept: %s", error)

    def forget_last_question(self) -> None:
        """Forget the questions of the last turn, because its board is read again."""
        self.history = self._before

    def close_question(self, squares: Iterable[int]) -> None:
        """Note that a question about `squares` was answered."""
        self.history = self.history.without_squares(squares)
