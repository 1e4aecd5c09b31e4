"""Runs `PiCamera` on the real picamera2, over libcamera's virtual pipeline where there is no camera module.

It needs picamera2, libcamera 0.7 or newer (trixie-backports), frames for the virtual pipeline, and either a kernel with
dma-heaps or a stand-in for them. Run it from the root of the repository:

    PYTHONPATH=. python tests/hardware/picamera2_virtual.py picture.png

Four things of the virtual pipeline are no camera module's: it has no raw stream, wants picamera2's plain allocator,
gives NV12 whatever is asked, and has neither exposure nor focus. The first two are bridged here; the class must live
with the others by itself.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import cv2
import libcamera
from picamera2 import Picamera2
from picamera2.allocators import LibcameraAllocator

from device.cameras.pi import PiCamera


class VirtualPicamera2(Picamera2):
    """Picamera2 over the virtual pipeline."""

    def __init__(self) -> None:
        super().__init__(allocator=LibcameraAllocator(None))
        self.allocator.camera = self.camera

    def _get_raw_modes(self) -> list[dict[str, Any]]:
        """The sensor's modes, told from its still stream."""
        stream = self.camera.generate_configuration([libcamera.StreamRole.StillCapture]).at(0)
        formats = stream.formats
        return [
            {"format": str(form), "size": (size.width, size.height)}
            for form in formats.pixel_formats
            for size in formats.sizes(form)
        ]


def main(picture: str) -> int:
    """Take stills and previews, say how long they took, write the last still; 0 when all have the sensor's size."""
    virtual = bool(Picamera2.global_camera_info()) and "virtual" in str(Picamera2.global_camera_info()[0]).lower()
    print("cameras:", Picamera2.global_camera_info())
    with PiCamera(VirtualPicamera2 if virtual else None) as camera:
        shapes = set()
        for _ in range(4):
            began = time.monotonic()
            frame = camera.still()
            shapes.add(frame.image.shape)
            print(f"still {frame.image.shape} in {time.monotonic() - began:.3f} s, mean {frame.image.mean():.1f}")
        began = time.monotonic()
        small = camera.preview()
        print(f"preview {small.image.shape} in {time.monotonic() - began:.3f} s")
        cv2.imwrite(picture, frame.image)
    return 0 if len(shapes) == 1 and small.image.shape[1] <= frame.image.shape[1] else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1] if len(sys.argv) > 1 else "picture.png"))
