"""The threads of the session: `table` runs one command at a time, and `reading` captures the turn that a command needs.

Listeners get a snapshot after each command, and in between when a turn begins to be read, or when a notice or the sight
of the board changes. The thread `table` waits for the capture of a turn for a limited time; then the players are asked
what to do, while the capture continues. If they choose to wait, the result is used. A command that closes or defers the
question, or that records events, stops the capture at its next step.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from device.session.messages import CommandRefusedError, Notice, make_refusal
from device.session.snapshot import Phase, TableSnapshot
from engine.errors import TilekeeperError

_log = logging.getLogger(__name__)

MAX_TURN_S = 10.0
"""Default time limit for the capture of a turn, in seconds. If it is exceeded, the players are asked what to do."""
MAX_STEP_S = 60.0
"""Longest time for a step of a capture, in seconds. A capture with a longer step counts as stuck. On a slow machine, a
picture may need 30 s."""
_POLL_INTERVAL_S = 0.1
_REPLACED_KEYS = {"order-pairing": ("order-pairing", "order-refused")}
"""Keys of the notices that a later notice replaces, by its key: only the pairing of the newest round is shown."""

Result = TypeVar("Result")
Value = TypeVar("Value")


class Listeners(Generic[Value]):
    """A thread-safe list of functions that are called with each new value, in the order in which they were added."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._functions: list[Callable[[Value], None]] = []

    def add(self, function: Callable[[Value], None]) -> None:
        """Call `function` with every new value; it must be quick and must not raise."""
        with self._lock:
            self._functions.append(function)

    def remove(self, function: Callable[[Value], None]) -> None:
        """Stop calling `function`."""
        with self._lock:
            self._functions.remove(function)

    def notify(self, value: Value) -> None:
        """Call all functions with the argument `value`."""
        with self._lock:
            for function in self._functions:
                function(value)


class CommandQueue:
    """Queue of the thread named `table`, which runs one command at a time; another command is refused meanwhile.

    Commands may be submitted on any thread. Besides commands, there are tasks and pings, which are never refused: they
    wait for the running command. A command waits for a running task.
    """

    def __init__(self, state: TableSnapshot, build_snapshot: Callable[[], TableSnapshot]) -> None:
        """Start the thread; `build_snapshot` is called on this thread after each command."""
        self._build_snapshot = build_snapshot
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="table")
        self._lock = threading.RLock()
        self.listeners = Listeners[TableSnapshot]()
        """Listeners that are called with every new snapshot."""
        self._state = state
        self._pings: deque[tuple[Future[object], Callable[[], object]]] = deque()
        self._is_busy = False
        self._is_closed = False

    @property
    def state(self) -> TableSnapshot:
        """The current snapshot."""
        return self._state

    @property
    def is_busy(self) -> bool:
        """True while a command is waiting or running."""
        return self._is_busy

    def close(self) -> None:
        """Finish the running command and stop the thread; further commands are refused."""
        with self._lock:
            self._is_closed = True
        self._worker.shutdown(cancel_futures=True)

    def update_state(self, change: Callable[[TableSnapshot], TableSnapshot]) -> None:
        """Replace the snapshot by `change(snapshot)` and call all listeners."""
        with self._lock:
            self._state = replace(change(self._state), revision=self._state.revision + 1)
            self.listeners.notify(self._state)

    def submit_command(
        self,
        work: Callable[[], None],
        find_refusal: Callable[[TableSnapshot], CommandRefusedError | None],
        interim_phase: Phase | None,
    ) -> Future[TableSnapshot]:
        """Run the command `work` on the queue's thread, unless `find_refusal` returns an error for the snapshot.

        While the command runs, listeners see a snapshot with the phase `interim_phase`, if it is not None. The future
        holds the snapshot after the command, or `CommandRefusedError`. Commands are refused while another one is
        running.
        """
        with self._lock:
            refusal = self._find_refusal() or find_refusal(self._state)
            if refusal:
                return _make_failed_future(refusal)
            self._is_busy = True
            if interim_phase is not None:
                self.update_state(lambda state: replace(state, phase=interim_phase, notices=(), question=None))
            return self._worker.submit(self._run_command, work)

    def submit_task(self, work: Callable[[], Result]) -> Future[Result]:
        """Run `work`, which is not a command, on the queue's thread after the running command has finished."""
        with self._lock:
            if self._is_closed:
                return _make_failed_future(make_refusal("closing"))
            return self._worker.submit(work)

    def run_task(self, work: Callable[[], object]) -> None:
        """Run `work` like `submit_task`. Nobody waits for its end, so an exception is logged."""

        def run_logged() -> None:
            try:
                work()
            except Exception:
                _log.exception("a task of the table failed")

        self.submit_task(run_logged)

    def submit_ping(self, work: Callable[[], object]) -> Future[object]:
        """Run a short task on the queue's thread, either between commands or when a command calls `run_pings`."""
        with self._lock:
            if self._is_closed:
                return _make_failed_future(make_refusal("closing"))
            future: Future[object] = Future()
            self._pings.append((future, work))
            self._worker.submit(self.run_pings)
            return future

    def run_pings(self) -> None:
        """Run the tasks of `submit_ping`; a command on the queue's thread calls this while it waits."""
        while self._pings:
            future, work = self._pings.popleft()
            try:
                future.set_result(work())
            except Exception as error:
                future.set_exception(error)

    def add_notice(self, notice: Notice) -> None:
        """Add a notice to the snapshot, unless the snapshot already contains the same notice."""
        with self._lock:
            kept = tuple(one for one in self._state.notices if one.key not in _REPLACED_KEYS.get(notice.key, ()))
            if notice not in kept:
                self.update_state(lambda state: replace(state, notices=(*kept, notice)))

    def _find_refusal(self) -> CommandRefusedError | None:
        if self._is_closed:
            return make_refusal("closing")
        return make_refusal("busy") if self._is_busy else None

    def _run_command(self, work: Callable[[], None]) -> TableSnapshot:
        """Run a command; return the snapshot after it. The next command is accepted even if this one has failed."""
        try:
            work()
        finally:
            with self._lock:
                self._is_busy = False
                self.update_state(lambda _: self._build_snapshot())
        return self._state


