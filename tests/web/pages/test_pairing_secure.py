"""The way from http to https: the page that shows how to accept the certificate, and the device that stays paired."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.support.set_clock import SetClock
from tests.web.conftest import ShownTable
from web import create_app
from web.host_info import HostInfo
from web.security.pairing import HANDOVER_S, Pairing

SECURE = "https://localhost:8443"
PLAIN = "http://localhost:8080"


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
def app(table: ShownTable, clock: SetClock) -> Iterator[Flask]:
    host = HostInfo(addresses=lambda: (PLAIN,), find_secure_port=lambda: 8443)
    app = create_app(table, host_info=host, pairing=Pairing(clock=clock))
    yield app
    app.extensions["live"].close()


def find_link(client: FlaskClient) -> str:
    found = re.search(r'class="button primary" href="(https:[^"]+)"', client.get("/secure", base_url=PLAIN).text)
    assert found
    return found[1]


def enter(app: Flask, link: str, **headers: str) -> tuple[FlaskClient, int]:
    """Open a link over https in a browser without cookies; return the browser and the status of the answer."""
    client = app.test_client()
    return client, client.get(link.removeprefix(SECURE), base_url=SECURE, headers=headers).status_code


def is_paired(client: FlaskClient, base_url: str = SECURE) -> bool:
    return 'id="panel"' in client.get("/", base_url=base_url).text


def test_stranger_is_shown_how_to_accept_the_certificate(client: FlaskClient) -> None:
    assert "Show Details, then visit this website" in client.get("/secure", base_url=PLAIN).text
    assert find_link(client) == f"{SECURE}/"


def test_paired_device_stays_paired_over_https(app: Flask, paired: FlaskClient) -> None:
    browser, status = enter(app, find_link(paired))
    assert status == 200 and is_paired(browser)
    pairing = app.extensions["pairing"]
    assert len(pairing.clients) == 1 and pairing.clients[0].admin
    assert is_paired(paired, "http://localhost")


def test_page_after_the_handover_goes_on_to_the_score(app: Flask, paired: FlaskClient) -> None:
    page = app.test_client().get(find_link(paired).removeprefix(SECURE), base_url=SECURE).text
    assert '<meta http-equiv="refresh" content="0;url=/">' in page


def test_link_works_once(app: Flask, paired: FlaskClient) -> None:
    link = find_link(paired)
    browser, _ = enter(app, link)
    thief, status = enter(app, link)
    assert status == 404 and not is_paired(thief)
    assert browser.get(link.removeprefix(SECURE), base_url=SECURE).status_code == 200


@pytest.mark.parametrize("headers", [{"Sec-Purpose": "prefetch"}, {"Sec-Purpose": "prefetch;prerender"}], ids=str)
def test_prefetched_link_is_not_used_up(app: Flask, paired: FlaskClient, headers: dict[str, str]) -> None:
    link = find_link(paired)
    assert enter(app, link, **headers)[1] == 404
    assert enter(app, link)[1] == 200


def test_link_pairs_no_device_over_http(app: Flask, paired: FlaskClient) -> None:
    stranger = app.test_client()
    assert stranger.get(find_link(paired).removeprefix(SECURE), base_url=PLAIN).status_code == 404
    assert not is_paired(stranger, PLAIN)


def test_link_ends_after_some_minutes(app: Flask, paired: FlaskClient, clock: SetClock) -> None:
    link = find_link(paired)
    clock.now += HANDOVER_S
    assert enter(app, link)[1] == 404
    assert find_link(paired) != link


def test_link_of_an_unpaired_device_ends(app: Flask, paired: FlaskClient) -> None:
    link, pairing = find_link(paired), app.extensions["pairing"]
    assert link.rpartition("/")[2] in pairing.secrets
    pairing.unpair(pairing.clients[0].id)
    assert enter(app, link)[1] == 404


def test_page_names_missing_https(table: ShownTable) -> None:
    app = create_app(table)
    assert "does not offer https at the moment" in app.test_client().get("/secure").text
    app.extensions["live"].close()


def test_page_over_https_needs_no_steps(client: FlaskClient) -> None:
    assert "Safari" not in client.get("/secure", base_url=SECURE).text


@pytest.mark.parametrize(("scheme", "address"), [("http", PLAIN), ("https", SECURE)])
def test_wrong_name_is_answered_with_the_address_of_the_same_scheme(
    client: FlaskClient, scheme: str, address: str
) -> None:
    answer = client.get("/", base_url=f"{scheme}://evil.example")
    assert answer.status_code == 421 and address in answer.text


def test_page_over_http_may_not_change_the_game_over_https(paired: FlaskClient) -> None:
    headers = {"Origin": PLAIN, "Host": "localhost:8443"}
    assert paired.post("/actions/undo", base_url=SECURE, headers=headers).status_code == 403
