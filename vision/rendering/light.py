"""Simulate the lighting of a scene (lamps, shadows, glare) and the camera (blur, noise, colour, JPEG compression)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
import numpy.typing as npt

from vision.rendering.style import Rng

Field = npt.NDArray[np.float32]
Picture = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Light:
    """Parameters of the lighting and of the camera's image processing."""

    direction: float  # direction of cast shadows, radians
    shadow: float  # darkness of cast shadows, 0..1
    shadow_length: float  # length of a tile's shadow, in tile heights
    gradient: float  # brightness fall-off across the picture, 0..1
    lamp: float  # additional brightness under a lamp, 0 = none
    shadow_edge: float  # darkness of a large shadow across the picture (a person leaning over), 0 = none
    glare: float  # strength of reflections on glossy surfaces, 0 = none
    exposure: float  # brightness factor
    warmth: float  # colour temperature, -1 cold .. 1 warm
    green_cast: float  # gain of the green channel minus 1; negative = magenta
    contrast: float  # factor of the contrast about mid-grey
    saturation: float  # factor of the saturation
    blur: float  # standard deviation of defocus blur, px
    motion_blur: float  # length of motion blur, px
    noise: float  # standard deviation of sensor noise, approximate grey levels
    sharpen: float  # strength of the unsharp mask, 0 = none
    sampling_scale: float  # scale at which the picture is sampled before it is enlarged again, 1 = full resolution
    jpeg_quality: int  # 0..100


def repeat_channels(field: Field) -> Field:
    """Repeat the array `field` (H, W) in three channels, as (H, W, 3).

    NumPy multiplies two arrays (H, W, 3) several times faster than an array (H, W, 3) and an array (H, W, 1).
    """
    return np.asarray(cv2.merge((field, field, field)), np.float32)


def _blob(shape: tuple[int, int], x: float, y: float, rx: float, ry: float) -> Field:
    """Return a Gaussian of amplitude 1 as an array of `shape`, centred at (x, y) px.

    `rx` and `ry` are the standard deviations in px.
    """
    yy = ((np.arange(shape[0], dtype=np.float32) - y) / ry) ** 2
    xx = ((np.arange(shape[1], dtype=np.float32) - x) / rx) ** 2
    return np.asarray(np.exp(-0.5 * yy)[:, None] * np.exp(-0.5 * xx)[None, :], np.float32)


def draw_illumination(rng: Rng, light: Light, shape: tuple[int, int]) -> Field:
    """Return a random illumination map (H, W): the factor by which each pixel of the scene is multiplied.

    `shape` is (H, W). The map is smooth, so it is computed at low resolution and enlarged.
    """
    h, w = 48, 64
    a = rng.uniform(0, 2 * np.pi)
    x, y = np.meshgrid(np.linspace(-1, 1, w, dtype=np.float32), np.linspace(-1, 1, h, dtype=np.float32))
    gain = 1 - light.gradient * 0.5 * (1 + np.cos(a) * x + np.sin(a) * y)
    if light.lamp:
        gain = gain + light.lamp * _blob((h, w), rng.uniform(0, w), rng.uniform(0, h), w * 0.3, h * 0.3)
    if light.shadow_edge:
        b, offset = rng.uniform(0, 2 * np.pi), rng.uniform(-0.6, 0.6)
        side = np.cos(b) * x + np.sin(b) * y - offset + 0.15 * np.sin(3 * x + 2 * y)
        soft = float(rng.uniform(0.02, 0.25))
        gain = gain * (1 - light.shadow_edge / (1 + np.exp(-side / soft)))
    gain = gain * (1 - 0.2 * rng.random() * (x**2 + y**2) / 2)  # vignetting
    return np.asarray(cv2.resize(gain.astype(np.float32), (shape[1], shape[0]), interpolation=cv2.INTER_LINEAR))


def draw_glare(rng: Rng, light: Light, shape: tuple[int, int]) -> Field | None:
    """Return a random glare map (H, W): the brightness (0..1) of lamps that the board reflects.

    Returns None if `light.glare` is 0.
    """
    if not light.glare:
        return None
    h, w = 96, 128
    spots = np.zeros((h, w), np.float32)
    for _ in range(int(rng.integers(1, 4))):
        r = rng.uniform(0.02, 0.12)
        spots += rng.uniform(0.4, 1.0) * _blob(
            (h, w), rng.uniform(0, w), rng.uniform(0, h), w * r, h * r * rng.uniform(0.5, 1.5)
        )
    return np.asarray(
        cv2.resize(light.glare * np.minimum(spots, 1), (shape[1], shape[0]), interpolation=cv2.INTER_LINEAR)
    )


