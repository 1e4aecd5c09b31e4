"""The page on which the admin lets a hall direct the table, and what the director has sent on the other pages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from flask.testing import FlaskClient

from device.hall.director import (
    KEY_TOPIC,
    DirectorOrder,
    OfferPairing,
    SetTableName,
    format_fingerprint,
    make_director_topic,
    make_key_message,
    make_order_message,
)
from device.hall.publishing.directed_table import DirectedTable
from device.storage.store import GameStore
from tests.support.api_table import WebTable, open_web_table
from tests.web.conftest import pair, token
from web.host_info import HostInfo

KEY = Ed25519PrivateKey.from_private_bytes(bytes(32))
PUBLIC = KEY.public_key().public_bytes_raw()


@pytest.fixture
def directed() -> Iterator[DirectedTable]:
    with GameStore(":memory:") as store:
        directed = DirectedTable("7", store, lambda _: pytest.fail("no command was expected"), print)
        directed.receive(KEY_TOPIC, make_key_message(KEY).payload, True, "a")
        yield directed


@pytest.fixture
def table(directed: DirectedTable, tmp_path: Path) -> Iterator[WebTable]:
    with open_web_table(tmp_path, host_info=HostInfo(table_name="7", directed=directed)) as table:
        yield table


def test_admin_accepts_the_hall_and_withdraws(directed: DirectedTable, admin: FlaskClient) -> None:
    assert "/hall/director" in admin.get("/dialogs/more").text
    assert format_fingerprint(PUBLIC) in admin.get("/hall/director").text
    assert admin.post("/hall/director/accept", data={"csrf": token(admin), "key": PUBLIC.hex()}).status_code == 204
    assert directed.direction.key == PUBLIC and "directs this table" in admin.get("/hall/director").text
    assert admin.post("/hall/director/withdraw", data={"csrf": token(admin)}).status_code == 204
    assert directed.direction.key == b""


@pytest.mark.parametrize("key", ["", "no hex", "00" * 32])
def test_key_that_was_not_shown_is_refused(directed: DirectedTable, admin: FlaskClient, key: str) -> None:
    assert admin.post("/hall/director/accept", data={"csrf": token(admin), "key": key}).status_code == 409
    assert directed.direction.key == b""


@pytest.mark.usefixtures("admin")
def test_only_the_admin_accepts_a_hall(directed: DirectedTable, table: WebTable) -> None:
    second = table.app.test_client()
    pair(second)
    assert second.get("/hall/director").status_code == 403
    assert second.post("/hall/director/accept", data={"csrf": token(second), "key": PUBLIC.hex()}).status_code == 403
    assert directed.direction.key == b""


def test_name_and_pairing_of_the_director_are_on_the_pages(directed: DirectedTable, admin: FlaskClient) -> None:
    directed.accept(PUBLIC)
    for number, command in enumerate((SetTableName("Final"), OfferPairing(("Cleo", "Dan"), 2, False)), 1):
        order = DirectorOrder(table="7", store="a", number=number, command=command)
        directed.receive(make_director_topic("7"), make_order_message(KEY, order).payload, False, "a")
    assert "Final" in admin.get("/").text
    form = admin.get("/dialogs/new-game").text
    assert 'value="Cleo"' in form and 'value="Dan"' in form and directed.refused_count == 0
    assert 'name="first" value="0" checked' in form and "Round 2: Cleo – Dan" in form
