"""Checks of the Raspberry Pi and the service: architecture, power, temperature, SD card, date, systemd unit."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

from device.doctor.finding import Finding, Subject
from device.doctor.program import find_reinstall_remedy, is_service_installed
from device.doctor.system import System
from device.settings import Settings

WARM_CELSIUS, HOT_CELSIUS = 75.0, 80.0
"""Lowest temperatures, in degrees Celsius, that give a note (`WARM_CELSIUS`) and a warning (`HOT_CELSIUS`). At 80, a
Raspberry Pi throttles itself."""

# Bits of `vcgencmd get_throttled` (raspberrypi.com/documentation, "vcgencmd").
UNDER_VOLTAGE, CAPPED, THROTTLED, SOFT_LIMIT = 1 << 0, 1 << 1, 1 << 2, 1 << 3
SINCE_START_SHIFT = 16
"""Distance in bits from the flag of a present problem to the flag of the same problem since the start (`vcgencmd`)."""

_CARD_ERRORS = re.compile(r"mmc\d.*(error -|timeout|timed out)|I/O error.*mmcblk|EXT4-fs error", re.IGNORECASE)


def check_architecture(_system: System, _settings: Settings) -> Iterator[Finding]:
    """Check that Python is a 64-bit build, because onnxruntime has no wheels for 32 bits."""
    subject = Subject("machine")
    if sys.maxsize < 2**32:
        yield subject.fault(
            "this is a 32-bit Python, and Tilekeeper needs a 64-bit one",
            "write 'Raspberry Pi OS (64-bit)' to the card with Raspberry Pi Imager",
        )


def check_power(system: System, _settings: Settings) -> Iterator[Finding]:
    """Check for under-voltage and throttling.

    The source is the firmware's flags (`vcgencmd`), or the kernel's voltage alarm if `vcgencmd` is not installed.
    """
    subject = Subject("power")
    remedy = "use the Raspberry Pi's own power supply and a short cable (5 V 3 A; a Pi 5: 5 V 5 A)"
    answer = system.run("vcgencmd", "get_throttled")
    bits = re.search(r"throttled=0x([0-9a-fA-F]+)", answer.out) if answer else None
    if bits is None:
        alarm = [system.read_text(path) for path in system.glob("/sys/class/hwmon/hwmon*/in0_lcrit_alarm")]
        if "1" in alarm:
            yield subject.fault("the voltage is too low now", remedy)
        elif alarm:
            yield subject.good("the voltage is right")
        return
    flags = int(bits[1], 16)
    before = flags >> SINCE_START_SHIFT
    if flags & UNDER_VOLTAGE:
        yield subject.fault("the voltage is too low now: the table may stop, or the card may be damaged", remedy)
    elif before & UNDER_VOLTAGE:
        yield subject.warning("the voltage was too low at times since the start", remedy)
    else:
        yield subject.good("the voltage is right")
    if flags & (CAPPED | THROTTLED | SOFT_LIMIT):
        yield subject.warning("the processor is slowed down now", "improve the cooling, and check the power supply")
    elif before & (CAPPED | THROTTLED | SOFT_LIMIT):
        yield subject.note("the processor was slowed down at times since the start", "improve the cooling")


def check_temperature(system: System, _settings: Settings) -> Iterator[Finding]:
    """Check the temperature of the processor."""
    subject = Subject("temperature")
    raw = system.read_text("/sys/class/thermal/thermal_zone0/temp")
    if raw is None or not raw.lstrip("-").isdecimal():
        return
    degrees = int(raw) / 1000
    if degrees >= HOT_CELSIUS:
        yield subject.warning(f"{degrees:.0f} °C: the processor slows down", "improve the cooling (heat sink or fan)")
    elif degrees >= WARM_CELSIUS:
        yield subject.note(
            f"{degrees:.0f} °C: from {HOT_CELSIUS:.0f} °C on, the processor slows down", "improve the cooling"
        )
    else:
        yield subject.good(f"{degrees:.0f} °C")


def check_card(system: System, _settings: Settings) -> Iterator[Finding]:
    """Check the SD card for errors.

    Signs of errors are a read-only mount, the error counters of ext4, messages in the kernel log, and the wear of an
    eMMC.
    """
    subject = Subject("card")
    faults = [*_find_card_faults(system, subject)]
    yield from faults or [subject.good("no errors")]


def _find_card_faults(system: System, subject: Subject) -> Iterator[Finding]:
    remedy = "save the games (tilekeeper backup FILE), then write a new card (A1 or A2, 16 GB or more)"
    for line in (system.read_text("/proc/mounts") or "").splitlines():
        fields = line.split()
        if len(fields) > 3 and fields[1] == "/" and "ro" in fields[3].split(","):
            yield subject.fault("the card is mounted read-only, as the kernel does after errors", remedy)
    for path in system.glob("/sys/fs/ext4/*/errors_count"):
        errors = system.read_text(path.relative_to(system.root)) or "0"
        if errors != "0":
            yield subject.warning(f"the file system on {path.parent.name} has had {errors} errors", remedy)
    log = system.run("journalctl", "--dmesg", "--boot", "--no-pager", "--output=cat")
    errors_in_log = [line for line in (log.out if log else "").splitlines() if _CARD_ERRORS.search(line)]
    if errors_in_log:
        yield subject.warning(f"the kernel reports card errors: {errors_in_log[-1].strip()}", remedy)
    for path in system.glob("/sys/block/mmcblk*/device/life_time"):  # only an eMMC reports wear, SD cards do not
        worn = [int(part, 16) for part in (system.read_text(path.relative_to(system.root)) or "").split()]
        if worn and max(worn) >= 10:  # tenths of the storage's lifetime (JEDEC EMMC 5.1, DEVICE_LIFE_TIME_EST)
            yield subject.warning("the storage has used nine tenths of its expected life", remedy)


def check_clock(system: System, _settings: Settings) -> Iterator[Finding]:
    """Check that the machine's clock is synchronised. A wrong clock only makes the dates of games wrong."""
    subject = Subject("date")
    answer = system.run("timedatectl", "show", "--property=NTPSynchronized", "--value")
    if answer is None or answer.status:
        return
    if answer.out.strip() == "yes":
        yield subject.good("set by the network")
    else:
        yield subject.note("not set by the network: games keep their order, but may show a wrong date")


