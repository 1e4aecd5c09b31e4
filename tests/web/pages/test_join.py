"""The page with the QR codes for other phones."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.support import samples
from tests.web.conftest import ShownTable, pair, token
from tests.web.test_qr import drawn, read
from web import create_app
from web.host_info import HostInfo

ADDRESSES = ("http://localhost:8080", "http://table.local:8080", "http://192.168.0.2:8080")


@pytest.fixture
def app(table: ShownTable) -> Iterator[Flask]:
    app = create_app(table, host_info=HostInfo(addresses=lambda: ADDRESSES, wifi=("Club", "secret word")))
    yield app
    app.extensions["live"].close()


@pytest.fixture
def stranger(app: Flask) -> FlaskClient:
    client = app.test_client()
    client.environ_base["REMOTE_ADDR"] = "192.168.0.7"
    return client


def scanned(page: str) -> list[str]:
    """Return the texts of the QR codes of a page."""
    return [read(drawn(svg)) for svg in re.findall(r"<svg[^>]*class=\"qr\".*?</svg>", page, re.S)]


@pytest.mark.parametrize("path", ["/join", "/big"])
@pytest.mark.parametrize("address", ["192.168.0.7", "127.0.0.1"])
def test_stranger_scans_the_address_and_reads_no_secret(app: Flask, path: str, address: str) -> None:
    """A browser on the machine itself is a stranger too: its requests may come from a proxy, or from a page of another
    site."""
    client = app.test_client()
    client.environ_base["REMOTE_ADDR"] = address
    page = client.get(path).text
    assert scanned(page) == [ADDRESSES[-1]]
    pairing = app.extensions["pairing"]
    code = pairing.code
    assert not any(word in page for word in (code, f"{code[:3]} {code[3:]}", pairing.secret, "Club", "secret word"))


@pytest.mark.parametrize("path", ["/join", "/big"])
def test_paired_phone_lets_others_scan_the_secret_and_the_wifi(app: Flask, stranger: FlaskClient, path: str) -> None:
    pair(stranger)
    pairing = app.extensions["pairing"]
    code = pairing.code
    page = stranger.get(path).text
    codes = ["WIFI:T:WPA;S:Club;P:secret word;;", f"{ADDRESSES[-1]}/pair/{pairing.secret}"]
    assert scanned(page) == (codes if path == "/big" else [*codes, f"{ADDRESSES[-1]}/watch"])
    assert f"{code[:3]} {code[3:]}" in page and "secret word" in page


def test_scanned_secret_pairs_without_typing(app: Flask, stranger: FlaskClient) -> None:
    secret = app.extensions["pairing"].secret
    page = stranger.get(f"/pair/{secret}").text
    assert f'type="hidden" name="code" value="{secret}"' in page and 'class="digits"' not in page
    assert stranger.post("/pair", data={"csrf": token(stranger), "code": secret}).status_code == 205


def test_scanned_code_stands_in_the_form(app: Flask, stranger: FlaskClient) -> None:
    code = app.extensions["pairing"].code
    assert f'value="{code}"' in stranger.get(f"/pair?code={code}").text
    for wrong in ("<b>", "12345", "１２３４５６"):
        assert 'value=""' in stranger.get("/pair", query_string={"code": wrong}).text


def test_without_addresses_the_one_that_was_asked_for_is_shown(table: ShownTable) -> None:
    app = create_app(table, host_info=HostInfo(names=("table.local",)))
    client = app.test_client()
    assert scanned(client.get("/join", base_url="http://table.local:8080").text) == ["http://table.local:8080"]
    app.extensions["live"].close()


def test_addresses_for_phones_leave_out_the_one_of_the_machine_itself(stranger: FlaskClient) -> None:
    page = stranger.get("/join").text
    assert "localhost" not in page and all(address in page for address in ADDRESSES[1:])


@pytest.mark.parametrize("local", ["http://localhost:8080", "http://127.0.0.1:8080"])
def test_page_that_only_this_machine_can_open_has_no_codes(table: ShownTable, local: str) -> None:
    app = create_app(table, host_info=HostInfo(addresses=lambda: (local,), names=("games.example",)))
    client = app.test_client()
    pair(client)
    page = client.get("/join", base_url=local).text
    assert scanned(page) == [] and "--host 0.0.0.0" in page
    behind_proxy = client.get("/join", base_url="https://games.example").text
    assert scanned(behind_proxy) == ["https://games.example"]
    app.extensions["live"].close()


def test_page_offers_https_if_the_table_has_it(table: ShownTable) -> None:
    app = create_app(table, host_info=HostInfo(find_secure_port=lambda: 8443))
    client = app.test_client()
    assert 'href="/secure"' in client.get("/join").text
    assert "is open over https" in client.get("/join", base_url="https://localhost").text
    app.extensions["live"].close()


def test_page_does_not_offer_https_if_the_table_has_none(stranger: FlaskClient) -> None:
    assert "https" not in stranger.get("/join").text


def test_guests_see_the_game_without_any_button(table: ShownTable, stranger: FlaskClient) -> None:
    table.show(samples.MIDGAME)
    assert 'href="/pair"' in stranger.get("/").text
    pair(stranger)
    for client in (stranger, stranger.application.test_client()):
        page = client.get("/watch").text
        assert 'id="scores"' in page and 'href="/pair"' not in page
        assert 'id="panel"' not in page and "data-paired" not in page
