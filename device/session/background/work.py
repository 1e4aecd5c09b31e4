"""The work of a session between turns: watch the camera, save the clock and unsaved events, learn from turns."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace

from device.cameras.base import Frame
from device.capture.board_camera import BoardCamera, CameraMonitor, MonitorClient
from device.capture.motion import RestScene
from device.session.background.auto_turns import AutoTurnConfig, AutoTurns
from device.session.background.profile_updater import ProfileUpdater
from device.session.background.sight_monitor import SightMonitor
from device.session.game_controller import GameController
from device.session.messages import Notice, Trouble, format_sentence, make_notice
from device.session.snapshot import Moment, Phase, TableSnapshot
from device.session.threads import CommandQueue
from device.session.turns.advance_reader import AdvanceReader
from device.session.turns.turn_capture import AdvanceCapture, TurnCapture
from device.system.periodic import PeriodicTask
from engine.ledger import Ledger
from vision.recognition.reader import PhotoReading

CLOCK_SAVE_INTERVAL_S = 10.0
"""Interval for saving the running clock, in seconds. It is long because each save is a synced write, which wears an SD
card."""
SAVE_RETRY_INTERVAL_S = 5.0
"""Interval, in seconds, between attempts to save events that could not be saved."""
LEARN_INTERVAL_S = 3.0
"""Interval for learning the look of the tiles from the last turns, in seconds."""
MAX_TURNS_TO_LEARN = 4
"""Largest number of turns whose pictures are kept for the next update of the profile."""


class BackgroundWork(MonitorClient):
    """Threads that work between commands: `watch`, `clock`, `saving`, `learning` and, with automatic turns, `auto`.

    The threads do not change the game themselves, but submit tasks to the session's thread.
    """

    def __init__(
        self,
        camera: BoardCamera,
        controller: GameController,
        queue: CommandQueue,
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
        self.advance_reader = AdvanceReader(camera, controller)
        """The reader of the board at rest, before a press."""
        self._profile_updater = profile_updater
        self._turns_to_learn: deque[tuple[TurnCapture, str, Ledger]] = deque(maxlen=MAX_TURNS_TO_LEARN)
        self._learn_lock = threading.Lock()
        monitor = SightMonitor(camera, controller, queue, self.advance_reader, self._remove_notices)
        self._sight_monitor = monitor
        self.auto_turns: AutoTurns | None = None
        """The automatic end of turns; None if only a button or a command ends a turn."""
        if auto is not None:
            self.auto_turns = AutoTurns(
                auto, controller, queue, self.advance_reader, clock, end_turn, monitor.propose_turn_end
            )
        self.camera_notice: Notice | None = None
        """The notice about a fault of the camera, or None."""
        self._camera_monitor = CameraMonitor(camera, self, clock)
        self._tasks = (
            PeriodicTask("watch", self._camera_monitor.check_camera, closing),
            PeriodicTask("clock", self._save_clock, closing),
            PeriodicTask("saving", self._retry_save, closing),
            PeriodicTask("learning", self._learn_turns, closing),
            *([PeriodicTask("auto", self.auto_turns.check, closing)] if self.auto_turns else []),
        )

    def close(self) -> None:
        """Stop the threads."""
        for task in self._tasks:
            task.close()
        self.advance_reader.close()

    def add_turn(self, turn: TurnCapture, ledger: Ledger) -> None:
        """Learn the look of the tiles from a turn, and renew the memory of the board, both on other threads.

        `ledger` is the ledger with this turn.
        """
        self.advance_reader.renew_memory(turn)
        if self._profile_updater:
            self._turns_to_learn.append((turn, str(self._controller.log.number), ledger))

    def discard_pictures(self) -> None:
        """Discard the pictures of the previous game: those of the board at rest, and turns to learn from.

        A board at rest is read again: the players may have placed the first word before they started the game.
        """
        self.advance_reader.discard()
        self._camera_monitor.forget_scene()
        self.discard_turns_to_learn()

    def discard_turns_to_learn(self) -> None:
        """Discard the turns to learn from, because one of them was undone and may be replaced by another turn."""
        with self._learn_lock:
            self._turns_to_learn.clear()
            if self._profile_updater:
                self._profile_updater.discard_pending()

    def check_tiles_to_clear(self, reading: PhotoReading) -> None:
        """Check if the tiles of a withdrawn play are gone in the reading of a turn; runs on the session's thread."""
        self._sight_monitor.check_tiles_to_clear(reading)

    def check_removed_tiles(self) -> None:
        """Check if the tiles of a withdrawn play were removed before the command that withdrew it."""
        self._sight_monitor.check_removed_tiles()

    # The methods that the camera monitor calls, on the thread `watch`

    def is_idle(self) -> bool:
        """Return True while no command is running, because a command may use the camera."""
        return not self._queue.is_busy

    def is_in_play(self) -> bool:
        """Return True while a game is in play, and while a turn is being ended.

        The phase can still be `LOOKING` when the command has just ended, and the next player may place tiles at once.
        """
        phase = self._queue.state.phase
        return phase.in_play or phase is Phase.LOOKING

    def handle_trouble(self, message: str | None) -> None:
        """Show the message about a fault of the camera as a notice; if it is None, remove the notice."""
        before = self.camera_notice
        self.camera_notice = Notice(format_sentence(message), Trouble.CAMERA) if message else None

        def remove_notice() -> None:  # a refused command shows the controller's notices again
            self._controller.notices = _drop_camera_notices(self._controller.notices)

        def replace_notice(state: TableSnapshot) -> TableSnapshot:
            others = _drop_camera_notices(state.notices)
            return replace(state, notices=(*others, *([self.camera_notice] if self.camera_notice else [])))

        if message:
            self.advance_reader.discard()
        if before != self.camera_notice:
            self._queue.run_task(remove_notice)
            self._queue.update_state(replace_notice)

    def handle_motion(self, is_moving: bool) -> None:
        """Set the sight, and delay the automatic end of a turn."""
        if self.auto_turns:
            self.auto_turns.handle_motion(is_moving)
        self._sight_monitor.handle_motion(is_moving)

    def handle_scene(self, scene: RestScene) -> None:
        """Read the board in advance."""
        self.advance_reader.read_scene(scene)

    def handle_rest(self, still: Frame) -> None:
        """Check if a withdrawn play was removed."""
        self._sight_monitor.handle_rest(still)

    def handle_long_rest(self, preview: Frame) -> None:
        """Compare the board with the recorded one. Raises `CameraError`."""
        self._sight_monitor.handle_long_rest(preview)

    # The work of the threads

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
        """Update the table profile from the queued turns, and from corrections of the game.

        This is not done when a turn ends, so that page, panel and voice are updated first. It takes a few tenths of a
        second, so it is not done on the session's thread, either: a press would have to wait.
        """
        while self._turns_to_learn:
            self._learn_turn()
        self._learn_corrections()
        return LEARN_INTERVAL_S

    def _learn_turn(self) -> None:
        """Update the table profile from the oldest queued turn."""
        error = ""
        with self._learn_lock:
            if self._profile_updater and self._turns_to_learn:  # a new game may have discarded the turns
                error = self._profile_updater.add_turn(*self._turns_to_learn.popleft())
        self._report_unlearnt(error)

    def _learn_corrections(self) -> None:
        """Update the table profile if the turn that was learnt last was corrected."""
        error = ""
        with self._learn_lock:
            if self._profile_updater and self._controller.has_game and not self._turns_to_learn:
                log = self._controller.log
                error = self._profile_updater.learn_corrections(str(log.number), log.ledger)
        self._report_unlearnt(error)

    def _report_unlearnt(self, error: str) -> None:
        if error:
            self._queue.add_notice(make_notice("not-learnt", error, trouble=Trouble.STORE))


def _drop_camera_notices(notices: tuple[Notice, ...]) -> tuple[Notice, ...]:
    """Return the notices that are not about a fault of the camera."""
    return tuple(notice for notice in notices if notice.trouble is not Trouble.CAMERA)
