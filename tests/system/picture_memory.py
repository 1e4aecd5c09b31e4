"""Measure the memory of a table to which a phone sends large pictures for many turns.

    python -m tests.system.picture_memory --turns 200
    python -m tests.system.picture_memory --turns 200 --camera folder

The program runs in a process of its own. The pictures are drawn, 2,560 px wide, and show recorded games turn by turn. A
phone also sends a GIF, a TIFF and a JPEG of 160 megapixels. Printed are the resident memory after each tenth turn,
and the peak, in MB.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from http.cookiejar import CookieJar
from itertools import islice
from pathlib import Path
from urllib.parse import urlencode

import cv2
import numpy as np

from device.storage.lexicons import open_lexicon
from engine.board import SQUARES, Board, column_of, row_of
from engine.game import Game
from tests.hardware.service import find_fields, make_multipart
from tests.support.api_client import ApiClient, read_pairing_code
from tests.support.ports import find_free_port
from tests.support.self_play import SelfPlay
from tests.system.load import read_status
from vision.rendering.simulated_table import SimulatedTable

SIZE_PX = (2560, 1920)
ODD_TURNS = {40: "odd.gif", 80: "odd.tiff", 120: "odd.jpg"}
"""Turns after which the phone sends another file."""


def draw_games(seed: int) -> Iterator[tuple[Game, bytes]]:
    """Yield a game after each of its plays, with a picture of its board as a JPEG; one game after the other."""
    lexicon = open_lexicon(None, "en")
    assert lexicon is not None, "the English word list is part of this program"
    while True:
        played = SelfPlay(("Anna", "Ben"), lexicon, seed).run()
        table, game = (
            SimulatedTable(seed=seed, size=SIZE_PX, values=played.tiles.values),
            Game.begin(played.start_event),
        )
        for event in played.events:
            game = game.push(event)
            if game.is_over or game.turns[-1].play is None or not game.turns[-1].stands:
                break
            yield game, draw_board(table, game.board)
        seed += 1


def draw_board(table: SimulatedTable, board: Board) -> bytes:
    """Return a photograph of the board as a JPEG."""
    table.lay_tiles({(row_of(s), column_of(s)): tile.face for s in SQUARES if (tile := board[s]) is not None})
    return cv2.imencode(".jpg", table.photograph().image)[1].tobytes()


def draw_odd_file(name: str) -> bytes:
    """Return a picture of a format that phones seldom send, or of 160 megapixels."""
    size = (10_000, 16_000, 3) if name == "odd.jpg" else (1920, 2560, 3)
    return cv2.imencode(Path(name).suffix, np.full(size, 120, np.uint8))[1].tobytes()


class Phone:
    """A paired phone of the table at a port."""

    def __init__(self, port: int, code: str) -> None:
        self._address = f"http://127.0.0.1:{port}"
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
        fields = find_fields(self.get("/pair")) | {"code": code}
        self._send("/pair", urlencode(fields).encode(), "application/x-www-form-urlencoded")

    def get(self, path: str = "/") -> str:
        """Return a page."""
        with self._opener.open(self._address + path, timeout=60) as answer:
            return str(answer.read().decode())

    def take_picture(self, data: bytes) -> int:
        """End the turn with a picture; return the status of the answer."""
        return self._send("/actions/picture", *make_multipart(find_fields(self.get()), data))

    def _send(self, path: str, body: bytes, kind: str) -> int:
        request = urllib.request.Request(self._address + path, body, {"Content-Type": kind})
        try:
            with self._opener.open(request, timeout=60) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            return error.code


def measure(turns: int, camera: str, seed: int) -> list[float]:
    """Play `turns` turns; return the resident memory after each, in MB, and print it."""
    with tempfile.TemporaryDirectory() as made:
        folder, port = Path(made), find_free_port()
        (folder / "pictures").mkdir()
        source = "phone" if camera == "phone" else f"folder:{folder / 'pictures'}"
        words = ["run", "--camera", source, "--players", "Anna,Ben", "--port", str(port), "--host", "127.0.0.1"]
        program = [sys.executable, "-c", "from device.cli import main; raise SystemExit(main())", *words]
        with subprocess.Popen([*program, "--data", str(folder / "data")], stdout=subprocess.PIPE, text=True) as table:
            try:
                return play(table, port, folder / "pictures", turns, camera, seed)
            finally:
                table.terminate()


def play(table: subprocess.Popen[str], port: int, pictures: Path, turns: int, camera: str, seed: int) -> list[float]:
    """Let a table read the pictures of all turns; print its memory after each tenth of them, and return it, in MB."""
    code = read_pairing_code(table)
    api, phone = ApiClient(port, code), Phone(port, code)
    found, recorded = [], 0
    for number, (game, jpeg) in enumerate(islice(draw_games(seed), turns), 1):
        if len(game.turns) == 1:
            api.command("new-game", players=["Anna", "Ben"])
        if camera == "phone":
            phone.take_picture(jpeg)
        else:
            (pictures / f"{number:04}.jpg").write_bytes(jpeg)
            api.end_turn()
        recorded += len(api.call("GET", "/state")["turns"]) == len(game.turns)
        if camera == "phone" and number in ODD_TURNS:
            print(ODD_TURNS[number], phone.take_picture(draw_odd_file(ODD_TURNS[number])))
        found.append(read_status(table.pid, "VmRSS") / 1024)
        if number % 10 == 0:
            peak = read_status(table.pid, "VmHWM") / 1024
            print(f"turn {number} ({recorded} recorded): {found[-1]:.0f} MB, peak {peak:.0f} MB", flush=True)
    return found


def main() -> None:
    """Measure, and print by how much the memory has changed after the tenth turn."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=200)
    parser.add_argument("--camera", choices=["phone", "folder"], default="phone")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    found = measure(args.turns, args.camera, args.seed)
    print(f"after the tenth turn: {min(found[9:]):.0f} to {max(found[9:]):.0f} MB")


if __name__ == "__main__":
    main()
