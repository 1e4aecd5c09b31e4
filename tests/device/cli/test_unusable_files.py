"""The page comes up, and names the file, whatever is wrong with a file that `tilekeeper run` reads at its start.

`python -m tests.device.cli.test_unusable_files` measures the start for each file and fault, and prints the notices.
"""

from __future__ import annotations

import html
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

from device.storage.database import STORE_SCHEMA
from device.storage.store import GameStore
from tests.support.ports import find_free_port
from tests.support.programs import CODE, Browser, Program, options, picture
from tests.support.programs import folder as folder
from tests.support.programs import known_code as known_code
from tests.support.programs import own_settings as own_settings
from tests.support.waiting import until

ROOT = Path(__file__).parents[3]
DELAY_LIMIT_S = 5.0
"""Longest delay of a start by a file that cannot be used, in seconds."""

NOTICES_S = 0.5
"""Time from the first answer of the page to its notices, in seconds, with a margin."""


def make_garbage(path: Path) -> None:
    path.write_bytes(bytes(range(256)) * 20)


def make_empty(path: Path) -> None:
    path.write_bytes(b"")


def make_unreadable(path: Path) -> None:
    path.write_bytes(b"?" * 10)
    path.chmod(0)


def make_folder(path: Path) -> None:
    path.mkdir()


def write_newer_store(path: Path) -> bytes:
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA application_id = {STORE_SCHEMA.make_file_id(99)}")
        db.execute("PRAGMA user_version = 99")
    return path.read_bytes()


def make_newer(path: Path) -> None:
    """Write a file as a newer version of the program might have written it."""
    if path.name == "games.db":
        write_newer_store(path)
    elif path.name == "table.npz":
        np.savez(path, version=np.array(99))
    else:
        path.write_text("[page]\nfuture = 1\n" if path.suffix == ".toml" else '{"future": {}}')


Fault = Callable[[Path], None]
FAULTS: dict[str, Fault] = {
    "garbage": make_garbage,
    "empty": make_empty,
    "unreadable": make_unreadable,
    "folder": make_folder,
    "newer": make_newer,
}
DATA_FILES = ("games.db", "games.db.lock", "table.npz", "pairing.json", "https.pem", "tilekeeper.log", "starts.json")


@pytest.fixture
def data(folder: Path) -> Path:
    """Return the data folder, which has a folder of word lists."""
    found = folder.parent / "data"
    (found / "lexicons").mkdir(parents=True)
    return found


def skip_if_readable(folder: Path, fault: str) -> None:
    """Skip the test of an unreadable file for a user who may read every file, such as root."""
    make_unreadable(folder / "probe")
    if fault == "unreadable" and os.access(folder / "probe", os.R_OK):
        pytest.skip("this user may read every file")
    (folder / "probe").unlink()


def read_settings(phone: Browser) -> str:
    """Return the text of the page with the settings, as the owner sees it."""
    if 'id="panel"' not in phone.get():
        assert phone.post("/pair", phone.get("/pair"), code=CODE) == 205
    return html.unescape(phone.get("/settings"))


@pytest.mark.parametrize("fault", FAULTS)
def test_page_comes_up_although_no_file_can_be_used(folder: Path, data: Path, own_settings: Path, fault: str) -> None:
    skip_if_readable(data, fault)
    for name in DATA_FILES:
        FAULTS[fault](data / name)
    FAULTS[fault](own_settings)
    with Program(options(folder, find_free_port()), []) as phone:
        assert phone.sees("Anna to play")
        page = read_settings(phone)
    named = {"garbage": ["settings.toml"], "empty": [], "newer": ["settings.toml", "games.db", "table.npz"]}.get(
        fault, ["settings.toml", "https.pem", "games.db"]
    )
    for name in named:
        assert name in page


