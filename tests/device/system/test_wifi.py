"""Wi-Fi over D-Bus, on a mock of NetworkManager."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from device.system.wifi import (
    HOTSPOT_CONNECTION,
    UNCONNECTED_CHECKS,
    UNUSED_S,
    Hotspot,
    HotspotWatch,
    NetworkManager,
    WifiError,
    WifiNetwork,
    _Bus,
    count_phones_in_hotspot,
    make_connection,
)
from tests.support.network_manager import ROOT, MockManager, find_missing, run_network_manager

needs_mock = pytest.mark.skipif(bool(why := find_missing()), reason=why or "the mock is here")


@pytest.fixture(scope="module")
def mock() -> Iterator[MockManager]:
    with run_network_manager() as mock:
        mock.add_network("home", 40)
        mock.add_network("home", 80)
        mock.add_network("neighbour", 60)
        yield mock


@needs_mock
@pytest.mark.usefixtures("mock")
def test_networks_are_listed_once_the_strongest_first() -> None:
    assert NetworkManager().find_networks() == (WifiNetwork("home", 80), WifiNetwork("neighbour", 60))


@needs_mock
@pytest.mark.usefixtures("mock")
def test_access_point_that_goes_out_of_range_while_networks_are_listed_is_skipped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    list_points = _Bus.list_access_points
    gone = f"{ROOT}/AccessPoint/gone"
    monkeypatch.setattr(_Bus, "list_access_points", lambda bus, device: [gone, *list_points(bus, device)])
    assert [network.name for network in NetworkManager().find_networks()] == ["home", "neighbour"]


@needs_mock
def test_network_that_was_joined_is_remembered(mock: MockManager) -> None:
    NetworkManager().join("home", "correct horse")
    assert [profile["connection"]["id"][1] for profile in mock.read_connections()] == ["home"]


@needs_mock
def test_network_that_is_not_joined_in_time_is_forgotten(mock: MockManager, monkeypatch: pytest.MonkeyPatch) -> None:
    before = mock.read_connections()
    monkeypatch.setattr("device.system.wifi._ACTIVATED", 99)  # a state that is never reached
    monkeypatch.setattr("device.system.wifi.JOIN_TIMEOUT_S", 0.0)
    with pytest.raises(WifiError, match="could not join the Wi-Fi neighbour"):
        NetworkManager().join("neighbour", "wrong horse")
    assert mock.read_connections() == before


@needs_mock
def test_own_wifi_is_opened_and_closed() -> None:
    with run_network_manager() as machine:
        machine.add_hotspot(HOTSPOT_CONNECTION)
        manager = NetworkManager()
        for _ in range(2):
            manager.open_hotspot()
            assert machine.list_active() == [HOTSPOT_CONNECTION]
            manager.close_hotspot()
            assert machine.list_active() == []


@needs_mock
def test_machine_without_a_joined_network_is_not_connected() -> None:
    with run_network_manager() as machine:
        assert NetworkManager().is_connected()
        machine.call("SetDeviceDisconnected", "s", machine.device)
        assert not NetworkManager().is_connected()


@needs_mock
def test_own_wifi_does_not_replace_a_network_that_was_joined() -> None:
    with run_network_manager() as machine:
        machine.add_hotspot(HOTSPOT_CONNECTION)
        machine.add_network("home", 80)
        manager = NetworkManager()
        manager.join("home", "correct horse")
        manager.open_hotspot()
        manager.close_hotspot()
        assert machine.list_active() == ["home"]


@pytest.mark.parametrize(("stations", "count"), [(0, 0), (2, 2)])
def test_phones_in_the_own_wifi_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stations: int, count: int
) -> None:
    lines = "echo 'Station 02:00:00:00:00:01 (on wlan0)'; echo '  rx bytes: 7'\n" * stations
    (tmp_path / "iw").write_text(f"#!/bin/sh\n{lines}")
    (tmp_path / "iw").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert count_phones_in_hotspot() == count


def test_machine_without_networkmanager_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DBUS_SYSTEM_BUS_ADDRESS", f"unix:path={tmp_path / 'none'}")
    with pytest.raises(WifiError, match="has no NetworkManager"):
        NetworkManager().find_networks()


def test_connection_without_a_password_is_open() -> None:
    assert "802-11-wireless-security" not in make_connection("cafe", "")
    assert make_connection("home", "secret")["802-11-wireless-security"]["psk"] == ("s", "secret")


class OwnWifi:
    """The table's own Wi-Fi with its phones, as the watch sees and changes it."""

    def __init__(self) -> None:
        self.now, self.phones, self.calls, self.reports = 0.0, 0, list[str](), list[str]()
        self.connected = True

    def is_connected(self) -> bool:
        return self.connected

    def close_hotspot(self) -> None:
        self.calls.append("close")

    def scan(self) -> None:
        self.calls.append("scan")

    def open_hotspot(self) -> None:
        self.calls.append("open")


