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
from web.security.server import PageServer

OTHER_DEVICE = "127.0.0.7"


@pytest.fixture
def server(table: ShownTable) -> Iterator[PageServer]:
    with PageServer(create_app(table), 0, "127.0.0.1") as server:
        yield server


def connect(port: int, source: str = "127.0.0.1") -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S, source_address=(source, 0))


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
        until(lambda: is_closed(one_more))
    assert get(server.port, "/")[0] == 200
    close_all(connections)
    until(lambda: not server.connections)
    with closing(connect(server.port, OTHER_DEVICE)) as again:
        again.sendall(b"GET /static/page.css HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert again.recv(1000).startswith(b"HTTP/1.1 200")


def test_connections_leave_most_of_few_open_files_to_the_table(
    table: ShownTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("web.security.server.resource.getrlimit", lambda _: (64, 64))
    monkeypatch.setattr("web.security.server.resource.setrlimit", lambda *_: None)
    with PageServer(create_app(table), 0, "127.0.0.1") as server:
        idle = [connect(server.port) for _ in range(40)]
        until(lambda: sum(map(is_closed, idle)) == 40 - 16)
        close_all(idle)
        until(lambda: not server.connections)
        assert get(server.port, "/")[0] == 200


def test_all_devices_together_have_a_bounded_number_of_connections(
    table: ShownTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("web.security.server.MAX_CONNECTIONS", 4)
    with PageServer(create_app(table), 0, "127.0.0.1") as server:
        silent = [connect(server.port, f"127.0.1.{number}") for number in range(1, 5)]
        with closing(connect(server.port, OTHER_DEVICE)) as one_more:
            until(lambda: is_closed(one_more))
        close_all(silent)
        until(lambda: not server.connections)
        assert get(server.port, "/")[0] == 200


def test_connection_without_a_request_is_closed_in_time(table: ShownTable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("web.security.server.IDLE_TIMEOUT_S", 0.5)
    with PageServer(create_app(table), 0, "127.0.0.1") as server:
        phone = Phone(server.port)
        began = time.monotonic()
        silent, slow, served = connect(server.port), connect(server.port), connect(server.port)
        slow.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")
        served.sendall(b"GET /static/page.css HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nGET / HTTP/1.1\r\nX-Slow: ")
        until(lambda: is_closed(silent) and is_closed(slow))
        assert time.monotonic() - began > 0.4
        until(lambda: server.connections.total() == 1)  # that of the phone
        assert not phone.ended.is_set()
        phone.leave()
        close_all([silent, slow, served])
