"""The record of a folder's pictures: kept in the store, by folder, without files that are gone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from device.storage.notes import StoredPictureRecord
from device.storage.store import TABLE_NOTES, GameStore


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "pictures"
    path.mkdir()
    for name in ("1.jpg", "2.jpg"):
        (path / name).touch()
    return path


def test_record_is_there_after_a_restart(tmp_path: Path, folder: Path) -> None:
    with GameStore(tmp_path / "games.db") as store:
        StoredPictureRecord(store, folder).save({"1.jpg": 5, "2.jpg": 7})
    with GameStore(tmp_path / "games.db") as store:
        assert StoredPictureRecord(store, folder).load() == {"1.jpg": 5, "2.jpg": 7}
        assert StoredPictureRecord(store, tmp_path / "other").load() == {}


def test_files_that_are_gone_are_left_out(folder: Path) -> None:
    with GameStore(":memory:") as store:
        StoredPictureRecord(store, folder).save({"1.jpg": 5, "gone.jpg": 7})
        assert StoredPictureRecord(store, folder).load() == {"1.jpg": 5}


def test_picture_whose_name_is_no_utf8_is_known_after_a_restart(folder: Path, tmp_path: Path) -> None:
    name = os.fsdecode("Straße.jpg".encode("latin-1"))
    (folder / name).touch()
    with GameStore(tmp_path / "games.db") as store:
        StoredPictureRecord(store, folder).save({name: 5})
        assert StoredPictureRecord(store, folder).load() == {name: 5}


def test_folder_whose_name_is_no_utf8_is_known_after_a_restart(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode("Straße".encode("latin-1"))
    folder.mkdir()
    (folder / "1.jpg").touch()
    with GameStore(tmp_path / "games.db") as store:
        StoredPictureRecord(store, folder).save({"1.jpg": 5})
    with GameStore(tmp_path / "games.db") as store:
        assert StoredPictureRecord(store, folder).load() == {"1.jpg": 5}


@pytest.mark.parametrize("text", ["no json", "[1, 2]", '{"1.jpg": "5"}'])
def test_note_that_is_no_record_counts_as_none(folder: Path, text: str) -> None:
    with GameStore(":memory:") as store:
        store.save_note(TABLE_NOTES, f"shown-pictures {folder}", text)
        assert StoredPictureRecord(store, folder).load() == {}


def test_closed_store_costs_the_record_only(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    store = GameStore(":memory:")
    store.close()
    record = StoredPictureRecord(store, folder)
    record.save({"1.jpg": 5})
    assert record.load() == {} and "not saved" in caplog.text
