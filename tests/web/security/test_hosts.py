"""The page answers only to its own names: a page of another site may let its name point to this machine."""

from __future__ import annotations

from pathlib import Path

import pytest
from flask import Flask

from tests.web.conftest import ShownTable, pair
from web import create_app
from web.host_info import HostInfo
from web.security.hosts import accept_host, find_local_names


@pytest.mark.parametrize(
    ("host", "own"),
    [
        ("127.0.0.1:8080", True),
        ("192.168.1.7", True),
        ("[::1]:8080", True),
        ("[fe80::1%25wlan0]", True),
        ("localhost:8080", True),
        ("LOCALHOST.", True),
        ("table:8080", True),
        ("Table.local", True),
        ("table.fritz.box:8080", True),
        ("score.example.org", True),
        ("evil.example:8080", False),
        ("table.local.evil.example", False),
        ("127.0.0.1.evil.example", False),
        ("evil-table.local", False),
        ("localhost.evil.example", False),
        ("1.2.3.4:8080:8080", False),
        ("table.local:80x", False),
        ("[::1", False),
        ("2130706433", False),
        ("", False),
        ("a" * 300, False),
    ],
)
def test_host_is_an_address_or_a_name_of_the_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, host: str, own: bool
) -> None:
    monkeypatch.setattr("socket.gethostname", lambda: "Table")
    resolver = tmp_path / "resolv.conf"
    resolver.write_text("search fritz.box\n")
    assert accept_host(host, ["Score.example.org"], resolver) is own


def test_machine_has_its_name_alone_with_local_and_with_the_domains_of_the_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolver = tmp_path / "resolv.conf"
    resolver.write_text("# made by NetworkManager\nsearch fritz.box lan.\nnameserver 192.168.178.1\ndomain\n")
    monkeypatch.setattr("socket.gethostname", lambda: "Table")
    assert find_local_names(resolver) == {"table", "table.local", "table.fritz.box", "table.lan"}
    assert find_local_names(tmp_path / "missing") == {"table", "table.local"}


@pytest.mark.parametrize("path", ["/", "/join", "/big", "/pair", "/live/state", "/api/v1/state", "/static/page.js"])
def test_request_by_another_name_is_refused_with_the_right_address(table: ShownTable, path: str) -> None:
    place = HostInfo(addresses=lambda: ("http://table.local:8080", "http://192.168.0.2:8080"))
    app = create_app(table, host_info=place)
    answer = app.test_client().get(path, base_url="http://evil.example:8080")
    assert answer.status_code == 421 and "http://192.168.0.2:8080" in answer.text
    app.extensions["live"].close()


def test_api_says_in_json_that_the_name_is_wrong(app: Flask) -> None:
    answer = app.test_client().get("/api/v1/state", headers={"Host": "evil.example"})
    assert answer.status_code == 421 and "http://" in answer.json["error"]


def test_page_of_another_site_cannot_pair_by_its_own_name(app: Flask) -> None:
    """The name of the site points to this machine, so that the request has its own origin."""
    headers = {"Origin": "http://evil.example:8080", "Sec-Fetch-Site": "same-origin"}
    body = {"code": app.extensions["pairing"].code, "device": "x"}
    client = app.test_client()
    answer = client.post("/api/v1/pairing", json=body, headers=headers, base_url="http://evil.example:8080")
    assert answer.status_code == 421 and app.extensions["pairing"].clients == ()


@pytest.mark.parametrize("origin", ["http://[::1", "http://]", "null", "", "http://evil.example"])
def test_request_with_another_or_a_malformed_origin_is_refused(app: Flask, origin: str) -> None:
    client = app.test_client()
    pair(client)
    answer = client.post("/actions/end-turn", headers={"Origin": origin, "Sec-Fetch-Site": "same-origin"})
    assert answer.status_code == 403


def test_without_addresses_the_one_of_the_server_is_named(app: Flask) -> None:
    environ = {"SERVER_NAME": "::ffff:192.168.0.2", "SERVER_PORT": "8080"}
    answer = app.test_client().get("/", headers={"Host": "evil.example"}, environ_overrides=environ)
    assert answer.status_code == 421 and "http://192.168.0.2:8080" in answer.text


@pytest.mark.parametrize("name", ["X-Forwarded-For", "Forwarded", "X-Forwarded-Host", "Via"])
def test_headers_of_a_proxy_change_nothing(app: Flask, name: str) -> None:
    client = app.test_client()
    pair(client)
    assert client.get("/", headers={name: "evil.example"}).status_code == 200
