"""Find the photographs and recorded games that are not part of the repository.

Each folder comes from an environment variable, or else from `../shared` beside the checkout:

    TILEKEEPER_PHOTOS=~/photos TILEKEEPER_GCG=~/games pytest -m slow

Tests that need a folder which does not exist are skipped, and the reason names the variable.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SHARED_DIR = ROOT.parent / "shared"


def find_folder(variable: str, default_name: str) -> Path:
    """Return the folder that the environment variable names, or `../shared/<default_name>`."""
    named = os.environ.get(variable)
    return Path(named).expanduser() if named else SHARED_DIR / default_name


PHOTOS_DIR = find_folder("TILEKEEPER_PHOTOS", "photos")
GCG_DIR = find_folder("TILEKEEPER_GCG", "gcg")
RULES_CHECKLIST = GCG_DIR.parent / "rules" / "CHECKLIST.md"

needs_photos = pytest.mark.skipif(
    not PHOTOS_DIR.is_dir(), reason=f"no photographs in {PHOTOS_DIR}; TILEKEEPER_PHOTOS names another folder"
)
needs_games = pytest.mark.skipif(
    not GCG_DIR.is_dir(), reason=f"no recorded games in {GCG_DIR}; TILEKEEPER_GCG names another folder"
)
needs_rules_checklist = pytest.mark.skipif(
    not RULES_CHECKLIST.is_file(), reason=f"no {RULES_CHECKLIST}; it belongs beside the folder of TILEKEEPER_GCG"
)
