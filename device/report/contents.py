"""Problem reports: their contents, their ZIP file, the log file that is part of it, and their replay.

A report never contains Wi-Fi passwords, pairing secrets or cookies: all secrets of the table, and everything that looks
like a secret, are removed from its texts. A replay reads the pictures of a report again, and compares the results with
the recorded turns and readings.
"""

from __future__ import annotations

import errno
import logging
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import cv2
import msgspec
import numpy as np
from msgspec import Meta

from device.capture.turn_images import find_reading
from device.catalogue import get_text
from device.storage.archive import find_stored_game
from device.storage.errors import ArchiveError
from device.storage.files import read_small_file
from device.storage.game_file import (
    GAME_MEMBER,
    PICTURE_MEMBER,
    ZipMembers,
    decode_game,
    encode_game,
    generate_zip,
    name_picture,
    open_zip,
)
from device.storage.game_log import read_ledger
from device.storage.store import MAX_PICTURE_BYTES, GameStore
from device.storage.stored_game import EventBody, StoredEvent, StoredGame
from engine.board import square_name
from engine.descriptions import describe_events
from engine.events import Event, GameStarted, PlayerRenamed, RecordImported, filter_plays
from engine.game import Game
from engine.inference.explain import infer_play
from engine.ledger import Ledger
from engine.limits import MAX_ARCHIVE_GAME_BYTES
from engine.plays import Play
from engine.reading import BOARD_SIZE, BoardReading
from vision.geometry import Floats, Image, grid_corners
from vision.recognition.reader import PhotoReader

REMOVED = "[removed]"
MIN_SECRET_LENGTH = 4
"""Smallest length of a secret that is removed, in characters. Shorter secrets also occur in many harmless words."""
_SECRET_PATTERNS = (
    re.compile(r"(?<=/pair/)[\w-]+"),
    re.compile(r"(?<=/enter/)[\w-]+"),
    re.compile(r"(?im)(?<=cookie: ).+$"),
    re.compile(r"(?i)(?<=bearer )\S+"),
    re.compile(r"""(?i)(?:(?<=password=)|(?<=password = )|(?<=psk=)|(?<=session=)|(?<=csrf=)|(?<=token=))[^\s;&]+"""),
)
"""Patterns of texts that look like a secret: links for pairing, cookies, tokens and passwords."""


def remove_secrets(text: str, secrets: Iterable[str]) -> str:
    """Replace all `secrets`, and everything that looks like a secret, by `[removed]`.

    >>> remove_secrets("GET /pair/abc-DEF with the code 123456", ["123456"])
    'GET /pair/[removed] with the code [removed]'
    """
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= MIN_SECRET_LENGTH:
            text = text.replace(secret, REMOVED)
    for pattern in _SECRET_PATTERNS:
        text = pattern.sub(REMOVED, text)
    return text


class Pseudonyms:
    """Pseudonyms for players' names: `Player 1` for the first player of the game, and so on.

    `bodies` are the events of the game, and `others` are further names, for example from earlier games. Names that are
    only in `others` get the numbers after those of the game's players.
    """

    def __init__(self, bodies: Sequence[EventBody], others: Iterable[str] = ()) -> None:
        seats: dict[str, int] = {}
        for body in bodies:
            for seat, name in _find_names(body):
                seats.setdefault(name, seat)
        free = max(seats.values(), default=-1) + 1
        for name in others:
            if name not in seats:
                seats[name], free = free, free + 1
        self.by_name: Mapping[str, str] = {name: _make_pseudonym(seat) for name, seat in seats.items() if name}
        """The pseudonym of each player, by name."""
        names = "|".join(map(re.escape, sorted(self.by_name, key=len, reverse=True)))
        self._pattern = re.compile(rf"(?<!\w)(?:{names})(?!\w)", re.IGNORECASE) if names else None
        self._by_lower_name = {name.lower(): pseudonym for name, pseudonym in self.by_name.items()}

    def replace_in_text(self, text: str) -> str:
        """Return a text with pseudonyms in place of names; only whole words are replaced, in upper or lower case."""
        if self._pattern is None:
            return text
        return self._pattern.sub(lambda match: self._by_lower_name.get(match[0].lower(), REMOVED), text)

    def replace_in_event(self, body: EventBody) -> dict[str, Any]:
        """Replace the names in the data of an event or entry, also in the text of a question.

        Lines of an imported GCG file are removed, because they may contain notes.
        """
        replaced: dict[str, Any] = self._replace_in_data(body)
        return replaced

    def _replace_in_data(self, data: Any) -> Any:
        if isinstance(data, list | tuple):
            return list(map(self._replace_in_data, data))
        if not isinstance(data, Mapping):
            return data
        match data:
            case {"kind": GameStarted.kind, "players": players}:
                return {**data, "players": [_make_pseudonym(seat) for seat in range(len(players))]}
            case {"kind": PlayerRenamed.kind, "player": player}:
                return {**data, "name": _make_pseudonym(player)}
            case {"kind": RecordImported.kind}:
                return {**data, "lines": []}
            case {"code": _, "values": values}:
                texts = [self.replace_in_text(one) if isinstance(one, str) else one for one in values]
                return {key: self._replace_in_data(value) for key, value in {**data, "values": texts}.items()}
        return {key: self._replace_in_data(value) for key, value in data.items()}


