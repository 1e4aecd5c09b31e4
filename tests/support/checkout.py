"""What git knows of the folder in which the tests run."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def list_in_git(*arguments: str) -> list[str]:
    """Return the file names that a git command prints; none if there is no git, or the folder is no checkout."""
    if not shutil.which("git"):
        return []
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True).stdout.split()
