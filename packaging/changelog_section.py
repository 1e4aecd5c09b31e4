"""Print the section of one version in CHANGELOG.md, for the notes of a release.

python3 packaging/changelog_section.py 0.2.0
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

CHANGELOG = Path(__file__).resolve().parents[1] / "CHANGELOG.md"


def find_section(text: str, version: str) -> str:
    """Return the text below the heading of a version, which may have a date. Raises `LookupError`."""
    found = re.search(rf"(?ms)^## \[?{re.escape(version)}\]?(?:[ \t][^\n]*)?\n(.*?)(?=^## |\Z)", text)
    if found is None or not found[1].strip():
        raise LookupError(f"CHANGELOG.md has no section {version}")
    return found[1].strip()


if __name__ == "__main__":
    try:
        print(find_section(CHANGELOG.read_text(encoding="utf-8"), sys.argv[1]))
    except LookupError as error:
        sys.exit(f"changelog_section.py: {error}")
