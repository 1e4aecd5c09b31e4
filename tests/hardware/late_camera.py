"""The hardened service, started before any camera driver is loaded: it must open a camera that comes later.

`vm.sh` runs it as root inside of the virtual machine, as its first part: no driver of a camera may be loaded yet.
systemd looks the numbers of `DeviceAllow=char-video4linux` up when the unit starts.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.hardware.service import UNIT, Phone, check, comes, failures, journal, page, say, shown

CAMERA = Path("/dev/video0")
SETTINGS = Path("/etc/tilekeeper/settings.toml")
CLASSES = ("video4linux", "media", "drm", "i2c", "spi", "alsa")
"""Classes of devices in `DeviceAllow=` that are registered by modules."""
PICTURE_SIZE = [1280, 720]
"""Size (width, height) of the set-up page's picture: a frame of the camera, 1920 x 1080, scaled down."""
OPEN_S = 120.0
"""Time for the service to open the camera, in seconds; the machine is emulated."""


def has_opened_camera() -> bool:
    """Return True if the service has the camera open."""
    files = Path(f"/proc/{shown('MainPID')}/fd").iterdir()
    return any(file.is_symlink() and file.readlink() == CAMERA for file in files)


def list_unknown_classes() -> list[str]:
    """Return the classes of devices that the kernel does not know."""
    known = {line.split()[-1] for line in Path("/proc/devices").read_text().splitlines() if line}
    return [name for name in CLASSES if name not in known]


def main() -> int:
    """0 when the service uses the camera that came after its start."""
    check("no camera is there when the service starts", not CAMERA.exists())
    say(f"       the kernel does not know: {', '.join(list_unknown_classes())}")
    former = SETTINGS.read_text()
    SETTINGS.write_text(former.replace('source = "auto"', 'source = "usb:0"'))
    subprocess.run(["systemctl", "start", UNIT], check=False)
    process = shown("MainPID")
    check("the service is ready without a camera", shown("ActiveState") == "active", shown("StatusText"))
    say(f"       then it does not know: {', '.join(list_unknown_classes()) or 'none'}")
    comes("the page answers", lambda: "Anna" in page())

    subprocess.run(["modprobe", "vivid", "n_devs=1", "node_types=0x1", "input_types=0"], check=True)
    subprocess.run(["udevadm", "settle"], check=False)
    check("the camera is there, for the service's group", CAMERA.group() == "video", CAMERA.group())
    opened = comes("the service opens it by itself", has_opened_camera, OPEN_S)
    if opened:
        seen = Phone().look_through_camera()
        check("the set-up page has its picture, scaled down", seen["size"] == PICTURE_SIZE, str(seen["size"]))
    else:
        journal()
    check("it is the process of before", shown("MainPID") == process and shown("NRestarts") == "0", process)

    subprocess.run(["systemctl", "stop", UNIT], check=False)
    SETTINGS.write_text(former)
    subprocess.run(["modprobe", "-r", "vivid"], check=False)
    say(f"       {len(failures)} failed: {'; '.join(failures)}" if failures else "       the late camera: all right")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
