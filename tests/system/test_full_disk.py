"""A disk that is really full, at each write of the program: the old file stays, a sentence says so, and it goes on.

Elsewhere: a whole game on a full disk (`tests/device/test_faults.py`), exports, and copies of every size.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from calibration.profile import ProfileError, TableProfile
from device.hall.director import KeyFileError, open_key
from device.hall.receiving.event import NO_EVENT, Event
from device.hall.receiving.pairings import import_pairings
from device.hall.receiving.receiver import HallReceiver
from device.session.commands.games import StartGame
from device.session.commands.turns import PassTurn
from device.session.table_session import TableSession
from device.settings import HallSettings, Settings
from device.settings_editor import SettingsEditor, SettingsFile
from device.storage.backups import BackupTask, list_backups
from device.storage.errors import StoreFullError
from device.storage.files import write_file
from device.storage.lexicons import read_lexicon
from device.storage.store import GameStore
from engine.events import GameStarted, to_json
from tests.support.api_table import open_web_table
from tests.support.sessions import open_phone_session
from tests.support.text_table import HORN, STARTED, WORDS, TextTable
from tests.support.waiting import PATIENCE_S
from tests.web.conftest import pair, token
from web import create_app
from web.security.pairing import Pairing

DISK_BYTES = 1_500_000


@dataclass(frozen=True)
class SmallDisk:
    """A file system of its own for a test, which can be filled."""

    folder: Path
    stack: ExitStack

    @property
    def filler(self) -> Path:
        return self.folder / "filler"

    def fill(self) -> None:
        """Take all room that is left."""
        with self.filler.open("ab", buffering=0) as file, pytest.raises(OSError, match="No space"):
            while True:
                file.write(bytes(4096))


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("only root may mount a small file system")
    try:
        with ExitStack() as stack:
            yield SmallDisk(folder, stack)
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@dataclass(frozen=True)
class Writer:
    """Something that is written: `write` returns what the person sees, `read` what is stored."""

    write: Callable[[], str]
    read: Callable[[], object]


def write_turn(disk: SmallDisk) -> Writer:
    store, table = disk.stack.enter_context(GameStore(disk.folder / "games.db")), TextTable()
    session = disk.stack.enter_context(TableSession(table, table, store, WORDS))
    session.submit(StartGame(STARTED)).result(PATIENCE_S)

    def write() -> str:
        notices: list[str] = []
        for _ in range(60):  # the write-ahead log has some room left
            notices = [notice.text for notice in session.submit(PassTurn()).result(PATIENCE_S).notices]
            if notices:
                break
        return "".join(notices)

    return Writer(write, lambda: [event.body for event in store.read_events(1)][:1])


def write_settings(disk: SmallDisk) -> Writer:
    path = disk.folder / "settings.toml"
    path.write_text('[camera]\nsource = "usb:0"\n', encoding="utf-8")
    editor, sources = SettingsEditor(SettingsFile(path), Settings()), iter(("phone", "usb:1"))

    def write() -> str:
        try:
            editor.save({("camera", "source"): next(sources)}, editor.read().version)
        except OSError as error:
            return str(error.strerror)
        return ""

    return Writer(write, path.read_bytes)


def write_backup(disk: SmallDisk) -> Writer:
    store, reports = disk.stack.enter_context(GameStore(":memory:")), list[str]()
    store.begin_game(to_json(GameStarted(("Anna", "Ben"))))
    folder = disk.folder / "backups"

    def write() -> str:
        reports.clear()
        with BackupTask(store, folder, reports.append) as task:
            task.request()
            task.request()
        return "".join(reports)

    write()
    return Writer(write, lambda: [backup.read_bytes() for backup in list_backups(folder)][:2])


def write_profile(disk: SmallDisk) -> Writer:
    path = disk.folder / "table.npz"
    profile = TableProfile(path)

    def write() -> str:
        try:
            profile.save(write_file)
        except ProfileError as error:
            return str(error)
        return ""

    write()
    return Writer(write, path.read_bytes)


def write_pairing(disk: SmallDisk) -> Writer:
    path, notices = disk.folder / "pairing.json", list[str]()
    pairing = Pairing(notices.append, file=path)

    def write() -> str:
        notices.clear()
        for device in ("phone", "tablet"):
            assert pairing.find_client(pairing.pair(pairing.secret, "192.0.2.1", device).id)
        return "".join(notices)

    return Writer(write, path.read_bytes)


def write_note(disk: SmallDisk) -> Writer:
    table = disk.stack.enter_context(open_web_table(disk.folder))
    table.play_three_turns()
    phone = table.app.test_client()
    pair(phone)
    form = {"csrf": token(phone), "comment": "x" * 500}

    def write() -> str:
        for _ in range(60):
            response = phone.post("/history/1/comment", data=form)
            if response.status_code >= 400:
                return response.text
        return ""

    return Writer(write, lambda: len(table.store.read_events(1)))


def write_hall(disk: SmallDisk) -> Writer:
    hall = disk.stack.enter_context(HallReceiver(disk.folder / "hall.db", HallSettings("127.0.0.1", 1)))
    hall.edit_event(lambda event: import_pairings(event, "1,1,Anna,Ben"))
    text = "\n".join(f"{i},1,Anna,Ben" for i in range(1, 900))

    def write() -> str:
        try:
            hall.edit_event(lambda event: import_pairings(event, text))
        except StoreFullError as error:
            hall._note_store_error(error)
            hall._note_store_error(error)
        return "".join(hall.state.problems) if len(hall.state.event.rounds) == 1 else ""

    return Writer(write, lambda: hall.games.read_note("event", Event, NO_EVENT))


def write_hall_key(disk: SmallDisk) -> Writer:
    def write() -> str:
        try:
            open_key(disk.folder / "hall-key.pem")
        except KeyFileError as error:
            return str(error)
        return ""

    return Writer(write, lambda: [path.name for path in disk.folder.glob("hall*")])


SENTENCES = {
    write_turn: "is full",
    write_settings: "No space left",
    write_backup: "is full",
    write_profile: "No space left",
    write_pairing: "No space left",
    write_note: "is full",
    write_hall: "is full",
    write_hall_key: "No space left",
}


@pytest.mark.parametrize(("prepare", "reason"), SENTENCES.items(), ids=lambda value: getattr(value, "__name__", ""))
def test_full_disk_leaves_the_old_file_and_is_said_in_one_sentence(
    disk: SmallDisk, prepare: Callable[[SmallDisk], Writer], reason: str
) -> None:
    writer = prepare(disk)
    disk.fill()
    before, files = writer.read(), {path.name for path in disk.folder.rglob("*")}
    sentence = writer.write().strip()
    assert sentence.count(reason) == 1 and "\n" not in sentence
    assert writer.read() == before
    assert {path.name for path in disk.folder.rglob("*")} <= files
    disk.filler.unlink()
    assert writer.write() == ""


def test_store_that_is_opened_on_a_full_disk_says_that_the_disk_is_full(disk: SmallDisk) -> None:
    path = disk.folder / "games.db"
    GameStore(path).close()
    disk.fill()
    with pytest.raises(StoreFullError):
        GameStore(path)


def test_full_disk_lets_a_word_list_be_compiled_each_time(disk: SmallDisk, tmp_path: Path) -> None:
    words = tmp_path / "words.txt"
    words.write_text("\n".join(sorted(WORDS)), encoding="utf-8")
    disk.fill()
    for _ in range(2):
        assert "HORN" in read_lexicon(words, cache_dir=disk.folder)
    assert [path.name for path in disk.folder.iterdir()] == ["filler"]
    disk.filler.unlink()
    assert "HORN" in read_lexicon(words, cache_dir=disk.folder) and len(list(disk.folder.iterdir())) == 1


def upload(phone: FlaskClient, path: str, fields: dict[str, str], name: str, content: bytes) -> TestResponse:
    """Send a form with a file. Werkzeug's client would need a temporary file itself."""
    head = 'Content-Disposition: form-data; name="'
    texts = "".join(f'--b\r\n{head}{key}"\r\n\r\n{text}\r\n' for key, text in fields.items())
    file = f'--b\r\n{head}{name}"; filename="{name}"\r\n\r\n'
    body = b"".join((texts.encode(), file.encode(), content, b"\r\n--b--\r\n"))
    return phone.post(path, data=body, content_type="multipart/form-data; boundary=b")