def _make_failed_future(error: CommandRefusedError) -> Future[Result]:
    future: Future[Result] = Future()
    future.set_exception(error)
    return future


class CaptureStoppedError(TilekeeperError):
    """Exception that ends the capture of a turn in its thread, because the result is no longer needed."""


class CaptureProgress:
    """Progress of the capture of a turn. The capture calls `record_step` before each step that may take seconds."""

    def __init__(self, clock: Callable[[], float], max_s: float) -> None:
        self._clock = clock
        self._max_s = max_s
        self._is_stopped = False
        self._start = clock()
        self.last_step = self._start
        """Time of the last step of the capture, in seconds of the clock."""

    @property
    def elapsed_s(self) -> float:
        """Time since the start of the capture, in seconds."""
        return self._clock() - self._start

    @property
    def is_late(self) -> bool:
        """True if the time limit of the capture has passed, so that no further picture is taken."""
        return self.elapsed_s >= self._max_s

    def record_step(self) -> None:
        """Record that the capture has reached its next step. Raises `CaptureStoppedError` if `stop` was called."""
        self.last_step = self._clock()
        if self._is_stopped:
            raise CaptureStoppedError("the capture was stopped")

    def stop(self) -> None:
        """End the capture when it reaches its next step."""
        self._is_stopped = True


@dataclass(frozen=True, slots=True, eq=False)
class _PendingCapture(Generic[Result]):
    """A capture of a turn whose result was not used yet."""

    progress: CaptureProgress
    future: Future[Result]


class TurnWorker(Generic[Result]):
    """A thread named `reading` that captures one turn at a time."""

    def __init__(self, clock: Callable[[], float], max_s: float = MAX_TURN_S) -> None:
        """Start the thread; `max_s` is the longest time, in seconds, that `wait` waits for a capture."""
        self.max_s = max_s
        self._clock = clock
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="reading")
        self._pending: _PendingCapture[Result] | None = None
        self._due: float | None = None

    @property
    def is_pending(self) -> bool:
        """True from the start of a capture until `wait` has returned its result, or the capture was discarded."""
        return self._pending is not None

    def start(self, capture: Callable[[CaptureProgress], Result]) -> None:
        """Stop the previous capture, and run the function `capture` on the thread."""
        self.stop()
        progress = CaptureProgress(self._clock, self.max_s)
        self._due = self._clock() + self.max_s
        self._pending = _PendingCapture(progress, self._thread.submit(capture, progress))

    def wait(self, report_waiting: Callable[[], None]) -> Result | None:
        """Return the result of the capture, or None if it is not ready within `max_s` seconds after its start.

        The result is also None if the capture is stopped meanwhile, as when the session is closed. A capture that is
        not ready goes on, and the next call waits for `max_s` seconds again. `report_waiting` is called several times a
        second. Raises the exception of the capture.
        """
        assert self._pending is not None, "a capture has been started"
        future = self._pending.future
        due = self._due or self._clock() + self.max_s
        self._due = None
        while not wait([future], _POLL_INTERVAL_S).done:
            report_waiting()
            if self._clock() >= due or self._pending is None:  # too late, or `stop` was called
                return None
        self._pending = None
        try:
            return future.result()
        except (CancelledError, CaptureStoppedError):  # the session is closed
            return None

    def stop(self) -> None:
        """Discard the pending capture; it ends at its next step."""
        if pending := self._pending:
            pending.progress.stop()
            pending.future.cancel()
            self._pending = None

    def check_progress(self) -> None:
        """Raise `TimeoutError` if a step of the pending capture takes longer than `MAX_STEP_S`."""
        pending = self._pending
        if pending is None or pending.future.done():
            return
        if self._clock() - pending.progress.last_step > MAX_STEP_S:
            raise TimeoutError(f"no progress for {MAX_STEP_S:.0f} s")

    def close(self) -> None:
        """Stop the thread after its current step."""
        self.stop()
        self._thread.shutdown()
