"""Labels of public photographs: the address of each picture, and its content.

`tests/data/photographs/COLLECTION.json` holds one collection: `about`, the GitHub repository (`repo`), its `commit`,
and `records`. A record has the keys that a `manifest.json` has, and three that identify the picture:

- `photo`: path below the collection's folder; `origin`: path in the repository
- `sha256`, `width`, `height`: of the copy that was labelled; `corners` are pixels of this size
- `corners`: outer corners of the 15 x 15 grid, clockwise from the top left as the tiles are read
- `board`: 15 strings, where `.` is an empty square, upper case a tile, lower case or `?` a blank
- `language`: the tile set; `game` and `index`: the game and the position of the picture in it
- `turn`: the tiles of the play and their score, or null
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

from tests.support.local_data import ROOT

Record: TypeAlias = dict[str, Any]

LABELS_DIR: Final = ROOT / "tests" / "data" / "photographs"
_COPY_KEYS: Final = frozenset({"sha256", "width", "height"})


@dataclass(frozen=True, slots=True)
class PhotoCollection:
    """The labelled photographs of one repository."""

    name: str
    repo: str
    """Owner and name on GitHub."""
    commit: str
    records: tuple[Record, ...]

    def make_manifest(self, records: tuple[Record, ...]) -> list[Record]:
        """Return `records` in the form of a `manifest.json`, as the evaluation programs read it."""
        source = {"repo": self.repo, "commit": self.commit}
        return [source | {key: value for key, value in r.items() if key not in _COPY_KEYS} for r in records]


def load_collections() -> tuple[PhotoCollection, ...]:
    """Return every collection in `LABELS_DIR`, by name.

    >>> [collection.name for collection in load_collections()][:2]
    ['bucharest', 'deluxe']
    """
    return tuple(_load_collection(file) for file in sorted(LABELS_DIR.glob("*.json")))


def _load_collection(file: Path) -> PhotoCollection:
    data = json.loads(file.read_text(encoding="utf-8"))
    return PhotoCollection(file.stem, data["repo"], data["commit"], tuple(data["records"]))
