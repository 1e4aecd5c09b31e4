"""Export and import of games: as GCG for other programs, or as ZIP with all events and pictures.

Imported files are not trusted. ZIP files are never unpacked to disk; only members with expected names are read, and
only up to a limit of bytes. A game is imported only if all events have the right types and can be replayed.
"""

from __future__ import annotations

import io
import re
import time
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any, BinaryIO

from PIL import Image, UnidentifiedImageError

from device.player_names import MAX_PLAYER_NAME_LENGTH, is_displayable
from device.storage.errors import ArchiveError, describe_missing_game, describe_unreadable_game
from device.storage.game_file import GAME_MEMBER, decode_game, encode_game
from device.storage.game_log import UNREADABLE_GAME_ERRORS, replay_log
from device.storage.store import MAX_PICTURE_BYTES, EventBody, GameStore, StoredEvent, StoredGame, StoredPicture
from engine.errors import NotationError, RulesError
from engine.events import Event, GameStarted, RecordImported, from_json, to_json
from engine.game import Game
from engine.gcg import build_game, build_record, format_gcg, parse_gcg, replay
from engine.lexicon import load_shipped_lexicon
from engine.limits import (
    MAX_ARCHIVE_DIRECTORY_BYTES,
    MAX_ARCHIVE_GAME_BYTES,
    MAX_ARCHIVE_UNPACKED_BYTES,
    MAX_GCG_BYTES,
    MAX_PICTURE_SIDE_PX,
)
from engine.messages import make_message

_ZIP_ERRORS = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,  # a member that needs a later version of ZIP
    OSError,
    ValueError,
)
_ZIP_END, _ZIP64_LOCATOR = b"PK\5\6", b"PK\6\7"
_ZIP_END_BYTES = 22
_MAX_ZIP_END_BYTES = _ZIP_END_BYTES + 65_535
"""Largest size of the end record of a ZIP, which includes a comment."""

_GCG_MEMBER = "game.gcg"
_PICTURE_MEMBER = re.compile(r"pictures/([0-9]{1,5})-(board|photo)\.jpg")
_MIN_ZIP_DATE = (1980, 1, 1, 0, 0, 0)
"""Earliest date that ZIP files can contain."""


def load_game(store: GameStore, number: int) -> Game:
    """Load a game from the store and replay its events. Raises `ArchiveError`, `StoreError`."""
    events = store.events(number)
    if not events:
        raise ArchiveError(describe_missing_game(number))
    try:
        return replay_log(from_json(event.body) for event in events)
    except UNREADABLE_GAME_ERRORS as error:
        raise ArchiveError(describe_unreadable_game(number, error)) from error


def export_gcg(store: GameStore, number: int) -> str:
    """Return a game of the store as GCG text, the common format of Scrabble programs.

    Raises `ArchiveError`, `StoreError`.
    """
    game = load_game(store, number)
    return format_gcg(build_record(game, lexicon=load_shipped_lexicon(game.tiles.name)))


def export_zip(store: GameStore, number: int) -> Iterator[bytes]:
    """Return an iterator over the data of a ZIP file with a whole game: events with their times, GCG, pictures.

    No more than one picture is in memory at a time. Raises `ArchiveError`, `StoreError` at the call, not during the
    iteration.
    """
    stored = _find_stored_game(store, number)
    try:
        gcg = export_gcg(store, number)
    except ArchiveError:
        gcg = ""  # only a later version can replay this game; its events are complete
    return _generate_zip(store, stored, gcg)


def import_zip(store: GameStore, file: BinaryIO) -> int:
    """Import a ZIP file from `export_zip` and return the game's number in this store.

    Raises `ArchiveError`, `StoreError`.
    """
    try:
        _check_directory(file)
        with zipfile.ZipFile(file) as archive:
            return _import_archive(store, archive)
    except _ZIP_ERRORS as error:
        text = "this is no ZIP of a game ({0}): bring one that was exported here"
        raise ArchiveError(make_message("zip-none", text, error)) from error