def test_files_that_the_table_can_miss_are_named(folder: Path, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STATE_DIRECTORY", str(data))
    make_garbage(data / "https.pem")
    make_empty(data / "starts.json")
    make_folder(data / "tilekeeper.log")
    with Program(options(folder, find_free_port()), []) as phone:
        assert phone.sees("starts.json, tilekeeper.log, https.pem could not be read.")
    (data / "tilekeeper.log").rmdir()
    with Program(options(folder, find_free_port()), []) as phone:  # the table has replaced the other two
        assert phone.sees("Anna to play")
        assert "could not be read" not in phone.get()


def test_newer_store_stays_untouched_and_the_owner_begins_a_new_one(folder: Path, data: Path) -> None:
    content = write_newer_store(data / "games.db")
    picture(folder, "1.png")
    program = Program(options(folder, find_free_port()), [])
    with program as phone:
        assert "Begin without games.db" in read_settings(phone)
        assert (data / "games.db").read_bytes() == content
        assert phone.post("/settings/aside", phone.get("/settings"), part="store") == 200
        until(program.appliance.should_restart.is_set)
    assert [path.read_bytes() for path in data.glob("games.db.old-*") if path.suffix.startswith(".old")] == [content]
    with GameStore(data / "games.db") as store:  # the game that was played meanwhile
        assert len(store.list_games()) == 1


def test_newer_profile_is_named_and_set_aside(folder: Path, data: Path) -> None:
    make_newer(data / "table.npz")
    content = (data / "table.npz").read_bytes()
    with Program(options(folder, find_free_port()), []) as phone:
        assert "table.npz was written by a newer Tilekeeper" in read_settings(phone)
        assert phone.post("/settings/aside", phone.get("/settings"), part="profile") == 200
    assert [path.read_bytes() for path in data.glob("table.npz.old-*")] == [content]


def test_wrong_settings_give_way_to_the_last_ones_until_they_are_repaired(folder: Path, own_settings: Path) -> None:
    own_settings.write_text('[page]\nlanguage = "de"\n', encoding="utf-8")
    with Program(options(folder, find_free_port()), []) as phone:
        assert phone.sees("Anna ist dran")
    own_settings.write_text('[page]\nlanguage = "de"\nlanguages = 3\n', encoding="utf-8")
    with Program(options(folder, find_free_port()), []) as phone:
        assert phone.sees("Anna ist dran")
        page = read_settings(phone)
        assert "line 3: page.languages: There is no such setting" in page
        version = re.findall(r'name="version" value="(\w+)"', page)[0]
        wrong = {"source": "[page]\nport = 99999", "version": version}
        assert phone.post("/settings/source", page, **wrong) == 422
        assert phone.post("/settings/source", page, **wrong | {"source": '[page]\nlanguage = "fr"\n'}) == 303
    assert own_settings.read_text(encoding="utf-8") == '[page]\nlanguage = "fr"\n'


def test_folder_in_place_of_the_settings_is_replaced_by_the_defaults(folder: Path, own_settings: Path) -> None:
    own_settings.mkdir()
    with Program(options(folder, find_free_port()), []) as phone:
        page = read_settings(phone)
        assert "settings.toml is not a file" in page
        assert phone.post("/settings/defaults", page) == 303
        assert "settings.toml is not a file" not in phone.get("/settings").split("</section>")[-1]
    assert own_settings.is_file()


def test_data_folder_that_cannot_be_used_is_named(folder: Path) -> None:
    (folder.parent / "data").write_text("no folder")
    with Program(options(folder, find_free_port()), []) as phone:
        assert f"No games can be stored in {folder.parent / 'data'}" in read_settings(phone)


def start_page(folder: Path) -> tuple[float, str]:
    """Run `tilekeeper run`; return the seconds until its page answers, and what the page then says."""
    code = "from device.cli import main; raise SystemExit(main())"
    browser = Browser(find_free_port())
    command = [sys.executable, "-c", code, "run", "--camera", f"folder:{folder}", "--port", str(browser.port)]
    data = str(folder.parent / "data")
    command += ["--host", "127.0.0.1", "--data", data]
    start = time.monotonic()
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, cwd=ROOT, env={**os.environ, "STATE_DIRECTORY": data}, **streams) as program:
        until(browser.is_answered)
        took = time.monotonic() - start
        time.sleep(NOTICES_S)
        page = browser.get()
        program.send_signal(signal.SIGTERM)
    return took, page


def start_with_faults(
    folder: Path, settings: Path, faults: Mapping[str, Fault]
) -> Iterator[tuple[str, str, float, str]]:
    """Yield file, fault, seconds and page of a start for each file and fault; each start has empty folders."""
    data = folder.parent / "data"
    words = data / "lexicons" / "ours.txt"
    for path in (settings, words, *(data / name for name in DATA_FILES)):
        for fault, spoil in faults.items():
            shutil.rmtree(data, ignore_errors=True)
            words.parent.mkdir(parents=True)
            if path is words:
                settings.write_text(f'[game]\nlexicon = "{words}"\n')
            spoil(path)
            yield path.name, fault, *start_page(folder)
            settings.rmdir() if settings.is_dir() else settings.unlink(missing_ok=True)


@pytest.mark.slow
@pytest.mark.serial
@pytest.mark.parametrize("fault", FAULTS)
def test_page_is_up_in_time_whatever_file_cannot_be_used(
    folder: Path, data: Path, own_settings: Path, fault: str
) -> None:
    skip_if_readable(data, fault)
    usual, _ = start_page(folder)
    for name, _, took, _ in start_with_faults(folder, own_settings, {fault: FAULTS[fault]}):
        assert took < usual + DELAY_LIMIT_S, name


def main() -> None:
    """Print the seconds of each start, and the notices of the page."""
    with TemporaryDirectory() as place:
        settings, folder = Path(place, "config", "tilekeeper", "settings.toml"), Path(place, "pictures")
        os.environ |= {"XDG_CONFIG_HOME": str(settings.parent.parent), "XDG_DATA_HOME": str(folder.parent / "user")}
        for path in (settings.parent, folder):
            path.mkdir(parents=True)
        for name, fault, took, page in start_with_faults(folder, settings, FAULTS):
            said = [re.sub(r"<[^>]+>", "", text).strip() for text in re.findall(r'(?s)<p class="notice.*?</p>', page)]
            print(f"{took:5.2f} s  {name:15} {fault:10} {html.unescape(' | '.join(said))}", flush=True)


if __name__ == "__main__":
    main()
