"""What all trainings together keep of a scene, so that scenes are drawn once.

In a module of its own because the drawing processes must be able to import it: what is defined in `__main__` they
cannot.
"""

from __future__ import annotations

from vision.rendering.scene import Scene
from vision.training import dataset, detector_data

DETECTOR_SCENES = 4000
"""Scenes that the locator learns from; it keeps more of each than the reader does."""

SceneParts = tuple[dataset.TrainingViews, detector_data.DetectorScene | None]


def extract_parts(scene: Scene, number: int) -> SceneParts:
    """What the networks need of a scene."""
    return dataset.extract_views(scene, number), detector_data.extract_detector_scene(
        scene
    ) if number < DETECTOR_SCENES else None
