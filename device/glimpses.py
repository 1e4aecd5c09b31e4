"""What the board looked like between two presses: a forgotten button is made good by when each play lay there."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np

from device.cameras import Frame, Image
from device.verdict import plays_in
from engine.evidence import Memory
from engine.explain import Explained, explain
from engine.game import Game
from engine.reading import BoardReading

KEPT = 6
"""So many pictures are kept between two presses, the newest."""
QUALITY = 92


@dataclass(frozen=True, slots=True)
class Glimpse:
    """The board at rest at one moment (`time.monotonic()`), as a JPEG of the camera's size."""

    jpeg: bytes
    time: float

    def image(self) -> Image:
        """The picture, `(H, W, 3) uint8 BGR`."""
        return np.asarray(cv2.imdecode(np.frombuffer(self.jpeg, np.uint8), cv2.IMREAD_COLOR), np.uint8)


class Glimpses:
    """The last few pictures of the board at rest. One thread adds, another takes."""

    def __init__(self) -> None:
        self._kept: deque[Glimpse] = deque(maxlen=KEPT)

    def add(self, frame: Frame) -> None:
        """Keep a picture."""
        done, data = cv2.imencode(".jpg", frame.image, [cv2.IMWRITE_JPEG_QUALITY, QUALITY])
        if done:
            self._kept.append(Glimpse(data.tobytes(), frame.time))

    def take(self) -> tuple[Glimpse, ...]:
        """The pictures since the last time, the oldest first; they are kept no longer."""
        kept = tuple(self._kept)
        self._kept.clear()
        return kept


def needs_glimpses(explained: Explained) -> bool:
    """True where a reading looks like more than one turn, or like none: earlier pictures may tell."""
    best = explained.best
    return len(plays_in(best.events)) > 1 or bool(best.leftover and not best.events)


def split(game: Game, last: BoardReading, glimpses: Sequence[BoardReading], memory: Memory | None) -> Explained | None:
    """Two turns of which the first lay alone on the board in one of the glimpses; None where none shows that.

    The newest such glimpse counts: then the first play was whole.
    """
    for reading in reversed(glimpses):
        first = explain(game, reading, memory)
        if not first.is_certain or len(plays_in(first.events)) != 1 or len(first.events) != 1:
            continue
        second = explain(game.push(first.events[0]), last, memory)
        best = second.best
        if second.is_certain and len(plays_in(best.events)) == 1 and len(best.events) == 1:
            return replace(second, explanations=(replace(best, events=(*first.events, *best.events)),))
    return None
