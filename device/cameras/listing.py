"""The cameras that can be chosen on this machine, and addresses of network cameras, displayed without passwords."""

from __future__ import annotations

import importlib
import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_ADDRESS = re.compile(r"(https?|rtsps?)://.+", re.IGNORECASE)
_HOST = re.compile(r"([^:@]*|\[[0-9A-Fa-f:.%]+\])(:\d+)?")
"""Pattern of a host name or address with an optional port."""


def is_network_address(source: str) -> bool:
    """Return True if `source`, a value of the setting `camera.source`, is the address of a network camera."""
    return _ADDRESS.fullmatch(source) is not None


def hide_credentials(source: str) -> str:
    """Return the source of a camera for messages, without user name, password and query, which may contain a password.

    >>> hide_credentials("rtsp://anna:secret@camera.local:554/live?key=1")
    'rtsp://camera.local:554/live'
    >>> hide_credentials("usb:0")
    'usb:0'

    If a password contains a slash, it cannot be told from the path, so only the scheme is returned:

    >>> hide_credentials("rtsp://anna:se/cret@camera.local/live")
    'rtsp://...'
    """
    if "://" not in source:
        return source
    scheme, _, rest = source.partition("://")
    authority, slash, path = rest.partition("/")
    host = authority.rpartition("@")[2].partition("?")[0]
    path = path.partition("?")[0].partition("#")[0]
    if "@" in path or not _HOST.fullmatch(host):
        return f"{scheme}://..."
    return f"{scheme}://{host}{slash}{path}"


_log = logging.getLogger(__name__)

ListModules = Callable[[], Sequence[str]]
"""A function that returns the sensor names of the camera modules, in the order of their numbers."""
AUTO = "auto"
"""Value of `camera.source` for a camera module if there is one, otherwise for a phone."""
_MODULE_BUS = "/base/"
"""Beginning of the libcamera ids of camera modules; the ids of USB cameras begin differently."""


@dataclass(frozen=True, slots=True)
class AvailableCamera:
    """A camera: the value of `camera.source` that selects it, its description, and the name of its sensor or driver."""

    source: str
    description: str
    name: str = ""


def resolve_camera(source: str, list_modules: ListModules | None = None) -> str:
    """Return the value of `camera.source` that `open_camera` accepts: `pi` or `phone` for `AUTO`.

    `list_modules` has the same meaning as in `list_cameras`.
    """
    if source != AUTO:
        return source
    return "pi" if (list_modules or list_camera_modules)() else "phone"


def list_cameras(root: Path = Path("/"), list_modules: ListModules | None = None) -> tuple[AvailableCamera, ...]:
    """Return the cameras of this machine: camera modules, USB cameras, then `phone`, `phone-stream` and `folder:DIR`.

    `root` is the folder that contains `sys` and `dev`. `list_modules` finds the camera modules; by default, picamera2
    is used.
    """
    sensors = (list_modules or list_camera_modules)()
    modules = (
        AvailableCamera(f"pi:{number}" if number else "pi", f"camera module {sensor}", sensor)
        for number, sensor in enumerate(sensors)
    )
    return (
        *modules,
        *list_usb_cameras(root),
        AvailableCamera("phone", "a paired phone takes one picture after each turn"),
        AvailableCamera("phone-stream", "a paired phone on a stand sends its pictures all the time"),
        AvailableCamera("folder:DIR", "the next picture in the folder DIR after each turn"),
    )


def list_usb_cameras(root: Path = Path("/")) -> tuple[AvailableCamera, ...]:
    """Return the USB cameras in the order of their numbers, with the names that their drivers report.

    A USB camera is a V4L2 device on a USB interface. A camera may have a second device, with an `index` above 0, which
    returns metadata instead of pictures and is left out. See https://docs.kernel.org/driver-api/media/v4l2-dev.html.
    """
    found = []
    for folder in (root / "sys/class/video4linux").glob("video*"):
        number = folder.name.removeprefix("video")
        if number.isdecimal() and is_on_usb(folder) and _read_text(folder / "index") in ("", "0"):
            found.append((int(number), _read_text(folder / "name")))
    return tuple(AvailableCamera(f"usb:{number}", name or "USB camera", name) for number, name in sorted(found))


def list_camera_modules() -> tuple[str, ...]:
    """Return the sensor names of the camera modules that picamera2 finds; empty if picamera2 is not installed."""
    try:
        picamera2: Any = importlib.import_module("picamera2")
        found = picamera2.Picamera2.global_camera_info()
    except ModuleNotFoundError:
        return ()
    except Exception as error:  # libcamera raises various errors if its devices are missing or closed
        _log.warning("the camera modules cannot be listed: %s", error)
        return ()
    return tuple(str(one["Model"]) for one in found if str(one.get("Id", _MODULE_BUS)).startswith(_MODULE_BUS))


def is_on_usb(folder: Path) -> bool:
    """Return True if a V4L2 device is on a USB bus; `folder` is its folder in `sys`. Codecs are on other buses."""
    subsystem = folder / "device" / "subsystem"
    return subsystem.exists() and subsystem.resolve().name == "usb"


def _read_text(path: Path) -> str:
    """Return the text of a file on one line, or an empty text if the file cannot be read."""
    try:
        return " ".join(path.read_text(encoding="utf-8", errors="replace").split())
    except OSError:
        return ""
