"""`tilekeeper hall --init`: a real broker with the written files lets hall and tables in, and keeps their rights."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from device.cli import main
from device.hall.connection import BrokerConnection
from device.hall.messages import TableStatus
from device.hall.receiving.receiver import HallReceiver
from device.settings import HallSettings, load_settings
from tests.support.broker import HAS_MOSQUITTO
from tests.support.ports import find_free_port
from tests.support.waiting import until


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    assert main(["hall", "--init", "2", "--broker", "127.0.0.1"]) == 0
    return tmp_path / "hall"


def test_files_are_secret_and_settings_of_a_table_are_valid(folder: Path) -> None:
    assert all(path.stat().st_mode & 0o077 == 0 for path in folder.rglob("*"))
    settings = load_settings(folder / "table-2" / "hall.toml").hall
    assert (settings.host, settings.port, settings.user, settings.table) == ("127.0.0.1", 8883, "2", "2")


def test_port_of_the_broker_is_written_everywhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hall", "--init", "1", "--broker-port", "8884", "--data", str(tmp_path / "hall")]) == 0
    assert "--broker-port 8884" in capsys.readouterr().out
    assert "listener 8884\n" in (tmp_path / "hall" / "broker" / "mosquitto.conf").read_text()
    assert load_settings(tmp_path / "hall" / "table-1" / "hall.toml").hall.port == 8884


def test_script_of_a_table_replaces_the_hall_of_its_settings(folder: Path, tmp_path: Path) -> None:
    etc, programs = tmp_path / "etc", tmp_path / "bin"
    etc.mkdir()
    programs.mkdir()
    (programs / "systemctl").write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/restarted\n')
    (programs / "systemctl").chmod(0o755)
    (etc / "settings.toml").write_text('[page]\nport = 81\n[hall]  # a hall\nhost = ""\n\n[voice]\nuse = true\n')
    script = folder / "table-2" / "join.sh"
    script.write_text(script.read_text().replace("/etc/tilekeeper", str(etc)))
    for _ in range(2):
        subprocess.run(["sh", script], check=True, env={"PATH": f"{programs}:{os.environ['PATH']}"})
    settings = load_settings(etc / "settings.toml")
    assert (settings.page.port, settings.voice.use, settings.hall.table) == (81, True, "2")
    assert (etc / "hall-password").read_text() == (folder / "table-2" / "hall-password").read_text()
    assert (tmp_path / "restarted").read_text() == "restart tilekeeper\n"


def test_folder_that_exists_is_not_changed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (folder / "broker" / "passwords").read_text()
    assert main(["hall", "--init", "2"]) == 2 and "exists" in capsys.readouterr().err
    assert (folder / "broker" / "passwords").read_text() == before


@pytest.mark.skipif(not HAS_MOSQUITTO, reason="needs mosquitto: sudo apt install mosquitto")
def test_broker_with_the_written_files_lets_hall_and_tables_in(folder: Path) -> None:
    port, file = find_free_port(), folder / "broker" / "mosquitto.conf"
    file.write_text(file.read_text().replace("8883", str(port)))

    def make_settings(name: str, user: str) -> HallSettings:
        return HallSettings(
            "127.0.0.1", port, folder / name / "hall-ca.pem", user, folder / name / "hall-password", user
        )

    broker = subprocess.Popen(["mosquitto", "-c", file], stderr=subprocess.DEVNULL)
    try:
        with HallReceiver(":memory:", make_settings("hall", "hall"), print) as hall:
            until(lambda: hall.state.is_connected)
            settings = make_settings("table-2", "2")
            table = BrokerConnection(settings, "2")
            table.publish([TableStatus(table=name, online=True).publication for name in "21"], print)
            until(lambda: table.wait(0.1) or table.is_acknowledged)
            until(lambda: "2" in hall.state.tables)
            table.close()
            assert list(hall.state.tables) == ["2"], "a table writes only its own topics"
    finally:
        broker.terminate()
        broker.wait()
