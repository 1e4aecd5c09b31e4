"""Captures turns in a thread of its own, so that a capture that takes too long ends in a question.

The thread that changes the game waits for the capture for a limited time. After this time the players are asked, and
the capture continues: it is used if the players choose to wait, and stopped at its next step by any other command.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from typing import Generic, TypeVar

from engine.errors import TilekeeperError

MAX_TURN_S = 10.0
"""Default time for the capture of a turn, in seconds; then the players are asked."""
MAX_STEP_S = 60.0
"""Time, in seconds, after which a step of a capture counts as stuck. Slow machines need 30 s for a picture."""
_POLL_INTERVAL_S = 0.1


Result = TypeVar("Result")


class CaptureStoppedError(TilekeeperError):
    """Raised in the thread of a capture whose result is not needed any more, to end the capture."""


class CaptureProgress:
    """Progress of one capture, which calls `record_step` before each step that may take seconds."""

    def __init__(self, clock: Callable[[], float], max_s: float) -> None:
        self._clock = clock
        self._due = clock() + max_s
        self._is_stopped = False
        self.last_step = clock()
        """Time of the last step, in seconds of the clock."""

    @property
    def is_late(self) -> bool:
        """True if the time for the capture has passed; then no further picture is taken."""
        return self._clock() >= self._due

    def record_step(self) -> None:
        """Record that the capture has reached its next step. Raises `CaptureStoppedError` after `stop`."""
        self.last_step = self._clock()
        if self._is_stopped:
            raise CaptureStoppedError("the capture was stopped")

    def stop(self) -> None:
        """End the capture at its next step."""
        self._is_stopped = True


class TurnWorker(Generic[Result]):
    """A thread named `reading` that captures one turn at a time."""

    def __init__(self, clock: Callable[[], float], max_s: float = MAX_TURN_S) -> None:
        """Start the thread; `max_s` is the longest time, in seconds, that `wait` waits for a capture."""
        self.max_s = max_s
        self._clock = clock
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="reading")
        self._pending: tuple[CaptureProgress, Future[Result]] | None = None

    @property
    def is_pending(self) -> bool:
        """True if a capture has been started and `wait` has not returned it yet."""
        return self._pending is not None

    def start(self, capture: Callable[[CaptureProgress], Result]) -> None:
        """Stop the previous capture and run `capture` on the thread."""
        self.stop()
        progress = CaptureProgress(self._clock, self.max_s)
        self._pending = progress, self._thread.submit(capture, progress)

    def wait(self, report_waiting: Callable[[], None]) -> Result | None:
        """Return the result of the capture, or None after `max_s` seconds; then the capture is still pending.

        `report_waiting` is called several times a second. Raises the exception of the capture.
        """
        assert self._pending is not None, "a capture has been started"
        future, due = self._pending[1], self._clock() + self.max_s
        while not wait([future], _POLL_INTERVAL_S).done:
            report_waiting()
            if self._clock() >= due or self._pending is None:
                return None
        self._pending = None
        try:
            return future.result()
        except (CancelledError, CaptureStoppedError):  # the session is closed
            return None

    def stop(self) -> None:
        """Discard the pending capture; it ends at its next step."""
        if self._pending:
            progress, future = self._pending
            progress.stop()
            future.cancel()
            self._pending = None

    def check_progress(self) -> None:
        """Raise `TimeoutError` if a step of the pending capture takes longer than `MAX_STEP_S`."""
        pending = self._pending
        if pending and not pending[1].done() and self._clock() - pending[0].last_step > MAX_STEP_S:
            raise TimeoutError(f"no progress for {MAX_STEP_S:.0f} s")

    def close(self) -> None:
        """Stop the thread after its present step."""
        self.stop()
        self._thread.shutdown()
