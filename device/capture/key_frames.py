"""What the board looked like between two presses: a forgotten button is made good by when each play lay there."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf

import cv2
import numpy as np
import numpy.typing as npt

from device.cameras import Frame, Image
from device.capture.motion import moved, thumbnail
from device.session.decision import plays_in
from device.session.snapshot_builder import Words
from engine.events import PlayMade
from engine.game import Game
from engine.inference.explain import Explained, explain
from engine.inference.history import Memory
from engine.plays import Play
from engine.reading import BoardReading

KEPT = 6
"""So many pictures are kept between two presses, the newest."""
QUALITY = 92
STOOD_S = 3.0
"""What lies untouched for so long may be a whole play: players who lay tile by tile are quicker."""
STOOD_STRANGE_S = 10.0
"""The same where not all of its words are known to be words: then somebody may have stopped to think."""


@dataclass(frozen=True, slots=True)
class Glimpse:
    """The board at rest at one moment (`time.monotonic()`), as a JPEG of the camera's size."""

    jpeg: bytes
    time: float
    until: float = inf
    """When the board was seen as it had been before, where it was: what lay there was taken back."""

    def image(self) -> Image:
        """The picture, `(H, W, 3) uint8 BGR`."""
        return np.asarray(cv2.imdecode(np.frombuffer(self.jpeg, np.uint8), cv2.IMREAD_COLOR), np.uint8)


class Glimpses:
    """The last few pictures of the board at rest. One thread adds, another takes."""

    def __init__(self) -> None:
        self._kept: deque[Glimpse] = deque(maxlen=KEPT)
        self._known: npt.NDArray[np.float32] | None = None

    def read(self, frame: Frame) -> None:
        """The board was read as it is here: pictures like this one would tell nothing new."""
        self._known = thumbnail(frame.image)

    def add(self, frame: Frame) -> None:
        """Keep a picture."""
        if self._known is not None and not moved(self._known, thumbnail(frame.image)):
            if self._kept and self._kept[-1].until == inf:
                self._kept.append(replace(self._kept.pop(), until=frame.time))
            return
        done, data = cv2.imencode(".jpg", frame.image, [cv2.IMWRITE_JPEG_QUALITY, QUALITY])
        if done:
            self._kept.append(Glimpse(data.tobytes(), frame.time))

    def take(self) -> tuple[Glimpse, ...]:
        """The pictures since the last time, the oldest first; they are kept no longer."""
        kept = tuple(self._kept)
        self._kept.clear()
        return kept


def that_stood(glimpses: Sequence[Glimpse], last: Frame) -> Iterator[tuple[Glimpse, float]]:
    """Those in which the board looked other than in the last picture, for so many seconds that they may matter."""
    now, until = thumbnail(last.image), (*(glimpse.time for glimpse in glimpses[1:]), last.time)
    for glimpse, after in zip(glimpses, until, strict=False):
        end = min(after, glimpse.until)
        if end - glimpse.time >= STOOD_S and moved(thumbnail(glimpse.image()), now):
            yield glimpse, end - glimpse.time


def needs_glimpses(explained: Explained) -> bool:
    """True where a reading looks like more than one turn, or like none: earlier pictures may tell."""
    best = explained.best
    return len(plays_in(best.events)) > 1 or bool(best.leftover and not best.events)


def lengthened(
    game: Game,
    explained: Explained,
    glimpses: Iterable[tuple[BoardReading, float]],
    memory: Memory | None,
    words: Words | None,
) -> tuple[PlayMade, PlayMade] | None:
    """The two plays that a play may have been, if a part of it lay on the board as a play of its own before.

    `glimpses` are readings of the board, and for how many seconds it looked so.
    """
    whole = _lone_play(explained)
    for reading, stood in glimpses:
        first = _lone_play(explain(game, reading, memory))
        if whole is None or first is None or not set(first.play.tiles) < set(whole.play.tiles):
            continue
        between = game.push(first)
        rest = Play.of({square: tile for square, tile in whole.play.tiles if (square, tile) not in first.play.tiles})
        known = words is not None and all(word.word in words for word in between.turns[-1].words)
        if stood >= (STOOD_S if known else STOOD_STRANGE_S) and not (between.is_over or between.status(rest)):
            return first, PlayMade(between.to_move, rest)
    return None


def _lone_play(explained: Explained) -> PlayMade | None:
    """The play, where that and nothing else happened for certain."""
    plays = plays_in(explained.events)
    return plays[0] if explained.is_certain and len(explained.events) == len(plays) == 1 else None


def split(game: Game, last: BoardReading, glimpses: Sequence[BoardReading], memory: Memory | None) -> Explained | None:
    """Two turns of which the first lay alone on the board in one of the glimpses; None where none shows that.

    The newest such glimpse counts: then the first play was whole.
    """
    for reading in reversed(glimpses):
        first = _lone_play(explain(game, reading, memory))
        if first is None:
            continue
        second = explain(game.push(first), last, memory)
        if (play := _lone_play(second)) is not None:
            return replace(second, explanations=(replace(second.best, events=(first, play)),))
    return None
