"""`tilekeeper export`, `import` and `backup`: a table's games go to files and come back."""

from __future__ import annotations

import errno
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from device.cli import main
from device.cli.export import export_game
from device.demo.demo_table import load_demo_games
from device.storage.archive import make_ledger
from device.storage.game_log import write_ledger
from device.storage.store import GameStore
from engine.events import Passed, to_json
from engine.gcg import build_game, format_gcg
from tests.support.archives import write_act
from tests.support.full_disk import file_size_limit

RECORD = load_demo_games()["kitchen-table"]


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr("device.settings.SYSTEM_SETTINGS_FILE", tmp_path / "nowhere.toml")
    folder = tmp_path / "data"
    folder.mkdir()
    with GameStore(folder / "games.db") as store:
        game = build_game(RECORD)
        start, *entries = write_ledger(make_ledger(game))
        store.append_events(store.begin_game(start), entries)
    return folder


def test_games_are_listed(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "--data", str(data)]) == 0
    assert "1" in (out := capsys.readouterr().out) and "Anna, Ben" in out


@pytest.mark.parametrize("suffix", [".gcg", ".zip"])
def test_exported_game_comes_back_at_another_table(
    data: Path, tmp_path: Path, suffix: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file, there = tmp_path / f"game{suffix}", tmp_path / "there"
    assert main(["export", "1", str(file), "--data", str(data)]) == 0
    assert main(["import", str(file), "--data", str(there)]) == 0
    assert f"{file} is game 1" in capsys.readouterr().out
    again = tmp_path / "again.gcg"
    assert main(["export", "1", str(again), "--data", str(there)]) == 0
    first = tmp_path / "first.gcg"
    assert main(["export", "1", str(first), "--data", str(data)]) == 0
    assert again.read_text() == first.read_text()


@pytest.mark.parametrize(("unplayed", "has_loss"), [("both", True), ("twice", False)])
def test_unplayed_letters_are_counted_as_chosen(data: Path, tmp_path: Path, unplayed: str, has_loss: bool) -> None:
    first, file = tmp_path / "first.gcg", tmp_path / "game.gcg"
    first.write_text(format_gcg(load_demo_games()["night-train"]), encoding="utf-8")
    assert main(["import", str(first), "--data", str(data)]) == 0
    assert main(["export", "2", str(file), "--unplayed", unplayed, "--data", str(data)]) == 0
    lines = [line for line in file.read_text(encoding="utf-8").splitlines() if re.search(r"\([A-Z?]+\) [+-]", line)]
    assert len(lines) == 1 + has_loss and (") -" in lines[-1]) is has_loss


def test_choice_for_unplayed_letters_is_only_for_gcg(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "game.zip"
    assert main(["export", "1", str(file), "--unplayed", "both", "--data", str(data)]) == 2
    assert "--unplayed is only for GCG files" in capsys.readouterr().err and not file.exists()


def test_file_that_is_no_game_is_named_and_the_others_are_taken_in(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad, good = tmp_path / "bad.gcg", tmp_path / "good.gcg"
    bad.write_text("shopping list")
    good.write_text(format_gcg(load_demo_games()["three-of-us"]))
    assert main(["import", str(bad), str(good), "--data", str(data)]) == 1
    out = capsys.readouterr().out
    assert f"{bad}: " in out and f"{good} is game 2" in out


def test_import_of_a_backup_names_restore(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    backup = tmp_path / "copy.db"
    assert main(["backup", str(backup), "--data", str(data)]) == 0
    assert main(["import", str(backup), "--data", str(data)]) == 1
    assert f"tilekeeper restore {backup}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["export", "9", "x.gcg"], "no game 9"),
        (["export", "1", "x.doc"], "end in .gcg or .zip"),
        (["import", "nowhere.gcg"], "nowhere.gcg"),
        (["backup", "nowhere/x.db"], "nowhere"),
    ],
)
def test_mistake_is_said_on_one_line(
    data: Path, words: list[str], why: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(data)
    assert main([*words, "--data", str(data)]) == 2
    said = capsys.readouterr().err
    assert why in said and said.count("\n") == 1


def test_file_that_exists_is_left_alone(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mine = tmp_path / "mine.zip"
    mine.write_text("dear")
    assert main(["export", "1", str(mine), "--data", str(data)]) == 2
    assert main(["backup", str(mine), "--data", str(data)]) == 2
    assert "already exists" in capsys.readouterr().err and mine.read_text() == "dear"


def test_backup_is_a_store(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["backup", str(tmp_path / "copy.db"), "--data", str(data)]) == 0
    assert "1 game is in" in capsys.readouterr().out
    with GameStore(tmp_path / "copy.db") as copied:
        assert copied.list_games()[0].first_event["players"] == ["Anna", "Ben"]


def test_files_are_written_and_read_while_the_table_runs(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    game, folder = tmp_path / "game.gcg", ["--data", str(data)]
    game.write_text(format_gcg(load_demo_games()["three-of-us"]))
    with GameStore(data / "games.db") as store:
        number = store.begin_game(to_json(build_game(RECORD).start_event))
        assert main(["backup", str(tmp_path / "copy.db"), *folder]) == 0
        assert main(["import", str(game), *folder]) == 0
        assert main(["export", "3", str(tmp_path / "out.gcg"), *folder]) == 0
        store.append_events(number, [write_act(Passed(0))])
        assert [game.id for game in store.list_games()] == [3, 2, 1] and store.begin_game({"players": []}) == 4
    assert "2 games are in" in (out := capsys.readouterr().out) and f"{game} is game 3" in out


@pytest.mark.parametrize("command", [["export"], ["backup", "copy.db"]])
@pytest.mark.parametrize("has_store", [False, True])
def test_folder_without_games_is_said(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: list[str],
    has_store: bool,
) -> None:
    monkeypatch.chdir(tmp_path)
    if has_store:
        GameStore(tmp_path / "games.db").close()
    assert main([*command, "--data", str(tmp_path)]) == 2
    assert "There are no games in" in capsys.readouterr().err and not Path("copy.db").exists()


def test_games_of_an_installed_table_are_found_where_a_user_has_none(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("device.cli.options.SERVICE_DATA_FOLDER", data)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    assert main(["backup", str(tmp_path / "copy.db")]) == 0
    assert "1 game is in" in capsys.readouterr().out


def test_file_that_cannot_be_opened_keeps_no_other_file_from_being_imported(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, there = tmp_path / "game.gcg", tmp_path / "there"
    assert main(["export", "1", str(file), "--data", str(data)]) == 0
    assert main(["import", str(tmp_path / "missing.gcg"), str(tmp_path), str(file), "--data", str(there)]) == 2
    printed = capsys.readouterr()
    assert f"{file} is game 1" in printed.out
    remedy = "Check the name of the file and its permissions."
    assert printed.err.splitlines() == [
        f"tilekeeper: {tmp_path / 'missing.gcg'}: No such file or directory. {remedy}",
        f"tilekeeper: {tmp_path}: Is a directory. {remedy}",
    ]


def test_games_are_imported_although_nobody_reads_the_output(tmp_path: Path) -> None:
    names = ("Ann", "Eve")
    for name in names:
        (tmp_path / f"{name}.gcg").write_text(f"#player1 A {name}\n#player2 B Bob\n>A: HORN 8F HORN +14 14\n")
    program = [sys.executable, "-u", "-c", "import sys; from device.cli import main; sys.exit(main())", "import"]
    words = [*(str(tmp_path / f"{name}.gcg") for name in names), "--data", str(tmp_path)]
    with subprocess.Popen([*program, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert "cannot be read" not in process.stderr.read()
    with GameStore(tmp_path / "games.db") as store:
        assert process.returncode == 0 and len(store.list_games()) == 2


def test_backup_into_a_folder_that_is_missing_names_the_folder(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["backup", str(tmp_path / "stick" / "games.db"), "--data", str(data)]) == 2
    assert f"There is no folder {tmp_path / 'stick'}" in capsys.readouterr().err


def test_import_refuses_a_file_with_an_event_that_cannot_be_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "typo.gcg"
    file.write_text("#player1 A Ann\n#player2 B Bob\n>A: HORN 8F HORN +14 14\n>B: FAM H6 FA.M +9b 9\n")
    assert main(["import", str(file), "--data", str(tmp_path / "there")]) == 1
    assert "line 4: '+9b' is not a score." in capsys.readouterr().out


def test_import_names_the_problems_of_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "corner.gcg"
    file.write_text("#player1 A Ann\n#player2 B Bob\n>A: HORN 1A HORN +21 21\n")
    assert main(["import", str(file), "--data", str(tmp_path / "there")]) == 0
    out = capsys.readouterr().out
    assert f"{file} is game 1" in out and "line 3: 'HORN' at 1A: The first word does not cover the centre." in out


def test_import_names_a_time_penalty_that_no_clock_gives(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "time.gcg"
    file.write_text("#player1 A Ann\n#player2 B Bob\n>A: HORN 8F HORN +14 14\n>A:  (time) -999999 -999985\n")
    assert main(["import", str(file), "--data", str(tmp_path / "there")]) == 0
    assert (
        "line 4: A time penalty of 999999 points is not possible: an hour of overtime costs 600"
        in capsys.readouterr().out
    )


def test_imported_turn_that_the_rules_do_not_allow_is_noted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, zipped, here, there = (tmp_path / name for name in ("off.gcg", "off.zip", "here", "there"))
    file.write_text("#player1 A Anna\n#player2 B Ben\n>A: HORN 8A HORN +24 24\n>B: AM 1A AM +8 8\n", encoding="utf-8")
    assert main(["import", str(file), "--data", str(here)]) == 0
    assert main(["export", "1", str(zipped), "--data", str(here)]) == 0
    capsys.readouterr()
    assert main(["import", str(zipped), "--data", str(there)]) == 0
    printed = capsys.readouterr().out
    assert "The first word must cover the centre square, but 8A HORN does not." in printed
    assert "The tiles of 1A AM do not touch the words on the board." in printed


@pytest.mark.parametrize("suffix", ["gcg", "zip"])
def test_export_to_a_full_disk_leaves_no_file(data: Path, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"game.{suffix}"
    with GameStore(data / "games.db") as store, file_size_limit(100), pytest.raises(OSError, match="too large"):
        export_game(store, 1, path)
    assert not path.exists()


def test_export_to_a_stick_that_is_pulled_out_too_early_is_no_export(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fsync", fail)
    assert main(["export", "1", str(tmp_path / "game.gcg"), "--data", str(data)]) != 0
    assert "Input/output error" in capsys.readouterr().err and not (tmp_path / "game.gcg").exists()


WITHOUT_RIGHTS = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
"""What root's commands begin with to be refused like those of others."""


def test_games_on_a_disk_that_cannot_be_written_are_saved_elsewhere(data: Path, tmp_path: Path) -> None:
    disk, out = tmp_path / "disk", tmp_path / "out"
    for folder in (disk, out):
        folder.mkdir()
    shutil.copy(data / "games.db", disk)
    (disk / "games.db").chmod(0o444)
    disk.chmod(0o555)
    for command in (["backup", out / "games.db"], ["export", "1", out / "game.zip"]):
        words = [*map(str, command), "--data", str(disk)]
        done = subprocess.run(
            [*WITHOUT_RIGHTS, sys.executable, "-c", "from device.cli import main; exit(main())", *words],
            capture_output=True, text=True, cwd=Path(__file__).parents[3], timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    assert (out / "game.zip").is_file()
    with GameStore(out / "games.db") as copied:
        assert [game.players for game in copied.list_games()] == [("Anna", "Ben")]


def test_game_is_imported_to_the_installed_table_where_a_user_has_no_games(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("device.cli.options.SERVICE_DATA_FOLDER", data)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    game = tmp_path / "game.gcg"
    game.write_text(format_gcg(load_demo_games()["three-of-us"]))
    assert main(["import", str(game)]) == 0
    with GameStore(data / "games.db") as store:
        assert len(store.list_games()) == 2
    assert not (tmp_path / "home").exists()


def test_games_of_the_installed_table_that_a_user_may_not_read_are_named(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("device.cli.options.SERVICE_DATA_FOLDER", data)
    monkeypatch.setattr("device.cli.options.os.access", lambda *_: False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    assert main(["import", str(tmp_path / "game.gcg")]) == 2
    assert f"in {data}, which you may not read. Use sudo" in capsys.readouterr().err


@pytest.mark.skipif(os.geteuid() != 0, reason="only the system's owner can give files away")
def test_store_made_by_root_belongs_to_the_owner_of_its_folder(tmp_path: Path) -> None:
    game, folder = tmp_path / "game.gcg", tmp_path / "service"
    game.write_text(format_gcg(load_demo_games()["three-of-us"]))
    folder.mkdir()
    os.chown(folder, 65534, 65534)
    assert main(["import", str(game), "--data", str(folder)]) == 0
    assert (folder / "games.db").stat().st_uid == 65534
