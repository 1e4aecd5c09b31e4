"""From the camera to an explanation: look, read, explain, and look again while a doubt or a hand is in the way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from device.cameras import Frame, Image
from device.capture.board_camera import Sight
from device.capture.key_frames import Glimpse, lengthened, needs_glimpses, split, that_stood
from device.session.decision import Verdict, judge, one_or_two, plays_in
from device.session.snapshot_builder import Words
from engine.game import Game
from engine.inference.alignment import fitted
from engine.inference.explain import Explained, explain
from engine.inference.history import Memory
from engine.reading import HIDDEN, BoardReading
from vision.recognition.merge import merge
from vision.recognition.reader import PhotoReading

LOOKS = 3
"""So many pictures of a live camera are read before a doubt is shown to people."""
HAND_S = 3.0
"""So long it is looked again and again while something hides a part of the board and leaves a doubt."""
HIDES = 0.5

Reading = Callable[[Image], BoardReading | None]
"""Reads the board in an earlier picture of this table."""


@dataclass(frozen=True, slots=True, eq=False)
class Looked:
    """The last picture, what all pictures together say, and what is made of it; None where no board was read."""

    frame: Frame
    reading: PhotoReading
    explained: Explained | None = None
    verdict: Verdict | None = None
    split: bool = False
    """True where two turns lay on the board and were told apart."""
    in_place: bool = True
    """False where the grid was found a square beside the board's, and what was read there moved back."""


def look_and_explain(
    sight: Sight,
    game: Game,
    memory: Memory | None,
    glimpses: Sequence[Glimpse],
    words: Words | None,
    now: Callable[[], float],
) -> Looked:
    """Look at the board of a game until what was played is clear, a few times at most. Raises `CameraError`.

    `glimpses` are pictures of the board since the last turn, `words` is the list that words are checked by. A picture
    that is clear alone counts alone; several that are not are taken together, so that what a hand hid in one is seen
    in another.
    """
    hands_until = now() + HAND_S
    readings: list[BoardReading] = []
    looks = 0
    while True:
        looks += 1
        seen = sight.look(game.tiles.letters)
        found = Looked(seen.frame, seen.reading)
        if seen.reading.board is not None:
            readings.append(seen.reading.board)
            found = _explained(found, game, memory, readings)
        clear = found.verdict is not None and found.verdict.is_clear
        if clear and found.in_place:
            sight.trust(found.reading)
        else:
            sight.doubt()
        if clear or not sight.live:
            break
        if looks >= LOOKS and not (_hand_in_sight(found) and now() < hands_until):
            break

    def read(image: Image) -> BoardReading | None:
        return sight.read(image, game.tiles.letters).board

    found = _told_apart(found, game, memory, read, glimpses)
    return _doubted(found, game, memory, read, glimpses, words)


def _explained(found: Looked, game: Game, memory: Memory | None, readings: Sequence[BoardReading]) -> Looked:
    """What the last reading says alone, or where that is not clear, what all of them say."""
    for board in dict.fromkeys((readings[-1], merge(readings))):
        explained = explain(game, board, memory)
        verdict = judge(game, explained, board)
        found = replace(
            found,
            reading=replace(found.reading, board=board),
            explained=explained,
            verdict=verdict,
            in_place=fitted(game, board) is board,
        )
        if verdict.is_clear:
            break
    return found


def _hand_in_sight(found: Looked) -> bool:
    board = found.reading.board
    return board is None or any(square.probability(HIDDEN) > HIDES for square in board.squares)


def _told_apart(found: Looked, game: Game, memory: Memory | None, read: Reading, glimpses: Sequence[Glimpse]) -> Looked:
    """Two turns at once, told apart by what lay there in between, where the glimpses show it."""
    board = found.reading.board
    if board is None or found.explained is None or not glimpses or not needs_glimpses(found.explained):
        return found
    readings = (read(glimpse.image()) for glimpse in glimpses)
    explained = split(game, board, [reading for reading in readings if reading is not None], memory)
    if explained is None:
        return found
    return replace(found, explained=explained, verdict=Verdict(explained.events), split=True)


def _doubted(
    found: Looked,
    game: Game,
    memory: Memory | None,
    read: Reading,
    glimpses: Sequence[Glimpse],
    words: Words | None,
) -> Looked:
    """The question whether one play was two, where the glimpses show that a part of it lay there alone."""
    if found.split or found.explained is None or found.verdict is None or not found.verdict.is_clear:
        return found
    plays = plays_in(found.verdict.events)
    if len(plays) != 1 or len(plays[0].play.tiles) < 2:
        return found
    seen = ((read(glimpse.image()), stood) for glimpse, stood in that_stood(glimpses, found.frame))
    two = lengthened(game, found.explained, ((board, stood) for board, stood in seen if board), memory, words)
    return found if two is None else replace(found, verdict=one_or_two(game, plays[0], two))
