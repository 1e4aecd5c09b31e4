"""Measure the memory of the program over many turns with a fake camera and reader."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np

from device.cli.benchmarks.fixture import TIMEOUT_S, FakeTable, load_longest_game, read_memory_mb, run_table, start_game
from device.session.commands.turns import EndTurn
from engine.board import Board
from engine.state import TurnKind

PLOT_POINTS = 200
"""Number of points in the plot of memory over turns."""


def measure_memory(turns: int, folder: Path) -> list[float]:
    """Return the memory of the program in MB at about `PLOT_POINTS` times during `turns` turns."""
    table, game = FakeTable(), load_longest_game()
    boards = [turn.board for turn in game.turns if turn.kind is TurnKind.PLAY and turn.stands]
    megabytes = []
    with run_table(table, folder, len(game.players), table) as (session, _, _):
        for number in range(turns):
            turn = number % len(boards)
            if turn == 0:
                table.board = Board()
                start_game(session, len(game.players))
            table.board = boards[turn]
            session.submit(EndTurn()).result(TIMEOUT_S)
            if number % max(1, turns // PLOT_POINTS) == 0:
                megabytes.append(read_memory_mb())
    return megabytes


def draw_memory_plot(megabytes: list[float], turns: int, path: Path) -> None:
    """Draw a plot of the memory over the turns and write it to a PNG file."""
    width, height, edge = 900, 420, 60
    picture = np.full((height, width, 3), 255, np.uint8)
    top = 50 * (int(max(megabytes)) // 50 + 1)
    across = np.linspace(edge, width - 40, len(megabytes))
    up = height - edge - np.asarray(megabytes) / top * (height - edge - 20)
    for mark in range(0, top + 1, 50):
        y = round(height - edge - mark / top * (height - edge - 20))
        cv2.line(picture, (edge, y), (width - 40, y), (220, 220, 220), 1)
        cv2.putText(picture, f"{mark} MB", (4, y + 4), cv2.FONT_HERSHEY_SIMPLEX, 0.42, (60, 60, 60), 1, cv2.LINE_AA)
    line = np.column_stack([across, up]).round().astype(np.int32)
    cv2.polylines(picture, [line], False, (150, 90, 20), 2, cv2.LINE_AA)
    for share in (0, 0.25, 0.5, 0.75, 1):
        x = round(edge + share * (width - 40 - edge))
        text = f"{round(share * turns):,}"
        cv2.putText(picture, text, (x - 24, height - 34), cv2.FONT_HERSHEY_SIMPLEX, 0.42, (60, 60, 60), 1, cv2.LINE_AA)
    middle = width // 2, height - 10
    cv2.putText(picture, "turns", middle, cv2.FONT_HERSHEY_SIMPLEX, 0.45, (60, 60, 60), 1, cv2.LINE_AA)
    if not cv2.imwrite(str(path), picture):
        raise OSError(f"{path} cannot be written")
