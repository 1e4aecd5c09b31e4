"""Faults that `tilekeeper run` meets at its start, and what it says of them."""

from __future__ import annotations

import socket
import subprocess
from pathlib import Path

import pytest

from device.cli import UserError, main
from device.cli import run as run_command
from device.cli.appliance import Appliance
from device.storage.store import GameStore
from engine.errors import TilekeeperError
from tests.support.ports import find_free_port
from tests.support.programs import Program, options, serve
from tests.support.programs import folder as folder
from tests.support.programs import known_code as known_code
from tests.support.programs import own_settings as own_settings
from tests.support.text_table import ReaderInOrder


def test_damaged_store_is_reported_on_console_and_page(folder: Path) -> None:
    data = folder.parent / "data"
    data.mkdir()
    (data / "games.db").write_bytes(b"no database" * 1000)
    lines: list[str] = []
    appliance = Appliance(run_command.resolve_settings(options(folder, 8080)), ReaderInOrder([]), report=lines.append)
    with appliance.open_store() as store, appliance.open_session(store) as session:
        appliance.begin_game(session)
        appliance.show_notices(session)
        assert "was damaged" in lines[-1] and lines[-1] in {notice.text for notice in session.state.notices}


def test_table_starts_without_camera_and_word_list_that_cannot_be_opened(folder: Path, tmp_path: Path) -> None:
    args = options(folder, find_free_port())
    args.camera, args.lexicon = "folder:/nowhere/at/all", str(tmp_path / "nowhere.txt")
    with Program(args, []) as phone:
        assert phone.sees("nowhere.txt cannot be read") and phone.sees("/nowhere/at/all")


def test_damaged_newest_game_is_named_and_another_one_begins(folder: Path) -> None:
    data = folder.parent / "data"
    data.mkdir()
    with GameStore(data / "games.db") as store:
        store.begin_game({"v": 1, "kind": "started", "players": ["Anna", "Ben"]})
    content = (data / "games.db").read_bytes()
    (data / "games.db").write_bytes(content.replace(b'"Anna","Ben"', b'"Anna","Ban"'))
    lines: list[str] = []
    appliance = Appliance(run_command.resolve_settings(options(folder, 8080)), ReaderInOrder([]), report=lines.append)
    with appliance.open_store() as store, appliance.open_session(store) as session:
        assert appliance.begin_game(session) == "A new game begins: Anna, Ben."
        appliance.show_notices(session)
        assert "Game 1 is damaged" in lines[0] and lines[0] in {notice.text for notice in session.state.notices}


def test_taken_port_is_reported_in_one_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(TilekeeperError, match=f"Port {port} is in use. Choose another port with --port"):
            serve(options(folder, port))
        assert main(["demo", "--port", str(port), "--once"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_start_that_fails_at_the_address_of_the_page_stores_no_game(folder: Path, tmp_path: Path) -> None:
    args = options(folder, find_free_port())
    args.host = "192.0.2.1"  # no address of this machine (RFC 5737)
    with pytest.raises(OSError, match="There can be no page at 192"):
        serve(args)
    with GameStore(tmp_path / "data" / "games.db") as store:
        assert store.list_games() == ()


def test_store_in_use_by_another_program_ends_the_start(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    with GameStore(tmp_path / "data" / "games.db"), pytest.raises(TilekeeperError, match="in use by another"):
        serve(options(folder, find_free_port()))


def test_machine_that_does_not_switch_off_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []

    def refuses(command: list[str], **_: object) -> subprocess.CompletedProcess[bytes]:
        asked.append(command)
        return subprocess.CompletedProcess(command, 1)

    monkeypatch.setattr(subprocess, "run", refuses)
    with pytest.raises(UserError, match="sudo poweroff"):
        run_command.switch_off_machine()
    assert asked == [["systemctl", "poweroff"]]


def test_missing_camera_is_reported_in_one_line_at_the_start(folder: Path) -> None:
    lines: list[str] = []
    arguments = options(folder, 8080, "--camera", "usb:77")
    appliance = Appliance(run_command.resolve_settings(arguments), ReaderInOrder([]), report=lines.append)
    with appliance.open_store() as store, appliance.open_session(store):
        assert lines == ["There is no camera at usb:77. Plug it in, or list all cameras with tilekeeper cameras."]
