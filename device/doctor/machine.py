"""Checks of the machine: power, date, and the disk on which the games are stored."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from device.doctor.finding import Finding, Subject
from device.doctor.service import SERVICE_USER, is_closed_to_service, is_service_installed, read_unit
from device.doctor.system import System
from device.settings import SERVICE_DATA_FOLDER, Settings, find_user_folder

MIN_FREE_BYTES = 300_000_000
"""Least free space in bytes. A game with its pictures takes about ten million bytes."""
_UNDER_VOLTAGE, _SINCE_START_SHIFT = 1, 16
"""Bit of `vcgencmd get_throttled` (raspberrypi.com/documentation, "vcgencmd"), and the distance to the bit of the same
problem since the start."""
_CARD_ERRORS = re.compile(r"mmc\d.*(error -|timeout|timed out)|I/O error.*mmcblk|EXT4-fs error", re.IGNORECASE)
_UNIT_DATA = re.compile(r"(?m)^ExecStart=.*\s--data[ =](\S+)")
"""Pattern of the folder of the games in the unit of the service. There, the option replaces `data.folder`."""


def check_power(system: System, _settings: Settings) -> Iterator[Finding]:
    """Check the firmware's flags of under-voltage."""
    subject = Subject("power")
    bits = re.search(r"throttled=0x([0-9a-fA-F]+)", system.ask("vcgencmd", "get_throttled"))
    if bits is None:
        return
    now, before = int(bits[1], 16), int(bits[1], 16) >> _SINCE_START_SHIFT
    remedy = "use the Raspberry Pi's own power supply and a short cable (5 V 3 A; a Pi 5: 5 V 5 A)"
    if now & _UNDER_VOLTAGE:
        yield subject.fault("the voltage is too low now: the table may stop, or the card may be damaged", remedy)
    elif before & _UNDER_VOLTAGE:
        yield subject.warning("the voltage was too low at times since the start", remedy)
    else:
        yield subject.good("the voltage is right")


def check_clock(system: System, _settings: Settings) -> Iterator[Finding]:
    """Check that the machine's clock is synchronised. A wrong clock only makes the dates of games wrong."""
    if system.ask("timedatectl", "show", "--property=NTPSynchronized", "--value") == "no":
        text = "not set by the network: games keep their order, but may show a wrong date"
        yield Subject("date").note(text, "connect the table to the internet once, or: sudo timedatectl set-time ...")


def check_disk(system: System, settings: Settings) -> Iterator[Finding]:
    """Check that games can be stored: folder, permissions, file system, free space, errors of the card."""
    subject = Subject("games")
    folder = find_data_folder(system, settings)
    if not system.path(folder).is_dir():
        if is_service_installed(system):
            yield subject.fault(f"{folder} is missing", "sudo systemctl restart tilekeeper")
        return
    yield from _check_file_system(system, subject, folder)
    yield from _check_writable(system, subject, folder)
    free = system.measure_free_bytes(folder)
    text = f"{free // 1_000_000:,} MB are free in {folder}"
    remedy = "sudo apt-get clean && sudo journalctl --vacuum-size=20M, or delete games on the page"
    if free < MIN_FREE_BYTES:
        yield subject.fault(f"{text}: soon no turn can be saved", remedy)
    else:
        yield subject.good(text)
    log = system.ask("journalctl", "--dmesg", "--boot", "--no-pager", "--output=cat")
    if errors := [line.strip() for line in log.splitlines() if _CARD_ERRORS.search(line)]:
        remedy = "save the games (tilekeeper backup FILE), then write a new card (A1 or A2, 16 GB or more)"
        yield Subject("card").warning(f"the kernel reports errors: {errors[-1]}", remedy)


def find_data_folder(system: System, settings: Settings) -> Path:
    """Return the folder of the stored games, as a path on the examined machine (without `System.root`).

    If the service is installed, this is the folder that its unit names; the service does not use `data.folder`.
    Raises `HomeFolderError`.
    """
    if named := _UNIT_DATA.search(read_unit(system)):
        return Path(named[1])
    if settings.data.folder is not None:
        return settings.data.folder
    return SERVICE_DATA_FOLDER if is_service_installed(system) else find_user_folder()


def _check_file_system(system: System, subject: Subject, folder: Path) -> Iterator[Finding]:
    """Check that the file system of the folder can be written, and that its files outlast a power cut."""
    columns = ("--noheadings", "--output", "FSTYPE,OPTIONS,TARGET", "--target", str(folder))
    kind, options, mount = (*system.ask("findmnt", *columns).split(maxsplit=2), "", "", "")[:3]
    if "ro" in options.split(","):
        yield subject.fault(
            f"{folder} is mounted read-only, as the kernel does after errors: no turn can be saved",
            f"sudo mount -o remount,rw {shlex.quote(mount)}; if it becomes read-only again, save the games (tilekeeper "
            "backup FILE) and write a new card",
        )
    if kind in ("overlay", "tmpfs"):
        yield subject.fault(
            f"{folder} is in memory ({kind}): every game is lost when the power goes off",
            "sudo raspi-config nonint do_overlayfs 1 && sudo reboot, or mount a partition there",
        )


def _check_writable(system: System, subject: Subject, folder: Path) -> Iterator[Finding]:
    """Check that the service may write to the folder and to what is in it: a copy made with sudo belongs to root."""
    path = system.path(folder)
    if not os.access(path, os.R_OK | os.X_OK):
        yield subject.note(f"{folder} cannot be opened", "sudo tilekeeper doctor")
        return
    paths = (folder, *(folder / entry.name for entry in path.iterdir()))
    if closed := next((one for one in paths if is_closed_to_service(system, one, "w")), None):
        remedy = f"sudo chown -R {SERVICE_USER}: {shlex.quote(str(folder))} && sudo systemctl restart tilekeeper"
        yield subject.fault(f"the table cannot write to {closed}", remedy)
