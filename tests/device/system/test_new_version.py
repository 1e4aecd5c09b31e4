"""The notice of a new version, asked from a server on this machine."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import numpy as np
import pytest

from device.doctor import Finding, examine
from device.system import new_version
from device.system.new_version import CHECK_INTERVAL_S, NEWEST_VERSION_PATH, find_newer_version
from tests.support.raspberry_pi import RaspberryPi

NOW = 1_800_000_000.0


class ReleaseServer(HTTPServer):
    """Answers each request with `answer`, and counts the requests."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer = b"0.10.0\n"
        self.requests = 0


class _Handler(BaseHTTPRequestHandler):
    server: ReleaseServer

    def do_GET(self) -> None:
        self.server.requests += 1
        self.send_response(200 if self.path == NEWEST_VERSION_PATH else 404)
        self.end_headers()
        self.wfile.write(self.server.answer)

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ReleaseServer]:
    with ReleaseServer() as server:
        monkeypatch.setattr(new_version, "find_project_address", lambda: f"http://127.0.0.1:{server.server_port}")
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(("installed", "newer"), [("0.9.1", "0.10.0"), ("0.10.0", ""), ("0.11", "")])
def test_only_a_newer_version_is_found(server: ReleaseServer, tmp_path: Path, installed: str, newer: str) -> None:
    assert find_newer_version(tmp_path, installed, NOW) == newer
    assert server.requests == 1


def test_answer_is_kept_for_a_day(server: ReleaseServer, tmp_path: Path) -> None:
    for after, requests in (
        (0.0, 1),
        (CHECK_INTERVAL_S - 1, 1),
        (CHECK_INTERVAL_S, 2),
        (0.0, 3),
    ):  # the clock goes back
        assert find_newer_version(tmp_path, "0.9", NOW + after) == "0.10.0"
        assert server.requests == requests


@pytest.mark.parametrize("answer", [b"", b"<html>", b"<b>9</b>", b"9" * 200, b"\xff"])
def test_wrong_answer_is_no_new_version(server: ReleaseServer, tmp_path: Path, answer: bytes) -> None:
    server.answer = answer
    assert find_newer_version(tmp_path, "0.9", NOW) == find_newer_version(tmp_path, "0.9", NOW) == ""
    assert server.requests == 1


def test_without_a_server_there_is_no_new_version(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(new_version, "find_project_address", lambda: "http://127.0.0.1:9")
    assert find_newer_version(tmp_path, "0.9", NOW) == ""


def test_program_that_is_not_installed_asks_nothing(server: ReleaseServer, tmp_path: Path) -> None:
    assert find_newer_version(tmp_path, "", NOW) == ""
    assert server.requests == 0


@pytest.mark.parametrize(("is_wanted", "texts"), [(True, ["version 0.10.0 was released"]), (False, [])])
def test_doctor_asks_only_if_the_settings_say_so(
    server: ReleaseServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_wanted: bool, texts: list[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(new_version, "find_installed_version", lambda _: "0.9.0")
    pi = RaspberryPi(tmp_path / "pi", np.zeros((48, 64, 3), np.uint8), 8080)
    if is_wanted:
        pi.change("/etc/tilekeeper/settings.toml", "new_versions = false", "new_versions = true")
    findings: list[Finding] = [found for found in examine(pi, picture=False).findings if found.subject == "version"]
    assert [finding.text for finding in findings] == texts
    assert server.requests == int(is_wanted)