def check_service(system: System, settings: Settings) -> Iterator[Finding]:
    """Check that the systemd service is enabled and running, and report the problems that the running table shows."""
    subject = Subject("service")
    if not is_service_installed(system):
        yield subject.note("not installed: the table does not start automatically", find_reinstall_remedy(system))
        yield from _find_problems(system, settings, "restart the table")
        return
    enabled = system.run("systemctl", "is-enabled", "tilekeeper.service")
    if enabled is not None and enabled.out.strip() not in ("enabled", "enabled-runtime"):
        yield subject.warning("does not start when the machine starts", "sudo systemctl enable tilekeeper")
    state = read_service_state(system)
    if state == "active":
        yield subject.good("the table is running")
    elif state == "failed":
        yield subject.fault(
            "the table stopped with an error", "journalctl -u tilekeeper -n 20, then: sudo systemctl restart tilekeeper"
        )
    elif state == "activating":
        yield subject.warning("the table is starting, or keeps failing", "journalctl -u tilekeeper -n 20")
    elif state:
        yield subject.note("the table is not running", "sudo systemctl start tilekeeper")
    if state in ("active", "activating"):
        yield from _find_problems(system, settings, "sudo systemctl restart tilekeeper")


def _find_problems(system: System, settings: Settings, restart: str) -> Iterator[Finding]:
    """Report each problem that the page of a running table shows; `restart` is the remedy that restarts the table."""
    for notice in system.read_problems(settings.page.host, settings.page.port):
        subject = Subject(notice.trouble)
        if notice.trouble == "board":
            yield subject.note(notice.text, "the players fix this at the board or on the page")
        elif notice.trouble == "store":  # a restart loses what is only in memory
            yield subject.fault(
                notice.text, f"the log gives the reason; save a game in progress on the page, then: {restart}"
            )
        else:
            yield subject.fault(notice.text, f"if it stays so: {restart}")


def read_service_state(system: System) -> str:
    """Return systemd's state of the service (`active`, `failed`, ...), or an empty string if it is unknown."""
    answer = system.run("systemctl", "is-active", "tilekeeper.service")
    word = answer.out.strip() if answer else ""
    return word if word in ("active", "inactive", "failed", "activating", "deactivating", "reloading") else ""
