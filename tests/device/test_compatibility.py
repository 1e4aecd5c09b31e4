"""Files of released versions stay readable, and files of later versions are refused in one sentence."""

from __future__ import annotations

import json
import shutil
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path

import pytest

from device.settings import Settings, load_settings
from device.storage.archive import import_gcg, import_zip, load_game
from device.storage.errors import ArchiveError
from device.storage.schema import STORE_SCHEMA
from device.storage.store import GameStore, StoreError

RELEASES = sorted((Path(__file__).parent / "storage" / "data").glob("release-*"))
TOTALS = {"release-0.1.0": {1: (14, 0), 2: (18, 0), 3: (533, 318)}}
"""Totals of the games in the store of each release, by number; the last one is also there as ZIP and GCG."""


@pytest.fixture(params=RELEASES, ids=lambda folder: folder.name)
def release(request: pytest.FixtureRequest) -> Path:
    return Path(request.param)


def test_store_of_release_keeps_its_totals(release: Path, tmp_path: Path) -> None:
    shutil.copy(release / "games.db", tmp_path)
    for _ in range(2):  # migrated, and opened again
        with GameStore(tmp_path / "games.db") as store:
            assert not any(game.damage for game in store.list_games())
            totals = {game.id: load_game(store, game.id).totals for game in store.list_games()}
            assert totals == TOTALS[release.name]
            assert store.read_picture(1, 1, "board") and dict(store.list_players())["Ben"] == "#ff8800"
            assert store.read_note(2, "clock") == "{}"
    with closing(sqlite3.connect(tmp_path / "games.db")) as db:
        assert db.execute("SELECT count(*) FROM event WHERE checksum = ''").fetchone() == (0,)


def test_archives_of_release_are_imported(release: Path) -> None:
    last = max(TOTALS[release.name])
    with GameStore(":memory:") as store, (release / "game.zip").open("rb") as file:
        assert load_game(store, import_zip(store, file)).totals == TOTALS[release.name][last]
    with GameStore(":memory:") as store:
        number = import_gcg(store, (release / "game.gcg").read_bytes())
        assert load_game(store, number).totals == TOTALS[release.name][last]


def test_settings_of_release_are_read(release: Path) -> None:
    assert load_settings(release / "settings.toml") == Settings()


def test_archive_of_later_version_is_refused_in_one_sentence(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "game.zip", "w") as archive:
        later = {"form": "tilekeeper-game", "version": 2, "moves": []}
        archive.writestr("game.json", json.dumps(later))
    refusal = pytest.raises(ArchiveError, match="written by a newer Tilekeeper")
    with GameStore(":memory:") as store, (tmp_path / "game.zip").open("rb") as file, refusal:
        import_zip(store, file)


def test_store_of_later_version_is_refused_in_one_sentence(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "games.db")) as db:
        db.execute(f"PRAGMA user_version = {STORE_SCHEMA.version + 1}")
    with pytest.raises(StoreError, match="written by a newer Tilekeeper"):
        GameStore(tmp_path / "games.db")
