"""Checks of the panel: the GPIO pins of buttons and lights, and the buses of the displays."""

from __future__ import annotations

from collections.abc import Iterator

from device.doctor.finding import Finding, Subject
from device.doctor.service import check_access, read_service_state
from device.doctor.system import System
from device.panel.gpio import GpioUnavailableError
from device.settings import Settings

OWN_LINE_USERS = frozenset({"lg", "tilekeeper"})
"""Names, as in `gpioinfo`, under which the running table itself uses GPIO lines."""
_BUSES = {"oled": ("/dev/i2c-1", "i2c"), "digits": ("/dev/spidev0.*", "spi")}
"""For each kind of display: device file of its bus, and the bus, which is also the name of the file's group."""


def check_panel(system: System, settings: Settings) -> Iterator[Finding]:
    """Check that the GPIO lines and buses in the settings exist, and that the service can use them."""
    subject = Subject("pins")
    if not settings.panel.use:
        return
    if not system.glob("/dev/gpiochip*"):
        text = "this machine has no pins: use the buttons on the page"
        yield subject.note(text, "panel.use = false in the settings file")
        return
    yield from check_access(system, subject, "/dev/gpiochip*", "gpio")
    try:
        yield from _check_pins(system, subject, settings)
    except ImportError:
        yield subject.warning("lgpio is not installed: no buttons and lights", "sudo apt install python3-lgpio")
    except GpioUnavailableError as error:
        yield subject.warning(str(error), "sudo tilekeeper doctor; or panel.use = false in the settings file")
    yield from _check_displays(system, settings)


def _check_pins(system: System, subject: Subject, settings: Settings) -> Iterator[Finding]:
    """Check that no other program uses the GPIO lines. Raises ImportError and `GpioUnavailableError`."""
    wanted = {pin: name for name, pin in settings.panel.pins.list_wired_pins()}
    own = OWN_LINE_USERS if read_service_state(system) == "active" else frozenset()
    users = system.read_line_users()
    taken = {pin: user for pin in wanted if (user := users.get(pin, "")) and user not in own}
    for pin, user in taken.items():
        remedy = "set another pin in the settings file, or switch off what uses it (/boot/firmware/config.txt)"
        yield subject.warning(f"GPIO {pin} ({wanted[pin]}) is used by '{user}'", remedy)
    if not taken:
        yield subject.good(f"all {len(wanted)} are available")


def _check_displays(system: System, settings: Settings) -> Iterator[Finding]:
    subject = Subject("displays")
    for kind in sorted({spec.partition(":")[0] for spec in settings.panel.displays}):
        files, bus = _BUSES[kind]
        if not system.glob(files):
            remedy = f"sudo raspi-config nonint do_{bus} 0 && sudo reboot"
            yield subject.warning(f"{files} is missing: its bus is switched off", remedy)
        yield from check_access(system, subject, files, bus)
