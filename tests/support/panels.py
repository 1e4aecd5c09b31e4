"""The panel on mock pins: pressing its buttons and reading its lights and buzzer."""

from __future__ import annotations

import time
from collections.abc import Callable

from gpiozero.pins.mock import MockFactory

from device.panel.buttons import Button, Pins
from device.panel.gpio import GpioHardware
from device.panel.panel import PanelActions
from device.session.commands.games import StartGame
from tests.support.text_table import STARTED

PINS = Pins()


class Wires:
    """The player's side of the pins: presses buttons, and reads lights and buzzer."""

    def __init__(self, factory: MockFactory, pins: Pins) -> None:
        self.factory, self.pins = factory, pins

    def down(self, button: Button) -> None:
        self.factory.pin(self.pins.buttons[button]).drive_low()

    def up(self, button: Button) -> None:
        self.factory.pin(self.pins.buttons[button]).drive_high()

    def press(self, button: Button, seconds: float = 0.0) -> None:
        self.down(button)
        time.sleep(seconds)
        self.up(button)

    @property
    def status(self) -> tuple[float, ...]:
        return tuple(self.factory.pin(pin).state for pin in self.pins.status_light)

    @property
    def players(self) -> list[bool]:
        return [bool(self.factory.pin(pin).state) for pin in self.pins.player_lights]

    @property
    def buzzer(self) -> bool:
        return bool(self.factory.pin(self.pins.buzzer).state)

    @property
    def beeps(self) -> int:
        return sum(bool(state.state) for state in self.factory.pin(self.pins.buzzer).states)


def orders(off: Callable[[], None] | None = None) -> PanelActions:
    """Return the actions of a panel that starts a game of Anna and Ben."""
    return PanelActions(StartGame(STARTED), off)


def hardware(factory: MockFactory, pins: Pins = PINS) -> Callable[..., GpioHardware]:
    return lambda edge: GpioHardware(pins, factory, edge)