@pytest.fixture
def own() -> OwnWifi:
    return OwnWifi()


@pytest.fixture
def watch(own: OwnWifi, monkeypatch: pytest.MonkeyPatch) -> HotspotWatch:
    monkeypatch.setattr(Hotspot, "is_active", lambda _: True)
    monkeypatch.setattr("device.system.wifi.SCAN_S", 0.0)
    hotspot = Hotspot("Tilekeeper-k3fa", "h7wq2mzrda", "10.42.0.1")
    return HotspotWatch(
        hotspot,
        own,
        threading.Event(),
        lambda: own.phones,
        own.reports.append,
        lambda: own.now,  # type: ignore[arg-type]
    )


def test_own_wifi_without_phones_is_closed_to_look_for_home(own: OwnWifi, watch: HotspotWatch) -> None:
    for own.now in (0.0, UNUSED_S - 1):
        watch.check()
    assert own.calls == []
    own.now = UNUSED_S
    watch.check()
    assert own.calls == ["close", "scan", "open"]


def test_own_wifi_stays_open_while_a_phone_uses_it(own: OwnWifi, watch: HotspotWatch) -> None:
    watch.check()
    own.now, own.phones = UNUSED_S, 1
    watch.check()
    own.now, own.phones = 2 * UNUSED_S - 1, 0
    watch.check()
    own.now = 2.9 * UNUSED_S
    watch.check()
    assert own.calls == []


def test_service_may_do_what_opens_the_own_wifi() -> None:
    """NetworkManager asks for `wifi.share.protected` too, which polkit refuses to users who are not logged in."""
    rule = (Path(__file__).parents[3] / "systemd" / "tilekeeper.polkit").read_text(encoding="utf-8")
    allowed = set(re.findall(r'"org\.freedesktop\.NetworkManager\.([\w.-]+)"', rule))
    assert {"network-control", "wifi.share.protected"} <= allowed


def test_own_wifi_that_could_not_be_opened_again_is_opened_at_a_later_check(
    own: OwnWifi, watch: HotspotWatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> None:
        own.calls.append("refused")
        raise WifiError("NetworkManager did not answer")

    monkeypatch.setattr(own, "open_hotspot", refuse)
    watch.check()
    own.now = UNUSED_S
    watch.check()
    monkeypatch.undo()
    monkeypatch.setattr(Hotspot, "is_active", lambda _: False)  # it was closed
    watch.check()
    assert own.calls == ["close", "scan", "refused", "open"]


def test_own_wifi_opens_again_if_a_known_network_could_not_be_joined(
    own: OwnWifi, watch: HotspotWatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch.check()
    own.now = UNUSED_S
    watch.check()  # a known network was being joined, so nothing was opened
    own.calls.clear()
    monkeypatch.setattr(Hotspot, "is_active", lambda _: False)
    for _ in range(2):
        watch.check()
    monkeypatch.setattr(Hotspot, "is_active", lambda _: True)
    watch.check()
    assert own.calls == ["open", "open"]


def test_own_wifi_that_was_never_closed_is_left_to_networkmanager(
    own: OwnWifi, watch: HotspotWatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Hotspot, "is_active", lambda _: False)
    watch.check()
    assert own.calls == []


def test_own_wifi_that_does_not_open_is_reported_once(
    own: OwnWifi, watch: HotspotWatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Hotspot, "is_active", lambda _: False)
    own.connected = False
    for _ in range(UNCONNECTED_CHECKS - 1):
        watch.check()
    assert own.reports == []
    for _ in range(5):
        watch.check()
    (report,) = own.reports
    assert "Tilekeeper-k3fa" in report and "sudo tilekeeper doctor" in report


def test_table_in_a_known_network_reports_no_own_wifi(
    own: OwnWifi, watch: HotspotWatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Hotspot, "is_active", lambda _: False)
    for own.connected in (False, True) * UNCONNECTED_CHECKS:  # it loses the network now and then
        watch.check()
    assert own.reports == []
