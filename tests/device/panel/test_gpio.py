"""The pins themselves: used elsewhere, turned round, missing; a panel that is not wanted."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest
from gpiozero import Device
from gpiozero.pins.mock import MockFactory

from device.panel.buttons import Button, Pins
from device.panel.gpio import GpioHardware, GpioUnavailableError, find_header_chip, make_gpio_hardware
from device.panel.lights import PanelStatus
from device.panel.panel import Panel, open_panel
from device.session.table_session import TableSession
from device.settings import PanelSettings
from tests.support.panels import PINS, PanelTime, Wires, orders
from tests.support.waiting import PATIENCE_S, until


def test_pin_that_is_used_elsewhere_is_said_and_nothing_stays_open(factory: MockFactory) -> None:
    from gpiozero import LED

    with LED(PINS.player_lights[0], pin_factory=factory):
        with pytest.raises(GpioUnavailableError, match="GPIO12"):
            GpioHardware(PINS, factory, lambda *_: None)
        gc.collect()


def test_lights_of_a_common_anode_are_turned_round(factory: MockFactory) -> None:
    pins = Pins(common_anode=True)
    board = GpioHardware(pins, factory, lambda *_: None)
    assert Wires(factory, pins, PanelTime()).status == (1.0, 1.0, 1.0)
    board.close()


def test_header_chip_is_found_by_its_label() -> None:
    pi5 = {0: "gpio-brcmstb@107d508500", 10: "gpio-brcmstb@107d517c00", 13: "pinctrl-rp1", 4: "other"}
    assert find_header_chip(pi5) == 13
    assert find_header_chip({0: "pinctrl-bcm2711\0", 1: "raspberrypi-exp-gpio"}) == 0
    assert find_header_chip({0: "pinctrl-bcm2835"}) == 0
    with pytest.raises(GpioUnavailableError, match="gpiochip0 INT3450"):
        find_header_chip({0: "INT3450:00"})


def test_machine_without_gpio_says_so() -> None:
    if list(Path("/dev").glob("gpiochip*")):
        pytest.skip("this machine has GPIO")
    with pytest.raises(
        GpioUnavailableError, match=r"the buttons on the page|not installed\. Install it with sudo apt install"
    ):
        make_gpio_hardware(PINS)
    assert Device.pin_factory is None


def test_state_of_a_panel_reads_plainly(panel: Panel) -> None:
    assert repr(panel) == "<Panel on pins: ready>"


def test_laptop_has_the_panel_on_its_page_without_a_message(
    session: TableSession, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("device.panel.gpio.MODEL_FILE", tmp_path / "model")
    monkeypatch.setattr("device.panel.gpio.find_spec", lambda _: None)
    said: list[str] = []
    with open_panel(session, orders(), PanelSettings(), said.append) as panel:
        assert "on the page" in repr(panel)
    assert said == []


def test_machine_without_pins_has_the_panel_on_its_page(
    session: TableSession, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "model").write_text("Raspberry Pi 5 Model B Rev 1.0\0", encoding="utf-8")
    monkeypatch.setattr("device.panel.gpio.MODEL_FILE", tmp_path / "model")
    if list(Path("/dev").glob("gpiochip*")) or Path("/dev/i2c-1").exists():
        pytest.skip("this machine has GPIO")
    said: list[str] = []
    settings = PanelSettings(displays=("oled:0x3C",))
    with open_panel(session, orders(), settings, said.append) as panel:
        panel.press(Button.NEW_GAME, held=True).result(PATIENCE_S)
        until(lambda: panel.view.status is PanelStatus.READY)
    assert (
        len(said) == 2
        and said[0].startswith("The table runs without the panel. ")
        and said[1].startswith("A display cannot be used. ")
    )


def test_panel_that_is_not_wanted_touches_no_pins(session: TableSession) -> None:
    said: list[str] = []
    with open_panel(session, orders(), PanelSettings(use=False), said.append) as panel:
        assert repr(panel) == "<Panel on the page: no game>"
    assert said == []
