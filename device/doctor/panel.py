"""Checks of the panel: the GPIO pins of buttons and lights. The table itself names a display that fails."""

from __future__ import annotations

from collections.abc import Iterator

from device.doctor.finding import Finding, Subject
from device.doctor.service import check_access, read_service_state
from device.doctor.system import System
from device.panel.gpio import GpioUnavailableError
from device.settings import Settings

OWN_LINE_USERS = frozenset({"lg", "tilekeeper"})
"""Names, as in `gpioinfo`, under which the running table itself uses GPIO lines."""


def check_panel(system: System, settings: Settings) -> Iterator[Finding]:
    """Check that the GPIO lines in the settings exist, and that the service can use them."""
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
