"""The last pictures of the board and of questions, which are kept in memory."""

from __future__ import annotations

from dataclasses import replace

from device.cameras import Image
from device.capture.question_crop import crop_squares, make_crop_name
from device.session.messages import DeferredQuestion
from device.session.turns.decision import Decision
from device.storage.store import GameStore
from vision.geometry import Floats

MAX_PICTURES = 16
"""Maximum number of pictures in memory; each further picture replaces the oldest one."""
MAX_PICTURE_NAME_LENGTH = 40
"""Maximum length of the name of a stored picture; a longer name belongs to no picture."""


class PictureBuffer:
    """Buffer of the last pictures (JPEG data) by the names that the snapshots contain.

    The pictures of recorded turns are in the store, too, under the number of the game and that of the event.
    """

    def __init__(self, store: GameStore) -> None:
        self._store = store
        self._pictures: dict[str, bytes] = {}
        self._crop_names: dict[str, str] = {}

    def add(self, name: str, jpeg: bytes) -> None:
        """Add a picture."""
        self._pictures = dict([*self._pictures.items(), (name, jpeg)][-MAX_PICTURES:])

    def get(self, name: str) -> bytes | None:
        """Return a picture by its name, or None if it is not in the buffer any more."""
        return self._pictures.get(name)

    def find(self, name: str) -> bytes | None:
        """Return a picture by its name from the buffer or the store, or None if there is no such picture.

        Raises `StoreError`.
        """
        if jpeg := self._pictures.get(name):
            return jpeg
        game, _, number = name.partition("-")
        if len(name) > MAX_PICTURE_NAME_LENGTH or not (game.isdecimal() and number.isdecimal()):
            return None
        return self._store.read_picture(int(game), int(number), "board")

    def add_question_crop(self, decision: Decision, image: Image, corners: Floats | None) -> Decision:
        """Add the part of `image` with the question's squares, and return the decision with the name of this crop.

        If the question is not about squares, or if `corners` is None, the decision is returned unchanged. `corners` are
        the corners of the grid in `image`, `(4, 2)` in pixels.
        """
        open_question = decision.open_question
        if open_question is None or not open_question.question.squares or corners is None:
            return decision
        question = open_question.question
        name = self.add_crop(question.text, crop_squares(image, corners, question.squares))
        return replace(decision, open_question=replace(open_question, question=replace(question, picture=name)))

    def add_crop(self, text: str, jpeg: bytes) -> str:
        """Add the crop (JPEG data) that belongs to the question with the text `text`, and return its name."""
        name = make_crop_name(jpeg)
        self.add(name, jpeg)
        available = {text: crop for text, crop in self._crop_names.items() if crop in self._pictures}
        self._crop_names = {**available, str(text): name}
        return name

    def find_crop(self, deferred: DeferredQuestion) -> DeferredQuestion:
        """Return the deferred question with the name of its crop, if the crop is still in the buffer."""
        name = self._crop_names.get(str(deferred.question.text), "")
        picture = name if name in self._pictures else ""
        return replace(deferred, question=replace(deferred.question, picture=picture))
