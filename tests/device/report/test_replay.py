"""Replay of a problem report: pictures are read again and compared."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import pytest

from device.cli import main
from device.cli import replay_report as command
from device.report.contents import ReportChoice, ReportSources, make_report
from device.report.replay import TurnReplay, replay_report
from device.storage.archive import export_zip
from device.storage.errors import ArchiveError
from device.storage.store import GameStore
from tests.support.rendered_table import RenderedTable
from tests.support.text_table import FARM, HORN
from vision.recognition.reader import PhotoReading, ReadingTimes


def save_report(store: GameStore, *events: int, has_photos: bool = True) -> io.BytesIO:
    report = make_report(store, ReportChoice(1, events, has_photos=has_photos), ReportSources(), 1e9)
    return io.BytesIO(b"".join(report.write(store)))


def replay(file: io.BytesIO, table: RenderedTable) -> list[TurnReplay]:
    return replay_report(file, table)[1]


@pytest.mark.parametrize("has_photos", [True, False])
def test_same_reading_gives_the_recorded_turn(store: GameStore, table: RenderedTable, has_photos: bool) -> None:
    (turn,) = replay(save_report(store, 3, has_photos=has_photos), table)
    assert turn.is_same and turn.from_record == ()
    assert turn.recorded == turn.inferred == "Player 1 played PASTE at 10F for 25"
    assert turn.from_reading == (() if has_photos else None)


def test_square_that_is_read_differently_is_named(store: GameStore, table: RenderedTable) -> None:
    table.lay(HORN, FARM, ("HASTE", 9, 5, True))
    (turn,) = replay(save_report(store, 3), table)
    assert not turn.is_same and not turn.is_same_turn
    assert [(one.square, one.before, one.now) for one in turn.from_record] == [("F10", "P", "H")]
    assert turn.from_reading == turn.from_record


def test_each_picture_is_compared_with_the_game_before_it(store: GameStore, table: RenderedTable) -> None:
    table.lay(HORN, FARM)
    turns = replay(save_report(store, 2, 3), table)
    assert [turn.is_same for turn in turns] == [True, False]


class BlindReader:
    """A reader that finds no board."""

    def read(self, *_: object, **__: object) -> PhotoReading:
        return PhotoReading(None, None, ("No board was found. A cat.",), ReadingTimes(1, 1, 2))


def test_board_that_is_not_found_is_a_problem(store: GameStore) -> None:
    (turn,) = replay_report(save_report(store, 1), BlindReader())[1]
    assert not turn.is_same and turn.problems == ("No board was found. A cat.",)


def test_damaged_picture_is_a_problem(store: GameStore, table: RenderedTable) -> None:
    source, changed = save_report(store, 1, has_photos=False), io.BytesIO()
    with zipfile.ZipFile(source) as archive, zipfile.ZipFile(changed, "w") as copy:
        for name in archive.namelist():
            data = archive.read(name)
            copy.writestr(name, data[:700] if name.endswith(".jpg") else data)
    (turn,) = replay(changed, table)
    assert not turn.is_same and turn.problems == ("The picture is damaged. Save the report again.",)


@pytest.mark.parametrize("name", ["../evil", "settings.toml", "pictures/1-other.jpg"])
def test_member_that_no_report_has_is_refused(store: GameStore, table: RenderedTable, name: str) -> None:
    file = save_report(store, 1)
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr(name, b"x")
    with pytest.raises(ArchiveError, match="does not belong in the ZIP file of a game"):
        replay(file, table)


def test_export_of_a_game_is_no_report(store: GameStore, table: RenderedTable) -> None:
    file = io.BytesIO(b"".join(export_zip(store, 1)))
    with pytest.raises(ArchiveError):
        replay(file, table)


def test_report_of_a_later_version_is_refused(store: GameStore, table: RenderedTable) -> None:
    source, changed = save_report(store, 1), io.BytesIO()
    with zipfile.ZipFile(source) as archive, zipfile.ZipFile(changed, "w") as copy:
        for name in archive.namelist():
            data = archive.read(name)
            copy.writestr(name, data.replace(b'"version": 2', b'"version": 3') if name == "report.json" else data)
    with pytest.raises(ArchiveError, match="This report has version 3"):
        replay(changed, table)


def test_command_prints_what_differs(
    store: GameStore, table: RenderedTable, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "report.zip"
    path.write_bytes(save_report(store, 3).getvalue())
    table.lay(HORN, FARM, ("HASTE", 9, 5, True))
    header, turns = replay_report(io.BytesIO(path.read_bytes()), table)
    print("\n".join(command.as_text(header, turns)))
    out = capsys.readouterr().out
    assert "DIFFERS  Player 1 played PASTE at 10F for 25" in out and "F10: record P, now H" in out
    assert "0 of 1 pictures give the same" in out
    answer = json.loads(command.as_json(header, turns))
    assert answer["report"]["game"] == 1 and answer["turns"][0]["same"] is False


def test_command_reads_a_report_with_the_networks(
    store: GameStore, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "report.zip"
    path.write_bytes(save_report(store, 1).getvalue())
    assert main(["replay-report", str(path)]) in (0, 1)
    assert "Player 1 played HORN at 8F for 14" in capsys.readouterr().out


def test_command_names_a_file_that_is_no_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "report.zip"
    path.write_bytes(b"PK")
    assert main(["replay-report", str(path)]) == 2
    assert str(path) in capsys.readouterr().err
