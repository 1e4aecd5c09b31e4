"""`tilekeeper run` in a thread, a phone on its page, and the fixtures of its settings and pictures."""

from __future__ import annotations

import argparse
import http.client
import re
import threading
from contextlib import closing
from pathlib import Path
from urllib.parse import urlencode

import cv2
import numpy as np
import pytest

from device.cli import run as run_command
from device.cli.appliance import Appliance
from device.settings import Settings
from tests.support.ports import find_free_port
from tests.support.text_table import HORN, ReaderInOrder, rows
from tests.support.waiting import PATIENCE_S, until


def picture(folder: Path, name: str) -> None:
    assert cv2.imwrite(str(folder / name), np.full((60, 60, 3), 90, np.uint8))


def options(folder: Path, port: int, *more: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    run_command.configure(parser)
    told = ["--camera", f"folder:{folder}", "--players", "Anna,Ben", "--port", str(port), "--host", "127.0.0.1"]
    return parser.parse_args([*told, "--data", str(folder.parent / "data"), *more])


def chosen(*words: str) -> Settings:
    parser = argparse.ArgumentParser()
    run_command.configure(parser)
    return run_command.resolve_settings(parser.parse_args(words))


def serve(args: argparse.Namespace) -> None:
    Appliance(run_command.resolve_settings(args), ReaderInOrder([])).serve()


@pytest.fixture(autouse=True)
def own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the path of this user's settings file, and hide that of the machine."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "user"))
    monkeypatch.setattr("device.settings.SYSTEM_SETTINGS_FILE", tmp_path / "nowhere.toml")
    path = tmp_path / "config" / "tilekeeper" / "settings.toml"
    path.parent.mkdir(parents=True)
    return path


CODE = "123456"


@pytest.fixture(autouse=True)
def known_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("web.security.pairing._make_code", lambda: CODE)


class Browser:
    """A phone with cookies, on the page of the table."""

    def __init__(self, port: int) -> None:
        self.port, self.cookie = port, ""

    def get(self, path: str = "/") -> str:
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)) as connection:
            connection.request("GET", path, headers={"Cookie": self.cookie})
            answer = connection.getresponse()
            self.cookie = (answer.headers["Set-Cookie"] or self.cookie).split(";")[0]
            return answer.read().decode()

    def press(self, button: str) -> int:
        if 'id="panel"' not in self.get():
            assert self.post("/pair", self.get("/pair"), code=CODE) == 205
            self.get("/setup")  # the first page at the first start
        return self.post(f"/actions/{button}", self.get())

    def post(self, path: str, html: str, **fields: str) -> int:
        fields |= dict(re.findall(r'name="(csrf|seen)" value="([^"]*)"', html))
        headers = {"Cookie": self.cookie, "Content-Type": "application/x-www-form-urlencoded"}
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)) as connection:
            connection.request("POST", path, urlencode(fields), headers)
            answer = connection.getresponse()
            self.cookie = (answer.headers["Set-Cookie"] or self.cookie).split(";")[0]
            return answer.status

    def sees(self, text: str) -> bool:
        until(lambda: text in re.sub(r"<[^>]+>", "", self.get()))
        return True

    def is_answered(self) -> bool:
        try:
            return bool(self.get())
        except OSError:
            return False


class Program:
    """`tilekeeper run` in a thread."""

    def __init__(self, args: argparse.Namespace, boards: list[tuple[str, ...]]) -> None:
        file = run_command.make_settings_file(args)
        starts = run_command.make_start_record()
        settings = run_command.resolve_settings(args, run_command.load_usable_settings(file.path, starts))
        data = run_command.build_data_folder(settings, starts)
        _, profile = run_command.build_reader(data, starts)
        self.appliance = Appliance(
            settings, ReaderInOrder(boards), profile, starts=starts, settings_file=file, data_folder=data
        )
        self.thread = threading.Thread(
            target=self.appliance.serve,
            kwargs={"new": args.new, "has_options": run_command.has_game_options(args)},
        )
        self.browser = Browser(args.port)

    def __enter__(self) -> Browser:
        self.thread.start()
        until(self.browser.is_answered)
        return self.browser

    def __exit__(self, *_: object) -> None:
        self.appliance.ended.set()
        self.thread.join(PATIENCE_S)
        assert not self.thread.is_alive()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "pictures"
    found.mkdir()
    return found


def play_first_turn(folder: Path) -> None:
    """Run the program for the first turn of a game, HORN, and end the program."""
    picture(folder, "1.png")
    with Program(options(folder, find_free_port()), [rows(HORN)]) as phone:
        phone.press("end-turn")
        assert phone.sees("+14")
