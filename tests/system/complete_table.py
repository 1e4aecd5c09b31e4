"""A complete table of a hall: `tilekeeper run` with its camera, reader, store, page and `[hall]` settings.

Pictures of rendered boards are laid into the folder of its camera, and turns are ended through its JSON interface, as a
program at the table does.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import cv2

from device.settings import HallSettings
from device.storage.store import GameStore
from tests.support.api_client import ApiClient, read_pairing_code
from tests.support.ports import find_free_port
from vision.rendering.simulated_table import SimulatedTable

PLAYS = (("HORN", 7, 5, True), ("FARM", 5, 7, False), ("PASTE", 9, 5, True))
"""Text, row and column from 0, True for across; after these, the players exchange tiles."""
_PROGRAM = "import sys; from device.cli import main; sys.exit(main())"
_STOP_S = 30


class CompleteTable:
    """The whole program of the table `name`; use it in a `with` statement."""

    def __init__(self, broker: HallSettings, name: str, folder: Path) -> None:
        self.name = name
        self._camera, self._data = folder / "camera", folder / "data"
        self._camera.mkdir(parents=True)
        settings = folder / "settings.toml"
        settings.write_text(
            f'[hall]\nhost = "{broker.host}"\nport = {broker.port}\ntable = "{name}"\n', encoding="utf-8"
        )
        self._board = SimulatedTable(seed=5, size=(960, 720))
        self._letters: dict[tuple[int, int], str] = {}
        self._plays = list(PLAYS)
        port = find_free_port()
        command: list[object] = [
            sys.executable,
            "-c",
            _PROGRAM,
            "run",
            "--settings",
            settings,
            "--camera",
            f"folder:{self._camera}",
        ]
        command += ["--players", "Anna,Ben", "--lexicon", "none", "--data", self._data]
        command += ["--port", str(port), "--host", "127.0.0.1"]
        self._program = subprocess.Popen(
            list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self._client = ApiClient(port, read_pairing_code(self._program))

    def __enter__(self) -> CompleteTable:
        return self

    def __exit__(self, *_: object) -> None:
        self._program.terminate()
        self._program.wait(_STOP_S)
        assert self._program.stdout is not None
        self._program.stdout.close()

    def play_next(self) -> None:
        """Play the next turn: a word that the camera sees, or an exchange."""
        if not self._plays:
            self._client.command("exchange", count=1)
            return
        text, row, column, across = self._plays.pop(0)
        for i, letter in enumerate(text):
            self._letters[row + (0 if across else i), column + (i if across else 0)] = letter
        self._board.lay_tiles(self._letters)
        cv2.imwrite(str(self._camera / f"{len(self._letters):03}.jpg"), self._board.photograph().image)
        self._client.end_turn()

    def play(self, seconds: float, turn_s: float) -> None:
        """Play one turn in each `turn_s` seconds."""
        end = time.monotonic() + seconds
        due = time.monotonic() + turn_s / 2
        while due < end:
            time.sleep(max(0.0, due - time.monotonic()))
            self.play_next()
            due += turn_s

    def read_event_times(self) -> list[float]:
        """Return the times of the events of its games, in seconds since 1970."""
        with GameStore(self._data / "games.db", is_owner=False) as store:
            return [event.time for game in store.list_games() for event in store.read_events(game.id)]
