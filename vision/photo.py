"""Load photographs from image files, upright and at most `MAX_SIDE_PX` pixels wide and high."""

from __future__ import annotations

import io
import warnings
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import cv2
import numpy as np
from PIL import Image as Pictures
from PIL import UnidentifiedImageError

from engine.errors import TilekeeperError
from engine.limits import (
    MAX_JPEG_FILE_BYTES,
    MAX_JPEG_PIXELS,
    MAX_PICTURE_FILE_BYTES,
    MAX_PICTURE_PIXELS,
    MAX_WEBP_PIXELS,
)
from engine.messages import make_message
from vision.geometry import Floats, Image

MAX_SIDE_PX: Final = 2560
"""Maximum length in pixels of the longer side of a loaded image; larger images are scaled down to this size."""
_FORMATS: Final = ("JPEG", "PNG", "WEBP", "TIFF", "BMP", "GIF")
"""Image formats that are accepted: Pillow decodes each of these without starting another program."""
_JPEG_FORMATS: Final = ("JPEG", "MPO")
"""Pillow's names for the format of a JPEG. MPO is a JPEG with more pictures behind the photograph: phones store their
HDR gain map or a second lens there."""
_REDUCED_PIXELS: Final = 12_000_000
"""Size, in pixels, above which an image is scaled down before it is converted to RGB, to save memory."""
_BAND_ROWS: Final = 512
"""Number of rows of a 16-bit image that are converted to 8 bits at a time, to limit memory."""
_SIDEWAYS_ORIENTATIONS: Final = (5, 6, 7, 8)
"""Values of the EXIF orientation tag of images that are turned by 90 degrees: width and height are exchanged."""
_JPEG_START: Final = b"\xff\xd8"
_ORIENTATION_TAG: Final = 0x0112
"""Number of the EXIF orientation tag."""
_TRANSPOSITIONS: Final = {
    2: Pictures.Transpose.FLIP_LEFT_RIGHT,
    3: Pictures.Transpose.ROTATE_180,
    4: Pictures.Transpose.FLIP_TOP_BOTTOM,
    5: Pictures.Transpose.TRANSPOSE,
    6: Pictures.Transpose.ROTATE_270,
    7: Pictures.Transpose.TRANSVERSE,
    8: Pictures.Transpose.ROTATE_90,
}
"""The transposition that makes an image upright, for each value of the EXIF orientation tag."""
_MEGAPIXELS: Final = (MAX_JPEG_PIXELS // 1_000_000, MAX_WEBP_PIXELS // 1_000_000)
"""Maximum sizes of JPEG and WebP images, in megapixels, as named in the error message."""


class PhotoError(TilekeeperError):
    """Error for a file that cannot be read as a photograph; the message gives the reason on one line."""


@dataclass(frozen=True, slots=True, eq=False)
class Photo:
    """A photograph that was turned upright by its EXIF orientation and scaled down to a maximum size."""

    image: Image
    """`(H, W, 3) uint8 BGR`."""
    size: tuple[int, int]
    """Width and height in pixels of the image in the file, after it was turned upright and before it was scaled."""

    def file_to_image(self, points: Floats) -> Floats:
        """Convert points `(..., 2)` from pixels of the upright image in the file to pixels of `image`."""
        return np.asarray((points + 0.5) * self._scale() - 0.5, np.float64)

    def image_to_file(self, points: Floats) -> Floats:
        """Convert points `(..., 2)` from pixels of `image` to pixels of the upright image in the file."""
        return np.asarray((points + 0.5) / self._scale() - 0.5, np.float64)

    def _scale(self) -> Floats:
        height, width = self.image.shape[:2]
        return np.array([width / self.size[0], height / self.size[1]])


def load_photo(path: Path) -> Photo:
    """Load an image file, turn the image upright and scale its longer side to at most `MAX_SIDE_PX` pixels.

    Raises `PhotoError` for a file that is missing, truncated, not an image, too large to decode (`engine.limits`), or
    has floating-point pixels.
    """
    return _load_photo(path, path)


def decode_photo(data: bytes, name: str) -> Photo:
    """Decode the content of an image file, turn the image upright and scale it down to at most `MAX_SIDE_PX` pixels.

    `name` names the file in error messages. Raises `PhotoError` for content that cannot be used.
    """
    return _load_photo(io.BytesIO(data), name)


def _load_photo(source: Path | io.BytesIO, path: Path | str) -> Photo:
    """Load a photo from a file or from its content. Raises `PhotoError` with a message that names the file `path`."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Pictures.DecompressionBombWarning)
            _check_file_size(source, path)
            with Pictures.open(source, formats=_FORMATS) as opened:
                return _decode_photo(opened)
    except FileNotFoundError:
        raise PhotoError(make_message("photo-missing", "{0} does not exist. Check the name.", path)) from None
    except IsADirectoryError:
        raise PhotoError(
            make_message("photo-folder", "{0} is a folder. Name the photos in it instead.", path)
        ) from None
    except PermissionError:
        raise PhotoError(
            make_message("photo-permission", "{0} may not be read. Change its permissions.", path)
        ) from None
    except UnidentifiedImageError:
        text = "{0} is not in a known picture format. Save it as JPEG or PNG."
        raise PhotoError(make_message("photo-format", text, path)) from None
    except Pictures.DecompressionBombError:
        text = "{0} has too many pixels. Save it with up to {2} megapixels, or as a JPEG with up to {1} megapixels."
        raise PhotoError(make_message("photo-large", text, path, *_MEGAPIXELS)) from None
    except _FloatPixelsError:
        text = "{0} has pixel values of an unknown range. Save it as JPEG or PNG."
        raise PhotoError(make_message("photo-float", text, path)) from None
    except (OSError, SyntaxError, ValueError, TypeError, EOFError) as error:
        # Pillow raises any of these exceptions for a damaged file.
        reason = " ".join(str(error).split()) or type(error).__name__
        text = "{0} is damaged or incomplete ({1}). Copy it again, or take another picture."
        raise PhotoError(make_message("photo-damaged", text, path, reason)) from None


def _check_file_size(source: Path | io.BytesIO, path: Path | str) -> None:
    """Check the size of an image file.

    Raises `PhotoError` if it is larger than any permitted picture, and `OSError` if it is unreadable.
    """
    with source.open("rb") if isinstance(source, Path) else nullcontext(source) as file:
        is_jpeg = file.read(len(_JPEG_START)) == _JPEG_START
        size = file.seek(0, io.SEEK_END)
        file.seek(0)
    limit = MAX_JPEG_FILE_BYTES if is_jpeg else MAX_PICTURE_FILE_BYTES
    if size > limit:
        text = "{0} is larger than {1} MB. Save it as a smaller JPEG."
        raise PhotoError(make_message("photo-file-large", text, path, limit // 1_000_000))


class _FloatPixelsError(TilekeeperError):
    """Error for a picture with floating-point pixels, whose range is unknown."""


def _decode_photo(opened: Pictures.Image) -> Photo:
    """Decode an image that Pillow has opened, turn it upright and scale it down, with little memory."""
    size = opened.size
    if size[0] * size[1] > _find_max_pixels(opened):
        raise Pictures.DecompressionBombError
    if opened.mode.startswith("F"):
        raise _FloatPixelsError
    if max(size) > MAX_SIDE_PX and opened.format in _JPEG_FORMATS:
        # A JPEG can be scaled down by powers of two during decoding, in a fraction of the time and memory.
        share = MAX_SIDE_PX / max(size)
        width, height = (max(1, round(side * share)) for side in opened.size)  # a picture may be one pixel wide
        opened.draft("RGB", (width, height))
    opened.load()
    orientation = opened.getexif().get(_ORIENTATION_TAG)  # read after load() (a PNG may end with it), before reduce()
    if orientation in _SIDEWAYS_ORIENTATIONS:
        size = (size[1], size[0])
    picture = _reduce(_convert_16_bits(opened) if opened.mode.startswith("I") else opened)
    upright = picture.transpose(_TRANSPOSITIONS[orientation]) if orientation in _TRANSPOSITIONS else picture
    rgb = np.asarray(upright if upright.mode == "RGB" else upright.convert("RGB"), np.uint8)
    share = MAX_SIDE_PX / max(rgb.shape[:2])
    if share < 1:  # before the channels are exchanged, which needs another copy
        width, height = (max(1, round(side * share)) for side in (rgb.shape[1], rgb.shape[0]))
        rgb = np.asarray(cv2.resize(rgb, (width, height), interpolation=cv2.INTER_AREA), np.uint8)
    return Photo(np.ascontiguousarray(rgb[:, :, ::-1]), size)


def _find_max_pixels(opened: Pictures.Image) -> int:
    """Return the maximum number of pixels accepted for an image of the format of `opened`."""
    if opened.format == "WEBP":
        return MAX_WEBP_PIXELS
    is_read_in_rows = opened.format in _JPEG_FORMATS and not opened.info.get("progressive")
    return MAX_JPEG_PIXELS if is_read_in_rows else MAX_PICTURE_PIXELS


def _convert_16_bits(picture: Pictures.Image) -> Pictures.Image:
    """Convert a 16-bit grey image to 8 bits by scaling the values; Pillow's own conversion clips the values."""
    grey = np.empty((picture.height, picture.width), np.uint8)
    for top in range(0, picture.height, _BAND_ROWS):
        bottom = min(top + _BAND_ROWS, picture.height)
        band = np.asarray(picture.crop((0, top, picture.width, bottom)), np.int64)
        grey[top:bottom] = np.clip(band >> 8, 0, 255)
    return Pictures.fromarray(grey)


def _reduce(picture: Pictures.Image) -> Pictures.Image:
    """Scale a large image down by an integer factor; its longer side stays at least `MAX_SIDE_PX` pixels long.

    Small images are returned unchanged. Converting 32 million pixels to RGB at full size would take half a gigabyte.
    """
    factor = max(picture.size) // MAX_SIDE_PX
    if factor < 2 or picture.width * picture.height < _REDUCED_PIXELS:
        return picture
    if picture.mode in ("RGB", "RGBA", "RGBX"):
        return Pictures.merge("RGB", [picture.getchannel(band).reduce(factor) for band in "RGB"])
    if picture.mode in ("1", "LA"):
        picture = picture.convert("L")
    elif picture.mode in ("P", "PA"):  # pixels are indices into a palette, which cannot be averaged
        picture = picture.convert("RGB")
    return picture.reduce(factor)
