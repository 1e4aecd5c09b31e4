"""Bodies: small ones are complete before a worker begins, large ones are read from paired clients only."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager

import pytest
from flask import Flask
from flask.testing import FlaskClient

from engine.limits import MAX_BODY_BYTES
from tests.support.waiting import PATIENCE_S
from tests.web.conftest import ShownTable, token
from tests.web.security.test_server import get
from web import create_app
from web.game_archive import MAX_IMPORT_BYTES
from web.security.server import PageServer


@pytest.fixture
def server(app: Flask) -> Iterator[PageServer]:
    with PageServer(app, 0, "127.0.0.1", threads=2) as server:
        yield server


@contextmanager
def send(server: PageServer, path: str, size: int, body: bytes = b"", more: str = "") -> Iterator[socket.socket]:
    """A POST with a body of the given size, of which only a part is sent."""
    with closing(socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_S)) as connection:
        length = f"Content-Length: {size}\r\n" if size >= 0 else "Transfer-Encoding: chunked\r\n"
        connection.sendall(f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{length}{more}\r\n".encode() + body)
        yield connection


def read_all(connection: socket.socket) -> bytes:
    return b"".join(iter(lambda: connection.recv(65536), b""))


@pytest.mark.parametrize(("path", "status"), [("/history/import", b"403"), ("/api/v1/games", b"401")])
def test_file_of_a_stranger_is_refused_before_it_is_sent(server: PageServer, path: str, status: bytes) -> None:
    with send(server, path, MAX_IMPORT_BYTES, more="Content-Type: application/zip\r\n") as connection:
        assert read_all(connection).split(b" ")[1] == status


@pytest.mark.parametrize("size", [MAX_BODY_BYTES + 1, 2**40])
def test_body_that_is_too_large_is_refused_before_it_is_sent_with_the_limit(server: PageServer, size: int) -> None:
    with send(server, "/api/v1/pairing", size, more="Content-Type: application/json\r\n") as connection:
        answer = read_all(connection)
    assert answer.startswith(b"HTTP/1.1 413") and b"64 kB at most" in answer and b"connection: close" in answer


def test_body_without_a_length_is_read_up_to_the_limit(server: PageServer) -> None:
    json_type = "Content-Type: application/json\r\nConnection: close\r\n"
    small = b'21\r\n{"code": "000000x", "device": "x"}\r\n0\r\n\r\n'.replace(b"21", b"%x" % 34)
    with send(server, "/api/v1/pairing", -1, small, json_type) as connection:
        assert read_all(connection).split(b" ")[1] in (b"400", b"409")
    chunk = b"4000\r\n" + b" " * 0x4000 + b"\r\n"
    with send(server, "/api/v1/pairing", -1, 5 * chunk, json_type) as connection:
        assert read_all(connection).startswith(b"HTTP/1.1 413")


def test_slow_bodies_hold_no_worker(server: PageServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("web.security.server.BODY_TIMEOUT_S", 2 * PATIENCE_S)  # longer than `get` waits for a worker
    with ExitStack() as slow:
        for _ in range(10):
            slow.enter_context(send(server, "/pair", 1000, b"code="))
        assert get(server.port, "/")[0] == 200


def test_endless_body_is_refused(table: ShownTable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("web.security.server.BODY_TIMEOUT_S", 0.2)
    with PageServer(create_app(table), 0, "127.0.0.1") as server, send(server, "/pair", 1000, b"code=") as connection:
        assert read_all(connection).split(b" ")[1] in (b"400", b"403")


def test_trickling_body_is_ended(app: Flask, paired: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two such bodies would keep the pictures of all other phones waiting."""
    monkeypatch.setattr("web.security.server.BODY_TIMEOUT_S", 1.0)
    monkeypatch.setattr("web.security.server.MIN_BODY_RATE", 1_000_000)
    cookie = paired.get_cookie("tilekeeper")
    assert cookie
    more = f"Content-Type: multipart/form-data; boundary=b\r\nX-CSRF-Token: {token(paired)}\r\n"
    more += f"Cookie: tilekeeper={cookie.value}\r\n"
    begun = time.monotonic()
    with (
        PageServer(app, 0, "127.0.0.1") as server,
        send(server, "/actions/picture", 1_000_000, b"--b\r\n", more) as connection,
        pytest.raises(OSError, match=r"reset|pipe"),
    ):
        while True:
            connection.sendall(b"x" * 100)
            time.sleep(0.1)
            assert time.monotonic() - begun < PATIENCE_S
    assert time.monotonic() - begun > 1.5


def test_body_sent_in_two_parts_is_whole(server: PageServer) -> None:
    body = b'{"code": "nonsense", "device": "x"}'
    kind = "Content-Type: application/json\r\nConnection: close\r\n"
    with send(server, "/api/v1/pairing", len(body), body[:10], kind) as connection:
        time.sleep(0.1)
        connection.sendall(body[10:])
        assert read_all(connection).split(b" ")[1] in (b"400", b"409")