@pytest.fixture
def full_temporary_folder(disk: SmallDisk, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(disk.folder))
    disk.fill()
    return disk.folder


@pytest.mark.usefixtures("full_temporary_folder")
def test_picture_of_a_phone_is_read_while_the_disk_is_full() -> None:
    jpeg = cv2.imencode(".jpg", np.full((300, 400, 3), 128, np.uint8))[1].tobytes()
    comment = b"\xff\xfe\xff\xff" + bytes(65_533)
    picture = jpeg[:2] + comment * 15 + jpeg[2:]
    board = TextTable()
    board.lay(HORN)
    with open_phone_session(board) as session:
        app = create_app(session)
        phone = app.test_client()
        pair(phone)
        fields = {"csrf": token(phone), "seen": str(session.state.moment)}
        response = upload(phone, "/actions/picture", fields, "picture", picture)
        app.extensions["live"].close()
    assert response.status_code == 204 and [turn.score for turn in session.state.turns] == [14]


def test_picture_that_is_not_stored_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    table = TextTable()
    with GameStore(":memory:") as store, TableSession(table, table, store, WORDS) as session:
        session.submit(StartGame(STARTED)).result(PATIENCE_S)
        store.picture_problem = "The disk is full."
        monkeypatch.setattr(store, "append_events", lambda *_: ())
        notices = session.submit(PassTurn()).result(PATIENCE_S).notices
    assert [notice.text for notice in notices] == ["This turn was saved without its picture. The disk is full."]
