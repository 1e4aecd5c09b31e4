"""The work of a session between turns: watch the camera, save the clock and unsaved events, learn from turns."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace

from device.cameras import Frame
from device.capture.board_camera import BoardCamera
from device.capture.camera_monitor import CameraMonitor
from device.capture.key_frames import KeyFrameBuffer
from device.session.background.auto_turns import AutoTurnConfig, AutoTurns
from device.session.background.profile_updater import ProfileUpdater
from device.session.background.sight_monitor import SightMonitor
from device.session.game_controller import GameController
from device.session.messages import Notice, Trouble, format_sentence, make_notice
from device.session.snapshot import Moment, TableSnapshot
from device.session.threads import CommandQueue
from device.session.turns.advance_reader import AdvanceReader
from device.session.turns.turn_capture import AdvanceCapture, TurnCapture
from device.system.periodic import PeriodicTask
from engine.game import Game

CLOCK_SAVE_INTERVAL_S = 10.0
"""Interval for saving the running clock, in seconds. It is long because each save is a synced write, which wears an SD
card."""
SAVE_RETRY_INTERVAL_S = 5.0
"""Interval, in seconds, between attempts to save events that could not be saved."""
LEARN_INTERVAL_S = 3.0
"""Interval for learning the look of the tiles from the last turns, in seconds."""
MAX_TURNS_TO_LEARN = 4
"""Largest number of turns whose pictures are kept for the next update of the profile."""


class BackgroundWork:
    """Threads that work between commands: `watch`, `clock`, `saving`, `learning` and, with automatic turns, `auto`.

    The threads do not change the game or the profile themselves, but submit tasks to the session's thread.
    """

    def __init__(
        self,
        camera: BoardCamera,
        controller: GameController,
        queue: CommandQueue,
        advance_reader: AdvanceReader,
        profile_updater: ProfileUpdater | None,
        end_turn: Callable[[AdvanceCapture, Moment], Future[TableSnapshot]],
        *,
        clock: Callable[[], float],
        closing: threading.Event,
        auto: AutoTurnConfig | None,
    ) -> None:
        """Start the threads. They end when the event `closing` is set; `clock` returns the time in seconds.

        `end_turn` submits the command that ends a turn automatically. `auto` has the settings for automatic turns; None
        means that only a button or a command ends a turn.
        """
        self._controller = controller
        self._queue = queue
        self.key_frames = KeyFrameBuffer()
        """The pictures of the board at rest since the last turn."""
        self._advance_reader = advance_reader
        self._profile_updater = profile_updater
        self._turns_to_learn: deque[tuple[TurnCapture, Game]] = deque(maxlen=MAX_TURNS_TO_LEARN)
        monitor = SightMonitor(camera, controller, queue, advance_reader, self._remove_notices)
        self._sight_monitor = monitor
        self.auto_turns: AutoTurns | None = None
        """The automatic end of turns; None if only a button or a command ends a turn."""
        if auto is not None:
            self.auto_turns = AutoTurns(
                auto, controller, queue, advance_reader, clock, end_turn, monitor.propose_turn_end
            )
        self.camera_notice: Notice | None = None
        """The notice about a fault of the camera, or None."""
        camera_monitor = CameraMonitor(
            camera,
            report_trouble=self._update_camera_notice,
            on_rest=self._handle_rest,
            is_idle=lambda: not queue.is_busy,
            clock=clock,
            on_motion=self._handle_motion,
            on_long_rest=monitor.handle_long_rest,
            on_scene=advance_reader.read_scene,
            is_in_play=lambda: queue.state.phase.in_play,
        )
        self._tasks = (
            PeriodicTask("watch", camera_monitor.check_camera, closing),
            PeriodicTask("clock", self._save_clock, closing),
            PeriodicTask("saving", self._retry_save, closing),
            PeriodicTask("learning", self._learn_turns, closing),
            *([PeriodicTask("auto", self.auto_turns.check, closing)] if self.auto_turns else []),
        )

    def close(self) -> None:
        """Stop the threads."""
        for task in self._tasks:
            task.close()

    def add_turn(self, turn: TurnCapture, game: Game) -> None:
        """Queue a turn from which the table profile learns later; `game` is the game after the turn."""
        if self._profile_updater:
            self._turns_to_learn.append((turn, game))

    def discard_turns(self) -> None:
        """Remove the queued turns, so that the profile does not learn from them; called when a new game begins."""
        self._turns_to_learn.clear()
        if self._profile_updater:
            self._profile_updater.discard_pending()

    def _update_camera_notice(self, trouble: str | None) -> None:
        """Show the message `trouble` about a fault of the camera as a notice; if it is None, remove the notice."""
        before = self.camera_notice
        self.camera_notice = Notice(format_sentence(trouble), Trouble.CAMERA) if trouble else None

        def replace_notice(state: TableSnapshot) -> TableSnapshot:
            others = tuple(notice for notice in state.notices if notice.trouble is not Trouble.CAMERA)
            return replace(state, notices=(*others, *([self.camera_notice] if self.camera_notice else [])))

        if trouble:
            self._advance_reader.discard()
        if before != self.camera_notice:
            self._queue.update_state(replace_notice)

    def _handle_motion(self, is_moving: bool) -> None:
        if self.auto_turns:
            self.auto_turns.handle_motion(is_moving)
        self._sight_monitor.handle_motion(is_moving)

    def _handle_rest(self, frame: Frame) -> None:
        """Add a picture of the board at rest to the key frames, and check if a withdrawn play was removed."""
        if self._queue.state.phase.in_play:
            self.key_frames.add(frame)
        self._sight_monitor.handle_rest(frame)

    def _remove_notices(self, key: str) -> None:
        self._controller.remove_notices(key)
        self._queue.update_state(lambda state: replace(state, notices=tuple(n for n in state.notices if n.key != key)))

    def _save_clock(self) -> float:
        state, keeper = self._queue.state, self._controller.clock_keeper
        if keeper and state.clock and state.clock.running is not None:
            keeper.save()
        return CLOCK_SAVE_INTERVAL_S

    def _retry_save(self) -> float:
        """Try to save the events that could not be saved before."""

        def save() -> None:
            if self._controller.save():
                self._remove_notices("not-saved")

        if self._controller.has_unsaved:
            self._queue.run_task(save)
        return SAVE_RETRY_INTERVAL_S

    def _learn_turns(self) -> float:
        """Update the table profile from the queued turns.

        This is not done when a turn ends, so that page, panel and voice are updated first.
        """

        def learn(updater: ProfileUpdater) -> None:
            while self._turns_to_learn:
                turn, game = self._turns_to_learn.popleft()
                if error := updater.add_turn(turn, str(self._controller.log.number), game):
                    self._queue.add_notice(make_notice("not-learnt", error, trouble=Trouble.STORE))

        if (updater := self._profile_updater) and self._turns_to_learn:
            self._queue.run_task(lambda: learn(updater))
        return LEARN_INTERVAL_S
