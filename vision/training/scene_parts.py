"""Extraction of the training data of all networks from one scene, so that each scene is rendered only once.

This is a separate module because rendering processes must be able to import it, which is not possible with `__main__`.
"""

from __future__ import annotations

from vision.rendering.scene import Scene
from vision.training import dataset, detector_data

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
