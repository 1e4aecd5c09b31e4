"""`tilekeeper run` serves the page over https too."""

from __future__ import annotations

import http.client
import socket
import ssl
from contextlib import closing
from pathlib import Path

import pytest

from device.cli.page import find_certificate_names, find_page_addresses
from device.settings import PageSettings
from device.system.wifi import Hotspot
from tests.support.ports import find_free_port
from tests.support.programs import Program, options
from tests.support.programs import folder as folder
from tests.support.programs import known_code as known_code
from tests.support.programs import own_settings as own_settings
from tests.support.waiting import PATIENCE_S


@pytest.fixture
def secure(own_settings: Path) -> int:
    """A free port for https, which is in the settings file."""
    port = find_free_port()
    own_settings.write_text(f"[page]\nsecure_port = {port}\n", encoding="utf-8")
    return port


def trust(folder: Path) -> ssl.SSLContext:
    """Trust the certificate of the table, as a browser does that has accepted it."""
    return ssl.create_default_context(cafile=str(folder.parent / "data" / "https.pem"))


def test_page_is_served_over_https_with_a_certificate_of_the_table(
    folder: Path, secure: int, capsys: pytest.CaptureFixture[str]
) -> None:
    served = []
    for _ in range(2):
        with Program(options(folder, find_free_port()), []) as phone:
            phone.get()
            connection = http.client.HTTPSConnection("127.0.0.1", secure, context=trust(folder), timeout=PATIENCE_S)
            with closing(connection):
                connection.request("GET", "/")
                assert connection.getresponse().status == 200
        served.append((folder.parent / "data" / "https.pem").read_bytes())
        assert f" or https://127.0.0.1:{secure}" in capsys.readouterr().out
    assert served[0] == served[1]


def test_taken_port_of_https_leaves_http(folder: Path, secure: int, capsys: pytest.CaptureFixture[str]) -> None:
    with (
        socket.create_server(("127.0.0.1", secure)),
        Program(options(folder, find_free_port()), []) as phone,
    ):
        assert "does not offer https at the moment" in phone.get("/secure")
        assert '"trouble":"store"' not in phone.get("/api/v1/state"), "the hall would ask for help with the storage"
    assert f"Port {secure} is in use. Choose another port with page.secure_port" in capsys.readouterr().out


def test_port_of_the_page_that_is_the_port_of_https_leaves_http(
    folder: Path, secure: int, capsys: pytest.CaptureFixture[str]
) -> None:
    with Program(options(folder, secure), []) as phone:
        assert "does not offer https at the moment" in phone.get("/secure")
    assert f"No https: the page itself uses port {secure}." in capsys.readouterr().out


def test_certificate_that_cannot_be_written_leaves_http(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder.parent / "data" / "https.pem").mkdir(parents=True)
    with Program(options(folder, find_free_port()), []) as phone:
        assert phone.sees("Anna to play")
    assert "https.pem: Is a directory. The table has started without it." in capsys.readouterr().out


def test_certificate_names_all_addresses_of_the_page() -> None:
    names = find_certificate_names(PageSettings(names=("score.example.org",)), Hotspot("T", "p", "10.42.0.1"))
    assert {"localhost", "127.0.0.1", f"{socket.gethostname().lower()}.local", "score.example.org", "10.42.0.1"} <= {
        *names
    }
    assert "127.0.0.1" not in find_certificate_names(PageSettings(host="192.168.1.7"), None)
    assert "127.0.0.1" in find_certificate_names(PageSettings(host="0.0.0.0"), None)


@pytest.mark.parametrize(
    ("host", "address"), [("::1", "http://[::1]:80"), ("::", "http://localhost:80"), ("0.0.0.0", "http://localhost:80")]
)
def test_addresses_of_the_page_can_be_opened(host: str, address: str) -> None:
    assert find_page_addresses(host, 80)[0] == address
