"""Backup and restore of a hall: games, rounds and the key, which only the owner may read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from device.cli import main
from device.hall.director import FILE_NAME, open_key
from device.hall.receiving.event import decide
from device.hall.receiving.pairings import import_pairings
from device.hall.receiving.receiver import HallReceiver
from device.settings import HallSettings
from engine.events import EndReason, GameEnded, GameStarted, Passed, RackRevealed
from tests.support.archives import write_acts

SETTINGS = HallSettings("127.0.0.1", 1)


def fill_hall(folder: Path) -> HallReceiver:
    """Return a running hall with a game and a result by hand."""
    folder.mkdir()
    hall = HallReceiver(folder / "hall.db", SETTINGS, key=open_key(folder / FILE_NAME))
    hall.edit_event(lambda event: import_pairings(event, "1,7,Anna,Ben\n1,8,Cleo,Dan"))
    hall.edit_event(lambda event: decide(event, 1, "Cleo", points=(400, 300)))
    acts = Passed(0), RackRevealed(1, ()), RackRevealed(0, ("A",)), GameEnded(EndReason.AGREED)
    logged = [
        {"time": 10.0 + i, "event": body} for i, body in enumerate(write_acts(GameStarted(("Anna", "Ben")), *acts))
    ]
    log = {"table": "7", "store": "a", "game": 1, "events": logged}
    hall.receive("tilekeeper/v2/7/log", json.dumps(log).encode(), False)
    return hall


def test_restored_hall_has_its_rounds_results_and_key(tmp_path: Path) -> None:
    backup, other = tmp_path / "evening.zip", tmp_path / "other"
    with fill_hall(tmp_path / "hall") as hall:
        assert main(["backup", str(backup), "--data", str(tmp_path / "hall")]) == 0
        rounds, fingerprint = hall.state.rounds, hall.fingerprint
    assert backup.stat().st_mode & 0o077 == 0
    other.mkdir()
    assert main(["restore", str(backup), "--data", str(other)]) == 0
    with HallReceiver(other / "hall.db", SETTINGS, key=open_key(other / FILE_NAME)) as hall:
        assert (hall.state.rounds, hall.fingerprint) == (rounds, fingerprint)
        assert (other / FILE_NAME).stat().st_mode & 0o077 == 0


def test_replaced_hall_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, backup = tmp_path / "hall", str(tmp_path / "evening.zip")
    with fill_hall(folder):
        main(["backup", backup, "--data", str(folder)])
        assert main(["restore", backup, "--data", str(folder)]) == 2, "the hall is running"
    assert main(["restore", backup, "--data", str(folder)]) == 0 and "kept in" in capsys.readouterr().out
    (aside,) = folder.glob("replaced-hall*")
    assert {path.name for path in aside.iterdir()} >= {"hall.db", FILE_NAME}


def test_other_zip_file_is_refused(tmp_path: Path) -> None:
    import zipfile

    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("../hall.db", "x")
    assert main(["restore", str(tmp_path / "x.zip"), "--data", str(tmp_path)]) == 2
