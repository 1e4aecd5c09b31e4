"""The page over https, with a certificate made as the documentation says."""

from __future__ import annotations

import http.client
import json
import re
import shutil
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from engine.limits import MAX_CONNECTIONS_PER_ADDRESS
from tests.support import samples
from tests.support.waiting import PATIENCE_S, until
from tests.web.conftest import ShownTable
from tests.web.security.test_limits_connections import is_closed
from web import create_app
from web.host_info import HostInfo
from web.security.certificate import OwnCertificate
from web.security.server import CLOSE_TIMEOUT_S, CertificateError, PageServer, TlsSettings

MAX_CLOSE_S = 3 * CLOSE_TIMEOUT_S
DOCUMENT = Path(__file__).parents[3] / "docs" / "https.md"

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the certificate that the documented command makes, for this machine's own loopback."""
    folder = tmp_path_factory.mktemp("certificate")
    command = DOCUMENT.read_text(encoding="utf-8").split("<!-- certificate -->")[1].split("```")[1].removeprefix("sh\n")
    command = command.replace("NAME.local", "localhost").replace("ADDRESS", "127.0.0.1")
    subprocess.run(["sh", "-c", command], cwd=folder, check=True, capture_output=True)
    return folder


class Door:
    """A page with its door, and a browser that trusts its certificate."""

    def __init__(self, port: int, plain: int, trusted: Path, code: str) -> None:
        self.port, self.plain, self.trusted, self.code = port, plain, trusted, code
        self._tls = ssl.create_default_context(cafile=str(trusted))

    def connection(self) -> http.client.HTTPSConnection:
        return http.client.HTTPSConnection("127.0.0.1", self.port, context=self._tls, timeout=PATIENCE_S)

    def get(self, path: str) -> tuple[int, dict[str, str], bytes]:
        with closing(self.connection()) as connection:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, {name.title(): value for name, value in answer.getheaders()}, answer.read()


@pytest.fixture
def door(table: ShownTable, made: Path) -> Iterator[Door]:
    table.show(samples.MIDGAME)
    app = create_app(table, host_info=HostInfo(names=("table.local",)))
    certificate, key = made / "certificate.pem", made / "key.pem"
    with PageServer(app, 0, "127.0.0.1", tls=TlsSettings(certificate, key, 0)) as server:
        assert server.secure_port is not None
        yield Door(server.secure_port, server.port, certificate, app.extensions["pairing"].code)


def test_page_is_there_over_https_and_over_http(door: Door) -> None:
    status, _, page = door.get("/")
    assert status == 200 and b"Anna" in page
    with closing(http.client.HTTPConnection("127.0.0.1", door.plain, timeout=PATIENCE_S)) as plain:
        plain.request("GET", "/")
        assert plain.getresponse().status == 200


def test_cookie_of_https_never_goes_over_http(door: Door) -> None:
    cookie = door.get("/pair")[1]["Set-Cookie"]
    assert cookie.startswith("__Host-tilekeeper=") and "Secure" in cookie and "HttpOnly" in cookie


def test_phone_is_paired_over_https(door: Door) -> None:
    _, headers, page = door.get("/pair")
    token = re.search(rb'name="csrf" value="([^"]+)"', page)
    assert token
    with closing(door.connection()) as connection:
        sent = {
            "Cookie": headers["Set-Cookie"].partition(";")[0],
            "Content-Type": "application/x-www-form-urlencoded",
            "Origin": f"https://127.0.0.1:{door.port}",
        }
        connection.request("POST", "/pair", f"csrf={token[1].decode()}&code={door.code}", sent)
        assert connection.getresponse().status == 205


def test_turn_comes_through_the_door_at_once(door: Door, table: ShownTable) -> None:
    with closing(door.connection()) as connection:
        connection.request("GET", "/live/stream")
        answer = connection.getresponse()
        lines = (line for line in answer if line.startswith(b"data: {"))
        next(lines)
        table.show(samples.PHONY)
        assert json.loads(next(lines)[6:])["events"] == samples.PHONY.events


