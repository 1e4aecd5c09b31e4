"""Notifications to systemd about the state of the service, and pings of its watchdog (sd_notify(3)).

The worker thread that runs the commands of the table sends the pings, after health checks of the other parts. So the
pings stop if the worker thread hangs; a separate thread would go on sending them. If systemd did not start the program,
no notification is sent and no health check is run.
"""

from __future__ import annotations

import http.client
import logging
import os
import socket
import sys
import threading
import traceback
from collections.abc import Callable, Mapping
from concurrent.futures import Future

_log = logging.getLogger(__name__)

HealthCheck = Callable[[float], object]
"""A function that raises an exception if a part of the program does not answer correctly in time; its argument is the
time limit in seconds."""
SIGNAL_INTERVAL_S = 1.0
"""Longest time, in seconds, until the handler of a signal runs."""
WATCHDOG_PINGS = 3
"""Number of pings in each watchdog interval, so that one ping may be missed without a restart."""

LONG_STEP_S = 180
"""Longest duration of one step of a task for which `keep_alive` is called, in seconds."""
STACK_DEPTH = 5
"""Number of stack frames of each thread that are logged when a health check fails."""


def notify(*states: str, environment: Mapping[str, str] = os.environ) -> bool:
    """Send states such as `READY=1` or `STATUS=...` to systemd; return False if they could not be sent."""
    path = environment.get("NOTIFY_SOCKET")
    if not path:
        return False
    name = "\0" + path[1:] if path.startswith("@") else path  # an abstract socket
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as notify_socket:
            notify_socket.connect(name)
            notify_socket.sendall("\n".join(states).encode())
    except OSError as error:
        _log.warning("systemd cannot be told %s: %s", states[0], error)
        return False
    return True


def keep_alive() -> None:
    """Tell systemd that a long task makes progress, and that its next step may take up to `LONG_STEP_S`."""
    notify(f"EXTEND_TIMEOUT_USEC={LONG_STEP_S * 1_000_000}", "WATCHDOG=1")


def read_watchdog_interval_s(environment: Mapping[str, str] = os.environ) -> float | None:
    """Return the watchdog interval in seconds, or None if systemd runs no watchdog for this program."""
    microseconds, pid = environment.get("WATCHDOG_USEC", ""), environment.get("WATCHDOG_PID", str(os.getpid()))
    return int(microseconds) / 1e6 if microseconds.isdecimal() and pid == str(os.getpid()) else None


def wait_for_signal(ended: threading.Event) -> None:
    """Wait on the main thread until `ended` is set by a signal's handler or by another thread.

    Python runs a handler only when the main thread goes on. If a signal arrived just before a wait without a time
    limit, its handler would run only after the next signal. In a test, this happened to 7 of 3,800 signals.
    """
    while not ended.wait(SIGNAL_INTERVAL_S):
        pass


def wait_with_watchdog(
    ended: threading.Event, checks: Mapping[str, HealthCheck], *, environment: Mapping[str, str] = os.environ
) -> None:
    """Wait until `ended` is set. In the meantime, run health checks `WATCHDOG_PINGS` times per watchdog interval.

    `checks` are the health checks by name, run in this order. The last one sends the ping to the watchdog
    (`make_worker_feed`), so a failed check prevents the ping. If there is no watchdog, no check is run.
    """
    watched = read_watchdog_interval_s(environment)
    if watched is None:
        wait_for_signal(ended)
        return
    patience = watched / WATCHDOG_PINGS
    pause, is_reported = patience, False
    while not ended.wait(pause):
        if trouble := _find_failed_check(checks, patience):
            _log.warning(
                "%s: systemd restarts the program if it stays so%s",
                trouble,
                "" if is_reported else format_thread_stacks(),
            )
            pause, is_reported = min(1.0, patience), True
        else:
            pause, is_reported = patience, False


def make_worker_feed(
    run: Callable[[Callable[[], object]], Future[object]], environment: Mapping[str, str] = os.environ
) -> HealthCheck:
    """Return a health check that sends a ping to the watchdog from a worker thread.

    `run` submits a function to the worker thread. A ping is submitted only after the previous ping was sent.
    """
    waiting: list[Future[object]] = []

    def feed(patience: float) -> None:
        if not waiting:
            waiting.append(run(lambda: notify("WATCHDOG=1", environment=environment)))
        try:
            waiting[0].result(patience)
        finally:
            if waiting[0].done():
                waiting.clear()

    return feed


def make_page_check(host: str, port: int) -> HealthCheck:
    """Return a health check that fails if the page does not answer or answers with a server error.

    An empty `host` means that the page is served on all interfaces.
    """

    def get(patience: float) -> None:
        connection = http.client.HTTPConnection(host or "127.0.0.1", port, timeout=patience)
        try:
            connection.request("HEAD", "/")
            status = connection.getresponse().status
        finally:
            connection.close()
        if status >= http.client.INTERNAL_SERVER_ERROR:
            raise RuntimeError(f"status {status}")

    return get


def format_thread_stacks() -> str:
    """Return the last `STACK_DEPTH` stack frames of each thread as text, without the threads of the web server."""
    names = {thread.ident: thread.name for thread in threading.enumerate() if not thread.name.startswith("WSGI")}
    frames = [(names[ident], frame) for ident, frame in sys._current_frames().items() if ident in names]
    return "".join(f"\n{name}:\n" + "".join(traceback.format_stack(frame)[-STACK_DEPTH:]) for name, frame in frames)


def _find_failed_check(checks: Mapping[str, HealthCheck], patience: float) -> str:
    """Return the name and the error of the first health check that fails, or an empty string if all pass.

    `patience` is the time for each check, in seconds.
    """
    for name, check in checks.items():
        try:
            check(patience)
        except Exception as error:
            return f"{name} does not answer ({str(error) or type(error).__name__})"
    return ""
