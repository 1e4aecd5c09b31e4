"""Work that is counted, run by an emulated Python: `python -m tests.system.instructions.workloads NAME TIMES FOLDER`.

`FOLDER` has the pictures that `render_pictures` made. What is done before the first repetition is the same for any
number of repetitions, so that the difference of two runs is the work alone.
"""

from __future__ import annotations

import http.client
import json
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import cv2
import numpy as np

from device.cameras.base import Frame, Image
from engine.tiles import load_tile_set

PICTURE_SIZE_PX = (1632, 1224)
VIDEO_SIZE_PX = (1920, 1080)
PREVIEW_SIZE_PX = (640, 480)
FRAMES_PER_S = 5
"""Previews in a second that the monitor of the camera compares."""
START_TIMEOUT_S = 600.0
PHOTOGRAPH_COUNT = 40
"""Photographs of the workload `photographs`, drawn by a fixed seed from all that have a label."""
GAMES = Path(__file__).parents[3] / "device" / "data" / "games"


def render_pictures(folder: Path) -> None:
    """Render a board after the first two plays and two in the middle of a game; write the last one in three sizes."""
    from device.demo.demo_table import load_demo_games
    from engine.board import SQUARES, column_of, row_of
    from engine.gcg import build_game
    from vision.rendering.simulated_table import SimulatedTable

    game = build_game(next(iter(load_demo_games().values())))
    table = SimulatedTable(seed=5, size=PICTURE_SIZE_PX, values=load_tile_set("en").values)
    middle = len(game.turns) // 2
    for name, number in (("first", 0), ("second", 1), ("before", middle - 1), ("board", middle)):
        tiles = {s: tile.face for s in SQUARES if (tile := game.turns[number].board[s]) is not None}
        table.lay_tiles({(row_of(square), column_of(square)): face for square, face in tiles.items()})
        image = table.photograph().image
        cv2.imwrite(str(folder / f"{name}.png"), image)
    video = cv2.resize(image, VIDEO_SIZE_PX, interpolation=cv2.INTER_AREA)
    cv2.imwrite(str(folder / "video.jpg"), video, [cv2.IMWRITE_JPEG_QUALITY, 85])
    cv2.imwrite(str(folder / "preview.png"), cv2.resize(image, PREVIEW_SIZE_PX, interpolation=cv2.INTER_AREA))


def load_image(folder: Path, name: str) -> Image:
    """Load one of the pictures of `render_pictures`, `(H, W, 3) uint8 BGR`."""
    return np.asarray(cv2.imread(str(folder / f"{name}.png")), np.uint8)


def find_and_read(folder: Path, picture: str = "board") -> Callable[[], object]:
    """Find the board in the whole picture and read it."""
    from vision.recognition.reader import BoardReader

    image, reader, letters = load_image(folder, picture), BoardReader(), load_tile_set("en").letters
    return lambda: reader.read(image, letters)


def read_known_board(folder: Path, before: str = "before", after: str = "board") -> Callable[[], object]:
    """Read a board that is tracked after a turn; `before` is the picture before the turn."""
    from device.capture.board_camera import BoardCamera
    from vision.recognition.reader import BoardReader

    image, letters = load_image(folder, after), load_tile_set("en").letters
    camera = BoardCamera(_StillCamera(folder), BoardReader())
    camera.adopt_location(camera.read_board(load_image(folder, before), letters))
    return lambda: camera.read_board(image, letters)


def monitor_second(folder: Path) -> Callable[[], object]:
    """Monitor the camera over a board at rest for a second; pictures are not decoded."""
    from device.capture.board_camera import BoardCamera, CameraMonitor, MonitorClient
    from vision.recognition.reader import BoardReader

    camera = _StillCamera(folder)
    board_camera = BoardCamera(camera, BoardReader())
    monitor = CameraMonitor(board_camera, MonitorClient(), lambda: camera.now)
    for _ in range(FRAMES_PER_S):
        monitor.check_camera()

    def monitor_frames() -> None:
        for _ in range(FRAMES_PER_S):
            monitor.check_camera()

    return monitor_frames


