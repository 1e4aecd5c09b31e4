"""Checks of the panel: GPIO pins, the buses of the displays, and the groups of the service's user."""

from __future__ import annotations

from collections.abc import Iterator

from device.doctor.finding import Finding, Subject
from device.doctor.machine import read_service_state
from device.doctor.program import (
    SERVICE_USER,
    check_access,
    find_reinstall_remedy,
    find_service_account,
    is_service_installed,
)
from device.doctor.system import System, can_write
from device.panel.gpio import GpioUnavailableError, find_header_chip
from device.settings import Settings

OWN_LINE_USERS = frozenset({"lg", "tilekeeper"})
"""Names, as in `gpioinfo`, under which the running table itself uses GPIO lines."""
_BUSES = {
    "oled": ("/dev/i2c-1", "i2c", "sudo raspi-config nonint do_i2c 0 && sudo reboot"),
    "digits": ("/dev/spidev0.*", "spi", "sudo raspi-config nonint do_spi 0 && sudo reboot"),
}
"""For each kind of display: device file of its bus, group with access to the file, and command that enables the bus."""
_CREATE_USER = "sudo systemd-sysusers tilekeeper.conf"
"""Command that creates the service's user and its groups. The file is in `/etc/sysusers.d`, or, as a part of the Debian
package, in `/usr/lib/sysusers.d`; systemd-sysusers searches both folders for its name."""


def check_pins(system: System, settings: Settings) -> Iterator[Finding]:
    """Check that the GPIO lines in the settings exist and are not used by another program."""
    subject = Subject("pins")
    if not settings.panel.use:
        yield subject.good("not in use: use the buttons on the page")
        return
    if not system.glob("/dev/gpiochip*"):
        yield subject.note(
            "this machine has no pins: use the buttons on the page", "panel.use = false in the settings file"
        )
        return
    yield from check_access(system, subject, ("/dev/gpiochip*",), "gpio")
    try:
        chips = system.read_gpio_chips()
        header = find_header_chip({number: label for number, (label, _) in chips.items()})
    except ImportError:
        yield subject.warning("lgpio is not installed: no buttons and lights", "sudo apt install python3-lgpio")
        return
    except GpioUnavailableError as error:
        yield subject.warning(str(error), "sudo tilekeeper doctor; or panel.use = false in the settings file")
        return
    label, lines = chips[header]
    wanted = {pin: name for name, pin in settings.panel.pins.list_wired_pins()}
    taken = [line for line in lines if line.number in wanted and line.user]
    own = read_service_state(system) == "active"
    foreign = [line for line in taken if not (own and line.user in OWN_LINE_USERS)]
    for line in foreign:
        yield subject.warning(
            f"GPIO {line.number} ({wanted[line.number]}) is used by '{line.user}'",
            "use another pin and set it in the settings file, or switch off what uses it (/boot/firmware/config.txt)",
        )
    if not foreign:
        yield subject.good(f"all {len(wanted)} are available on gpiochip{header} ({label})")


def check_displays(system: System, settings: Settings) -> Iterator[Finding]:
    """Check that the buses of the displays (I2C, SPI) are enabled and that the service's user may use them."""
    subject = Subject("displays")
    if not settings.panel.use or not settings.panel.displays:
        return
    if not system.has_module("luma"):
        yield subject.warning("luma is not installed, but displays need it", find_reinstall_remedy(system))
        return
    for kind in sorted({spec.partition(":")[0] for spec in settings.panel.displays}):
        bus, group, remedy = _BUSES[kind]
        paths = system.glob(bus)
        account = find_service_account(system)
        if not paths:
            yield subject.warning(f"{bus} is missing: its bus is switched off", remedy)
        elif account is not None and not can_write(paths[0], account):
            yield subject.warning(
                f"the user {SERVICE_USER} may not use /{paths[0].relative_to(system.root)}",
                f"sudo usermod -aG {group} {SERVICE_USER} && sudo systemctl restart tilekeeper",
            )
        else:
            yield subject.good(f"the bus of {kind} is on")


def check_groups(system: System, _settings: Settings) -> Iterator[Finding]:
    """Check that the service's user exists and belongs to the groups for camera, pins and buses."""
    subject = Subject("user")
    if not is_service_installed(system):
        return
    account = system.find_account(SERVICE_USER)
    if account is None:
        yield subject.fault(
            f"there is no user {SERVICE_USER}",
            f"{_CREATE_USER} && sudo systemctl restart tilekeeper",
        )
        return
    missing = [name for name in ("video", "gpio", "i2c", "spi", "render") if name not in account.groups]
    if missing:
        existing = [name for name in missing if name in system.read_group_names()]
        create_groups = "" if existing == missing else f"{_CREATE_USER} && "
        yield subject.fault(
            f"{SERVICE_USER} is not in the group{'' if len(missing) == 1 else 's'} {', '.join(missing)}",
            f"{create_groups}sudo usermod -aG {','.join(missing)} {SERVICE_USER} && sudo systemctl restart tilekeeper",
        )
    else:
        yield subject.good(f"{SERVICE_USER} is in the groups of camera, pins and buses")
