"""Remember the pictures from which the turns of the current game were read, to recognise a picture that is sent again.

Two photographs never agree in all pixels, because of the noise of the camera, even if nothing on the table has changed.
A picture that equals an earlier one is therefore a copy of it, and shows the board of that earlier turn.
"""

from __future__ import annotations

import json
from hashlib import blake2b

from device.cameras.base import Image
from device.storage.errors import log_store_errors
from device.storage.notes import load_note
from device.storage.store import GameStore

NOTE_NAME = "used-pictures"
"""Name of the game's note with its used pictures: turn counts by digest (hexadecimal), as a JSON object."""
_DIGEST_BYTES = 16


class UsedPictures:
    """Digests of the pictures of one game's turns, each with the number of turns that the game had after it.

    If the turn of a picture is undone, the game has fewer turns than this, and the picture may be sent again. The
    digests are kept in a note of the game, because a phone may send a picture again after a power cut. Errors of the
    store are only logged.
    """

    def __init__(self, store: GameStore, *, is_last_refused: bool) -> None:
        """Start without digests; `is_last_refused` is True if copies of the last picture are refused.

        Copies of older pictures are always refused. A copy of the last picture is accepted from a folder of pictures,
        because it may mean a pass; the players are asked. From a phone, which has a button for a pass, it is refused.
        """
        self._store = store
        self._is_last_refused = is_last_refused
        self._game = 0
        self._turn_counts: dict[str, int] = {}

    def add(self, digest: bytes, game: int, turn_count: int) -> None:
        """Add a picture of `game`. `turn_count` is the number of turns, including that of this picture."""
        self._load(game)
        if self._turn_counts.get(digest.hex()) == turn_count:
            return
        self._turn_counts[digest.hex()] = turn_count
        with log_store_errors("the pictures of the turns are not kept"):
            self._store.save_note(game, NOTE_NAME, json.dumps(self._turn_counts))

    def is_used(self, digest: bytes, game: int, turn_count: int) -> bool:
        """Return True if an earlier turn of `game` was read from a picture with this digest.

        `turn_count` is the number of turns that the game has now.
        """
        self._load(game)
        count_after = self._turn_counts.get(digest.hex())
        if count_after is None or count_after > turn_count:
            return False  # the picture is new, or its turn was undone
        is_last = count_after == turn_count
        return not is_last or self._is_last_refused

    def _load(self, game: int) -> None:
        """Load the digests of `game`, unless they are loaded already."""
        if game == self._game:
            return
        warning = "the pictures of the earlier turns are not known"
        self._game, self._turn_counts = game, load_note(self._store, game, NOTE_NAME, dict[str, int], warning) or {}


def digest_image(image: Image) -> bytes:
    """Return a digest of a picture, which is the same for equal pictures only."""
    return blake2b(image.tobytes(), digest_size=_DIGEST_BYTES, key=str(image.shape).encode()).digest()
