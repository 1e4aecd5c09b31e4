"""The panel on the pins of `tilekeeper run`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from gpiozero.pins.mock import MockFactory, MockPWMPin

from device.panel.buttons import HOLD_S, Button, Pins
from device.panel.gpio import GpioUnavailableError
from tests.support.ports import find_free_port
from tests.support.programs import Program, options, picture
from tests.support.programs import folder as folder
from tests.support.programs import known_code as known_code
from tests.support.programs import own_settings as own_settings
from tests.support.text_table import HORN, rows
from tests.support.waiting import PATIENCE_S


def test_machine_without_pins_says_so_in_one_line_and_has_the_page_alone(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, own_settings: Path
) -> None:
    def no_header() -> None:
        raise GpioUnavailableError("This machine has no GPIO pins.")

    monkeypatch.setattr("device.panel.panel.may_have_pins", lambda: True)
    monkeypatch.setattr("device.panel.gpio._make_pin_factory", no_header)
    with Program(options(folder, find_free_port()), []) as phone:
        assert phone.sees("Anna to play")
    assert capsys.readouterr().out.count("The table runs without the panel. This machine has no GPIO pins.\n") == 1
    own_settings.write_text("[panel]\nuse = false\n")
    with Program(options(folder, find_free_port()), []) as phone:
        assert phone.sees("Anna to play")
    assert "pins" not in capsys.readouterr().out


@pytest.fixture
def pins(monkeypatch: pytest.MonkeyPatch) -> Iterator[MockFactory]:
    """The far end of the header's pins."""
    factory = MockFactory(pin_class=MockPWMPin)
    monkeypatch.setattr("device.panel.gpio._make_pin_factory", lambda: factory)
    monkeypatch.setattr("device.panel.panel.may_have_pins", lambda: True)
    yield factory
    factory.reset()


def down(pins: MockFactory, button: Button) -> None:
    pins.pin(Pins().buttons[button]).drive_low()


def up(pins: MockFactory, button: Button) -> None:
    pins.pin(Pins().buttons[button]).drive_high()


def test_button_on_the_pins_is_a_turn_on_the_page_and_its_refusal_is_told_there(
    folder: Path, pins: MockFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("device.panel.lights.MESSAGE_DURATION_S", PATIENCE_S)
    picture(folder, "1.png")
    with Program(options(folder, find_free_port()), [rows(HORN)]) as phone:
        down(pins, Button.END_TURN_3)
        assert phone.sees("No player of this game has this button. Press your own button.")
        up(pins, Button.END_TURN_3)
        down(pins, Button.END_TURN_1)
        assert phone.sees("+14") and phone.sees("Ben to play")


def test_held_power_button_ends_the_program(folder: Path, pins: MockFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("device.panel.buttons.HOLD_S", {**HOLD_S, Button.POWER: 0.05})
    program = Program(options(folder, find_free_port()), [])
    with program:
        assert not program.appliance.should_power_off.is_set()
        down(pins, Button.POWER)
        assert program.appliance.should_power_off.wait(PATIENCE_S)
        program.thread.join(PATIENCE_S)
        assert not program.thread.is_alive()
