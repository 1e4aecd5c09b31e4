"""ZIP files that no table has exported are refused, before much of them is unpacked."""

from __future__ import annotations

import io
import struct
import zipfile

import pytest

from device.storage.archive import import_zip
from device.storage.errors import ArchiveError
from device.storage.store import MAX_PICTURE_BYTES, GameStore
from tests.support.archives import Members, export_to_memory, make_jpeg, make_zip


@pytest.mark.parametrize("name", ["../game.json", "/etc/passwd", "a.txt", "pictures/", "pictures/1-board.png", "C:\\x"])
def test_name_that_no_export_has_is_refused(other: GameStore, members: Members, name: str) -> None:
    with pytest.raises(ArchiveError, match="does not belong in the ZIP file of a game"):
        import_zip(other, make_zip(members | {name: b"x"}))


def test_bomb_is_refused_unopened_and_unpacked_no_further_than_the_bound(
    other: GameStore, members: Members, monkeypatch: pytest.MonkeyPatch
) -> None:
    bomb = make_zip(members | {"pictures/00001-board.jpg": bytes(MAX_PICTURE_BYTES + 1)})
    with pytest.raises(ArchiveError, match="larger than"):
        import_zip(other, bomb)
    monkeypatch.setattr("device.storage.archive.MAX_ARCHIVE_UNPACKED_BYTES", MAX_PICTURE_BYTES)
    with pytest.raises(ArchiveError, match="unpacks to more"):
        import_zip(other, bomb)


def test_member_with_a_wrong_size_in_the_header_is_refused(other: GameStore, members: Members) -> None:
    data = bytearray(make_zip({"game.json": members["game.json"]}).getvalue())
    at = data.rindex(b"PK\1\2")
    data[at + 24 : at + 28] = struct.pack("<I", 10)  # the central directory's uncompressed size
    with pytest.raises(ArchiveError):
        import_zip(other, io.BytesIO(bytes(data)))


@pytest.mark.parametrize("data", [b"", b"PK", b"\xff\xd8\xff no zip", b"PK\5\6" + bytes(18)])
def test_file_that_is_no_zip_is_refused(other: GameStore, data: bytes) -> None:
    with pytest.raises(ArchiveError, match="ZIP"):
        import_zip(other, io.BytesIO(data))


def test_damaged_zip_is_refused(other: GameStore, store: GameStore, number: int) -> None:
    whole = export_to_memory(store, number).getvalue()
    for at in range(0, len(whole), 97):
        broken = bytearray(whole)
        broken[at] ^= 0x55
        try:
            brought = import_zip(other, io.BytesIO(bytes(broken)))
        except ArchiveError:
            continue
        assert other.read_events(brought) == store.read_events(number)  # only a date or an attribute was hit
        other.delete_game(brought)


def test_zip_of_a_later_version_is_refused(other: GameStore, members: Members) -> None:
    data = bytearray(make_zip(members).getvalue())
    data[data.rindex(b"PK\1\2") + 6] = 134  # the version that is needed to read a member
    data[data.rindex(b"PK\3\4") + 4] = 134
    with pytest.raises(ArchiveError, match="not the ZIP file of a game"):
        import_zip(other, io.BytesIO(bytes(data)))


def test_zip_of_too_many_files_is_refused_before_its_list_is_read(
    other: GameStore, members: Members, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = make_zip(members | {f"{'x' * 200}{n}/": b"" for n in range(5000)})
    monkeypatch.setattr(zipfile, "ZipFile", None)
    with pytest.raises(ArchiveError, match="too many files for a game: its list is larger than 1000 kB"):
        import_zip(other, many)


def test_file_that_is_no_picture_is_refused(other: GameStore, members: Members) -> None:
    for data in (b"<script>", b"\xff\xd8\xff", make_jpeg()[:50], b"GIF89a"):
        with pytest.raises(ArchiveError, match="not a JPEG"):
            import_zip(other, make_zip(members | {"pictures/00001-board.jpg": data}))


def test_picture_of_no_event_is_refused(other: GameStore, members: Members) -> None:
    with pytest.raises(ArchiveError, match="belongs to no turn of the game"):
        import_zip(other, make_zip(members | {"pictures/09999-board.jpg": make_jpeg()}))


@pytest.mark.parametrize("tail", [b"PK\5\6", b"PK\5\6" + bytes(10), b"PK\6\7" + bytes(16) + b"PK\5\6" + bytes(18)])
def test_zip_with_a_strange_end_is_refused(store: GameStore, tail: bytes) -> None:
    with pytest.raises(ArchiveError):
        import_zip(store, io.BytesIO(b"PK\3\4" + tail))


def test_zip_that_hides_the_size_of_its_list_is_refused(store: GameStore) -> None:
    """Another signature of the record at the end is inside that record; `ZipFile` does not see it."""
    many = io.BytesIO()
    with zipfile.ZipFile(many, "w") as packed:
        for number in range(100):
            packed.writestr(f"{number:0200}/", b"")
    data = bytearray(many.getvalue())
    data[-6:-2] = b"PK\5\6"
    assert len(zipfile.ZipFile(io.BytesIO(data)).infolist()) == 100
    with pytest.raises(ArchiveError, match="incomplete"):
        import_zip(store, io.BytesIO(data))
