"""The panel on GPIO pins, as a thin layer over gpiozero.

The GPIO chip of the 40-pin header is found by its label. Its number differs between kernels (0, 4, 10 and more on a
Raspberry Pi 5), and gpiozero itself only tries 4 and 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from device.catalogue import get_text
from device.panel.buttons import Button, EdgeHandler, Pins
from device.panel.lights import OUTPUTS_OFF, OutputLevels
from engine.errors import TilekeeperError

HEADER_CHIP_LABELS = frozenset({"pinctrl-rp1", "pinctrl-bcm2711", "pinctrl-bcm2835"})
"""Labels of the 40-pin header's GPIO chip on a Raspberry Pi 5, on a Raspberry Pi 4, and on all earlier models."""
MODEL_FILE = Path("/proc/device-tree/model")
"""File with the model of a Raspberry Pi; a PC does not have it."""
GLITCH_FILTER_S = 0.002
"""Shortest pulse that the kernel passes on, in seconds. Shorter pulses are dropped as interference;
`device.panel.buttons` debounces the pulses that are passed on."""


class GpioUnavailableError(TilekeeperError):
    """Error for GPIO pins that are missing or inaccessible; the message gives the reason and the remedy on one line."""


class GpioHardware:
    """Buttons, lights and buzzer on GPIO pins.

    `edge` is called for each edge of a button, in gpiozero's thread. If a pin cannot be used, the constructor releases
    all pins and raises `GpioUnavailableError`.
    """

    def __init__(self, pins: Pins, factory: Any, edge: EdgeHandler) -> None:
        from gpiozero import GPIOZeroError

        with ExitStack() as opened:
            try:
                self._open_devices(pins, factory, opened)
            except Exception as error:
                # `lgpio.error` is a plain `Exception`. It is compared by name, because lgpio may not be installed.
                if not isinstance(error, (GPIOZeroError, OSError)) and type(error).__module__ != "lgpio":
                    raise
                raise GpioUnavailableError(get_text("pins-used", error)) from error
            self._resources = opened.pop_all()
        self.show(OUTPUTS_OFF)
        for button, device in self._buttons.items():
            device.when_activated = partial(edge, button, True)
            device.when_deactivated = partial(edge, button, False)

    def _open_devices(self, pins: Pins, factory: Any, opened: ExitStack) -> None:
        from gpiozero import LED, RGBLED, Buzzer, DigitalInputDevice

        def keep(device: Any) -> Any:
            opened.callback(device.close)
            return device

        opened.callback(factory.close)
        # gpiozero's Button would start a thread for each button to time holds; `buttons` times holds without threads.
        self._buttons = {
            button: keep(DigitalInputDevice(pin, pull_up=True, bounce_time=GLITCH_FILTER_S, pin_factory=factory))
            for button, pin in pins.buttons.items()
        }
        for device in self._buttons.values():
            # gpiozero does not remove this callback from lgpio. At the first edge after the pin is opened again, the
            # old callback would end lgpio's thread.
            opened.callback(setattr, device.pin, "when_changed", None)
        self._player_leds = [keep(LED(pin, pin_factory=factory)) for pin in pins.player_lights]
        self._status_led = (
            keep(RGBLED(*pins.status_light, active_high=not pins.common_anode, pin_factory=factory))
            if pins.status_light
            else None
        )
        self._buzzer = keep(Buzzer(pins.buzzer, pin_factory=factory)) if pins.buzzer is not None else None

    def __repr__(self) -> str:
        return (
            f"<GpioHardware: {len(self._buttons)} buttons, down: {', '.join(sorted(self.pressed_buttons)) or 'none'}>"
        )

    @property
    def pressed_buttons(self) -> frozenset[Button]:
        """The buttons that are down now."""
        return frozenset(button for button, device in self._buttons.items() if device.is_active)

    def show(self, levels: OutputLevels) -> None:
        """Set the lights and the buzzer."""
        for led, lit in zip(self._player_leds, levels.players, strict=False):
            led.value = lit
        if self._status_led is not None:
            self._status_led.value = levels.status
        if self._buzzer is not None:
            self._buzzer.value = levels.buzzer

    def close(self) -> None:
        """Switch everything off and release the pins."""
        self._resources.close()


def may_have_pins() -> bool:
    """Return True for a Raspberry Pi and for any machine with lgpio.

    On other machines, missing pins are normal and not reported.
    """
    is_raspberry_pi = MODEL_FILE.exists() and "Raspberry Pi" in MODEL_FILE.read_text("utf-8", "replace")
    return is_raspberry_pi or find_spec("lgpio") is not None


def make_gpio_hardware(pins: Pins) -> Callable[[EdgeHandler], GpioHardware]:
    """Return a function that opens the pins of this machine for `Panel`. Raises `GpioUnavailableError`.

    The argument of the returned function is a handler that is called for each edge of a button.
    """
    return partial(GpioHardware, pins, _make_pin_factory())


def find_header_chip(labels: Mapping[int, str]) -> int:
    """Return the number of the GPIO chip of the 40-pin header, given the labels of all chips by number.

    Raises `GpioUnavailableError`.
    """
    for number, name in sorted(labels.items()):
        if name.rstrip("\0") in HEADER_CHIP_LABELS:
            return number
    found = ", ".join(f"gpiochip{number} {name}" for number, name in sorted(labels.items()))
    raise GpioUnavailableError(get_text("pins-no-header", found))


def _make_pin_factory() -> Any:
    try:
        import lgpio
        from gpiozero.pins.lgpio import LGPIOFactory
    except ImportError as error:
        raise GpioUnavailableError(get_text("pins-not-installed", error.name)) from error
    chip = find_header_chip(read_chip_labels(lgpio))
    try:
        return LGPIOFactory(chip=chip)
    except lgpio.error as error:
        raise GpioUnavailableError(_describe_open_error(f"gpiochip{chip}", error)) from error


def _describe_open_error(what: object, error: Exception) -> str:
    return get_text("pins-closed", what, error)


def read_chip_labels(lgpio: Any) -> dict[int, str]:
    """Return the labels of all GPIO chips of the machine by chip number, using the module `lgpio`.

    Raises `GpioUnavailableError`.
    """
    paths = sorted(Path("/dev").glob("gpiochip*"))
    if not paths:
        raise GpioUnavailableError(get_text("pins-none"))
    labels = {}
    for path in paths:
        number = int(path.name.removeprefix("gpiochip"))
        try:
            handle = lgpio.gpiochip_open(number)
        except lgpio.error as error:
            raise GpioUnavailableError(_describe_open_error(path, error)) from error
        try:
            labels[number] = lgpio.gpio_get_chip_info(handle)[3]
        finally:
            lgpio.gpiochip_close(handle)
    return labels
