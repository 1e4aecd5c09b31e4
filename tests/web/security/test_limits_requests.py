"""Bodies: small ones are complete before a worker begins, large ones are read from paired clients only."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import partial

import pytest
from flask import Flask

from engine.limits import MAX_BODY_BYTES
from tests.support.waiting import PATIENCE_S
from tests.web.conftest import ShownTable
from tests.web.security.test_server import get
from web import create_app
from web.game_archive import MAX_IMPORT_BYTES
from web.security.limits import ABORT_KEY, MIN_LARGE_BYTES, limit_sending
from web.security.server import PageServer
from web.streams import Message, Receive, Scope, Send


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
    monkeypatch.setattr("web.security.limits.BODY_TIMEOUT_S", 2 * PATIENCE_S)  # longer than `get` waits for a worker
    with ExitStack() as slow:
        for _ in range(10):
            slow.enter_context(send(server, "/pair", 1000, b"code="))
        assert get(server.port, "/")[0] == 200


def test_endless_body_is_refused(table: ShownTable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("web.security.limits.BODY_TIMEOUT_S", 0.2)
    with PageServer(create_app(table), 0, "127.0.0.1") as server, send(server, "/pair", 1000, b"code=") as connection:
        assert read_all(connection).split(b" ")[1] in (b"400", b"403")


def test_body_sent_in_two_parts_is_whole(server: PageServer) -> None:
    body = b'{"code": "nonsense", "device": "x"}'
    kind = "Content-Type: application/json\r\nConnection: close\r\n"
    with send(server, "/api/v1/pairing", len(body), body[:10], kind) as connection:
        time.sleep(0.1)
        connection.sendall(body[10:])
        assert read_all(connection).split(b" ")[1] in (b"400", b"409")


def test_large_responses_beyond_the_limit_close_the_connection_that_waits_longest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("web.security.limits.MAX_UNSENT_BYTES", 2 * MIN_LARGE_BYTES)
    closed: list[int] = []

    async def send_picture(_: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.body", "body": bytes(MIN_LARGE_BYTES)})
        await receive()

    async def receive_nothing() -> Message:
        await asyncio.sleep(PATIENCE_S)
        return {"type": "http.disconnect"}

    async def discard(_: Message) -> None:
        await asyncio.sleep(0)

    async def ask_three_times() -> None:
        app = limit_sending(send_picture)
        scopes = [{"state": {ABORT_KEY: partial(closed.append, number)}} for number in range(3)]
        requests = [asyncio.create_task(app(scope, receive_nothing, discard)) for scope in scopes]
        await asyncio.sleep(0.01)
        for one in requests:
            one.cancel()
        await asyncio.wait(requests)

    asyncio.run(ask_three_times())
    assert closed == [0]


def test_streams_whose_clients_have_received_everything_stay_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("web.security.limits.MAX_UNSENT_BYTES", 2 * MIN_LARGE_BYTES)
    closed, received = ask_for_streams([0.0, 0.0, 0.0])
    assert closed == [] and received == 3 * [MIN_LARGE_BYTES]


def test_stream_whose_client_receives_nothing_is_closed_beyond_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("web.security.limits.MAX_UNSENT_BYTES", 2 * MIN_LARGE_BYTES)
    closed, _ = ask_for_streams([0.0, PATIENCE_S, PATIENCE_S, 0.0, 0.0])
    assert closed == [1]


def ask_for_streams(drain_times_s: list[float]) -> tuple[list[int], list[int]]:
    """Open streams with one large event each; return which were closed, and how many bytes each client received.

    As in uvicorn, a part is sent only after the client has received the one before, which takes the given time.
    """
    closed: list[int] = []
    received = [0 for _ in drain_times_s]

    async def stream(_: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.body", "body": bytes(MIN_LARGE_BYTES), "more_body": True})
        await receive()

    async def receive_nothing() -> Message:
        await asyncio.sleep(PATIENCE_S)
        return {"type": "http.disconnect"}

    async def open_all() -> None:
        app = limit_sending(stream)

        async def open_one(number: int, drain_s: float) -> None:
            async def send(message: Message) -> None:
                if received[number]:
                    await asyncio.sleep(drain_s)
                received[number] += len(message["body"])

            await app({"state": {ABORT_KEY: partial(closed.append, number)}}, receive_nothing, send)

        streams = []
        for number, drain_s in enumerate(drain_times_s):
            streams.append(asyncio.create_task(open_one(number, drain_s)))
            await asyncio.sleep(0.01)
        for one in streams:
            one.cancel()
        await asyncio.wait(streams)

    asyncio.run(open_all())
    return closed, received