def _find_names(data: Any) -> Iterator[tuple[int, str]]:
    """Yield the players' names in an event or entry as (seat, name)."""
    match data:
        case {"kind": GameStarted.kind, "players": players}:
            yield from enumerate(players)
        case {"kind": PlayerRenamed.kind, "player": player, "name": name}:
            yield player, name
        case {"alternatives": alternatives}:
            yield from (found for steps in alternatives for step in steps for found in _find_names(step))


def _make_pseudonym(seat: int) -> str:
    return f"Player {seat + 1}"


REPORT_MEMBER, DOCTOR_MEMBER, LOG_MEMBER = "report.json", "doctor.txt", "log.txt"
FORMAT_NAME, FORMAT_VERSION = "tilekeeper-report", 2


@dataclass(frozen=True, slots=True)
class ReportSources:
    """Functions without arguments that return the texts for a report.

    `examine` returns the output of `tilekeeper doctor`, `read_log` the log, `find_version` the version of the program,
    and `list_secrets` all texts that must not be in a report.
    """

    examine: Callable[[], str] = str
    read_log: Callable[[], str] = str
    find_version: Callable[[], str] = str
    list_secrets: Callable[[], Iterable[str]] = tuple


@dataclass(frozen=True, slots=True)
class ReportChoice:
    """The contents that a user selected for a report: a game, and the events whose pictures are included.

    If `has_names` is True, the players' names are kept; otherwise they become `Player 1`, `Player 2` and so on. If
    `has_photos` is True, the whole photographs are included, otherwise only the pictures of the board.
    """

    game: int
    events: tuple[int, ...] = ()
    has_names: bool = False
    has_photos: bool = True


class ReportHeader(msgspec.Struct, frozen=True):
    """The member `report.json`: program version, time of the report (Unix time), and the events with pictures."""

    form: str
    version: int
    program: Annotated[str, Meta(max_length=100, pattern=r"^[ -~]*$")]
    made: float
    game: int
    events: tuple[int, ...]
    has_names: bool


@dataclass(frozen=True)
class Report:
    """A problem report, made at the time `made` (Unix time). `write` writes exactly what the user has seen.

    `texts` are the text members by name. They contain no secrets, and no names unless the user chose to keep them.
    `pictures` are event number, kind and size (bytes) of each picture.
    """

    choice: ReportChoice
    made: float
    stored: StoredGame
    events: tuple[StoredEvent, ...]
    texts: Mapping[str, str]
    pictures: tuple[tuple[int, str, int], ...]

    @property
    def file_name(self) -> str:
        """Name for the ZIP file, with the date and the game's number."""
        return f"tilekeeper-report-{time.strftime('%Y-%m-%d', time.localtime(self.made))}-game-{self.choice.game}.zip"

    def list_members(self) -> tuple[tuple[str, int], ...]:
        """Return the name and size (bytes, before compression) of each member of the ZIP file."""
        game = encode_game(self.stored, self.events)
        texts = ((name, len(text.encode())) for name, text in self.texts.items())
        pictures = ((name_picture(number, kind), size) for number, kind, size in self.pictures)
        return (*texts, (GAME_MEMBER, len(game)), *pictures)

    def write(self, store: GameStore) -> Iterator[bytes]:
        """Return an iterator over the data of the ZIP file; the pictures are read from the store."""
        return generate_zip(self._read_members(store), self.made)

    def _read_members(self, store: GameStore) -> Iterator[tuple[str, bytes]]:
        for name, text in self.texts.items():
            yield name, text.encode()
        yield GAME_MEMBER, encode_game(self.stored, self.events)
        for number, kind, _ in self.pictures:
            if jpeg := store.read_picture(self.choice.game, number, kind):
                yield name_picture(number, kind), jpeg


