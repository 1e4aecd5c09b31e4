"""Standardise the colours of pictures for the networks, and equalise lighting in which no board was found."""

from __future__ import annotations

from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.geometry import Image

_LIGHT_MAP_SIDE_PX: Final = 64
_LIGHT_BLUR_SHARE: Final = 0.1
"""Standard deviation of the Gaussian blur of the illumination map, as a share of the map's side."""
_MIDDLE_GREY: Final = 110.0


def equalise_lighting(picture: Image) -> Image:
    """Equalise the local mean brightness of a picture `(H, W, 3) uint8`, to remove shadows larger than a square."""
    height, width = picture.shape[:2]
    grey = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
    small = cv2.resize(grey, (_LIGHT_MAP_SIDE_PX, _LIGHT_MAP_SIDE_PX), interpolation=cv2.INTER_AREA).astype(np.float32)
    light = np.maximum(cv2.GaussianBlur(small, (0, 0), _LIGHT_BLUR_SHARE * _LIGHT_MAP_SIDE_PX), 1.0)
    gain = cv2.resize(_MIDDLE_GREY / light, (width, height), interpolation=cv2.INTER_LINEAR)
    return np.asarray(np.clip(picture * gain[:, :, None], 0, 255), np.uint8)


def standardise_colours(picture: Image, inside: Image | None = None) -> NDArray[np.float32]:
    """Convert a picture `(H, W, 3) uint8` to network input `(3, H, W) float32` of mean 0 and standard deviation 1.

    If there is a mask `inside` `(H, W)`, mean and deviation are those of the pixels inside it; all others become 0.
    """
    mean, deviation = cv2.meanStdDev(picture, mask=inside)
    spread = max(float(np.sqrt((deviation**2).mean())), 4.0)
    planes = cv2.dnn.blobFromImage(picture, 1 / spread, mean=mean.ravel().tolist())[0]
    return np.asarray(planes if inside is None else planes * inside, np.float32)
