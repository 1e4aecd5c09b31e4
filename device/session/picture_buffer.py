"""The last pictures of the board and of questions, which are kept in memory."""

from __future__ import annotations

import re

from device.storage.store import GameStore

MAX_PICTURES = 16
"""Maximum number of pictures in memory; each further picture replaces the oldest one."""
QUESTION_KIND = "question"
"""Kind, in the store, of the picture of a question's squares. Its name is `GAME-NUMBER-question`."""
_STORED_NAME = re.compile(rf"([0-9]{{1,10}})-([0-9]{{1,10}})(?:-({QUESTION_KIND}))?")


class PictureBuffer:
    """Buffer of the last pictures (JPEG data) by the names that the snapshots contain.

    The pictures of recorded turns are in the store, too, under the number of the game and that of the event.
    """

    def __init__(self, store: GameStore) -> None:
        self._store = store
        self._pictures: dict[str, bytes] = {}

    def add(self, name: str, jpeg: bytes) -> None:
        """Add a picture."""
        self._pictures = dict([*self._pictures.items(), (name, jpeg)][-MAX_PICTURES:])

    def find(self, name: str) -> bytes | None:
        """Return a picture by its name from the buffer or the store, or None if there is no such picture.

        Raises `StoreError`.
        """
        if jpeg := self._pictures.get(name):
            return jpeg
        match = _STORED_NAME.fullmatch(name)
        return self._store.read_picture(int(match[1]), int(match[2]), match[3] or "board") if match else None
