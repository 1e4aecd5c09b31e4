"""A camera over a simulated table, with rendered pictures."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping

import cv2
import numpy as np

from device.cameras.base import CLOSED_MESSAGE, CameraError, Frame, Image
from vision.rendering.simulated_table import SimulatedTable

PREVIEW_STEP = 2


class SimulatedCamera:
    """A camera over a `SimulatedTable`; one thread may place tiles (`lay_tiles`) while another takes pictures."""

    is_live = True

    def __init__(self, table: SimulatedTable) -> None:
        self._table = table
        self._lock = threading.Lock()
        self._preview: Image | None = None
        self._closed = False

    def lay_tiles(self, labels: Mapping[tuple[int, int], str]) -> None:
        """Replace the tiles on the table by `labels`, which maps (row, column) to a letter, or to `?` for a blank."""
        with self._lock:
            self._table.lay_tiles(labels)
            self._preview = None

    def capture_still(self) -> Frame:
        """Return a rendered picture of the table as it is now."""
        with self._lock:
            return Frame(self._render_picture(), time.monotonic())

    def capture_preview(self) -> Frame:
        """Return a grey picture at half the size; a new picture is rendered only after the tiles have changed."""
        with self._lock:
            if self._preview is None:
                self._render_picture()
            assert self._preview is not None
            return Frame(self._preview, time.monotonic())

    def close(self) -> None:
        """Close the camera; further pictures raise `CameraError`."""
        self._closed = True

    def _render_picture(self) -> Image:
        if self._closed:
            raise CameraError(CLOSED_MESSAGE)
        image = self._table.photograph().image
        if self._preview is None:  # each picture is rendered in a slightly different light, but nothing has moved
            grey = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
            self._preview = np.ascontiguousarray(grey[::PREVIEW_STEP, ::PREVIEW_STEP], np.uint8)
        return image
