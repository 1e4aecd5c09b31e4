"""The pictures of a turn: key frames of the board at rest before the press, and the images to store and show.

A press of the button ends a turn. If a player forgets the press, the next press ends two turns. If a key frame shows
the first play alone, the two turns can be separated.

A photograph contains its reading, so that the two are never separated. The reading is a JSON text in a comment segment
of the JPEG (ITU-T T.81, B.2.4.5), which programs that show pictures ignore.
"""

from __future__ import annotations

import io
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from math import inf
from typing import Annotated

import cv2
import msgspec
import numpy as np
import numpy.typing as npt
import PIL.Image
from msgspec import Meta

from device.cameras import Frame, Image
from device.capture.motion import has_moved, make_thumbnail
from device.session.snapshot import LookView
from device.session.turns.decision import filter_plays
from engine.board import Square
from engine.events import PlayMade
from engine.game import Game
from engine.inference.explain import Inference, infer_play
from engine.inference.history import ReadingHistory
from engine.lexicon import WordList
from engine.plays import Play
from engine.reading import BOARD_SIZE, HIDDEN, BoardReading, SquareReading
from engine.validation.play_checks import find_end_squares
from vision.geometry import homography, rectify
from vision.recognition.reader import PhotoReading

MAX_KEY_FRAMES = 6
"""Largest number of key frames that are kept between two presses; older key frames are discarded."""
KEY_FRAME_JPEG_QUALITY = 92
MIN_STABLE_S = 3.0
"""Minimum time without a change of the board, in seconds, for its new tiles to count as a complete play.

Players who place the tiles of a play one by one change the board more often.
"""
MIN_STABLE_UNKNOWN_WORDS_S = 10.0
"""Minimum time in seconds, in place of `MIN_STABLE_S`, for a play with an unlisted word: the player may still be
thinking."""

MIN_STORED_PROBABILITY = 0.001
"""Minimum probability of a symbol to be stored as a candidate of a square."""
MAX_COMMENT_BYTES = 65_533
"""Maximum size of a comment in a JPEG, in bytes: a segment has a 16-bit length, which includes its own two bytes."""
_START, _JFIF, _COMMENT = b"\xff\xd8", b"\xff\xe0", b"\xff\xfe"

_Candidate = tuple[Annotated[str, Meta(min_length=1, max_length=4)], Annotated[float, Meta(ge=0, le=1)]]
_Square = Annotated[tuple[_Candidate, ...], Meta(min_length=1, max_length=60)]


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
    """Buffer of the last key frames; one thread may add key frames while another thread takes them."""

    def __init__(self) -> None:
        self._frames: deque[KeyFrame] = deque(maxlen=MAX_KEY_FRAMES)
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
        done, data = cv2.imencode(".jpg", frame.image, [cv2.IMWRITE_JPEG_QUALITY, KEY_FRAME_JPEG_QUALITY])
        if done:
            self._frames.append(KeyFrame(data.tobytes(), frame.time, thumbnail))

    def take_all(self) -> tuple[KeyFrame, ...]:
        """Return the key frames, oldest first, and remove them from the buffer."""
        key_frames = tuple(self._frames)
        self._frames.clear()
        return key_frames


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


def needs_key_frames(inference: Inference) -> bool:
    """Return True if key frames may improve the inference: it has several plays, or does not explain the new tiles."""
    best = inference.best
    return len(filter_plays(best.events)) > 1 or bool(best.leftover_squares and not best.events)


def find_extended_play(
    game: Game,
    inference: Inference,
    stable_readings: Iterable[tuple[BoardReading, float]],
    history: ReadingHistory,
    words: WordList | None,
) -> tuple[PlayMade, PlayMade] | None:
    """Return two plays if a key frame shows a part of the inferred play as a complete play; otherwise return None.

    The first play has the tiles in the key frame. The second play has the remaining tiles, and is made by the next
    player. `stable_readings` are readings of key frames, with the seconds for which the board remained unchanged.
    """
    whole = _find_single_play(inference)
    for reading, stable_s in stable_readings:
        first = _find_single_play(infer_play(game, reading, history))
        if whole is None or first is None or not set(first.play.tiles) < set(whole.play.tiles):
            continue
        between = game.push(first)
        rest = Play.from_tiles(
            {square: tile for square, tile in whole.play.tiles if (square, tile) not in first.play.tiles}
        )
        are_listed = words is not None and all(word.word in words for word in between.turns[-1].words)
        min_stable_s = MIN_STABLE_S if are_listed else MIN_STABLE_UNKNOWN_WORDS_S
        if stable_s < min_stable_s or between.is_over or between.check_play(rest):
            continue
        return first, PlayMade(between.to_move, rest)
    return None


