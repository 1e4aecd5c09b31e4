"""The parts of each scene that the trainings keep, so that scenes are rendered only once.

A separate module, because the rendering processes must be able to import it, which is not possible with `__main__`.
"""

from __future__ import annotations

from vision.rendering.scene import Scene
from vision.training import dataset, detector_data

DETECTOR_SCENES = 4000
"""Number of scenes for the detectors, whose data is larger than the reader's."""

SceneParts = tuple[dataset.TrainingViews, detector_data.DetectorScene | None]


def extract_parts(scene: Scene, number: int) -> SceneParts:
    """Return the training data of all networks from one scene."""
    return dataset.extract_views(scene, number), detector_data.extract_detector_scene(
        scene
    ) if number < DETECTOR_SCENES else None