def decode_frame(folder: Path) -> Callable[[], object]:
    """Decode a JPEG frame of a camera with 1080p."""
    data = np.frombuffer((folder / "video.jpg").read_bytes(), np.uint8)
    return lambda: cv2.imdecode(data, cv2.IMREAD_COLOR)


def decode_preview(folder: Path) -> Callable[[], object]:
    """Decode the same frame in grey at half the size, for the monitor."""
    data = np.frombuffer((folder / "video.jpg").read_bytes(), np.uint8)
    return lambda: cv2.imdecode(data, cv2.IMREAD_REDUCED_GRAYSCALE_2)


def explain_turns(_folder: Path) -> Callable[[], object]:
    """Explain 24 turns of the demo games: clear ones, some with a letter in doubt, and some with a tile not seen."""
    from tests.support.disturbed_readings import ROWS
    from tests.support.recorded_positions import load_games
    from tests.system.disturb_readings import measure_row

    games, _ = load_games([GAMES], 4, 1)
    rows = [ROWS[name] for name in ("clear", "new-letter-right-60", "new-tile-unseen-60")]
    return lambda: [measure_row(games, row, 8, 1, use_words=True, answers_truth=True) for row in rows]


def read_photographs(_folder: Path) -> Callable[[], object]:
    """Find and read the board in each of `PHOTOGRAPH_COUNT` photographs below the folder `TILEKEEPER_PHOTOS`."""
    from vision.photo import load_photo
    from vision.recognition.reader import BoardReader

    manifests = sorted(Path(os.environ["TILEKEEPER_PHOTOS"]).glob("*/manifest.json"))
    records = [(file.parent, each) for file in manifests for each in json.loads(file.read_text(encoding="utf-8"))]
    drawn = random.Random(0).sample([(folder, each) for folder, each in records if each["board"]], PHOTOGRAPH_COUNT)
    photos = [(load_photo(folder / each["photo"]).image, load_tile_set(each["language"])) for folder, each in drawn]
    reader = BoardReader()
    return lambda: [reader.read(image, tiles.letters) for image, tiles in photos]


WORKLOADS: dict[str, Callable[[Path], Callable[[], object]]] = {
    "find-and-read-first": partial(find_and_read, picture="first"),
    "find-and-read": find_and_read,
    "known-board-first": partial(read_known_board, before="first", after="second"),
    "known-board": read_known_board,
    "explain-turns": explain_turns,
    "idle-second": monitor_second,
    "decode-frame": decode_frame,
    "decode-preview": decode_preview,
}
PHOTOGRAPHS = "photographs"
"""Name of the work that takes too long to be repeated, and needs photographs."""


class _StillCamera:
    """A camera over a board at rest; its clock advances by a frame at each preview."""

    is_live = True

    def __init__(self, folder: Path) -> None:
        from device.capture.motion import to_grey

        self._still = load_image(folder, "board")
        self._preview = to_grey(load_image(folder, "preview"))
        self.now = 0.0

    def capture_preview(self) -> Frame:
        self.now += 1 / FRAMES_PER_S
        return Frame(self._preview, self.now)

    def capture_still(self) -> Frame:
        return Frame(self._still, self.now)

    def close(self) -> None:
        """Do nothing, because no device is open."""


def start_table(folder: Path, port: int) -> None:
    """Run the table until a client of this process has received the page once."""
    from device.cli import main

    def fetch_page() -> None:
        until = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < until:
            try:
                connection = http.client.HTTPConnection("127.0.0.1", port)
                connection.request("GET", "/")
                print("page", connection.getresponse().status)
                break
            except ConnectionError:
                time.sleep(0.25)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=fetch_page).start()
    (folder / "pictures").mkdir(exist_ok=True)
    camera = f"folder:{folder / 'pictures'}"
    main(["run", "--camera", camera, "--data", str(folder / "data"), "--host", "127.0.0.1", "--port", str(port)])


def run_workload() -> None:
    """Run the workload that the command line names."""
    name, times, folder = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
    if name == "start":
        start_table(folder, times)
        return
    cv2.setNumThreads(1)
    work = read_photographs(folder) if name == PHOTOGRAPHS else WORKLOADS[name](folder)
    for _ in range(times):
        work()


if __name__ == "__main__":
    run_workload()
