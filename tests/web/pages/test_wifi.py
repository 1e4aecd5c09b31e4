"""The page that lets the table join a Wi-Fi."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from device.system.wifi import WifiError, WifiNetwork
from tests.support.api_table import WebTable, open_web_table
from tests.support.waiting import PATIENCE_S
from tests.web.conftest import pair, token
from web.host_info import HostInfo


class Manager:
    """NetworkManager with two networks; it notes what is joined."""

    def __init__(self) -> None:
        self.problem = ""
        self.joined: list[tuple[str, str]] = []
        self.has_joined = threading.Event()

    def find_networks(self) -> tuple[WifiNetwork, ...]:
        if self.problem:
            raise WifiError(self.problem)
        return (WifiNetwork("home", 80), WifiNetwork("neighbour", 60))

    def join(self, name: str, password: str = "") -> None:
        self.joined.append((name, password))
        self.has_joined.set()


@pytest.fixture
def manager() -> Manager:
    return Manager()


@pytest.fixture
def table(tmp_path: Path, manager: Manager) -> Iterator[WebTable]:
    with open_web_table(tmp_path, host_info=HostInfo(wifi_manager=manager)) as table:
        yield table


def test_networks_in_range_are_offered(admin: FlaskClient) -> None:
    page = admin.get("/wifi").text
    assert "home (80 %)" in page and "neighbour (60 %)" in page
    assert "/wifi" in admin.get("/dialogs/more").text


def test_network_is_joined_after_the_answer(admin: FlaskClient, manager: Manager) -> None:
    page = admin.post("/wifi", data={"csrf": token(admin), "name": "home", "password": "correct horse"})
    assert page.status_code == 200 and "joining home" in page.text
    assert manager.has_joined.wait(PATIENCE_S) and manager.joined == [("home", "correct horse")]


def test_name_that_was_typed_goes_before_the_list(admin: FlaskClient, manager: Manager) -> None:
    admin.post("/wifi", data={"csrf": token(admin), "name": "home", "typed": "attic", "password": ""})
    assert manager.has_joined.wait(PATIENCE_S) and manager.joined == [("attic", "")]


@pytest.mark.parametrize(("name", "password"), [("", "correct horse"), ("home", "short"), ("x" * 33, "")])
def test_impossible_name_or_password_is_refused(admin: FlaskClient, manager: Manager, name: str, password: str) -> None:
    answer = admin.post("/wifi", data={"csrf": token(admin), "name": name, "password": password})
    assert answer.status_code == 409 and manager.joined == []


def test_machine_without_networkmanager_is_reported(admin: FlaskClient, manager: Manager) -> None:
    manager.problem = "This machine has no Wi-Fi. Use a network cable."
    assert "This machine has no Wi-Fi. Use a network cable." in admin.get("/wifi").text


def test_only_the_first_phone_may_change_the_wifi(table: WebTable, admin: FlaskClient, manager: Manager) -> None:
    guest = table.app.test_client()
    assert 'action="/pair"' in guest.get("/wifi").text
    pair(guest)
    assert guest.get("/wifi").status_code == 403
    answer = guest.post("/wifi", data={"csrf": token(guest), "name": "home"})
    assert answer.status_code == 403 and manager.joined == [] and admin.get("/wifi").status_code == 200