def test_connections_without_a_handshake_are_bounded(door: Door) -> None:
    with ExitStack() as stack:
        silent = [
            stack.enter_context(socket.create_connection(("127.0.0.1", door.port), source_address=("127.0.0.7", 0)))
            for _ in range(MAX_CONNECTIONS_PER_ADDRESS + 20)
        ]
        until(lambda: sum(map(is_closed, silent)) == 20)
        assert door.get("/join")[0] == 200, "another device"
        assert not shakes_hands(door, "127.0.0.7")
    until(lambda: shakes_hands(door, "127.0.0.7"))  # the server has noticed that the connections are closed


def shakes_hands(door: Door, source: str) -> bool:
    tls = ssl.create_default_context(cafile=str(door.trusted))
    try:
        with socket.create_connection(("127.0.0.1", door.port), PATIENCE_S, (source, 0)) as connection:
            tls.wrap_socket(connection, server_hostname="127.0.0.1").close()
    # A refused connection is reset, or ends before the handshake: on Python 3.11.2 a SSLZeroReturnError.
    except (ConnectionError, ssl.SSLEOFError, ssl.SSLZeroReturnError):
        return False
    return True


def test_file_that_is_no_certificate_is_refused(table: ShownTable, tmp_path: Path) -> None:
    (tmp_path / "no.pem").write_text("nothing")
    with pytest.raises(CertificateError, match=r"no\.pem"):
        PageServer(create_app(table), 0, "127.0.0.1", tls=TlsSettings(tmp_path / "no.pem", tmp_path / "no.pem", 0))


def test_door_closes_with_its_threads(made: Path, table: ShownTable) -> None:
    before = threading.active_count()
    tls = TlsSettings(made / "certificate.pem", made / "key.pem", 0)
    with PageServer(create_app(table), 0, "127.0.0.1", tls=tls) as server:
        assert server.secure_port is not None
        with closing(Door(server.secure_port, 0, made / "certificate.pem", "").connection()) as phone:
            phone.request("GET", "/live/stream")
            assert phone.getresponse().status == 200
    assert threading.active_count() <= before


def test_door_closes_although_a_phone_never_ends_its_connection(made: Path, table: ShownTable) -> None:
    """The server has closed the connection twice: after its answer, and at the end."""
    tls = TlsSettings(made / "certificate.pem", made / "key.pem", 0)
    trusted = ssl.create_default_context(cafile=str(made / "certificate.pem"))
    with PageServer(create_app(table), 0, "127.0.0.1", tls=tls) as server, ExitStack() as phones:
        assert server.secure_port is not None
        plain = phones.enter_context(socket.create_connection(("127.0.0.1", server.secure_port), PATIENCE_S))
        phone = phones.enter_context(trusted.wrap_socket(plain, server_hostname="127.0.0.1"))
        phone.sendall(b"GET /static/table.css HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
        assert phone.recv(15) == b"HTTP/1.1 200 OK"
        begun = time.monotonic()
        server.close()
        assert time.monotonic() - begun < MAX_CLOSE_S


def test_renewed_certificate_is_used_for_new_connections(table: ShownTable, tmp_path: Path) -> None:
    names = ["localhost"]
    own = OwnCertificate(tmp_path / "https.pem", lambda: names)
    own.renew()
    with PageServer(create_app(table), 0, "127.0.0.1", tls=TlsSettings(own.path, own.path, 0)) as server:
        assert server.secure_port is not None
        names.append("127.0.0.1")
        own.renew()
        server.reload_certificate()
        assert Door(server.secure_port, server.port, own.path, "").get("/")[0] == 200


@pytest.mark.slow
@pytest.mark.serial
@pytest.mark.skipif(shutil.which("chromium") is None, reason="chromium is not installed")
@pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")
def test_browser_lets_the_screen_stay_awake_over_https_only(door: Door) -> None:
    playwright = pytest.importorskip("playwright.sync_api")
    flags = ["--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP table.local 127.0.0.1"]
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=shutil.which("chromium"), args=flags)
        page = browser.new_context(ignore_https_errors=True).new_page()
        can = {}
        for scheme, port in (("http", door.plain), ("https", door.port)):
            page.goto(f"{scheme}://table.local:{port}/", wait_until="domcontentloaded")
            can[scheme] = page.evaluate("isSecureContext && 'wakeLock' in navigator")
            page.wait_for_function("() => document.title.startsWith('Ben')")
        browser.close()
    assert can == {"http": False, "https": True}
