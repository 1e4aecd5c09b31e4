"""A short evening in a data folder: it is played while calls of the system fail, and looked at afterwards.

Each step tells what the players see. So it is known what was confirmed, and which loss was announced.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from device.session.commands.base import TableCommand
from device.session.commands.games import PlayAgain, ResumeGame, StartGame, Undo
from device.session.commands.turns import EndTurn
from device.session.messages import CommandRefusedError, Trouble
from device.session.snapshot import TableSnapshot
from device.session.table_session import TableSession
from device.storage.backups import BACKUP_FOLDER, make_backup
from device.storage.errors import StoreError
from device.storage.recovery import open_store, restore_backup
from device.storage.store import GameStore
from tests.support.text_table import FARM, HORN, PASTE, STARTED, WORDS, TextTable
from web import create_app
from web.security.pairing import FILE_NAME, Pairing

STEP_S = 10.0
"""Longest time of one step, in seconds."""

Step = dict[str, Any]
Send = Callable[[Step], None]


def read_queued_s() -> float:
    """Return the seconds that the threads of this program have waited for a processor, which others used."""
    waits = (path.read_text().split()[1] for path in Path("/proc/self/task").glob("*/schedstat"))
    return sum(map(int, waits)) / 1e9


class Tracebacks(logging.Handler):
    """Tells each traceback that the program logs."""

    def __init__(self, send: Send) -> None:
        super().__init__()
        self._send = send

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info and record.exc_info[1] is not None:
            text = self.formatter or logging.Formatter()
            self._send({"traceback": text.formatException(record.exc_info)})


class Evening:
    """A program with its store, pairing, session and page, in one folder."""

    def __init__(self, folder: Path, send: Send) -> None:
        self._folder, self._send = folder, send
        self._told: list[str] = []
        logging.getLogger().addHandler(Tracebacks(send))
        begun = time.monotonic()
        self.store, problem = open_store(folder / "games.db")
        self.pairing = Pairing(self._told.append, file=folder / FILE_NAME)
        self.table = TextTable()
        self.session = TableSession(self.table, self.table, self.store, WORDS)
        self._send_state("start", self._resume(), problem)
        app = create_app(self.session, store=self.store, pairing=self.pairing, template_cache=folder / "templates")
        status = app.test_client().get("/").status_code
        send(
            {
                "page": status,
                "seconds": max(0.0, time.monotonic() - begun - read_queued_s()),
                "paired": [one.id for one in self.pairing.clients],
            }
        )

    def play(self) -> None:
        """Play turns, take back a turn and a new game, pair a phone, and make a backup."""
        self._end_turn("turn", HORN, FARM)
        self._end_turn("turn", HORN, FARM, PASTE)
        self._run("undo", Undo())
        self._run("new game", PlayAgain(STARTED))
        self._run("undo of the new game", Undo())
        self._end_turn("turn", HORN, FARM, PASTE)
        phone = self.pairing.pair(self.pairing.code, "192.0.2.1", "phone")
        self._send({"paired": [phone.id], "told": list(self._told)})
        with suppress(StoreError):  # the page says so (`BackupTask`)
            make_backup(self.store, self._folder / BACKUP_FOLDER)

    def begin(self) -> None:
        """Play one turn, pair a phone, and make a backup: what was there before the evening."""
        self._end_turn("turn", HORN)
        self.pairing.pair(self.pairing.code, "192.0.2.2", "phone")
        make_backup(self.store, self._folder / BACKUP_FOLDER)

    def close(self) -> None:
        """End the program in order."""
        self.session.close()
        self.store.close()

    def _resume(self) -> TableSnapshot:
        try:
            return self.session.submit(ResumeGame()).result(STEP_S)
        except CommandRefusedError:
            return self.session.submit(StartGame(STARTED)).result(STEP_S)

    def _end_turn(self, name: str, *words: tuple[str, int, int, bool]) -> None:
        self.table.lay(*words)
        self._run(name, EndTurn())

    def _run(self, name: str, command: TableCommand) -> None:
        try:
            self._send_state(name, self.session.submit(command).result(STEP_S))
        except (CommandRefusedError, StoreError) as error:
            self._send_state(f"{name} ({error})", self.session.state)

    def _send_state(self, name: str, state: TableSnapshot, problem: str = "") -> None:
        notices = [notice.text for notice in state.notices if notice.trouble is Trouble.STORE]
        is_in_memory = self.store.path == ":memory:"
        self._send({
            "step": name, "players": [player.name for player in state.players],
            "turns": [[str(turn.kind), turn.player, turn.score] for turn in state.turns],
            "announced": [*notices, *([problem] if problem else []), *(["in memory"] if is_in_memory else [])],
        })  # fmt: skip


def play_evening(folder: Path, send: Send) -> None:
    """Start, and play a whole evening; the program is then killed."""
    Evening(folder, send).play()


def look(folder: Path, send: Send) -> None:
    """Start, and tell what is there."""
    Evening(folder, send)


def prepare(folder: Path, send: Send) -> None:
    """Play what was there before the evening."""
    evening = Evening(folder, send)
    evening.begin()
    evening.close()


def restore(folder: Path, send: Send) -> None:
    """Play a turn, end the program, and restore the backup without this turn."""
    with suppress(StoreError), GameStore(folder / "games.db"):
        pass
    with suppress(StoreError):
        restore_backup(folder / BACKUP_FOLDER / "games-000001.db", folder / "games.db")
    send({"restored": True})
