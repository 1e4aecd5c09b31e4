"""`UsbCamera` on the kernel's `vivid`, a V4L2 camera of software that can be unplugged. `vm.sh` runs it.

    modprobe vivid n_devs=1 node_types=0x1 input_types=0
    PYTHONPATH=. python tests/hardware/usb_vivid.py

Its control "disconnect" does what pulling the plug does: the device's files are gone for who has them open. It comes
back when the last of them is closed, so that somebody else keeps it open here for as long as the plug is out.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time

from device.cameras.base import CameraError, Frame
from device.cameras.usb import UsbCamera

DEVICE = "/dev/video0"
NOTICED_S = 2.0
OUT_S = 3.0
"""Time for which the camera stays unplugged, in seconds."""
BACK_S = 15.0
POLL_S = 0.2
"""The table is watched some five times a second."""


def unplug() -> int:
    """Pull the plug; gives the open file that keeps it out."""
    keeper = os.open(DEVICE, os.O_RDWR)
    subprocess.run(["v4l2-ctl", "-d", DEVICE, "--set-ctrl=disconnect=1"], check=False, capture_output=True)
    return keeper


def main() -> int:
    """0 when each unplugging was noticed in time and each replugging mended it."""
    good = True

    def check(what: str, right: bool, more: str) -> None:
        nonlocal good
        good &= right
        print(f"{'ok  ' if right else 'FAIL'} {what}: {more}", flush=True)

    with UsbCamera(DEVICE) as camera:
        frame = camera.capture_still()
        check("a still comes from the camera", frame.image.ndim == 3, str(frame.image.shape))
        began, count = time.monotonic(), 0
        while time.monotonic() < began + 3:
            camera.capture_still()
            count += 1
        print(f"     {count / 3:.1f} frames a second here")
        for number in (1, 2, 3):
            keeper = unplug()
            out = time.monotonic()
            said = ""
            while not said and time.monotonic() < out + 10:
                try:
                    camera.capture_preview()
                    time.sleep(POLL_S)
                except CameraError as error:
                    said = str(error)
            took = time.monotonic() - out
            check(
                f"unplugging {number} is noticed within {NOTICED_S:.0f} s",
                bool(said) and took <= NOTICED_S,
                f"{took:.2f} s",
            )
            print(f"     it says: {said}")
            time.sleep(max(0.0, OUT_S - took))
            os.close(keeper)
            plugged = time.monotonic()
            back: Frame | None = None
            while back is None and time.monotonic() < plugged + BACK_S:
                try:
                    back = camera.capture_still()
                except CameraError:
                    time.sleep(POLL_S)
            took = time.monotonic() - plugged
            check(f"replugging {number} mends it by itself", back is not None, f"after {took:.1f} s")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
