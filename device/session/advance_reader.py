"""Reading in advance: read and interpret the board at rest, so that the score is ready when the button is pressed.

The result stays in this module until a press takes it: it is not recorded, shown or published before.
"""

from __future__ import annotations

import logging
import os
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import suppress
from dataclasses import replace

from device.capture.board_camera import BoardCamera
from device.capture.scene_reference import RestScene
from device.session.decision import TurnContext
from device.session.game_controller import GameController
from device.session.turn_capture import AdvanceCapture, capture_in_advance
from engine.game import Game

_log = logging.getLogger(__name__)

NICENESS = 10
"""Niceness of the thread: page, panel and session go first."""
MAX_JOIN_S = 2.0
"""Longest time, in seconds, for which a press waits for a reading that has begun; then the press reads the board."""


class AdvanceReader:
    """A thread named `ahead` that reads the newest scene; any thread may begin, take or discard a reading."""

    def __init__(self, board_camera: BoardCamera, controller: GameController) -> None:
        """Prepare the thread, which starts with the first scene; the game of `controller` is only read."""
        self._board_camera = board_camera
        self._controller = controller
        self._worker = ThreadPoolExecutor(1, "ahead", initializer=_lower_priority)
        self._lock = threading.Lock()
        self._number = 0
        self._future: Future[AdvanceCapture | None] | None = None

    def read_scene(self, scene: RestScene) -> None:
        """Read a scene and infer the turn, if a player has the turn; an earlier reading is discarded."""
        controller = self._controller
        if not (controller.has_game and controller.phase.in_play) or controller.game.tiles.by_hand_only:
            return
        with self._lock:
            self._cancel()
            game, context = controller.game, controller.turn_context
            if context.seat is not None:  # after a press of a player's button, that of the next player is expected
                context = replace(context, seat=game.to_move)
            self._future = self._worker.submit(self._capture, self._number, scene, game, context)

    def discard(self) -> None:
        """Discard the reading, whether it has begun or not."""
        with self._lock:
            self._cancel()

    def take(self) -> AdvanceCapture | None:
        """Return the reading and forget it; None if there is no usable one. A reading that has begun is waited for."""
        with self._lock:
            future, self._future = self._future, None
        if future is None or future.cancel():
            return None
        try:
            return future.result(MAX_JOIN_S)
        except FutureTimeoutError:
            _log.warning("reading in advance took longer than %.0f s", MAX_JOIN_S)
        except Exception:  # the press reads the board itself, and reports the error to the players
            _log.exception("reading in advance failed")
        return None

    def close(self) -> None:
        """Stop the thread; a reading that has begun is completed."""
        self.discard()
        self._worker.shutdown()

    def _cancel(self) -> None:
        self._number += 1
        if self._future is not None:
            self._future.cancel()
        self._future = None

    def _capture(self, number: int, scene: RestScene, game: Game, context: TurnContext) -> AdvanceCapture | None:
        reading = self._board_camera.read_in_advance(scene, game.tiles.letters)
        if reading is None or number != self._number:  # discarded in the meantime
            return None
        return capture_in_advance(reading, game, context)


def _lower_priority() -> None:
    """Lower the priority of the calling thread; Linux has a niceness for each thread."""
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
