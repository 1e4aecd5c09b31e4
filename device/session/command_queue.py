"""Where commands are taken and news is given: one thread carries them out, one after the other, and all are told."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import TypeVar

from device.session.messages import Refused, refusal
from device.session.snapshot import Listener, Notice, TableState

Result = TypeVar("Result")


class Desk:
    """Takes commands from any thread; a thread named `table` carries them out. One is carried out at a time."""

    def __init__(self, state: TableState, view: Callable[[], TableState]) -> None:
        """`view` says, in the commands' thread, what the table looks like after a command."""
        self._view = view
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="table")
        self._lock = threading.RLock()
        self._listeners: list[Listener] = []
        self._state = state
        self._busy = False
        self._closed = False

    @property
    def state(self) -> TableState:
        """The table now."""
        return self._state

    @property
    def busy(self) -> bool:
        """True while a command is waiting or being carried out."""
        return self._busy

    def close(self) -> None:
        """Finish the command that is being carried out, end the thread; commands are refused from now on."""
        with self._lock:
            self._closed = True
        self._worker.shutdown(cancel_futures=True)

    def listen(self, listener: Listener) -> None:
        """Tell `listener` each new state from now on."""
        with self._lock:
            self._listeners.append(listener)

    def forget(self, listener: Listener) -> None:
        """Tell it no more."""
        with self._lock:
            self._listeners.remove(listener)

    def tell(self, change: Callable[[TableState], TableState]) -> None:
        """Change what the table looks like: everybody who listens is told, in order."""
        with self._lock:
            self._state = replace(change(self._state), revision=self._state.revision + 1)
            for listener in self._listeners:
                listener(self._state)

    def take(
        self,
        work: Callable[[], None],
        objection: Callable[[TableState], Refused | None],
        meanwhile: Callable[[TableState], TableState] | None = None,
    ) -> Future[TableState]:
        """Carry out a command, unless there is an `objection`; `meanwhile` is what the table looks like until then.

        The future holds the state after it, or `Refused`. Commands do not queue: the next one is refused meanwhile.
        """
        with self._lock:
            why = self._why_not() or objection(self._state)
            if why:
                return _refused(why)
            self._busy = True
            if meanwhile:
                self.tell(meanwhile)
            return self._worker.submit(self._carry_out, work)

    def beside(self, work: Callable[[], Result]) -> Future[Result]:
        """Do something in the commands' thread that is none: it waits for its turn, and lets commands wait."""
        with self._lock:
            if self._closed:
                return _refused(refusal("closing"))
            return self._worker.submit(work)

    def add_notice(self, notice: Notice) -> None:
        """Let everybody know something; a sentence that is shown already is not said again."""
        with self._lock:
            if notice not in self._state.notices:
                self.tell(lambda state: replace(state, notices=(*state.notices, notice)))

    def _why_not(self) -> Refused | None:
        if self._closed:
            return refusal("closing")
        return refusal("busy") if self._busy else None

    def _carry_out(self, work: Callable[[], None]) -> TableState:
        try:
            work()
        finally:
            with self._lock:
                self._busy = False
                self.tell(lambda _: self._view())
        return self._state


def _refused(why: Refused) -> Future[Result]:
    future: Future[Result] = Future()
    future.set_exception(why)
    return future
