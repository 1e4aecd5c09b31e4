"""What all trainings together keep of a scene, so that scenes are drawn once.

In a module of its own because the drawing processes must be able to import it: what is defined in `__main__` they
cannot.
"""

from __future__ import annotations

from vision.rendering.scene import Scene
from vision.training import dataset, detector_data

PLACED = 4000
"""Scenes that the locator learns from; it keeps more of each than the reader does."""

Part = tuple[dataset.Views, detector_data.Kept | None]


def keep(scene: Scene, number: int) -> Part:
    """What the networks need of a scene."""
    return dataset.keep(scene, number), detector_data.keep(scene) if number < PLACED else None
