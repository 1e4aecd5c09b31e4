"""The demo on the page: it says what it is, and offers a game of one's own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from flask import Flask

from tests.web.conftest import ShownTable, pair, token
from web import create_app
from web.host_info import HostInfo


@pytest.fixture
def started() -> list[str]:
    return []


@pytest.fixture
def app(table: ShownTable, started: list[str]) -> Iterator[Flask]:
    app = create_app(table, host_info=HostInfo(start_own_game=lambda: started.append("own")))
    yield app
    app.extensions["live"].close()


def test_page_says_that_it_is_a_demo(app: Flask) -> None:
    page = app.test_client().get("/").text
    assert "This is a demo" in page and "Start your own game" not in page


def test_owner_of_the_demo_starts_a_table(app: Flask, started: list[str]) -> None:
    client = app.test_client()
    pair(client)
    assert "Start your own game" in client.get("/").text
    answer = client.post("/demo/own", data={"csrf": token(client)})
    assert started == ["own"] and 'data-next="/setup"' in answer.text


def test_other_phones_do_not_end_the_demo(app: Flask, started: list[str]) -> None:
    pair(app.test_client())
    guest = app.test_client()
    pair(guest)
    assert "Start your own game" not in guest.get("/").text
    assert guest.post("/demo/own", data={"csrf": token(guest)}).status_code == 403 and started == []


def test_table_is_no_demo(table: ShownTable) -> None:
    client = create_app(table).test_client()
    assert "This is a demo" not in client.get("/").text
