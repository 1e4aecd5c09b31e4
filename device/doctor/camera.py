"""Checks of the camera: the connection, the permissions of the service's user, and the quality of a picture."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from device.cameras.addresses import hide_credentials, is_network_address
from device.cameras.listing import is_on_usb
from device.doctor.finding import Finding, Subject
from device.doctor.machine import read_service_state
from device.doctor.picture import check_image
from device.doctor.program import check_access, expand_home, find_read_problem
from device.doctor.system import System
from device.settings import Settings

_LISTED_CAMERA = re.compile(r"^\s*\d+ ?: +(\S+)(?: \[(\d+)x(\d+))?", re.MULTILINE)
"""Pattern of one line of `rpicam-hello --list-cameras`: `0 : imx708_wide [4608x2592 10-bit RGGB] (/base/soc/...)`."""
_LIST_COMMANDS = (("rpicam-hello", "--list-cameras"), ("libcamera-hello", "--list-cameras"))

AUTOFOCUS_SENSORS = ("imx708", "ov64a40", "imx519")
"""Sensors whose camera modules have autofocus; on all other modules the lens is fixed or turned by hand."""
_PHONES = {
    "phone": "paired phones take the pictures",
    "phone-stream": "a paired phone on a stand sends the pictures",
}
"""Findings for a phone as the camera, by value of the camera setting."""
_DEFAULT_PORTS = {"http": 80, "https": 443, "rtsp": 554, "rtsps": 322}
"""Port of a network camera whose address has none, by scheme."""
_NO_MODULE_ADVICE = (
    "switch the power off, then reseat the ribbon cable at both ends: its contacts must face the contacts of the "
    "socket (a Pi 5 and a Zero need the narrow cable)"
)


def check_camera(system: System, settings: Settings) -> Iterator[Finding]:
    """Check that the camera in the settings is connected and that the service's user may open it."""
    source = settings.camera.source
    subject = Subject("camera")
    kind, _, where = source.partition(":")
    if kind in _PHONES:
        yield subject.good(_PHONES[kind])
        return
    if is_network_address(source):
        yield _check_network_camera(system, subject, source)
        return
    if kind == "folder":
        yield from _check_folder(system, subject, Path(where))
        return
    if kind == "pi":
        yield from _check_camera_module(system, subject, int(where or 0))
    else:
        yield from _check_usb_camera(system, subject, where)
    yield from check_access(system, subject, ("/dev/video*", "/dev/media*", "/dev/dma_heap/*"), "video")


def check_auto_turns(_system: System, settings: Settings) -> Iterator[Finding]:
    """Check that turns can end without a button, which requires a camera that always sees the board."""
    source, auto = settings.camera.source, settings.table.auto
    if auto != "off" and (source == "phone" or source.startswith("folder:")):
        yield Subject("camera").warning(
            f"table.auto = {auto} has no effect, because {source} does not see the board all the time",
            "set another camera.source, or set table.auto to off, in the settings file",
        )


def check_picture(system: System, settings: Settings) -> Iterator[Finding]:
    """Take one picture and check light, focus and board, unless the running service uses the camera."""
    from device.cameras import CameraError

    subject = Subject("camera")
    if settings.camera.source in _PHONES or settings.camera.source.startswith("folder:"):
        return
    if read_service_state(system) in ("active", "activating"):
        yield subject.note(
            "the running table is using it, so its picture was not checked",
            "sudo systemctl stop tilekeeper; sudo tilekeeper doctor; sudo systemctl start tilekeeper",
        )
        return
    try:
        image = system.take_picture(settings.camera.source)
    except CameraError as error:
        yield subject.fault(str(error), "see above; then: sudo systemctl restart tilekeeper")
        return
    yield from check_image(image, settings)


