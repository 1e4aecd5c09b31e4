"""Downloads of ZIP files: a slow client does not delay others."""

from __future__ import annotations

import io
import os
import socket
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest

from device.storage.store import StoredPicture
from tests.support.api_table import WebTable, open_web_table
from tests.web.security.test_limits_connections import connect
from tests.web.security.test_server import get
from web.security.server import PageServer

WORKERS = 2
PICTURE_BYTES = 250_000


@pytest.fixture
def table(tmp_path: Path) -> Iterator[WebTable]:
    with open_web_table(tmp_path) as table:
        table.play_three_turns()
        yield table


@pytest.fixture
def zip_path(table: WebTable) -> str:
    """The path of a ZIP file that is larger than the buffers of a connection."""
    events = table.store.read_events(table.session.state.game)
    picture = b"\xff\xd8\xff" + os.urandom(PICTURE_BYTES)
    pictures = [StoredPicture(number, kind, picture) for number in range(len(events)) for kind in ("board", "photo")]
    return f"/api/v1/games/{table.store.add_game(1e9, events, pictures)}/zip"


@pytest.fixture
def server(table: WebTable) -> Iterator[PageServer]:
    with PageServer(table.app, 0, "127.0.0.1", threads=WORKERS) as server:
        yield server


@contextmanager
def ask(server: PageServer, path: str, source: str = "127.0.0.1") -> Iterator[socket.socket]:
    """A connection that asks for a file and receives nothing of it."""
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.bind((source, 0))
        connection.connect(("127.0.0.1", server.port))
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        yield connection


def test_download_has_the_whole_file(server: PageServer, zip_path: str) -> None:
    status, data = get(server.port, zip_path)
    assert status == 200
    assert zipfile.ZipFile(io.BytesIO(data)).testzip() is None


def test_downloads_that_are_not_received_hold_no_worker(server: PageServer, zip_path: str) -> None:
    with ExitStack() as clients:
        asked = [clients.enter_context(ask(server, zip_path)) for _ in range(2 * WORKERS)]
        assert all(connection.recv(15) == b"HTTP/1.1 200 OK" for connection in asked)
        assert get(server.port, "/")[0] == 200


def test_headers_of_a_download_are_sent_without_the_file(server: PageServer, zip_path: str) -> None:
    with closing(connect(server.port)) as connection:
        connection.sendall(f"HEAD {zip_path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    assert answer.startswith(b"HTTP/1.1 200") and answer.endswith(b"\r\n\r\n")
