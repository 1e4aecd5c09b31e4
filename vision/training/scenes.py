"""Render numbered scenes for training, in several processes.

The caller passes a function that extracts the needed data from each scene, so that full-size pictures do not
accumulate. Scene number `i` of a `seed` is the same on every machine with the same fonts, for any number of processes.
The training data of all networks are extracted from one scene (`extract_parts`), so that each is rendered only once.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Final, TypeVar

import cv2
import numpy as np

from vision.rendering.scene import Scene
from vision.training import dataset, detector_data
from vision.training.font_list import select_handwritten_fonts, training_fonts
from vision.training.random_scenes import random_scene

ExtractT = TypeVar("ExtractT")
Draw = Callable[[np.random.Generator], Scene]
FIRST_UNSEEN_SCENE: Final = 6000
"""Number of the first scene that no network was trained on."""


def draw_numbered_scene(number: int, seed: int = 0, draw: Draw | None = None) -> Scene:
    """Render scene `number` of `seed` with the function `draw`, by default `random_scene` with its default letters."""
    rng = np.random.default_rng((seed, number))
    if draw:
        return draw(rng)
    fonts = training_fonts()
    return random_scene(rng, fonts, pencil_fonts=select_handwritten_fonts(fonts))


def extract_scenes(
    count: int,
    extract: Callable[[Scene, int], ExtractT],
    seed: int = 0,
    first: int = 0,
    draw: Draw | None = None,
) -> Iterator[ExtractT]:
    """Render scenes `first` to `first + count - 1` and yield `extract(scene, number)` for each, in order.

    There is one rendering process per core. It calls `extract`, so `extract` must be a module-level function or a
    `functools.partial` of one.
    """
    render = partial(_draw_and_extract, extract=extract, seed=seed, draw=draw)
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(os.cpu_count(), context, initializer=_limit_threads) as pool:
        yield from pool.map(render, range(first, first + count), chunksize=4)


def _draw_and_extract(number: int, extract: Callable[[Scene, int], ExtractT], seed: int, draw: Draw | None) -> ExtractT:
    return extract(draw_numbered_scene(number, seed, draw), number)


def _limit_threads() -> None:
    cv2.setNumThreads(1)


DETECTOR_SCENES = 4000
"""Maximum number of scenes whose data is kept for the finder and lattice networks, because this data is large."""
SceneParts = tuple[dataset.TrainingViews, detector_data.DetectorScene | None]


def extract_parts(scene: Scene, number: int) -> SceneParts:
    """Extract the training data of all networks from a scene.

    The data for the detectors is left out if `number` >= `DETECTOR_SCENES`.
    """
    return dataset.extract_views(scene, number), detector_data.extract_detector_scene(
        scene
    ) if number < DETECTOR_SCENES else None


def extract_views_only(scene: Scene, number: int) -> SceneParts:
    """Extract the training data of the square and letter networks from a scene."""
    return dataset.extract_views(scene, number), None
