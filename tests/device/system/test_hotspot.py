"""The file of the table's own Wi-Fi, and the phones in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from device.system.wifi import Hotspot, HotspotError, read_hotspot


def test_the_own_wifi_is_read(tmp_path: Path) -> None:
    path = tmp_path / "hotspot.toml"
    assert read_hotspot(path) is None
    path.write_text('name = "Tilekeeper-k3fa"\npassword = "h7wq2mzrda"\naddress = "10.42.0.1"\n', encoding="utf-8")
    made = read_hotspot(path)
    assert made == Hotspot("Tilekeeper-k3fa", "h7wq2mzrda", "10.42.0.1")
    assert made.qr_text == "WIFI:T:WPA;S:Tilekeeper-k3fa;P:h7wq2mzrda;;"


@pytest.mark.parametrize("text", [f"name = {'9' * 5000}", f"name = {'[' * 3000}"])
def test_hotspot_file_with_a_huge_number_or_deep_nesting_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "hotspot.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(HotspotError, match="not valid TOML"):
        read_hotspot(path)


def test_the_own_wifi_is_open_while_its_address_is_the_machines(tmp_path: Path) -> None:
    routes = tmp_path / "fib_trie"
    made = Hotspot("a", "b", "10.42.0.1")
    assert not made.is_active(routes)
    routes.write_text("|-- 10.42.0.10\n   /32 host LOCAL\n", encoding="utf-8")
    assert not made.is_active(routes)
    routes.write_text("|-- 10.42.0.1\n   /32 host LOCAL\n", encoding="utf-8")
    assert made.is_active(routes)


@pytest.mark.parametrize("text", ["name =", 'name = ""\npassword = "x"\naddress = "y"\n'])
def test_damaged_file_of_the_own_wifi_is_an_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "hotspot.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(HotspotError, match=r"hotspot\.toml"):
        read_hotspot(path)


def test_damaged_address_of_the_own_wifi_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "hotspot.toml"
    path.write_text('name = "a"\npassword = "b"\naddress = "10.42.0."\n', encoding="utf-8")
    with pytest.raises(HotspotError, match=r"hotspot\.toml: '10\.42\.0\.' is not an IP address"):
        read_hotspot(path)


@pytest.mark.parametrize(
    ("address", "is_client"),
    [("10.42.0.17", True), ("::ffff:10.42.0.17", True), ("10.42.0.1", False), ("192.168.1.7", False), ("?", False)],
)
def test_phone_in_the_own_wifi_is_recognised(monkeypatch: pytest.MonkeyPatch, address: str, is_client: bool) -> None:
    monkeypatch.setattr(Hotspot, "is_active", lambda _: True)
    assert Hotspot("Tilekeeper-k3fa", "h7wq2mzrda", "10.42.0.1").has_client(address) is is_client
