"""What the session remembers besides the events: colours of players, earlier questions, and the last pictures.

Colours and the words of earlier questions are stored for later games; the squares of questions belong to the current
game, and pictures are only kept in memory.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable
from dataclasses import replace

from device.cameras import Image
from device.capture.question_crop import crop_squares, make_crop_name
from device.session.decision import Decision
from device.session.messages import OLD_TILE_KEYS, DeferredQuestion
from device.session.snapshot import PlayerView
from device.storage.store import TABLE_NOTES, GameStore, StoreError
from engine.events import QuestionDeferred
from engine.game import Game
from engine.messages import key_of
from engine.validation import QuestionHistory
from engine.validation.deferred_questions import find_open_questions
from vision.geometry import Floats

_log = logging.getLogger(__name__)

ASKED_WORDS_NOTE = "asked-words"
"""Name of the note of the table with the words that the players were asked about, as a JSON list."""

MAX_PICTURES = 16
"""Number of pictures that are kept in memory; the oldest picture is discarded."""


class PlayerColours:
    """The colours of all players in the store, by name. A fault of the store is logged, and the game goes on."""

    def __init__(self, store: GameStore) -> None:
        self._store = store
        self._colours: dict[str, str] = {}

    def load(self) -> None:
        """Load the colours from the store."""
        try:
            self._colours = dict(self._store.players())
        except StoreError as error:
            _log.warning("the colours of the players are not known: %s", error)

    def save(self, colours: Iterable[tuple[str, str]]) -> None:
        """Save the colours of players, given as (name, colour), for this game and later games."""
        try:
            for name, colour in colours:
                self._colours[name] = colour
                self._store.save_colour(name, colour)
        except StoreError as error:
            _log.warning("the colours of the players are not kept: %s", error)

    def get(self, name: str) -> str:
        """Return the colour of a player, an empty string if the player has none."""
        return self._colours.get(name, "")

    def colour_player(self, player: PlayerView) -> PlayerView:
        """Return the view of a player with the player's colour."""
        return replace(player, colour=self.get(player.name))


class QuestionMemory:
    """The questions that the players of a table were asked. A word and an old tile are asked about only once.

    Words are notes of the table, squares are in the events of the game, so both are known after a restart.
    """

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
        """Forget the squares of the previous game, and recall the squares of the questions in the events of `game`."""
        history, open_questions = self.history.for_new_game(), find_open_questions(game)
        for question in (event for event in game.events if isinstance(event, QuestionDeferred)):
            is_old = key_of(question.text) in OLD_TILE_KEYS
            if is_old or question in open_questions:
                history = history.with_squares(question.squares, is_old)
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

    def forget_missed_press(self) -> None:
        """Forget that nothing was recorded at the last press, because the next one repeats it."""
        self.history = replace(self.history, has_missed_press=False)

    def close_question(self, squares: Iterable[int]) -> None:
        """Note that a question about `squares` was answered."""
        self.history = self.history.without_squares(squares)


class PictureBuffer:
    """The last pictures (JPEG data) by their names in the snapshots."""

    def __init__(self) -> None:
        self._pictures: dict[str, bytes] = {}
        self._crop_names: dict[str, str] = {}

    def add(self, name: str, jpeg: bytes) -> None:
        """Add a picture."""
        self._pictures = dict([*self._pictures.items(), (name, jpeg)][-MAX_PICTURES:])

    def get(self, name: str) -> bytes | None:
        """Return a picture by its name, or None if it is not kept any more."""
        return self._pictures.get(name)

    def add_question_crop(self, decision: Decision, image: Image, corners: Floats | None) -> Decision:
        """Add a crop of the photograph, and return the decision with its name in the question.

        If the question is not about squares, return the decision unchanged. `corners` are the corners of the grid in
        `image`, `(4, 2)`, or None if no board was found.
        """
        open_question = decision.open_question
        if open_question is None or not open_question.question.squares or corners is None:
            return decision
        question = open_question.question
        name = self.add_crop(question.text, crop_squares(image, corners, question.squares))
        return replace(decision, open_question=replace(open_question, question=replace(question, picture=name)))

    def add_crop(self, text: str, jpeg: bytes) -> str:
        """Add the crop that belongs to the question with this text, and return its name."""
        name = make_crop_name(jpeg)
        self.add(name, jpeg)
        kept = {text: crop for text, crop in self._crop_names.items() if crop in self._pictures}
        self._crop_names = {**kept, str(text): name}
        return name

    def find_crop(self, deferred: DeferredQuestion) -> DeferredQuestion:
        """Return a deferred question with the name of the crop that was shown with it, if the crop is still kept."""
        name = self._crop_names.get(str(deferred.question.text), "")
        picture = name if name in self._pictures else ""
        return replace(deferred, question=replace(deferred.question, picture=picture))
