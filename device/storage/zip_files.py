"""Write and read ZIP files with a game: export archives and problem reports.

Files are not trusted: a ZIP is never unpacked to disk. Only members with expected names are read, each up to a limit of
bytes (`engine.limits`).
"""

from __future__ import annotations

import io
import re
import time
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO

from PIL import Image, UnidentifiedImageError

from device.catalogue import get_text
from device.storage.errors import ArchiveError
from device.storage.game_file import GAME_MEMBER
from engine.limits import MAX_ARCHIVE_DIRECTORY_BYTES, MAX_ARCHIVE_UNPACKED_BYTES, MAX_PICTURE_SIDE_PX

PICTURE_MEMBER = re.compile(r"pictures/([0-9]{1,5})-(board|photo|question)\.jpg")
"""Pattern of the name of a picture in a ZIP: the number of its event, and its kind."""

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
_DIRECTORY_SIZE_FIELD = slice(12, 16)
"""Bytes of the end record of a ZIP with the size of the central directory."""
_MAX_ZIP_END_BYTES = _ZIP_END_BYTES + 65_535
"""Largest size of the end record of a ZIP with its comment, in bytes."""
_MIN_ZIP_DATE, _MAX_ZIP_DATE = (1980, 1, 1, 0, 0, 0), (2107, 12, 31, 23, 59, 58)
"""Earliest and latest date that ZIP files can contain."""


def name_picture(number: int, kind: str) -> str:
    """Return the name, in a ZIP, of the picture of an event.

    >>> name_picture(12, "board")
    'pictures/00012-board.jpg'
    """
    return f"pictures/{number:05}-{kind}.jpg"


# Writing


def generate_zip(members: Iterable[tuple[str, bytes]], moment: float) -> Iterator[bytes]:
    """Return an iterator over the data of a ZIP file.

    `members` are names and contents. `moment` (seconds since 1970) is the date of all members; a date that ZIP files
    cannot contain is replaced by the nearest possible one, because the clock may be wrong. Only one member is in memory
    at a time. Pictures are not compressed again.
    """
    outlet = _ZipBuffer()
    date = min(max(_MIN_ZIP_DATE, to_local_time(moment)[:6]), _MAX_ZIP_DATE)
    with zipfile.ZipFile(outlet, "w") as archive:
        for name, data in members:
            info = zipfile.ZipInfo(name, date)
            info.external_attr = 0o644 << 16
            archive.writestr(info, data, zipfile.ZIP_STORED if name.endswith(".jpg") else zipfile.ZIP_DEFLATED)
            yield outlet.take_bytes()
    yield outlet.take_bytes()


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


def to_local_time(seconds: float) -> time.struct_time:
    """Convert a Unix time to local time. A time that the system cannot convert becomes the start of 1970."""
    try:
        return time.localtime(seconds)
    except (OverflowError, ValueError, OSError):
        return time.localtime(0)


# Reading


class ZipMembers:
    """The members of an open ZIP file by name. Each is read up to a limit of bytes."""

    def __init__(self, archive: zipfile.ZipFile, members: Mapping[str, zipfile.ZipInfo]) -> None:
        self._archive = archive
        self._members = members
        found = map(PICTURE_MEMBER.fullmatch, members)
        self._pictures = {(int(match[1]), match[2]): match[0] for match in found if match}

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def list_pictures(self) -> list[tuple[int, str]]:
        """Return the event number and the kind of each picture."""
        return list(self._pictures)

    def read(self, name: str, max_bytes: int) -> bytes:
        """Return the data of a member. Raises `ArchiveError` if it has more than `max_bytes` bytes."""
        with self._archive.open(self._members[name]) as member:
            data = member.read(max_bytes + 1)
        if len(data) > max_bytes:
            raise ArchiveError(get_text("zip-part-large", name, max_bytes // 1000))
        return data

    def read_picture(self, number: int, kind: str, max_bytes: int) -> bytes:
        """Return the JPEG data of an event's picture.

        Raises `ArchiveError` if the picture has more than `max_bytes` bytes, is not a JPEG, or is wider or higher than
        `MAX_PICTURE_SIDE_PX`. This is checked because browsers will show the picture.
        """
        name = self._pictures[number, kind]
        jpeg = self.read(name, max_bytes)
        with suppress(UnidentifiedImageError, OSError, ValueError, SyntaxError, Image.DecompressionBombError):
            side = max(Image.open(io.BytesIO(jpeg), formats=["JPEG"]).size)  # from the header, without decoding
            if side <= MAX_PICTURE_SIDE_PX:
                return jpeg
        raise ArchiveError(get_text("zip-picture", name, MAX_PICTURE_SIDE_PX))


@contextmanager
def open_zip(file: BinaryIO, is_member: Callable[[str], bool]) -> Iterator[ZipMembers]:
    """Open a ZIP file with a game. The function `is_member` returns True for names that are allowed in the file.

    Raises `ArchiveError` if the file is no ZIP file with a game, or if a damaged member is read in the `with` block.
    """
    try:
        _check_directory(file)
        with zipfile.ZipFile(file) as archive:
            yield ZipMembers(archive, _check_members(archive, is_member))
    except _ZIP_ERRORS as error:
        raise ArchiveError(get_text("zip-none", error)) from error


def _check_directory(file: BinaryIO) -> None:
    """Raise `ArchiveError` if the central directory of a ZIP is larger than that of any exported game.

    `ZipFile` reads the whole directory into memory. The size of the directory is in the end record of the file
    (https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT, 4.3.16).
    """
    file.seek(max(0, file.seek(0, io.SEEK_END) - _MAX_ZIP_END_BYTES))
    end = file.read()
    file.seek(0)
    directory_bytes = 0
    if (start := end.rfind(_ZIP_END)) >= 0:
        record = end[start : start + _ZIP_END_BYTES]
        if len(record) < _ZIP_END_BYTES:  # a signature inside a comment would hide the size of the directory
            raise zipfile.BadZipFile("the record at its end is incomplete")
        directory_bytes = int.from_bytes(record[_DIRECTORY_SIZE_FIELD], "little")
    if directory_bytes > MAX_ARCHIVE_DIRECTORY_BYTES or _ZIP64_LOCATOR in end:
        raise ArchiveError(get_text("zip-many", MAX_ARCHIVE_DIRECTORY_BYTES // 1000))


def _check_members(archive: zipfile.ZipFile, is_member: Callable[[str], bool]) -> dict[str, zipfile.ZipInfo]:
    """Return the members of a ZIP by name.

    Raises `ArchiveError` in these cases: an unexpected member, a name that occurs twice, encrypted data, an unknown
    compression, a total size above the limit, no `game.json`.
    """
    members: dict[str, zipfile.ZipInfo] = {}
    for info in archive.infolist():
        if not is_member(info.filename):
            raise ArchiveError(get_text("zip-strange", repr(info.filename[:60])))
        if info.filename in members:
            raise ArchiveError(get_text("zip-twice", info.filename))
        if info.flag_bits & 0x1 or info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ArchiveError(get_text("zip-packed"))
        members[info.filename] = info
    if sum(info.file_size for info in members.values()) > MAX_ARCHIVE_UNPACKED_BYTES:
        raise ArchiveError(get_text("zip-large", MAX_ARCHIVE_UNPACKED_BYTES // 1_000_000))
    if GAME_MEMBER not in members:
        raise ArchiveError(get_text("zip-empty", GAME_MEMBER))
    return members