def make_report(store: GameStore, choice: ReportChoice, sources: ReportSources, now: float) -> Report:
    """Collect the contents of a report at the time `now` (Unix time). Raises `ArchiveError`, `StoreError`.

    All events of the game are included, because a turn can only be replayed with the turns before it.
    """
    stored = find_stored_game(store, choice.game)
    events = store.read_events(choice.game)
    pseudonyms = Pseudonyms([event.body for event in events], (name for name, _ in store.list_players()))
    secrets = tuple(sources.list_secrets())

    def clean(text: str) -> str:
        text = remove_secrets(text, secrets)
        return text if choice.has_names else pseudonyms.replace_in_text(text)

    header = ReportHeader(
        FORMAT_NAME, FORMAT_VERSION, sources.find_version(), now, choice.game, choice.events, choice.has_names
    )
    texts = {
        REPORT_MEMBER: msgspec.json.format(msgspec.json.encode(header)).decode(),
        DOCTOR_MEMBER: clean(sources.examine()),
        LOG_MEMBER: clean(sources.read_log()),
    }
    if not choice.has_names:
        events = tuple(replace(event, body=pseudonyms.replace_in_event(event.body)) for event in events)
    return Report(choice, now, stored, events, texts, _find_pictures(store, choice))


def _find_pictures(store: GameStore, choice: ReportChoice) -> tuple[tuple[int, str, int], ...]:
    """Return event number, kind and size (bytes) of the chosen pictures that are in the store."""
    wanted: Sequence[str] = ("board", "photo") if choice.has_photos else ("board",)
    found = []
    for number, kind in store.list_pictures(choice.game):
        if number in choice.events and kind in wanted and (jpeg := store.read_picture(choice.game, number, kind)):
            found.append((number, kind, len(jpeg)))
    return tuple(found)


LOG_FILE_NAME = "tilekeeper.log"
_MAX_READ_BYTES = 16_000_000
"""Largest size of a log file that is read, in bytes. It is above `MAX_LOG_BYTES`, because the last message may be long.
"""
MAX_LOG_BYTES = 200_000
"""Size in bytes at which the log file is renamed to `tilekeeper.log.1`, in place of the previous file of this name."""
_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


class _LogFileHandler(RotatingFileHandler):
    """Handler that writes to the log file, and ignores errors such as a full disk.

    An error report after each log message would hide the log messages on the console.
    """

    def _open(self) -> TextIOWrapper:
        """Open the log file. Raises `OSError`, also for a FIFO, because opening a FIFO would wait for a reader."""
        path = Path(self.baseFilename)
        if path.exists() and not path.is_file():
            raise OSError(errno.EINVAL, "no file", str(path))
        return super()._open()

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802, ARG002
        self.close()


@contextmanager
def keep_log(folder: Path) -> Iterator[None]:
    """Write warnings to the log file in `folder`, in addition to the console, until the `with` block ends."""
    file = _LogFileHandler(folder / LOG_FILE_NAME, maxBytes=MAX_LOG_BYTES, backupCount=1, encoding="utf-8", delay=True)
    file.setFormatter(logging.Formatter(_FORMAT))
    console = logging.StreamHandler(sys.stderr)  # without any handler, logging itself would write to the console
    handlers: tuple[logging.Handler, ...] = (file, console)
    root = logging.getLogger()
    for handler in handlers:
        handler.setLevel(logging.WARNING)
        root.addHandler(handler)
    try:
        yield
    finally:
        for handler in handlers:
            root.removeHandler(handler)
        file.close()


def read_log(folder: Path) -> str:
    """Return the text of the previous and the current log file, or an empty string if there is none."""
    parts = []
    for name in (f"{LOG_FILE_NAME}.1", LOG_FILE_NAME):
        try:
            parts.append(read_small_file(folder / name, _MAX_READ_BYTES)[-MAX_LOG_BYTES:].decode(errors="replace"))
        except OSError:
            continue
    return "".join(parts)


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


def load_report(path: Path, reader: PhotoReader) -> tuple[ReportHeader, list[TurnReplay]]:
    """Open the report at `path` and replay it; see `replay_report`. Raises `ArchiveError`, `OSError`."""
    with path.open("rb") as file:
        return replay_report(file, reader)
