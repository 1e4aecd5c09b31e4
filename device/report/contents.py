"""The contents of a problem report, its ZIP file, and the log file that is part of it.

A report never contains Wi-Fi passwords, pairing secrets or cookies: all secrets of the table, and everything that looks
like a secret, are removed from its texts.
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
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from device.storage.archive import GAME_MEMBER, encode_game, find_stored_game, generate_zip, name_picture
from device.storage.files import read_small_file
from device.storage.store import EventBody, GameStore, StoredEvent, StoredGame
from engine.events import GameStarted, PlayerRenamed, RecordImported

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
        """Return plain data of events with pseudonyms in place of all names, also inside stored messages."""
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
