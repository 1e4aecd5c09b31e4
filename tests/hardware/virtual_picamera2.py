"""Lets picamera2 open libcamera's virtual camera: copied beside picamera2 in a root without a camera module.

Four things of the virtual pipeline are no camera module's: it has no raw stream, wants picamera2's plain allocator,
gives NV12 whatever is asked, and has neither exposure nor focus. The first two are bridged here and nowhere else; the
program has to live with the others by itself. Its frames come as fast as the processor makes them; here they are slowed
down to a camera's pace, or an emulated processor would do nothing else.
"""

from __future__ import annotations

import time
from typing import Any

import libcamera
from picamera2.allocators import LibcameraAllocator
from picamera2.picamera2 import Picamera2

FRAME_S = 0.1


class VirtualPicamera2(Picamera2):  # type: ignore[misc]
    """`Picamera2` over the virtual pipeline."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **{"allocator": LibcameraAllocator(None), **named})
        self.allocator.camera = self.camera
        self.pre_callback = lambda _: time.sleep(FRAME_S)  # in the camera's own thread

    def _get_raw_modes(self) -> list[dict[str, Any]]:
        """Return the sensor's modes from its still stream."""
        stream = self.camera.generate_configuration([libcamera.StreamRole.StillCapture]).at(0)
        formats = stream.formats
        return [
            {"format": str(form), "size": (size.width, size.height)}
            for form in formats.pixel_formats
            for size in formats.sizes(form)
        ]
