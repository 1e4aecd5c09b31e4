"""Command queue: one thread runs one command at a time, and listeners get a snapshot after each command."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Generic, TypeVar

from device.session.messages import CommandRefusedError, Notice, make_refusal
from device.session.snapshot import TableSnapshot

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
    """Queue that accepts commands from any thread; a thread named `table` runs one command at a time."""

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
        make_interim_state: Callable[[TableSnapshot], TableSnapshot] | None = None,
    ) -> Future[TableSnapshot]:
        """Run the command `work` on the queue's thread, unless `find_refusal` returns an error for the snapshot.

        While the command runs, listeners see the snapshot changed by `make_interim_state`. The future holds the
        snapshot after the command, or `CommandRefusedError`. Commands are refused while another command is running.
        """
        with self._lock:
            why = self._find_refusal() or find_refusal(self._state)
            if why:
                return _make_failed_future(why)
            self._is_busy = True
            if make_interim_state:
                self.update_state(make_interim_state)
            return self._worker.submit(self._run_command, work)

    def submit_task(self, work: Callable[[], Result]) -> Future[Result]:
        """Run a task on the queue's thread once the running command has finished. A task is any work but a command."""
        with self._lock:
            if self._is_closed:
                return _make_failed_future(make_refusal("closing"))
            return self._worker.submit(work)

    def submit_ping(self, work: Callable[[], object]) -> Future[object]:
        """Run a short task on the queue's thread, also while the running command calls `run_pings`."""
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
            if notice not in self._state.notices:
                self.update_state(lambda state: replace(state, notices=(*state.notices, notice)))

    def _find_refusal(self) -> CommandRefusedError | None:
        if self._is_closed:
            return make_refusal("closing")
        return make_refusal("busy") if self._is_busy else None

    def _run_command(self, work: Callable[[], None]) -> TableSnapshot:
        try:
            work()
        finally:
            with self._lock:
                self._is_busy = False
                self.update_state(lambda _: self._build_snapshot())
        return self._state


def _make_failed_future(why: CommandRefusedError) -> Future[Result]:
    future: Future[Result] = Future()
    future.set_exception(why)
    return future
