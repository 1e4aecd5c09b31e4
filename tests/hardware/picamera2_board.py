"""`PiCamera`, the reader and the session on the real picamera2, over libcamera's virtual camera: pictures of boards.

`picamera2_root.sh` makes the place for it and runs it. The boards are a recorded game's, on rendered tables; before
each turn the camera is made to stall as a loose cable would, so that each turn is taken from a camera that was lost
and came back by itself.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import picamera2

from device.cameras import open_camera
from device.cameras.base import CameraError, Image
from device.cameras.pi import PiCamera
from device.cli.options import make_board_reader
from device.demo.demo_table import load_demo_games
from device.session.commands.games import StartGame
from device.session.commands.turns import EndTurn
from device.session.messages import Trouble
from device.session.snapshot import TableSnapshot
from device.session.table_session import TableSession
from device.storage.store import GameStore
from engine.board import SQUARES, Board, column_of, row_of
from engine.events import GameStarted
from engine.gcg import replay
from engine.reading import BLANK, EMPTY
from engine.state import TurnKind
from engine.tiles import load_tile_set
from vision.rendering.simulated_table import EDITIONS, SimulatedTable

FRAMES = Path("/srv/frames")
"""Folder in which the virtual camera finds its pictures."""
PICTURES = 3
"""Number of photographs of each board that the camera shows in turn."""
TURNS = 6
STILL, SMALL = (1728, 1296), (320, 240)
ALIKE = 0.99
"""Correlation of a still with the JPEG that was put into the camera. Not more: NV12 halves the colours, and the virtual
pipeline says "limited range" of a picture in full range, so that its contrast comes out greater."""

failures: list[str] = []


def check(what: str, good: bool, more: str = "") -> None:
    """Print whether `what` is so."""
    print(f"{'ok  ' if good else 'FAIL'} {what}{f': {more}' if more else ''}", flush=True)
    if not good:
        failures.append(what)


def faces(board: Board) -> dict[tuple[int, int], str]:
    """Return the tiles on `board` by row and column."""
    return {(row_of(s), column_of(s)): tile.face for s in SQUARES if (tile := board[s]) is not None}


def rows(board: Board) -> tuple[tuple[str, ...], ...]:
    """As a reading tells a board: `.` empty, capitals, `?` a blank."""
    laid = faces(board)
    return tuple(tuple(laid.get((row, column), EMPTY) for column in range(15)) for row in range(15))


def shown_rows(state: TableSnapshot) -> tuple[tuple[str, ...], ...]:
    """The board as the session has it."""
    symbols = [EMPTY if tile is None else BLANK if tile.blank else tile.letter for tile in state.board.tiles]
    return tuple(tuple(symbols[row * 15 : row * 15 + 15]) for row in range(15))


def put_into_camera(table: SimulatedTable, board: Board) -> list[Image]:
    """Photograph `board` into the virtual camera; shown from the next opening on."""
    table.lay_tiles(faces(board))
    shown = []
    for number in range(PICTURES):
        path = FRAMES / f"{number}.jpg"
        cv2.imwrite(str(path), table.photograph().image, [cv2.IMWRITE_JPEG_QUALITY, 95])
        shown.append(cv2.imread(str(path)))
    return shown


def likeness(one: Image, others: list[Image]) -> float:
    """Correlation of all values with those of the most alike picture."""
    return max(float(np.corrcoef(one.ravel(), other.ravel())[0, 1]) for other in others)


def the_camera(shown: list[Image]) -> None:
    """Opening, controls, formats, pictures, times."""
    began = time.monotonic()
    with open_camera("pi") as camera:
        assert isinstance(camera, PiCamera)
        check("the camera opens and settles", True, f"{time.monotonic() - began:.2f} s")
        pi = camera._camera
        print("     offered controls:", ", ".join(pi.camera_controls))
        form = pi.camera_configuration()["main"]["format"]
        check("the pipeline gives another format than was asked for", form == "NV12", form)
        for _ in range(4):
            began = time.monotonic()
            image = camera.capture_still().image
            took = time.monotonic() - began
            alike = likeness(image, shown)
            check("a still has the sensor's size", image.shape == (STILL[1], STILL[0], 3), f"{took * 1000:.0f} ms")
            check("and shows what was put into the camera", alike > ALIKE, f"correlation {alike:.4f}")
        began = time.monotonic()
        small = camera.capture_preview().image
        took = time.monotonic() - began
        lores = pi.camera_configuration()["lores"]
        check("the preview comes from the small stream", lores is not None and lores["size"] == SMALL, str(lores))
        check("in its size", small.shape == (SMALL[1], SMALL[0], 3), f"{took * 1000:.0f} ms")
        alike = likeness(small, [cv2.resize(p, SMALL, interpolation=cv2.INTER_AREA) for p in shown])
        check("with the same picture", alike > 0.95, f"correlation {alike:.4f}")
        try:
            open_camera("pi").close()
            check("a second program is told that the camera is used", False)
        except CameraError as error:
            check("a second program is told that the camera is used", "another program" in str(error), str(error))
    try:
        camera.capture_still()
        check("a closed camera says so", False)
    except CameraError as error:
        check("a closed camera says so", "closed" in str(error), str(error))


def without_cameras() -> None:
    """Check the message on a machine whose libcamera finds no camera."""
    asked = "from device.cameras import open_camera; open_camera('pi')"
    nothing = os.environ | {"LIBCAMERA_PIPELINES_MATCH_LIST": "simple"}
    said = subprocess.run([sys.executable, "-c", asked], env=nothing, capture_output=True, text=True, check=False)
    last = said.stderr.strip().splitlines()[-1]
    check("no camera module is said in words", "No camera module was found" in last, last)


def command_line(image: Image, truth: tuple[tuple[str, ...], ...]) -> None:
    """`tilekeeper read` on a picture that came out of picamera2."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "from-picamera2.png"
        cv2.imwrite(str(path), image)
        read = [str(Path(sys.executable).with_name("tilekeeper")), "read", "--json", str(path)]
        said = subprocess.run(read, capture_output=True, text=True, check=False)
        board = json.loads(said.stdout)["board"] if said.returncode == 0 else []
        check("`tilekeeper read` reads the frame", board == ["".join(row) for row in truth], said.stderr.strip())


