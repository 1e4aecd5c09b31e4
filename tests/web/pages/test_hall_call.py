"""The call of the director on the page of a table that belongs to a hall."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from tests.support.api_table import WebTable, open_web_table
from tests.web.conftest import pair, token
from web.host_info import HostInfo


class Hall:
    """A connection to a hall that notes the call."""

    def __init__(self) -> None:
        self.calls_director = False

    def call_director(self, *, is_on: bool) -> None:
        self.calls_director = is_on


@pytest.fixture
def hall() -> Hall:
    return Hall()


@pytest.fixture
def table(hall: Hall, tmp_path: Path) -> Iterator[WebTable]:
    with open_web_table(tmp_path, host_info=HostInfo(hall=hall)) as table:
        yield table


def test_paired_phone_calls_the_director_and_takes_it_back(hall: Hall, table: WebTable) -> None:
    phone = table.app.test_client()
    pair(phone)
    assert "Call the director" in phone.get("/dialogs/more").text
    assert phone.post("/hall/call", data={"csrf": token(phone), "on": "1"}).status_code == 204
    assert hall.calls_director and "no longer needed" in phone.get("/dialogs/more").text
    phone.post("/hall/call", data={"csrf": token(phone)})
    assert not hall.calls_director


def test_guest_cannot_call_the_director(hall: Hall, table: WebTable) -> None:
    guest: FlaskClient = table.app.test_client()
    assert guest.post("/hall/call", data={"on": "1"}).status_code == 403 and not hall.calls_director
