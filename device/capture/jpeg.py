"""Shrink pictures, and encode them as JPEGs."""

from __future__ import annotations

import cv2
import numpy as np

from device.cameras import Image


def encode_jpeg(image: Image, quality: int) -> bytes:
    """Return a picture as JPEG data; `quality` is from 0 to 100. Raises `ValueError` if OpenCV cannot write it."""
    done, data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, quality])
    if not done:
        raise ValueError(f"OpenCV could not write a JPEG of {image.shape}")
    return data.tobytes()


def shrink_image(image: Image, max_side_px: int) -> Image:
    """Return a picture whose longer side is reduced to `max_side_px`; a smaller picture is not changed."""
    scale = max_side_px / max(image.shape[:2])
    if scale >= 1:
        return image
    width, height = (max(1, round(side * scale)) for side in (image.shape[1], image.shape[0]))
    return np.asarray(cv2.resize(image, (width, height), interpolation=cv2.INTER_AREA), np.uint8)
