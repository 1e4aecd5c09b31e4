"""The server under the evening's load: many phones with a stream each, and requests beside them."""

from __future__ import annotations

import http.client
import json
import socket
import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import replace

import pytest

from tests.support import samples
from tests.support.waiting import PATIENCE_S, until
from tests.web.conftest import ShownTable
from web import create_app
from web.security.server import SEND_TIMEOUT_MS, PageServer, PortInUseError

PHONES = 60


@pytest.fixture
def server(table: ShownTable) -> Iterator[PageServer]:
    with PageServer(create_app(table), 0, "127.0.0.1") as server:
        yield server


class Phone:
    """One open stream, read by a thread that notes when each state came."""

    def __init__(self, port: int) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
        self.connection.request("GET", "/live/stream")
        self.socket = self.connection.sock
        self.answer = self.connection.getresponse()
        self.came: dict[int, float] = {}
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._read)
        self.thread.start()

    def _read(self) -> None:
        try:
            for line in self.answer:
                if line.startswith(b"data: {"):
                    self.came[json.loads(line[6:])["events"]] = time.monotonic()
        except (OSError, ValueError, AttributeError, http.client.HTTPException):  # closed by the test's own hand
            pass
        self.ended.set()

    def leave(self) -> None:
        with suppress(OSError):  # the server may have closed it already
            self.socket.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.answer.close()
        self.connection.close()


def get(port: int, path: str) -> tuple[int, bytes]:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)) as connection:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read()


def test_sixty_phones_see_each_turn_at_once_while_others_load_the_page(table: ShownTable, server: PageServer) -> None:
    table.show(samples.BEFORE)
    phones = [Phone(server.port) for _ in range(PHONES)]
    try:
        until(lambda: all(samples.BEFORE.events in phone.came for phone in phones))
        late, waits, requests = [], [], []
        for turn in range(100, 110):
            begun = time.monotonic()
            assert get(server.port, "/live/state")[0] == 200
            shown = time.monotonic()
            table.show(replace(samples.MIDGAME, events=turn))
            assert get(server.port, "/")[0] == 200
            waits.append(time.monotonic() - shown)
            requests.append(shown - begun)
            until(lambda turn=turn: all(turn in phone.came for phone in phones))  # type: ignore[misc]
            late.append(sorted(phone.came[turn] - shown for phone in phones)[int(0.95 * PHONES)])
        one_by_one = PHONES * statistics.median(requests)
        assert statistics.median(late) < one_by_one, "sooner than if the phones asked one after the other"
        assert statistics.median(waits) < one_by_one
    finally:
        for phone in phones:
            phone.leave()


def test_place_of_a_phone_that_left_is_free_again(table: ShownTable) -> None:
    with PageServer(create_app(table, max_streams=1), 0, "127.0.0.1") as server:
        phone = Phone(server.port)
        assert get(server.port, "/live/stream")[0] == 503
        phone.leave()
        until(lambda: _opens(server.port))


def _opens(port: int) -> bool:
    phone = Phone(port)
    status = phone.answer.status
    phone.leave()
    return status == 200


def test_more_phones_than_streams_still_get_the_score(table: ShownTable) -> None:
    table.show(samples.MIDGAME)
    with PageServer(create_app(table, max_streams=4), 0, "127.0.0.1", threads=2) as server:
        phones = [Phone(server.port) for _ in range(4)]
        for _ in range(6):
            assert get(server.port, "/live/stream")[0] == 503
            assert json.loads(get(server.port, "/live/state")[1])["events"] == 4
        for phone in phones:
            phone.leave()


def test_silent_phones_are_given_up_by_the_kernel(server: PageServer) -> None:
    assert server._socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == SEND_TIMEOUT_MS


@pytest.mark.slow
@pytest.mark.serial
def test_phone_that_fell_asleep_gives_its_place_back(table: ShownTable) -> None:
    table.show(samples.MIDGAME)
    with PageServer(create_app(table, max_streams=1), 0, "127.0.0.1") as server, socket.socket() as asleep:
        asleep.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        asleep.connect(("127.0.0.1", server.port))
        asleep.sendall(b"GET /live/stream HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        until(lambda: get(server.port, "/live/stream")[0] == 503)
        for state in (samples.MIDGAME, samples.PHONY) * 30:  # more than its buffers hold
            table.show(state)
            time.sleep(0.02)
        until(lambda: _opens(server.port))  # without the limit, the kernel waits for about 15 minutes


def test_taken_port_is_an_error(server: PageServer, table: ShownTable) -> None:
    with pytest.raises(PortInUseError):
        PageServer(create_app(table), server.port, "127.0.0.1")


@pytest.mark.parametrize(
    ("host", "port", "said"),
    [
        ("127.0.0.1", 99_999, "1 to 65535"),
        ("192.0.2.1", 0, r"192\.0\.2\.1, port 0 \([^()]+\)\. Choose another address"),
        ("nosuch.invalid", 0, r"nosuch\.invalid, port 0 \([^()]+\)\. Choose another address"),
    ],
)
def test_an_address_that_cannot_be_had_is_not_called_taken(table: ShownTable, host: str, port: int, said: str) -> None:
    with pytest.raises(OSError, match=said) as refused:
        PageServer(create_app(table), port, host)
    assert not isinstance(refused.value, PortInUseError)


def test_closing_ends_streams_and_threads(table: ShownTable) -> None:
    before = threading.active_count()
    server = PageServer(create_app(table), 0, "127.0.0.1")
    with server:
        phone = Phone(server.port)
        assert phone.answer.status == 200
    assert phone.ended.wait(PATIENCE_S)
    phone.leave()
    until(lambda: threading.active_count() <= before)
