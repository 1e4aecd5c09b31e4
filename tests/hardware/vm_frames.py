"""Puts photographs of a board with one word on it into the virtual camera of the machine that vm.sh boots."""

from __future__ import annotations

from engine.board import Board
from engine.tiles import load_tile_set
from tests.hardware.picamera2_board import FRAMES, STILL, put_into_camera
from tests.support.text_table import HORN, rows
from vision.rendering.simulated_table import SimulatedTable

if __name__ == "__main__":
    FRAMES.mkdir(parents=True, exist_ok=True)
    put_into_camera(SimulatedTable(seed=2, size=STILL, values=load_tile_set("en").values), Board.from_rows(rows(HORN)))
