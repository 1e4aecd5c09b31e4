"""Random scenes: boards, tiles, hands, light and cameras as in homes, for training and tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from vision.rendering.board_art import draw_board
from vision.rendering.camera import Camera, look_at_board, measure_square
from vision.rendering.fonts import select_supporting_fonts
from vision.rendering.light import Light
from vision.rendering.scene import Labels, Scene, SceneSetting, compose_scene
from vision.rendering.style import Rng
from vision.rendering.surroundings import draw_table_top
from vision.rendering.tile_art import BLANK, PlacedTile
from vision.training.board_styles import random_board_style
from vision.training.tile_styles import random_tile_style
from vision.training.varied_tiles import VariedTileStyle

MAX_SIDE_PX = 1400  # maximum width and height of a rendered picture; larger ones take longer and add no detail
_MAX_BLUR_SQUARES = 0.035  # standard deviation of the blur in clear light, in squares


@dataclass(frozen=True, eq=False)
class RandomSetting(SceneSetting):
    """Parameters of a random scene; its tiles have variations."""

    tile_style: VariedTileStyle


def random_camera(rng: Rng) -> Camera:
    """Return a random camera: mounted above the board, or hand-held at an oblique angle, with any rotation."""
    # `square` is the side of a square in the picture, in px, and `short` the shorter side of the picture.
    u = rng.random
    tilt = abs(rng.normal(0, 6)) if u() < 0.45 else 57 * u() ** 0.8
    ratio = float(rng.choice([3 / 4, 4 / 3, 16 / 9, 9 / 16, 1.0], p=[0.25, 0.3, 0.25, 0.1, 0.1]))
    fill = 0.45 + 0.55 * u() if u() < 0.85 else 1.0 + 0.03 * u()
    square = float(np.exp(rng.uniform(np.log(13 if u() < 0.3 else 20), np.log(56))))
    short = min(max(15 * square / min(fill, 1.0), 260), 1100)
    w, h = (short * ratio, short) if ratio >= 1 else (short, short / ratio)
    shrink = min(1.0, MAX_SIDE_PX / max(w, h))
    w, h = w * shrink, h * shrink
    room = max(0.0, 1 - fill) / 2
    roll = rng.normal(0, 0.06) + rng.integers(4) * np.pi / 2 if u() < 0.6 else 2 * np.pi * u()
    return look_at_board(
        size=(round(w), round(h)),
        focal=float(max(w, h) * np.exp(rng.uniform(np.log(0.62), np.log(1.9)))),
        tilt=float(np.deg2rad(min(tilt, 57))),
        azimuth=float(2 * np.pi * u()),
        roll=float(roll),
        fill=fill,
        shift=(float(room * rng.uniform(-1, 1)), float(room * rng.uniform(-1, 1))),
        distortion=float(rng.uniform(-0.06, 0.03)) if u() < 0.4 else 0.0,
        stretch=float(rng.uniform(0.98, 1.11)) if u() < 0.7 else 1.0,
    )


def random_labels(
    rng: Rng, letters: Sequence[str], weights: npt.NDArray[np.float64], density: float
) -> dict[tuple[int, int], str]:
    """Return random labels in runs along rows and columns, like words, that cover the share `density` of the board.

    `letters` are drawn with the probabilities `weights`. The result maps (row, column) to a letter.
    """
    labels: dict[tuple[int, int], str] = {}
    tile_count = density * 225
    while len(labels) < tile_count:
        length = int(rng.integers(2, 9))
        across, a, b = rng.random() < 0.5, int(rng.integers(15)), int(rng.integers(0, 16 - length))
        drawn = rng.choice(len(letters), size=length, p=weights)
        for k in range(length):
            at = (a, b + k) if across else (b + k, a)
            labels.setdefault(at, letters[int(drawn[k])])
        if rng.random() < 0.1:
            labels.setdefault((int(rng.integers(15)), int(rng.integers(15))), letters[int(drawn[0])])
        if rng.random() < 0.06:
            labels.update(_random_crowd(rng, letters, weights, labels))
    return labels


def _random_crowd(
    rng: Rng, letters: Sequence[str], weights: npt.NDArray[np.float64], labels: Labels
) -> dict[tuple[int, int], str]:
    """Return labels of a dense block of tiles, like parallel words, on squares without a label in `labels`."""
    height, width = rng.integers(3, 6, 2)
    top, left = int(rng.integers(0, 16 - height)), int(rng.integers(0, 16 - width))
    cells = [(row, column) for row in range(top, top + int(height)) for column in range(left, left + int(width))]
    drawn = rng.choice(len(letters), size=len(cells), p=weights)
    is_gap = rng.random(len(cells)) < 0.15
    block = {cell: letters[int(k)] for cell, k, gap in zip(cells, drawn, is_gap, strict=True) if not gap}
    return {cell: letter for cell, letter in block.items() if cell not in labels}


def random_setting(
    rng: Rng, fonts: tuple[Path, ...], tile_fonts: tuple[Path, ...] | None = None, pencil_fonts: tuple[Path, ...] = ()
) -> RandomSetting:
    """Return a random setting.

    `fonts` are the fonts of the board, `tile_fonts` those of the tiles (`fonts` if None), and `pencil_fonts` those of
    letters written on blanks.
    """
    board = random_board_style(rng, fonts)
    camera = random_camera(rng)
    px = int(np.clip(round(measure_square(camera) * 1.15), 20, 48))
    art = draw_board(rng, board, px)
    extent = 7.5 + max(art.margin)
    return RandomSetting(
        board_style=board,
        tile_style=random_tile_style(rng, tile_fonts or fonts, board, pencil_fonts),
        light=random_light(rng, measure_square(camera)),
        camera=camera,
        art=art,
        table_texture=draw_table_top(rng, board, extent),
        board_thickness=float(rng.uniform(0.05, 0.6)),
        tile_seed=int(rng.integers(2**31)),
    )


def _random_loose_tiles(rng: Rng, letters: Sequence[str], count: int) -> list[PlacedTile]:
    """Return `count` random tiles at random places beside the grid."""
    tiles = []
    for _ in range(count):
        out = rng.uniform(0.8, 2.0)
        along = rng.uniform(-1, 16)
        x, y = [(along, -out), (along, 15 + out), (-out, along), (15 + out, along)][int(rng.integers(4))]
        tiles.append(
            PlacedTile(
                str(rng.choice(list(letters))),
                float(x),
                float(y),
                float(rng.uniform(0, 2 * np.pi)),
                int(rng.integers(2**31)),
            )
        )
    return tiles


def random_scene(
    rng: Rng,
    fonts: tuple[Path, ...],
    letters: Sequence[str] = tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ?"),
    weights: Sequence[float] | None = None,
    pencil_fonts: tuple[Path, ...] = (),
) -> Scene:
    """Render a random scene. Tiles are drawn from `letters` ('?' is a blank) with the relative `weights`."""
    usable = select_supporting_fonts(fonts, "".join(c for c in letters if c != BLANK))
    setting = random_setting(rng, fonts, usable, pencil_fonts)
    chance = np.ones(len(letters)) if weights is None else np.asarray(weights, np.float64)
    # A tenth of the boards are empty, a fifth have few tiles, and the others are as in the course of a game.
    kind = rng.random()
    low, high = (0.01, 0.12) if kind < 0.3 else (0.12, 0.6)
    density = 0.0 if kind < 0.1 else rng.uniform(low, high)
    labels = random_labels(rng, letters, chance / chance.sum(), density)
    extra = _random_loose_tiles(rng, letters, int(rng.poisson(2))) if rng.random() < 0.25 else []
    hand_count = int(rng.integers(1, 3)) if rng.random() < 0.2 else 0
    hands = [(float(rng.uniform(-1, 16)), float(rng.uniform(-1, 16))) for _ in range(hand_count)]
    return compose_scene(rng, setting, labels, extra, hands)


def random_light(rng: Rng, square: float) -> Light:
    """Return random lighting and camera parameters as in homes: mostly good, sometimes dim, uneven or blurred.

    `square` is the side of a square in px; blur is proportional to it.
    """
    u = rng.random
    poor = u() < 0.27
    return Light(
        direction=float(u() * 2 * np.pi),
        shadow=0.1 + 0.6 * u(),
        shadow_length=0.3 + 1.5 * u() ** 2,
        gradient=0.5 * u() ** 1.5,
        lamp=0.6 * u() ** 2 if u() < 0.5 else 0.0,
        shadow_edge=0.15 + 0.4 * u() if u() < 0.2 else 0.0,
        glare=0.2 + 0.7 * u() if u() < 0.25 else 0.0,
        exposure=float(np.exp2(rng.normal(-0.05, 0.35) - (1.4 * u() if poor and u() < 0.4 else 0))),
        warmth=float(rng.normal(0.1, 0.35)),
        green_cast=float(rng.normal(0, 0.05)),
        contrast=float(rng.uniform(0.75, 1.3)),
        saturation=float(rng.uniform(0.5, 1.4)),
        blur=float(square * (rng.uniform(0.008, 0.035) if not poor else rng.uniform(0.03, 0.08))),
        motion_blur=float(square * rng.uniform(0.05, 0.2)) if u() < 0.12 else 0.0,
        noise=float(rng.uniform(0.5, 4) if not poor else rng.uniform(2, 9)),
        sharpen=float(rng.uniform(0, 1.2)) if u() < 0.4 else 0.0,
        sampling_scale=float(rng.uniform(min(1.0, 12 / square), 1.0)) if u() < 0.2 else 1.0,
        jpeg_quality=int(rng.integers(35, 96)),
    )


def clear_light(light: Light, camera: Camera) -> Light:
    """Return a light in which the details of tiles can be seen: without motion, darkness and strong compression."""
    return replace(
        light,
        blur=min(light.blur, _MAX_BLUR_SQUARES * measure_square(camera)),
        motion_blur=0.0,
        noise=min(light.noise, 4.0),
        exposure=min(max(light.exposure, 0.6), 1.6),
        sampling_scale=1.0,
        jpeg_quality=max(light.jpeg_quality, 60),
    )
