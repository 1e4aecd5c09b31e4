"""How phones come to the page: codes to scan, for those who may have them."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.web.conftest import ShownTable, pair
from tests.web.test_qr import drawn, read
from web import create_app
from web.host import HostInfo

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
    """What a phone reads from the QR codes of a page."""
    return [read(drawn(svg)) for svg in re.findall(r"<svg[^>]*class=\"qr\".*?</svg>", page, re.S)]


@pytest.mark.parametrize("path", ["/join", "/big"])
def test_stranger_scans_the_wifi_and_the_address(stranger: FlaskClient, path: str) -> None:
    assert scanned(stranger.get(path).text) == ["WIFI:T:WPA;S:Club;P:secret word;;", ADDRESSES[-1]]


@pytest.mark.parametrize("path", ["/join", "/big"])
def test_paired_phone_lets_others_scan_the_code(app: Flask, stranger: FlaskClient, path: str) -> None:
    pair(stranger)
    code = app.extensions["pairing"].code
    page = stranger.get(path).text
    assert scanned(page)[1] == f"{ADDRESSES[-1]}/pair?code={code}" and f"{code[:3]} {code[3:]}" in page


def test_screen_on_the_tables_own_machine_shows_the_code(app: Flask) -> None:
    code = app.extensions["pairing"].code
    assert f"?code={code}" in scanned(app.test_client().get("/big").text)[1]


@pytest.mark.parametrize("header", ["X-Forwarded-For", "Forwarded", "Via"])
def test_visitor_through_a_proxy_is_not_on_the_machine(app: Flask, header: str) -> None:
    page = app.test_client().get("/big", headers={header: "1.1 proxy"}).text
    assert scanned(page)[1] == ADDRESSES[-1]


def test_scanned_code_stands_in_the_form(app: Flask, stranger: FlaskClient) -> None:
    code = app.extensions["pairing"].code
    assert f'value="{code}"' in stranger.get(f"/pair?code={code}").text
    for wrong in ("<b>", "12345", "１２３４５６"):
        assert 'value=""' in stranger.get("/pair", query_string={"code": wrong}).text


def test_without_addresses_the_one_that_was_asked_for_is_shown(table: ShownTable) -> None:
    app = create_app(table)
    client = app.test_client()
    client.environ_base["REMOTE_ADDR"] = "192.168.0.7"
    assert scanned(client.get("/join", base_url="http://table.local:8080").text) == ["http://table.local:8080"]
    app.extensions["live"].close()


def test_page_says_what_plain_http_does_not_give(stranger: FlaskClient) -> None:
    assert "docs/https.md" in stranger.get("/join").text
    assert "came over https" in stranger.get("/join", base_url="https://table.local").text