def find_earlier_tile(game: Game, play: Play, stable_readings: Iterable[tuple[BoardReading, float]]) -> Square | None:
    """Return the square of a tile of the new play `play` that may belong to the previous play, or None.

    The previous play is the last turn of `game`. Its reading may have missed a tile at an end of this play. This is
    assumed if a key frame shows the tile but no other tile of `play`, and the board then remained unchanged for at
    least `MIN_STABLE_UNKNOWN_WORDS_S` seconds.
    `stable_readings` are readings of key frames, with the seconds for which the board remained unchanged.
    """
    last = game.turns[-1] if game.turns else None
    if last is None or last.play is None or not last.stands:
        return None
    ends, tiles = find_end_squares(last.board, last.play), dict(play.tiles)
    for reading, stable_s in stable_readings:
        shown = [square for square in tiles if reading.squares[square].is_tile]
        if stable_s < MIN_STABLE_UNKNOWN_WORDS_S or len(shown) != 1 or shown[0] not in ends:
            continue
        if reading.squares[shown[0]].symbol == tiles[shown[0]].face:
            return shown[0]
    return None


def _find_single_play(inference: Inference) -> PlayMade | None:
    """Return the play if an inference is certain and has one play as its only event; otherwise return None."""
    plays = filter_plays(inference.events)
    return plays[0] if inference.is_certain and len(inference.events) == len(plays) == 1 else None


def split_turns(
    game: Game, last: BoardReading, key_frame_readings: Sequence[BoardReading], history: ReadingHistory
) -> Inference | None:
    """Infer two turns from the last reading and a key frame that shows only the first play.

    If there are several such key frames, the newest is used, because an older one may show an incomplete play. If there
    is no such key frame, return None. `key_frame_readings` are in the order of their times.
    """
    for reading in reversed(key_frame_readings):
        first = _find_single_play(infer_play(game, reading, history))
        if first is None:
            continue
        second = infer_play(game.push(first), last, history)
        if (play := _find_single_play(second)) is not None:
            return replace(second, explanations=(replace(second.best, events=(first, play)),))
    return None


MAX_PHOTO_SIDE_PX = 1600
"""Longest side of a stored photograph, in pixels."""
SQUARE_SIDE_PX = 44
MARGIN_SQUARES = 0.5
"""Margin around the grid in the rectified picture, in squares."""
JPEG_QUALITY = 82
MIN_FACE_PROBABILITY = 0.5
"""Minimum probability of a square's recorded symbol in the reading; below it, the square is marked as doubtful."""


@dataclass(frozen=True, slots=True)
class TurnImages:
    """Images of a turn: `photo` is the whole picture, `crop` the rectified board; both are JPEGs of limited size.

    The photo contains the reading as a comment. `view` is the description of the crop for snapshots.
    """

    view: LookView
    photo: bytes
    crop: bytes

    def with_name(self, picture: str) -> TurnImages:
        """Return a copy of these images in which `picture` is the name of the crop (in `view`)."""
        return replace(self, view=replace(self.view, picture=picture))

    def jpegs(self) -> dict[str, bytes]:
        """Return the JPEG data of the images by their kind in the store (`photo`, `board`)."""
        return {"photo": self.photo, "board": self.crop}


@dataclass(frozen=True, slots=True)
class EncodedPictures:
    """The pictures of a turn as JPEG data: the whole picture, without the reading, and the rectified board."""

    photo: bytes
    crop: bytes


def encode_pictures(frame: Frame, reading: PhotoReading) -> EncodedPictures:
    """Return the pictures of a turn as JPEGs. If no board was found, `crop` is the whole picture on a black square."""
    photo = shrink_image(frame.image, MAX_PHOTO_SIDE_PX)
    if reading.corners is None:
        side = round(SQUARE_SIDE_PX * (BOARD_SIZE + 2 * MARGIN_SQUARES))
        crop = _letterbox_image(frame.image, side)
    else:
        crop = rectify(frame.image, homography(reading.corners), SQUARE_SIDE_PX, MARGIN_SQUARES)
    return EncodedPictures(_encode_jpeg(photo), _encode_jpeg(crop))


