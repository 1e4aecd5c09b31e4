"""Photographs from files, as images for the rest of `vision`."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import cv2
import numpy as np
from PIL import Image as Pictures
from PIL import ImageOps, UnidentifiedImageError

from engine.errors import TilekeeperError
from engine.messages import said
from vision.geometry import Floats, Image

MAX_SIDE_PX: Final = 2560
"""Longest side, in pixels, of an image that is processed; a larger one is shrunk."""
_FORMATS: Final = ("JPEG", "PNG", "WEBP", "TIFF", "BMP", "GIF")
"""Formats that Pillow decodes itself; for others it may start a program (EPS: Ghostscript)."""
_MAX_PIXELS: Final = 40_000_000
"""Largest picture that is decoded at full size. A larger JPEG (up to 178 million pixels, Pillow's bound) is shrunk
during decoding, at 3 bytes a pixel of the result; other formats need up to 16 bytes for each pixel of the file."""
_SIDEWAYS_ORIENTATIONS: Final = (5, 6, 7, 8)
"""EXIF orientations (tag 0x0112) that exchange width and height."""
_ORIENTATION_TAG: Final = 0x0112


class PhotoError(TilekeeperError):
    """A file cannot be read as a photograph; the message gives the reason on one line."""


@dataclass(frozen=True, slots=True, eq=False)
class Photo:
    """A photograph, upright according to its EXIF orientation, and shrunk to a size that can be processed."""

    image: Image
    """`(H, W, 3) uint8 BGR`."""
    size: tuple[int, int]
    """Width and height of the picture in the file, upright, in pixels."""

    def file_to_image(self, points: Floats) -> Floats:
        """Convert points `(..., 2)` from pixels of the file's picture to pixels of `image`."""
        return np.asarray((points + 0.5) * self._scale() - 0.5, np.float64)

    def image_to_file(self, points: Floats) -> Floats:
        """Convert points `(..., 2)` from pixels of `image` to pixels of the file's picture."""
        return np.asarray((points + 0.5) / self._scale() - 0.5, np.float64)

    def _scale(self) -> Floats:
        height, width = self.image.shape[:2]
        return np.array([width / self.size[0], height / self.size[1]])


def load_photo(path: Path, max_side_px: int = MAX_SIDE_PX) -> Photo:
    """Read a picture file; one with a side longer than `max_side_px` pixels is shrunk.

    Raises `PhotoError` for a file that is missing, truncated, not a picture, or too large to decode (more than 40
    million pixels, a JPEG 178 million).
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Pictures.DecompressionBombWarning)
            with Pictures.open(path, formats=_FORMATS) as opened:
                return _decode_photo(opened, max_side_px)
    except FileNotFoundError:
        raise PhotoError(said("photo-missing", "{0}: there is no such file", path)) from None
    except IsADirectoryError:
        raise PhotoError(said("photo-folder", "{0}: this is a folder; name the photographs in it", path)) from None
    except PermissionError:
        raise PhotoError(said("photo-permission", "{0}: no permission to read it", path)) from None
    except UnidentifiedImageError:
        text = "{0}: not a picture in a known format; save it as JPEG or PNG"
        raise PhotoError(said("photo-format", text, path)) from None
    except Pictures.DecompressionBombError:
        text = "{0}: too many pixels; save it as a JPEG of less than 100 megapixels"
        raise PhotoError(said("photo-large", text, path)) from None
    except (OSError, SyntaxError, ValueError, EOFError) as error:
        # Pillow raises any of these for a broken file.
        reason = " ".join(str(error).split()) or type(error).__name__
        text = "{0}: damaged or cut short ({1}); copy or take it again"
        raise PhotoError(said("photo-damaged", text, path, reason)) from None


def _decode_photo(opened: Pictures.Image, longest: int) -> Photo:
    size = opened.size
    if opened.format != "JPEG" and size[0] * size[1] > _MAX_PIXELS:
        raise Pictures.DecompressionBombError
    if opened.getexif().get(_ORIENTATION_TAG) in _SIDEWAYS_ORIENTATIONS:
        size = (size[1], size[0])
    if max(size) > longest and opened.format == "JPEG":
        # The decoder can scale a JPEG down by powers of two while it reads it, in a fraction of the time and memory.
        share = longest / max(size)
        opened.draft("RGB", (round(opened.size[0] * share), round(opened.size[1] * share)))
    upright = ImageOps.exif_transpose(opened)
    if upright.mode.startswith("I"):
        # Pillow clips 16-bit grey to 8 bits instead of scaling it.
        grey = np.clip(np.asarray(upright, np.int64) >> 8, 0, 255).astype(np.uint8)
        image = np.asarray(cv2.cvtColor(grey, cv2.COLOR_GRAY2BGR), np.uint8)
    else:
        image = np.ascontiguousarray(np.asarray(upright.convert("RGB"), np.uint8)[:, :, ::-1])
    share = longest / max(image.shape[:2])
    if share < 1:
        width, height = (max(1, round(side * share)) for side in (image.shape[1], image.shape[0]))
        image = np.asarray(cv2.resize(image, (width, height), interpolation=cv2.INTER_AREA), np.uint8)
    return Photo(image, size)
