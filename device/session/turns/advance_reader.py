"""Capture of a turn in advance, as soon as the board is at rest, so that the score is ready when the button is pressed.

If the play is uncertain, further pictures of the same scene are read, as at a press. The result is only recorded, shown
or published if a press or the automatic end of the turn uses it.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import suppress
from dataclasses import replace
from math import inf

from device.cameras.base import CameraError
from device.capture.board_camera import BoardCamera, Capture
from device.capture.motion import RestScene
from device.session.game_controller import GameController
from device.session.turns.decision import TurnContext
from device.session.turns.turn_capture import AdvanceCapture, TurnCapture, capture_in_advance
from engine.game import Game
from engine.inference.history import Rest
from engine.reading import BoardReading

_log = logging.getLogger(__name__)

NICENESS = 10
"""Niceness of the thread `ahead`, so that the page, the panel and the session take precedence."""
MAX_RESTS = 6
"""Largest number of readings of the board at rest that are kept between two turns."""
MAX_JOIN_S = 2.0
"""Longest time, in seconds, that a press waits for a capture that is already in progress. After this time, the press
reads the board itself."""
RENEWAL_DELAY_S = 0.2
"""Seconds between a turn and the renewal of the camera's memory of the board: page, panel and voice come first."""


class AdvanceReader:
    """Reader that captures a turn in advance from the newest scene (the board at rest), on a thread named `ahead`.

    `read_scene` starts a capture. Until the next scene, or until it is discarded, these methods return it:

    - `take`: once, for a press. It waits for a capture in progress.
    - `get_newest`: every time once it is completed, even if it was taken or its turn is recorded.
    - `get_unused`: the same, until its turn or a later one is recorded (`mark_used`).

    `list_rests` returns the readings of all scenes since the last turn.

    The methods may be called from any thread.
    """

    def __init__(self, board_camera: BoardCamera, controller: GameController) -> None:
        """Prepare the thread; the first call of `read_scene` starts it. The game of `controller` is not changed."""
        self._board_camera = board_camera
        self._controller = controller
        self._worker = ThreadPoolExecutor(1, "ahead", initializer=_lower_priority)
        self._lock = threading.Lock()
        self._scene_number = 0
        """Number of the scene; a capture in progress of an earlier scene is not used."""
        self._future: Future[AdvanceCapture | None] | None = None
        """The capture for `take`, which may be in progress; None after `take`."""
        self._newest: AdvanceCapture | None = None
        """The completed capture for `get_newest` and `get_unused`."""
        self._used_time = -inf
        """Time of the picture of the last turn that was recorded, in seconds."""
        self._rests: deque[tuple[float, BoardReading]] = deque(maxlen=MAX_RESTS)
        """The time of the picture, in seconds, and the reading of each scene since the last turn."""
        self._is_closed = False

    def get_newest(self) -> AdvanceCapture | None:
        """Return the newest capture; None if it is in progress, or was discarded."""
        with self._lock:
            return self._newest

    def get_unused(self) -> AdvanceCapture | None:
        """Return the newest capture if its picture is newer than that of the last recorded turn, otherwise None."""
        with self._lock:
            is_used = self._newest is None or self._newest.turn.frame.time <= self._used_time
            return None if is_used else self._newest

    def mark_used(self, turn: TurnCapture) -> None:
        """Store that `turn` is recorded: only a capture with a newer picture is unused."""
        with self._lock:
            self._used_time = turn.frame.time
            self._rests = deque([rest for rest in self._rests if rest[0] > turn.frame.time], MAX_RESTS)

    def list_rests(self, until: float) -> tuple[Rest, ...]:
        """Return the readings of the board at rest since the last turn, up to the time `until` (s) of a picture."""
        with self._lock:
            return self._list_rests(until)

    def _list_rests(self, until: float) -> tuple[Rest, ...]:
        rests = [(time, reading) for time, reading in self._rests if time < until]
        ends = [*(time for time, _ in rests[1:]), until]
        return tuple(Rest(reading, end - time) for (time, reading), end in zip(rests, ends, strict=False))

    def read_scene(self, scene: RestScene) -> None:
        """Start to capture the turn in a scene, in place of the earlier capture, if a player has the turn."""
        controller = self._controller
        if not controller.phase.in_play or controller.game.tiles.by_hand_only:
            return
        with self._lock:
            self._cancel()
            context = replace(controller.turn_context, rests=self._list_rests(scene.still.time))
            if context.seat is not None:  # after a press of a player's button, that of the next player is expected
                context = replace(context, seat=context.ledger.game.to_move)
            self._future = self._worker.submit(self._capture, self._scene_number, scene, context)

    def renew_memory(self, turn: TurnCapture) -> None:
        """Renew the camera's memory of the board after `turn`, if it is too old to be used for the next picture."""
        if not self._board_camera.tracker.has_worn_memory:
            return
        with self._lock:
            if not self._is_closed:  # the last command may end after `close`
                self._worker.submit(self._renew_memory, Capture(turn.frame, turn.reading), turn.game)

    def discard(self) -> None:
        """Discard the capture and all earlier readings. A capture in progress is completed, but not used."""
        with self._lock:
            self._cancel()
            self._rests.clear()

    def take(self) -> AdvanceCapture | None:
        """Return the capture to a press; None if there is none, if it has failed, or if another press has taken it.

        A capture in progress is awaited, up to `MAX_JOIN_S` seconds. `get_newest` still returns it afterwards.
        """
        with self._lock:
            future, self._future = self._future, None
        if future is None or future.cancel():
            return None
        try:
            return future.result(MAX_JOIN_S)
        except FutureTimeoutError:
            _log.warning("the capture in advance took longer than %.0f s", MAX_JOIN_S)
        except Exception:  # the press reads the board itself, and reports the error to the players
            _log.exception("the capture in advance failed")
        return None

    def close(self) -> None:
        """Stop the thread after a capture in progress has been completed."""
        with self._lock:
            self._is_closed = True
            self._cancel()
        self._worker.shutdown(cancel_futures=True)

    def _cancel(self) -> None:
        self._scene_number += 1
        if self._future is not None:
            self._future.cancel()
        self._future = self._newest = None

    def _capture(self, scene_number: int, scene: RestScene, context: TurnContext) -> AdvanceCapture | None:
        """Read a scene and infer its turn; None if it cannot be read or was discarded. Runs on the thread `ahead`."""
        reading = self._board_camera.read_in_advance(scene, context.ledger.game.tiles.letters)
        if reading is None:
            return None
        capture = capture_in_advance(reading, context)
        while capture.needs_picture and self._is_wanted(scene_number):
            picture = self._read_again(capture, context.ledger.game)
            if picture is None:
                break
            capture = capture.add_picture(picture)
        capture = capture.with_pictures()  # encoded now, so that no player waits for it
        with self._lock:
            self._add_rest(reading.capture)  # the board was at rest, even if the capture is discarded
            if scene_number != self._scene_number:  # discarded in the meantime
                return None
            self._newest = capture
        return capture

    def _add_rest(self, capture: Capture) -> None:
        """Keep the reading of a board at rest, unless it shows the same as before or the last turn is newer."""
        board = capture.reading.board
        is_known = bool(self._rests) and board is not None and self._rests[-1][1].symbols == board.symbols
        if board is not None and not is_known and capture.frame.time > self._used_time:
            self._rests.append((capture.frame.time, board))

    def _renew_memory(self, last: Capture, game: Game) -> None:
        time.sleep(RENEWAL_DELAY_S)
        try:
            self._board_camera.renew_memory(last, game.tiles.letters)
        except Exception:  # the next picture is read completely
            _log.exception("the board could not be read again")

    def _is_wanted(self, scene_number: int) -> bool:
        """Return True if the capture of a scene is still wanted: it was not discarded, and no press has taken it.

        After a press, the turn reads further pictures itself.
        """
        with self._lock:
            return scene_number == self._scene_number and self._future is not None

    def _read_again(self, capture: AdvanceCapture, game: Game) -> Capture | None:
        """Read another picture of a scene; return None if the scene has changed or the camera has a fault."""
        try:
            return self._board_camera.read_scene_again(capture.reading, game.tiles.letters)
        except CameraError as error:  # the camera monitor reports it to the players
            _log.warning("no further picture in advance: %s", error)
            return None


def _lower_priority() -> None:
    """Lower the priority of the calling thread only: in Linux, each thread has its own niceness."""
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