def boards() -> Iterator[tuple[Board, int]]:
    """The first plays of a recorded game: the board after each, and the play's score."""
    board = Board()
    record = next(iter(load_demo_games().values()))
    plays = (event for event in replay(record).events if event.entry.kind is TurnKind.PLAY and event.play)
    for event, _ in zip(plays, range(TURNS), strict=False):
        assert event.play is not None and event.score is not None
        board = event.play.apply_to(board)
        yield board, event.score


def a_game(edition: str, seed: int) -> None:
    """A game at the table: each turn after the camera stalled and came back."""
    table = SimulatedTable(seed=seed, edition=edition, size=STILL, values=load_tile_set("en").values)
    made: list[Any] = []

    def make() -> Any:
        made.append(picamera2.Picamera2())
        return made[-1]

    put_into_camera(table, Board())
    right, reader = 0, make_board_reader()
    with GameStore(":memory:") as store, TableSession(PiCamera(make), reader, store) as session:
        state = session.submit(StartGame(GameStarted(("Anna", "Ben")))).result()
        for number, (board, score) in enumerate(boards(), start=1):
            put_into_camera(table, board)
            made[-1].stop()  # frames stop coming, as with a loose cable
            asked = time.monotonic()
            state = session.submit(EndTurn()).result()
            said = [notice for notice in state.notices if notice.trouble is Trouble.CAMERA]
            if number == 1:
                took = time.monotonic() - asked
                words = said[0].text if said else "nothing"
                check("a camera that stalls is said", bool(said), f"{words} (after {took:.1f} s)")
            state = back(session, number)
            turn = state.turns[-1] if len(state.turns) == number else None
            good = turn is not None and shown_rows(state) == rows(board) and turn.score == score
            right += good
            shown = (
                f"{turn.word} {turn.score}"
                if turn
                else f"{[t.kind for t in state.turns]}, {[n.text for n in state.notices]}"
            )
            if state.question:
                shown += f"; asked: {state.question.text} {state.question.answers}"
            check(f"{edition} board, turn {number}: all 225 squares and the score", good, shown)
    print(f"     {edition}: {right} of {TURNS} turns right, the camera opened {len(made)} times")


def back(session: TableSession, number: int) -> TableSnapshot:
    """End turn `number` once the camera is back: nobody presses again when the play is there, or something is asked."""
    for _ in range(10):
        time.sleep(0.5)
        state = session.submit(EndTurn()).result()
        if len(state.turns) >= number or state.question:
            break
        print(f"     not yet: {'; '.join(notice.text for notice in state.notices)}")
    return state


def main() -> int:
    """0 when everything was right."""
    logging.disable(logging.INFO)
    FRAMES.mkdir(parents=True, exist_ok=True)
    table = SimulatedTable(seed=1, edition="classic", size=STILL, values=load_tile_set("en").values)
    board = list(boards())[-1][0]
    shown = put_into_camera(table, board)
    print("cameras:", picamera2.Picamera2.global_camera_info())
    the_camera(shown)
    without_cameras()
    with open_camera("pi") as camera:
        image = camera.capture_still().image
    reading = make_board_reader().read(image, load_tile_set("en").letters)
    check("the frame is read into the right board", reading.board is not None and reading.board.rows() == rows(board))
    command_line(image, rows(board))
    for seed, edition in enumerate(EDITIONS):
        a_game(edition, seed)
    print(f"{len(failures)} failed: {', '.join(failures)}" if failures else "all right")
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