def _import_archive(store: GameStore, archive: zipfile.ZipFile) -> int:
    members = _check_members(archive)
    started, events = decode_game(_read_member(archive, members[GAME_MEMBER], MAX_ARCHIVE_GAME_BYTES))
    found = [(_PICTURE_MEMBER.fullmatch(name), info) for name, info in members.items()]
    pictures = [(int(match[1]), match[2], info) for match, info in found if match]
    for number, _, info in pictures:
        if number >= len(events):
            raise ArchiveError(make_message("zip-no-event", "{0} belongs to no event of the game", info.filename))
        _check_picture(info.filename, _read_member(archive, info, MAX_PICTURE_BYTES))
    _refuse_duplicate(store, events)
    read = (
        StoredPicture(number, kind, _read_member(archive, info, MAX_PICTURE_BYTES)) for number, kind, info in pictures
    )
    return store.add_game(started, events, read)


def import_gcg(store: GameStore, data: bytes) -> int:
    """Import a GCG file from any program and return the game's number in this store.

    Raises `ArchiveError`, `StoreError`.
    """
    if len(data) > MAX_GCG_BYTES:
        text = "a GCG file has up to {0} kB, this one {1}"
        raise ArchiveError(make_message("gcg-large", text, MAX_GCG_BYTES // 1000, -(-len(data) // 1000)))  # rounded up
    record = parse_gcg(data)
    if record.problems and not record.entries:
        problem = record.problems[0]
        raise ArchiveError(make_message("gcg-line", "line {0}: {1}", problem.line, problem.reason))
    try:
        bodies = [to_json(_clean_player_names(event)) for event in build_game(record).events]
    except (NotationError, RulesError) as error:
        raise ArchiveError(
            make_message("gcg-impossible", "this game cannot have been played so: {0}", error)
        ) from error
    now = time.time()
    events = tuple(StoredEvent(number, now, body) for number, body in enumerate(bodies))
    _refuse_duplicate(store, events)
    return store.add_game(now, events, ())


def list_gcg_problems(data: bytes) -> tuple[str, ...]:
    """Return the problems in a GCG file, one sentence each, in the order of the lines."""
    return tuple(map(str, replay(parse_gcg(data)).problems))


def _clean_player_names(event: Event) -> Event:
    """Replace invalid players' names in a `GameStarted` event from another program; return other events unchanged."""
    if not isinstance(event, GameStarted):
        return event
    cleaned = ("".join(filter(is_displayable, name)).strip()[:MAX_PLAYER_NAME_LENGTH].strip() for name in event.players)
    return replace(event, players=tuple(name or f"Player {seat}" for seat, name in enumerate(cleaned, 1)))


def make_file_name(stored: StoredGame, names: Iterable[str], suffix: str) -> str:
    """Return a file name with the date, number and players of a game, in ASCII letters for all operating systems."""
    named = "-".join(["".join(c for c in name if c.isascii() and c.isalnum()) or "player" for name in names])
    return f"{time.strftime('%Y-%m-%d', _to_local_time(stored.started))}-game-{stored.id}-{named[:80]}{suffix}"


# Export


def _find_stored_game(store: GameStore, number: int) -> StoredGame:
    stored = next((game for game in store.games() if game.id == number), None)
    if stored is None:
        raise ArchiveError(describe_missing_game(number))
    return stored


class _ZipBuffer(io.RawIOBase):
    """A write-only, non-seekable file in memory for `zipfile`; `take_bytes` returns and removes its contents."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._parts.append(bytes(data))
        return len(self._parts[-1])

    def take_bytes(self) -> bytes:
        taken, self._parts = b"".join(self._parts), []
        return taken


def _generate_zip(store: GameStore, stored: StoredGame, gcg: str) -> Iterator[bytes]:
    outlet = _ZipBuffer()
    moment = max(_MIN_ZIP_DATE, _to_local_time(stored.started)[:6])
    with zipfile.ZipFile(outlet, "w") as archive:

        def put(name: str, data: bytes, how: int) -> bytes:
            info = zipfile.ZipInfo(name, moment)
            info.external_attr = 0o644 << 16
            archive.writestr(info, data, how)
            return outlet.take_bytes()

        yield put(GAME_MEMBER, encode_game(stored, store.events(stored.id)), zipfile.ZIP_DEFLATED)
        if gcg:
            yield put(_GCG_MEMBER, gcg.encode(), zipfile.ZIP_DEFLATED)
        for number, kind in store.pictures(stored.id):
            if jpeg := store.picture(stored.id, number, kind):
                yield put(f"pictures/{number:05}-{kind}.jpg", jpeg, zipfile.ZIP_STORED)
    yield outlet.take_bytes()


def _to_local_time(seconds: float) -> time.struct_time:
    try:
        return time.localtime(seconds)
    except (OverflowError, ValueError, OSError):
        return time.localtime(0)


# Import


def _check_directory(file: BinaryIO) -> None:
    """Raise `ArchiveError` if the central directory of a ZIP is larger than that of any exported game.

    `ZipFile` reads the whole directory into memory. The size of the directory is in the end record of the file
    (https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT, 4.3.16).
    """
    file.seek(max(0, file.seek(0, io.SEEK_END) - _MAX_ZIP_END_BYTES))
    end = file.read()
    at = end.rfind(_ZIP_END)
    if at >= 0 and len(end) - at < _ZIP_END_BYTES:  # a signature inside a comment would hide the size of the directory
        raise zipfile.BadZipFile("the record at its end is incomplete")
    size = int.from_bytes(end[at + 12 : at + 16], "little") if at >= 0 else 0
    file.seek(0)
    if size > MAX_ARCHIVE_DIRECTORY_BYTES or _ZIP64_LOCATOR in end:
        text = "the ZIP has more files than any game: its list is larger than {0} kB"
        raise ArchiveError(make_message("zip-many", text, MAX_ARCHIVE_DIRECTORY_BYTES // 1000))


def _check_members(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """Return the members of a ZIP by name.

    Raises `ArchiveError` for a member that `export_zip` does not write, for a name that occurs twice, and for a total
    size above the limit.
    """
    members: dict[str, zipfile.ZipInfo] = {}
    for info in archive.infolist():
        if info.filename not in (GAME_MEMBER, _GCG_MEMBER) and not _PICTURE_MEMBER.fullmatch(info.filename):
            text = "{0} belongs to no exported game: bring a ZIP that was exported here"
            raise ArchiveError(make_message("zip-strange", text, repr(info.filename[:60])))
        if info.filename in members:
            text = "{0} is there twice: bring a ZIP that was exported here"
            raise ArchiveError(make_message("zip-twice", text, info.filename))
        if info.flag_bits & 0x1 or info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            text = "the ZIP has a password, or is packed in another way: bring one that was exported here"
            raise ArchiveError(make_message("zip-packed", text))
        members[info.filename] = info
    if sum(info.file_size for info in members.values()) > MAX_ARCHIVE_UNPACKED_BYTES:
        text = "the ZIP unpacks to more than {0} MB, which no game does"
        raise ArchiveError(make_message("zip-large", text, MAX_ARCHIVE_UNPACKED_BYTES // 1_000_000))
    if GAME_MEMBER not in members:
        raise ArchiveError(
            make_message("zip-empty", "the ZIP has no {0}: bring a ZIP that was exported here", GAME_MEMBER)
        )
    return members


def _read_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, most: int) -> bytes:
    """Return the data of a member; raise `ArchiveError` above `most` bytes, as the size in its header may be wrong."""
    with archive.open(info) as member:
        data = member.read(most + 1)
    if len(data) > most:
        text = "{0} is larger than {1} kB, which none of a game is"
        raise ArchiveError(make_message("zip-part-large", text, info.filename, most // 1000))
    return data


def _check_picture(name: str, jpeg: bytes) -> None:
    """Raise `ArchiveError` unless the data is a JPEG of limited size, because browsers will show the picture."""
    with suppress(UnidentifiedImageError, OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        side = max(Image.open(io.BytesIO(jpeg), formats=["JPEG"]).size)  # from the header, without decoding
        if side <= MAX_PICTURE_SIDE_PX:
            return
    raise ArchiveError(
        make_message("zip-picture", "{0} is no JPEG of up to {1} pixels a side", name, MAX_PICTURE_SIDE_PX)
    )


def _refuse_duplicate(store: GameStore, events: tuple[StoredEvent, ...]) -> None:
    bodies = _list_moves(events)
    for game in store.games():
        alike = abs(game.length - len(events)) <= 1 and game.first == bodies[0]
        if alike and _list_moves(store.events(game.id)) == bodies:
            raise ArchiveError(make_message("game-here", "this game is here already: it is game {0}", game.id))


def _list_moves(events: Iterable[StoredEvent]) -> list[EventBody]:
    """Return the bodies of all events except `RecordImported`, which contains the lines of an imported GCG file."""
    return [event.body for event in events if event.body["kind"] != RecordImported.kind]