def make_turn_images(
    pictures: EncodedPictures, reading: PhotoReading, inference: Inference | None, name: str
) -> TurnImages:
    """Return the images of a turn to store and show, with its reading and inference.

    `name` is the name of the crop in snapshots.
    """
    hidden = _find_hidden_squares(reading)
    doubtful = tuple(square for square in _find_doubtful_squares(reading, inference) if square not in hidden)
    view = LookView(name, doubtful, hidden, MARGIN_SQUARES)
    photo = add_reading(pictures.photo, reading.board) if reading.board else pictures.photo
    return TurnImages(view, photo, pictures.crop)


def _find_doubtful_squares(reading: PhotoReading, inference: Inference | None) -> tuple[int, ...]:
    if reading.board is None or inference is None:
        return ()
    recorded_symbols = inference.best.game.board.symbols()
    uncertain = {
        square
        for square, symbol in enumerate(recorded_symbols)
        if reading.board.squares[square].probability(symbol) < MIN_FACE_PROBABILITY
    }
    return tuple(sorted(uncertain | set(inference.doubtful_squares)))


def _find_hidden_squares(reading: PhotoReading) -> tuple[int, ...]:
    symbols = reading.board.symbols if reading.board else ()
    return tuple(square for square, symbol in enumerate(symbols) if symbol == HIDDEN)


def shrink_image(image: Image, max_side_px: int) -> Image:
    """Return a picture whose longer side is reduced to `max_side_px`; a smaller picture is not changed."""
    scale = max_side_px / max(image.shape[:2])
    if scale >= 1:
        return image
    width, height = (max(1, round(side * scale)) for side in (image.shape[1], image.shape[0]))
    return np.asarray(cv2.resize(image, (width, height), interpolation=cv2.INTER_AREA), np.uint8)


def _letterbox_image(image: Image, side: int) -> Image:
    """Return the whole picture, centred in a black square with a side of `side` pixels."""
    small = shrink_image(image, side)
    height, width = small.shape[:2]
    box = np.zeros((side, side, 3), np.uint8)
    top, left = (side - height) // 2, (side - width) // 2
    box[top : top + height, left : left + width] = small
    return box


def _encode_jpeg(image: Image) -> bytes:
    done, data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])
    if not done:
        raise ValueError(f"OpenCV could not write a JPEG of {image.shape}")
    return data.tobytes()


class _StoredReading(msgspec.Struct, frozen=True):
    squares: Annotated[tuple[_Square, ...], Meta(min_length=BOARD_SIZE**2, max_length=BOARD_SIZE**2)]
    orientation: float = 1.0
    offset: float = 1.0


def add_reading(jpeg: bytes, reading: BoardReading) -> bytes:
    """Return the JPEG with the reading as a comment, or the JPEG unchanged if the comment would be too long."""
    squares = tuple(map(_list_stored_candidates, reading.squares))
    stored = _StoredReading(squares, reading.orientation_confidence, reading.offset_confidence)
    comment = msgspec.json.encode(stored)
    if len(comment) > MAX_COMMENT_BYTES:
        return jpeg
    start = len(_START)
    if jpeg[start : start + 2] == _JFIF:  # this segment must be the first one: the comment follows it
        start += 2 + int.from_bytes(jpeg[start + 2 : start + 4], "big")
    return jpeg[:start] + _COMMENT + (len(comment) + 2).to_bytes(2, "big") + comment + jpeg[start:]


def _list_stored_candidates(square: SquareReading) -> tuple[_Candidate, ...]:
    """Return the candidates of a square that are stored: the probable ones, but at least the most probable one."""
    probable = [(symbol, share) for symbol, share in square.candidates if share >= MIN_STORED_PROBABILITY]
    return tuple((symbol, round(share, 4)) for symbol, share in probable or [(square.symbol, square.confidence)])


def find_reading(jpeg: bytes) -> BoardReading | None:
    """Return the reading in the comment of a JPEG, or None if the JPEG has no comment with a valid reading."""
    with suppress(PIL.UnidentifiedImageError, OSError, ValueError, SyntaxError, PIL.Image.DecompressionBombError):
        comment = PIL.Image.open(io.BytesIO(jpeg), formats=["JPEG"]).info.get("comment", b"")
        stored = msgspec.json.decode(comment, type=_StoredReading)
        return BoardReading(tuple(map(SquareReading, stored.squares)), stored.orientation, stored.offset)
    return None
