"""A rendered table with a camera that is bumped, and the games that are played on it in `simulate_evenings`."""

from __future__ import annotations

import math
import random
import threading
import time
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from device.cameras.base import Frame
from engine.board import SQUARES, Board, column_of, row_of
from engine.events import Challenged, Passed
from engine.lexicon import Lexicon
from tests.support.self_play import SelfPlay
from vision.geometry import Image
from vision.rendering.camera import look_at_board
from vision.rendering.simulated_table import Hands, SimulatedTable

SIZE = (1024, 768)
HAND = 0.2
"""Share of the pictures with a hand over the board."""


class NightTable(SimulatedTable):
    """A rendered table whose camera can be bumped, and whose board can be turned."""

    def __init__(self, seed: int, edition: str, values: Mapping[str, int]) -> None:
        super().__init__(seed, edition, SIZE, values=values)
        self._pose = [14.0, 3.0, 0.0, -0.02]

    def move(self, *, tilt: float = 0.0, turn: float = 0.0, across: float = 0.0) -> None:
        """Move the camera: degrees of tilt and turn, and a fraction of the picture's width."""
        self._pose = [self._pose[0] + tilt, self._pose[1] + turn, self._pose[2] + across, self._pose[3]]
        lean, roll = (math.radians(angle) for angle in self._pose[:2])
        shift = (self._pose[2], self._pose[3])
        camera = look_at_board(SIZE, 1.1 * max(SIZE), lean, math.pi, roll, 0.84, shift)
        self._setting = replace(self._setting, camera=camera)


class NightCamera:
    """Looks at a `NightTable`. One picture is rendered for each change; stills get noise of their own, some a hand."""

    is_live = True

    def __init__(self, table: NightTable, seed: int) -> None:
        self._table = table
        self._lock = threading.Lock()
        self._noise = np.random.default_rng(seed)
        self._chance = random.Random(seed)
        self._picture: Image | None = None
        self.hands = self.stills = 0

    def lay(self, board: Board) -> None:
        """Make the table show a board."""
        faces = {(row_of(s), column_of(s)): tile.face for s in SQUARES if (tile := board[s]) is not None}
        with self._lock:
            self._table.lay_tiles(faces)
            self._picture = None

    def move(self, **how: float) -> None:
        """Bump the camera, or turn the board."""
        with self._lock:
            self._table.move(**how)
            self._picture = None

    def capture_still(self) -> Frame:
        """The table now; in one of five pictures with a hand over it."""
        with self._lock:
            self.stills += 1
            if self._chance.random() < HAND:
                self.hands += 1
                finger = (self._chance.uniform(2, 13), self._chance.uniform(2, 13))
                return Frame(self._table.photograph(Hands((finger,))).image, time.monotonic())
            noisy = self._now() + self._noise.normal(0, 1.5, self._now().shape).astype(np.float32)
            return Frame(np.clip(noisy, 0, 255).astype(np.uint8), time.monotonic())

    def capture_preview(self) -> Frame:
        """The table now, small."""
        with self._lock:
            return Frame(np.ascontiguousarray(self._now()[::4, ::4]), time.monotonic())

    def close(self) -> None: ...

    def _now(self) -> Image:
        if self._picture is None:
            self._picture = self._table.photograph().image
        return self._picture


class NightPlay(SelfPlay):
    """A game of `SelfPlay` in which, in addition, a challenge fails and a player passes."""

    def __init__(self, players: tuple[str, ...], lexicon: Lexicon, seed: int) -> None:
        super().__init__(players, lexicon, seed)
        chance = random.Random(seed)
        self._vain_at, self._pass_at = chance.randrange(2, 12), chance.randrange(4, 16)

    def _turn(self) -> None:
        number, game = len(self.game.turns), self.game
        if number >= self._vain_at and game.challengeable_turn is not None:
            self._vain_at = 10_000
            self._push(Challenged(game.to_move, upheld=False), "")
        elif number >= self._pass_at and game.bag_count:
            self._pass_at = 10_000
            self._push(Passed(game.to_move), "")
        else:
            super()._turn()
