"""Limits of connections: each device has a maximum, and idle connections make room."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import closing

import pytest

from engine.limits import MAX_CONNECTIONS_PER_ADDRESS
from tests.support.waiting import PATIENCE_S, until
from tests.web.conftest import ShownTable
from tests.web.security.test_server import Phone, get
from web import create_app
from web.security.limits import ConnectionLimiter, LimitedProtocol
from web.security.server import PageServer

OTHER_DEVICE = "127.0.0.7"


@pytest.fixture
def server(table: ShownTable) -> Iterator[PageServer]:
    with PageServer(create_app(table), 0, "127.0.0.1") as server:
        yield server


def connect(port: int, source: str = "127.0.0.1") -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S, source_address=(source, 0))


class Connection(LimitedProtocol):
    """A connection from an address, without a socket."""

    def __init__(self, address: str, *, is_busy: bool = False) -> None:
        self.client, self._is_busy, self.is_aborted = (address, 50_000), is_busy, False

    @property
    def is_busy(self) -> bool:
        return self._is_busy

    def abort(self) -> None:
        self.is_aborted = True


def is_closed(connection: socket.socket) -> bool:
    connection.setblocking(False)
    try:
        return connection.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionError:
        return True


def close_all(connections: list[socket.socket]) -> None:
    for connection in connections:
        connection.close()


def test_one_device_has_a_bounded_number_of_connections(server: PageServer) -> None:
    connections = [connect(server.port, OTHER_DEVICE) for _ in range(MAX_CONNECTIONS_PER_ADDRESS)]
    with closing(connect(server.port, OTHER_DEVICE)) as one_more:
        answer = one_more.recv(1000)
    assert answer.startswith(b"HTTP/1.1 503") and str(MAX_CONNECTIONS_PER_ADDRESS).encode() in answer
    assert get(server.port, "/")[0] == 200
    close_all(connections)
    until(lambda: len(server.limiter) == 0)
    with closing(connect(server.port, OTHER_DEVICE)) as again:
        again.sendall(b"GET /static/page.css HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert again.recv(1000).startswith(b"HTTP/1.1 200")


def test_new_connection_replaces_the_one_that_was_idle_longest(table: ShownTable) -> None:
    limiter = ConnectionLimiter(max_connections=10)
    with PageServer(create_app(table), 0, "127.0.0.1", limiter=limiter) as server:
        phone = Phone(server.port)  # its stream is no idle connection
        idle = [connect(server.port) for _ in range(9)]
        until(lambda: len(limiter) == 10)
        assert get(server.port, "/")[0] == 200
        until(lambda: is_closed(idle[0]))
        assert [is_closed(connection) for connection in idle] == [True] + [False] * 8
        assert not phone.ended.is_set()
        phone.leave()
        close_all(idle)


def test_connections_leave_most_of_few_open_files_to_the_table(
    table: ShownTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("web.security.server.resource.getrlimit", lambda _: (64, 64))
    monkeypatch.setattr("web.security.server.resource.setrlimit", lambda *_: None)
    with PageServer(create_app(table), 0, "127.0.0.1") as server:
        idle = [connect(server.port) for _ in range(40)]
        assert get(server.port, "/")[0] == 200
        assert len(server.limiter) <= 16
        close_all(idle)


def test_connection_without_a_request_is_closed_in_time(table: ShownTable) -> None:
    limiter = ConnectionLimiter(idle_timeout_s=0.5)
    with PageServer(create_app(table), 0, "127.0.0.1", limiter=limiter) as server:
        phone = Phone(server.port)
        began = time.monotonic()
        silent, slow = connect(server.port), connect(server.port)
        slow.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")
        until(lambda: is_closed(silent) and is_closed(slow))
        assert time.monotonic() - began > 0.4
        assert not phone.ended.is_set()
        phone.leave()
        close_all([silent, slow])


def test_link_local_addresses_together_have_only_a_share_of_the_connections() -> None:
    limiter = ConnectionLimiter(max_connections=4)
    busy = [Connection(f"fe80::{number}%wlan0", is_busy=True) for number in range(3)]
    assert [limiter.add(connection) for connection in busy] == [True, True, False]
    assert limiter.add(Connection("192.168.0.7"))


def test_idle_link_local_connection_makes_room_for_another_one() -> None:
    limiter = ConnectionLimiter(max_connections=4)
    other, first, second, new = (Connection(address) for address in ("10.0.0.7", "fe80::1", "fe80::2", "fe80::3"))
    assert all(map(limiter.add, (other, first, second, new)))
    assert [connection.is_aborted for connection in (other, first, second, new)] == [False, True, False, False]


def test_refusal_of_a_connection_names_the_limit() -> None:
    limiter = ConnectionLimiter(max_connections=4)
    for address in ("fe80::1", "fe80::2", "10.0.0.7", "10.0.0.8"):
        assert limiter.add(Connection(address, is_busy=True))
    assert "link-local addresses have 2 connections" in limiter.describe_limit(Connection("fe80::3"))
    assert "The table has 4 connections" in limiter.describe_limit(Connection("10.0.0.9"))
