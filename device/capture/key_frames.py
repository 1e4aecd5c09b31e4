"""Key frames: pictures of the board at rest between two presses, which show the tiles that were placed first."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf

import cv2
import numpy as np
import numpy.typing as npt

from device.cameras import Frame, Image
from device.capture.jpeg import encode_jpeg
from device.capture.motion import has_moved, make_thumbnail
from engine.events import Event
from engine.game import Game

MAX_KEY_FRAMES = 6
"""Largest number of key frames that are kept between two presses; older key frames are discarded."""
KEY_FRAME_JPEG_QUALITY = 92
MIN_STABLE_S = 3.0
"""Minimum time without a change of the board, in seconds, for its new tiles to count as a complete play.

Players who place the tiles of a play one by one change the board more often.
"""


@dataclass(frozen=True, slots=True, eq=False)
class KeyFrame:
    """A picture of the board at rest, as a JPEG of the camera's size; `time` is in seconds of `time.monotonic()`."""

    jpeg: bytes
    time: float
    thumbnail: npt.NDArray[np.float32]
    """Small version of the picture from `make_thumbnail`, for detecting motion."""
    reverted_at: float = inf
    """Time of the first later picture without the new tiles of this key frame; infinity if there is no such picture."""

    def decode_image(self) -> Image:
        """Return the picture, `(H, W, 3) uint8 BGR`."""
        return np.asarray(cv2.imdecode(np.frombuffer(self.jpeg, np.uint8), cv2.IMREAD_COLOR), np.uint8)


class KeyFrameBuffer:
    """Buffer of the last key frames; one thread may add key frames while another thread lists and removes them."""

    def __init__(self) -> None:
        self._frames: deque[KeyFrame] = deque(maxlen=MAX_KEY_FRAMES)
        self._last_turn: tuple[tuple[Event, ...], tuple[KeyFrame, ...]] = (), ()
        """The events of the game before the last turn, and the key frames of that turn."""
        self._reference: npt.NDArray[np.float32] | None = None

    def set_reference(self, frame: Frame) -> None:
        """Use a frame as the picture of the last reading; frames that look like it are not added."""
        self._reference = make_thumbnail(frame.image)

    def add(self, frame: Frame) -> None:
        """Add a picture as a key frame, unless it looks like the picture of the last reading.

        If `frame` looks like that picture, the new tiles were removed. The newest key frame is then marked as reverted.
        """
        thumbnail = make_thumbnail(frame.image)
        if self._reference is not None and not has_moved(self._reference, thumbnail):
            if self._frames and self._frames[-1].reverted_at == inf:
                self._frames.append(replace(self._frames.pop(), reverted_at=frame.time))
            return
        jpeg = encode_jpeg(frame.image, KEY_FRAME_JPEG_QUALITY)
        self._frames.append(KeyFrame(jpeg, frame.time, thumbnail))

    def list_frames(self, game: Game) -> tuple[KeyFrame, ...]:
        """Return the key frames since the last turn of `game`, oldest first, even if the turn after it was undone."""
        events, undone = self._last_turn
        return ((*undone, *self._frames) if events == game.events else tuple(self._frames))[-MAX_KEY_FRAMES:]

    def end_turn(self, game: Game, frame: Frame) -> None:
        """Remove the key frames up to `frame`, the picture of a turn that is recorded; `game` is the game before it."""
        key_frames = self.list_frames(game)
        self._last_turn = game.events, tuple(key_frame for key_frame in key_frames if key_frame.time <= frame.time)
        while self._frames and self._frames[0].time <= frame.time:
            self._frames.popleft()

    def clear(self) -> None:
        """Remove all key frames, because another game begins."""
        self._frames.clear()
        self._last_turn = (), ()


def find_stable_frames(key_frames: Sequence[KeyFrame], last: Frame) -> Iterator[tuple[KeyFrame, float]]:
    """Yield each key frame with the seconds for which the board remained unchanged after it.

    Two kinds of key frames are left out: those that look like the picture `last`, and those with less than
    `MIN_STABLE_S` seconds.
    """
    last_thumbnail = make_thumbnail(last.image)
    next_times = (*(key_frame.time for key_frame in key_frames[1:]), last.time)
    for key_frame, next_time in zip(key_frames, next_times, strict=False):
        stable_s = min(next_time, key_frame.reverted_at) - key_frame.time
        if stable_s >= MIN_STABLE_S and has_moved(key_frame.thumbnail, last_thumbnail):
            yield key_frame, stable_s
