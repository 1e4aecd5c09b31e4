"""The pictures that snapshots name: the rectified board of the last turns, and the squares of the last questions."""

from __future__ import annotations

from dataclasses import replace

from device.cameras import Image
from device.capture.question_crop import crop_squares, make_crop_name
from device.session.decision import Decision
from device.session.messages import DeferredQuestion
from vision.geometry import Floats

MAX_PICTURES = 16
"""Number of pictures that are kept in memory; the oldest picture is discarded."""


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
        asked = decision.open_question
        if asked is None or not asked.question.squares or corners is None:
            return decision
        jpeg = crop_squares(image, corners, asked.question.squares)
        name = make_crop_name(jpeg)
        self.add(name, jpeg)
        known = {text: crop for text, crop in self._crop_names.items() if crop in self._pictures}
        self._crop_names = {**known, str(asked.question.text): name}
        return replace(decision, open_question=replace(asked, question=replace(asked.question, picture=name)))

    def find_crop(self, deferred: DeferredQuestion) -> DeferredQuestion:
        """Return a deferred question with the name of the crop that was shown with it, if the crop is still kept."""
        name = self._crop_names.get(str(deferred.question.text), "")
        picture = name if name in self._pictures else ""
        return replace(deferred, question=replace(deferred.question, picture=picture))
