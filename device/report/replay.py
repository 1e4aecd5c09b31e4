"""Replay a problem report: read its pictures again, and compare the results with the recorded turns and readings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO

import cv2
import msgspec
import numpy as np

from device.capture.turn_images import find_reading
from device.catalogue import get_text
from device.report.contents import DOCTOR_MEMBER, FORMAT_NAME, FORMAT_VERSION, LOG_MEMBER, REPORT_MEMBER, ReportHeader
from device.storage.archive import GAME_MEMBER, PICTURE_MEMBER, ZipMembers, decode_game, open_zip
from device.storage.errors import ArchiveError
from device.storage.game_log import read_ledger
from device.storage.store import MAX_PICTURE_BYTES
from engine.board import square_name
from engine.descriptions import describe_events
from engine.events import Event, filter_plays
from engine.game import Game
from engine.inference.explain import infer_play
from engine.ledger import Ledger
from engine.limits import MAX_ARCHIVE_GAME_BYTES
from engine.plays import Play
from engine.reading import BOARD_SIZE, BoardReading
from vision.geometry import Floats, Image, grid_corners
from vision.recognition.reader import PhotoReader

MAX_HEADER_BYTES = 100_000
BOARD_PICTURE_MARGIN_SQUARES = 0.5
"""Margin around the grid in the pictures of the board (`device.capture.turn_images`), in squares."""
_TEXT_MEMBERS = (GAME_MEMBER, REPORT_MEMBER, DOCTOR_MEMBER, LOG_MEMBER)


@dataclass(frozen=True, slots=True)
class SquareDifference:
    """A square that is read differently: its name, the symbol before, and the symbol now with its probability."""

    square: str
    before: str
    now: str
    probability: float


@dataclass(frozen=True, slots=True)
class TurnReplay:
    """Result for one picture: the recorded turn, and the turn that is inferred from its picture now.

    `event` is the number of the picture's entry. `recorded` and `inferred` are sentences. `is_same_turn` is True if the
    same plays are inferred. `from_record` are the differences between the recorded board and the new reading.
    `from_reading` are those between the stored reading and the new one (None if no reading is stored). If no board was
    found, `problems` are the reasons.
    """

    event: int
    recorded: str
    inferred: str
    is_same_turn: bool
    from_record: tuple[SquareDifference, ...] = ()
    from_reading: tuple[SquareDifference, ...] | None = None
    problems: tuple[str, ...] = ()

    @property
    def is_same(self) -> bool:
        """True if the picture gives the recorded turn and, if a reading is stored, the same reading."""
        return self.is_same_turn and not self.from_reading


def replay_report(file: BinaryIO, reader: PhotoReader) -> tuple[ReportHeader, list[TurnReplay]]:
    """Read the pictures of a report again, and compare them with the record. Raises `ArchiveError`."""
    with open_zip(file, _is_member) as members:
        header = _read_header(members)
        _, events = decode_game(members.read(GAME_MEMBER, MAX_ARCHIVE_GAME_BYTES))
        pictures = members.list_pictures()
        ledger = read_ledger(event.body for event in events)
        numbers = sorted({number for number, _ in pictures if 0 < number < len(events)})
        return header, [
            _replay_picture(ledger, number, "photo" if (number, "photo") in pictures else "board", members, reader)
            for number in numbers
        ]


def _is_member(name: str) -> bool:
    return name in _TEXT_MEMBERS or PICTURE_MEMBER.fullmatch(name) is not None


def _read_header(members: ZipMembers) -> ReportHeader:
    try:
        data = members.read(REPORT_MEMBER, MAX_HEADER_BYTES) if REPORT_MEMBER in members else b""
        header = msgspec.json.decode(data, type=ReportHeader)
    except msgspec.DecodeError as error:
        raise ArchiveError(get_text("report-none", error)) from error
    if (header.form, header.version) != (FORMAT_NAME, FORMAT_VERSION):
        raise ArchiveError(get_text("report-version", header.version))
    return header


def _replay_picture(ledger: Ledger, number: int, kind: str, members: ZipMembers, reader: PhotoReader) -> TurnReplay:
    """Infer the turn from a picture of a report again, and compare it with the recorded turn."""
    before, after = _find_games(ledger, number)
    recorded = after.events[len(before.events) :]
    text = describe_events(before, after, recorded)
    jpeg = members.read_picture(number, kind, MAX_PICTURE_BYTES)
    decoded = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR)
    if decoded is None:
        return TurnReplay(number, text, "", is_same_turn=False, problems=(get_text("report-picture"),))
    image = np.asarray(decoded, np.uint8)
    corners = None if kind == "photo" else _find_board_corners(image)
    reading = reader.read(image, before.tiles.letters, corners=corners)
    if reading.board is None:
        return TurnReplay(number, text, "", is_same_turn=False, problems=reading.problems)
    best = infer_play(before, reading.board).best
    stored = find_reading(jpeg)
    return TurnReplay(
        number,
        text,
        best.text,
        is_same_turn=_list_plays(best.events) == _list_plays(recorded),
        from_record=tuple(_compare(after.board.symbols(), reading.board)),
        from_reading=None if stored is None else tuple(_compare(stored.symbols, reading.board)),
    )


def _list_plays(events: Iterable[Event]) -> list[Play]:
    return [event.play for event in filter_plays(events)]


def _find_games(ledger: Ledger, number: int) -> tuple[Game, Game]:
    """Return the game before the group of an entry, and the game after the entry, as they were then."""
    entries = ledger.entries[:number]
    earlier = tuple(entry for entry in entries if entry.group < entries[-1].group)
    return Ledger(ledger.setup, earlier).game, Ledger(ledger.setup, entries).game


def _find_board_corners(image: Image) -> Floats:
    """Return the corners of the grid in a picture of the rectified board, `(4, 2) float64` in pixels."""
    inner = grid_corners() + BOARD_PICTURE_MARGIN_SQUARES
    scale = image.shape[0] / (BOARD_SIZE + 2 * BOARD_PICTURE_MARGIN_SQUARES)
    return np.asarray(inner * scale - 0.5, np.float64)


def _compare(before: Sequence[str], now: BoardReading) -> Iterator[SquareDifference]:
    for at, (symbol, square) in enumerate(zip(before, now.squares, strict=True)):
        if square.symbol != symbol:
            yield SquareDifference(square_name(at), symbol, square.symbol, square.confidence)