def _check_network_camera(system: System, subject: Subject, source: str) -> Finding:
    """Check that the address is valid and that something answers there; `check_picture` checks the picture."""
    shown, change = hide_credentials(source), "change camera.source in the settings file"
    try:
        address = urlsplit(source)
        host, port = address.hostname, address.port or _DEFAULT_PORTS[address.scheme]
    except ValueError:
        host = None
    if not host:
        return subject.fault(
            f"{shown} is not a valid address",
            f"write a special character of the password as its code, # as %23; {change}",
        )
    if not system.can_connect(host, port):
        return subject.fault(
            f"nothing answers at {shown}",
            f"switch the camera on, and connect it to the same network; if its address is another now, {change}",
        )
    return subject.good(f"network camera at {shown}")


def _check_folder(system: System, subject: Subject, folder: Path) -> Iterator[Finding]:
    if problem := find_read_problem(system, folder):
        yield subject.fault(
            f"the folder {folder} {problem}",
            "sudo install -d -m 2777 /var/lib/tilekeeper-pictures, and set camera.source to it",
        )
    elif system.path(expand_home(folder)).is_dir():
        yield subject.good(f"pictures come from the folder {folder}")
    else:
        yield subject.fault(f"there is no folder {folder}", f"mkdir -p {folder}, or change camera.source")


def _check_camera_module(system: System, subject: Subject, number: int) -> Iterator[Finding]:
    """Check that libcamera finds the camera module (on a ribbon cable) with this number."""
    if not system.has_module("picamera2"):
        yield subject.fault(
            "picamera2 is not installed, but a camera module needs it",
            "sudo apt install python3-picamera2 --no-install-recommends; if this is not "
            "Raspberry Pi OS, use a phone or a USB camera instead (camera.source in the settings file)",
        )
    listings = (system.run(*command) for command in _LIST_COMMANDS)
    listing = next((one for one in listings if one is not None), None)
    if listing is None:
        return
    listed = _LISTED_CAMERA.findall(listing.out + listing.err)
    if not listed:
        if system.glob("/dev/v4l/by-id/*"):
            yield subject.fault(
                "libcamera sees no camera module, but a USB camera is plugged in",
                f'set camera.source = "usb:{_find_first_usb(system)}" in the settings file',
            )
        else:
            yield subject.fault("libcamera sees no camera module", _NO_MODULE_ADVICE)
        return
    if number >= len(listed):
        yield subject.fault(
            f"libcamera sees {len(listed)} camera module{'' if len(listed) == 1 else 's'}, and none is pi:{number}",
            'set camera.source = "pi" in the settings file, or check the cable of the other module',
        )
        return
    name, width, height = listed[number]
    size = f" ({width} x {height})" if width else ""
    focus = "it has autofocus" if name.startswith(AUTOFOCUS_SENSORS) else "its focus is fixed or set by hand"
    yield subject.good(f"libcamera sees {name}{size}; {focus}")


def _check_usb_camera(system: System, subject: Subject, where: str) -> Iterator[Finding]:
    """Check that the V4L2 device exists; `where` is its number or its path."""
    device = f"/dev/video{where}" if where.isdecimal() else where
    if system.glob("/dev/v4l/by-id/*index0"):
        remedy = f'set camera.source = "usb:{_find_first_usb(system)}" in the settings file'
    else:
        remedy = "plug it in, or try another socket; lsusb lists the USB devices"
    if not system.path(device).exists():
        yield subject.fault(f"{device} is missing", remedy)
        return
    entry = f"/sys/class/video4linux/{system.path(device).resolve().name}"
    name = system.read_text(f"{entry}/name")
    if name and not is_on_usb(system.path(entry)):
        yield subject.fault(f"{device} is no USB camera, but {name}", remedy)
    else:
        yield subject.good(f"{device} is connected" + (f": {name}" if name else ""))


def _find_first_usb(system: System) -> str:
    paths = system.glob("/dev/v4l/by-id/*index0") or system.glob("/dev/v4l/by-id/*")
    return f"/{paths[0].relative_to(system.root)}"
