"""The pictures from which the turns of the current game were recorded, to recognise a picture that is sent again.

Two photographs are never the same in all pixels, because of the noise of the camera, even if nothing on the table has
changed. A picture that equals an earlier one is therefore a copy of it, and shows the board of that earlier turn.
"""

from __future__ import annotations

from hashlib import blake2b

from device.cameras import Image

_DIGEST_BYTES = 16


class UsedPictures:
    """The pictures of the turns of one game, as digests, each with the number of turns that there were after it.

    A turn may be undone: then there are fewer turns than that, and the picture may be sent again.
    """

    def __init__(self) -> None:
        self._game = 0
        self._turn_counts: dict[bytes, int] = {}

    def add(self, digest: bytes, game: int, turn_count: int) -> None:
        """Add the picture of the last of `turn_count` turns; forget the pictures of games other than `game`."""
        if game != self._game:
            self._game, self._turn_counts = game, {}
        self._turn_counts[digest] = turn_count

    def find_turn_count(self, digest: bytes, game: int) -> int | None:
        """Return the number of turns that there were after this picture, or None if it was not used in `game`."""
        return self._turn_counts.get(digest) if game == self._game else None


def digest_image(image: Image) -> bytes:
    """Return a digest of a picture, which is the same for equal pictures only."""
    return blake2b(image.tobytes(), digest_size=_DIGEST_BYTES, key=str(image.shape).encode()).digest()
