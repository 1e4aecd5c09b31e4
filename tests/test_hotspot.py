"""The name and password of the table's own Wi-Fi, which the first start of a card makes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SYSTEMD = ROOT / "systemd"
PACKAGING = ROOT / "packaging"
FirstStart = Callable[[str | None], dict[str, str]]


@pytest.fixture
def first_start(tmp_path: Path) -> FirstStart:
    """Run `make-hotspot.sh` on a card with a `tilekeeper-wifi.txt`; return the name and password of the Wi-Fi."""
    commands, card = tmp_path / "commands", tmp_path / "card"
    commands.mkdir()
    for name in ("chgrp",) if shutil.which("nmcli") else ("chgrp", "nmcli"):
        (commands / name).write_text("#!/bin/sh\necho $*\n", encoding="utf-8")
        (commands / name).chmod(0o755)

    def run_first_start(text: str | None) -> dict[str, str]:
        if text is not None:
            (card / "boot/firmware").mkdir(parents=True)
            (card / "boot/firmware/tilekeeper-wifi.txt").write_bytes(text.encode())
        script, path = SYSTEMD / "make-hotspot.sh", f"{commands}:{os.environ['PATH']}"
        subprocess.run(["bash", script, card, "8080"], check=True, env={**os.environ, "PATH": path})
        hotspot = tomllib.loads((card / "etc/tilekeeper/hotspot.toml").read_text(encoding="utf-8"))
        return {key: hotspot[key] for key in ("name", "password")}

    return run_first_start


def test_own_wifi_without_a_card_file_is_random(first_start: FirstStart, tmp_path: Path) -> None:
    hotspot = first_start(None)
    assert re.fullmatch(r"Tilekeeper-\w{4}", hotspot["name"]) and re.fullmatch(r"\w{10}", hotspot["password"])
    assert not (tmp_path / "card/boot").exists()


def test_own_wifi_is_chosen_on_the_card(first_start: FirstStart) -> None:
    assert first_start("name = Our-Table\r\npassword = horn-farm\r\n") == {
        "name": "Our-Table",
        "password": "horn-farm",
    }


@pytest.mark.parametrize("password", ["", "short", "horn farm paste", 'horn"farm"', "x" * 64])
def test_own_wifi_gets_a_random_password_where_none_can_be_used(first_start: FirstStart, password: str) -> None:
    assert re.fullmatch(r"\w{10}", first_start(f"name =\npassword = {password}\n")["password"])


def test_own_wifi_is_written_on_the_card(first_start: FirstStart, tmp_path: Path) -> None:
    hotspot = first_start((PACKAGING / "image/tilekeeper-wifi.txt").read_text(encoding="utf-8"))
    text = (tmp_path / "card/boot/firmware/tilekeeper-wifi.txt").read_text(encoding="utf-8")
    assert f"name = {hotspot['name']}\npassword = {hotspot['password']}\n" in text


def test_own_wifi_needs_no_protected_management_frames(first_start: FirstStart, tmp_path: Path) -> None:
    first_start("")
    connection = tmp_path / "card/etc/NetworkManager/system-connections/tilekeeper-hotspot.nmconnection"
    assert re.search(r"\bpmf( disable|=1)\b", connection.read_text(encoding="utf-8"))


def test_first_start_that_is_cut_off_is_repeated(first_start: FirstStart, tmp_path: Path) -> None:
    cut = tmp_path / "commands/sync"
    cut.write_text("#!/bin/sh\ncase $1 in *tilekeeper-wifi.txt) exit 1 ;; esac\n", encoding="utf-8")
    cut.chmod(0o755)
    with pytest.raises(subprocess.CalledProcessError):
        first_start("")
    assert not (tmp_path / "card/etc/tilekeeper/hotspot.toml").exists(), "the condition of the first start"
    assert not list(tmp_path.glob("card/etc/**/.*"))
