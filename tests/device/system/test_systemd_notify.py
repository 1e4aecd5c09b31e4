"""Notifications to systemd over a real socket; the watchdog is pinged only while the table works."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest
from flask import Flask

from device.system.systemd import (
    keep_alive,
    make_page_check,
    make_worker_feed,
    notify,
    read_watchdog_interval_s,
    wait_with_watchdog,
)
from tests.support.waiting import PATIENCE_S, until
from web.security.server import PageServer
from web.streams import EventStreams


class Systemd:
    """Listens as systemd does."""

    def __init__(self, where: str) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind("\0" + where[1:] if where.startswith("@") else where)
        self.environment = {"NOTIFY_SOCKET": where}

    @property
    def watching(self) -> dict[str, str]:
        """The environment of a program with a watchdog of 0.3 seconds."""
        return self.environment | {"WATCHDOG_USEC": "300000", "WATCHDOG_PID": str(os.getpid())}

    def hears(self, within: float = PATIENCE_S) -> str:
        self.socket.settimeout(within)
        try:
            return self.socket.recv(1000).decode()
        except TimeoutError:
            return ""


@pytest.fixture(params=["a file", "an abstract name"])
def systemd(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Systemd]:
    where = str(tmp_path / "notify") if request.param == "a file" else f"@tilekeeper-test-{os.getpid()}"
    listening = Systemd(where)
    yield listening
    listening.socket.close()


def test_long_task_gets_three_more_minutes(systemd: Systemd, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOTIFY_SOCKET", systemd.environment["NOTIFY_SOCKET"])
    keep_alive()
    assert systemd.hears() == "EXTEND_TIMEOUT_USEC=180000000\nWATCHDOG=1"


def test_states_are_sent_in_one_message(systemd: Systemd) -> None:
    assert notify("READY=1", "STATUS=Anna 12, Ben 7", environment=systemd.environment)
    assert systemd.hears() == "READY=1\nSTATUS=Anna 12, Ben 7"


def test_nothing_is_sent_without_systemd(tmp_path: Path) -> None:
    assert not notify("READY=1", environment={})
    assert not notify("READY=1", environment={"NOTIFY_SOCKET": str(tmp_path / "nobody")})


def test_watchdog_is_that_of_this_process() -> None:
    assert read_watchdog_interval_s({"WATCHDOG_USEC": "30000000"}) == 30
    assert read_watchdog_interval_s({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": str(os.getpid())}) == 30
    assert read_watchdog_interval_s({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "1"}) is None
    assert read_watchdog_interval_s({}) is None


class Alive:
    """`wait_with_watchdog` in a thread."""

    def __init__(self, environment: dict[str, str], **proofs: object) -> None:
        self.ended = threading.Event()
        self.worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="worker")
        checks = {**proofs, "worker": make_worker_feed(self.worker.submit, environment)}
        self.thread = threading.Thread(
            target=wait_with_watchdog, args=(self.ended, checks), kwargs={"environment": environment}
        )
        self.thread.start()

    def __enter__(self) -> Alive:
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        self.thread.join(PATIENCE_S)
        assert not self.thread.is_alive()
        self.worker.shutdown()


class Ended(threading.Event):
    """An event that is set while the second wait for it lasts; it refuses waits without a limit."""

    waits = 0

    def wait(self, timeout: float | None = None) -> bool:
        assert timeout is not None, "the handler of a signal that came just before this wait would never run"
        self.waits += 1
        if self.waits == 2:
            self.set()
        return self.is_set()


def test_wait_without_a_watchdog_has_a_limit_so_that_the_handlers_of_signals_run() -> None:
    wait_with_watchdog(Ended(), {}, environment={})


def test_watchdog_is_fed_while_everything_answers(systemd: Systemd) -> None:
    asked: list[float] = []
    with Alive(systemd.watching, table=asked.append):
        assert [systemd.hears(), systemd.hears()] == ["WATCHDOG=1"] * 2
    assert len(asked) >= 2 and asked[0] == pytest.approx(0.1)


def test_watchdog_starves_while_one_part_hangs_and_is_fed_once_it_is_back(
    systemd: Systemd, caplog: pytest.LogCaptureFixture
) -> None:
    hangs = threading.Event()

    def table(patience: float) -> None:
        if not hangs.wait(patience):
            raise TimeoutError

    with Alive(systemd.watching, page=lambda _: None, table=table):
        assert systemd.hears(within=0.5) == ""
        hangs.set()
        assert systemd.hears() == "WATCHDOG=1"
    assert "table does not answer (TimeoutError)" in caplog.text


def test_hanging_table_says_once_where_its_threads_are(systemd: Systemd, caplog: pytest.LogCaptureFixture) -> None:
    hangs = threading.Event()
    threading.Thread(target=hangs.wait, name="table").start()
    threading.Thread(target=hangs.wait, name="WSGI_7").start()

    def table(_: float) -> None:
        raise TimeoutError

    with Alive(systemd.watching, table=table):
        until(lambda: caplog.text.count("table does not answer") > 1)
    hangs.set()
    assert systemd.hears(within=0.1) == ""
    assert caplog.text.count("\ntable:\n") == 1 and "WSGI" not in caplog.text


def test_checks_do_not_run_without_a_watchdog() -> None:
    asked: list[float] = []
    with Alive({}, table=asked.append):
        time.sleep(0.05)
    assert asked == []


def test_watchdog_is_fed_by_busy_worker_once_it_comes_by(systemd: Systemd) -> None:
    busy = threading.Event()
    with Alive(systemd.watching) as alive:
        assert systemd.hears() == "WATCHDOG=1"
        alive.worker.submit(busy.wait)
        while systemd.hears(within=0.5):
            pass
        busy.set()
        assert systemd.hears() == "WATCHDOG=1"


def test_worker_that_carries_out_nothing_is_handed_one_task() -> None:
    handed: list[Future[object]] = []

    def run(_: object) -> Future[object]:
        handed.append(Future())
        return handed[-1]

    feed = make_worker_feed(run, {})
    for _ in range(3):
        with pytest.raises(TimeoutError):
            feed(0.01)
    assert len(handed) == 1
    handed[0].set_result(None)
    feed(0.01)


def test_check_of_the_page_fails_without_an_answer() -> None:
    app = Flask("page")
    app.extensions["live"] = SimpleNamespace(close=lambda: None, streams=EventStreams(0))
    app.config["MAX_CONTENT_LENGTH"] = 1000
    broken: list[str] = []

    @app.get("/")
    def page() -> tuple[str, int]:
        return ("broken", 503) if broken else ("good", 200)

    with PageServer(app, 0, "127.0.0.1") as server:
        proof = make_page_check("127.0.0.1", server.port)
        proof(2)
        broken.append("")
        with pytest.raises(RuntimeError, match="503"):
            proof(2)
    with pytest.raises(OSError):
        proof(2)