@lru_cache(maxsize=1)
def _noise_sheet() -> Field:
    """Return a cached array (2048, 2048) of N(0, 1) noise to cut samples from.

    Generating new noise for each picture would take longer than all other camera effects.
    """
    return np.random.default_rng(0).standard_normal((2048, 2048), np.float32)


def _cut_noise(rng: Rng, height: int, width: int) -> Field:
    """Return N(0, 1) noise (height, width), cut from the cached array, or new noise if the array is too small."""
    sheet = _noise_sheet()
    if height >= sheet.shape[0] or width >= sheet.shape[1]:
        return rng.standard_normal((height, width), np.float32)
    top, left = int(rng.integers(sheet.shape[0] - height)), int(rng.integers(sheet.shape[1] - width))
    return sheet[top : top + height, left : left + width]


def develop(rng: Rng, light: Light, scene: Field) -> Picture:
    """Simulate the camera: convert an illuminated scene to a photograph (H, W, 3) uint8 BGR.

    `scene` is (H, W, 3) float32 BGR, 0 to 255.
    """
    picture = _reduce_resolution(scene, light.sampling_scale)
    picture = _blur(rng, light, picture)
    picture = _grade_colours(light, picture)
    if light.noise:
        picture += _make_sensor_noise(rng, light.noise, *picture.shape[:2])
    if light.sharpen:
        edges = picture - cv2.GaussianBlur(picture, (0, 0), 1.5)  # unsharp mask of the camera's processor
        edges *= np.float32(light.sharpen)
        picture += edges
    image_8bit = np.clip(picture, 0, 255, out=picture).astype(np.uint8)
    encoded, data = cv2.imencode(".jpg", image_8bit, [cv2.IMWRITE_JPEG_QUALITY, light.jpeg_quality])
    if not encoded:
        raise RuntimeError("OpenCV could not encode a JPEG")
    return np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR), np.uint8)


def _reduce_resolution(picture: Field, scale: float) -> Field:
    """Scale a picture down by the factor `scale` (up to 1), and up again to its size."""
    if scale >= 1:
        return picture
    small = cv2.resize(picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    return np.asarray(cv2.resize(small, picture.shape[1::-1], interpolation=cv2.INTER_CUBIC), np.float32)


def _blur(rng: Rng, light: Light, picture: Field) -> Field:
    """Blur a picture by defocus and by a shake of the camera in a random direction."""
    if light.blur > 0.35:
        picture = np.asarray(cv2.GaussianBlur(picture, (0, 0), light.blur), np.float32)
    if light.motion_blur > 1:
        n = int(light.motion_blur) * 2 + 1
        kernel = np.zeros((n, n), np.float32)
        a = rng.uniform(0, np.pi)
        dx, dy = np.cos(a) * light.motion_blur, np.sin(a) * light.motion_blur
        c = n // 2
        cv2.line(kernel, (round(c - dx / 2), round(c - dy / 2)), (round(c + dx / 2), round(c + dy / 2)), 1.0)
        picture = np.asarray(cv2.filter2D(picture, -1, kernel / kernel.sum()), np.float32)
    return picture


def _grade_colours(light: Light, picture: Field) -> Field:
    """Return a copy of a picture with the white balance, exposure, saturation and contrast of `light`."""
    h, w = picture.shape[:2]
    gains = (
        np.array([1 - 0.3 * light.warmth, 1 + light.green_cast, 1 + 0.3 * light.warmth], np.float32) * light.exposure
    )
    picture = (picture.reshape(h, w * 3) * np.tile(gains, w)).reshape(h, w, 3)
    if light.saturation != 1:
        grey = picture.mean(axis=2)
        picture *= np.float32(light.saturation)
        picture += repeat_channels(grey * np.float32(1 - light.saturation))
    if light.exposure > 0.5:
        picture *= np.float32(light.contrast)
        picture += np.float32(128 * (1 - light.contrast))
    return picture


def _make_sensor_noise(rng: Rng, level: float, height: int, width: int) -> Field:
    """Return noise (height, width, 3) in levels of brightness: fine grey plus coarser coloured noise."""
    noise = repeat_channels(_cut_noise(rng, height, width))
    coarse = cv2.merge([_cut_noise(rng, height // 2 + 1, width // 2 + 1) for _ in range(3)])
    noise += cv2.resize(coarse, (width, height), interpolation=cv2.INTER_LINEAR)
    noise *= np.float32(0.8 * level)
    return noise
