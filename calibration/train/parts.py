"""What all trainings together keep of a scene, so that scenes are drawn once.

In a module of its own because the drawing processes must be able to import it: what is defined in `__main__` they
cannot.
"""

from __future__ import annotations

from calibration.train import locate_data
from vision.render.scene import Scene
from vision.train import views

PLACED = 4000
"""Scenes that the locator learns from; it keeps more of each than the reader does."""

Part = tuple[views.Views, locate_data.Kept | None]


def keep(scene: Scene, number: int) -> Part:
    """What the networks need of a scene."""
    return views.keep(scene, number), locate_data.keep(scene) if number < PLACED else None
