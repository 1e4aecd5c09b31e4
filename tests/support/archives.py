"""A recorded game, and ZIP files of games."""

from __future__ import annotations

import io
import zipfile

import cv2
import numpy as np

from device.demo.demo_table import load_demo_games
from device.storage.archive import export_zip
from device.storage.game_log import GameLog, write_ledger
from device.storage.store import EventBody, GameStore
from engine.events import Act, Edit, GameStarted, PositionEntered
from engine.gcg import build_game
from engine.ledger import Entry, Ledger, Note
from engine.ledger_data import write_entry
from engine.tiles import Tile

Members = dict[str, bytes]
"""Contents of the files in a ZIP file, by name."""
GAME = build_game(load_demo_games()["three-of-us"])
POSITION = PositionEntered(((112, Tile("A")), (113, Tile.unnamed())), (120, 98, 55), 1)
"""Position of a game with the players of `GAME`."""


def write_acts(started: GameStarted, *acts: Act | Edit | Note) -> list[EventBody]:
    """Return the stored data of a game with an entry for each act."""
    entries = (Entry(number, number, ((act,),)) for number, act in enumerate(acts, 1))
    return write_ledger(Ledger(started, tuple(entries)))


def write_act(act: Act | Edit | Note, group: int = 1) -> EventBody:
    """Return the stored data of an entry with an act."""
    return write_entry(Entry(1, group, ((act,),)))


def record_acts(log: GameLog, *acts: Act | Edit) -> str:
    """Record one command in a log, with an entry for each act; return the error of the store."""
    return log.append(log.ledger.record([((act,),) for act in acts]))


def make_jpeg(side: int = 40) -> bytes:
    """Return a grey picture of this width and height."""
    done, data = cv2.imencode(".jpg", np.full((side, side, 3), 90, np.uint8))
    assert done
    return data.tobytes()


def export_to_memory(store: GameStore, number: int) -> io.BytesIO:
    """Return the ZIP file of a stored game."""
    return io.BytesIO(b"".join(export_zip(store, number)))


def make_zip(members: Members) -> io.BytesIO:
    """Return a ZIP file with these members."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as written:
        for name, data in members.items():
            written.writestr(name, data)
    file.seek(0)
    return file
