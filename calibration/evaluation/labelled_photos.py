"""Load labelled photographs from `manifest.json` files, grouped by game."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from calibration.evaluation.rendered_tables import Shot
from vision.photo import load_photo


def load_photo_shots(folder: Path) -> Iterator[Shot]:
    """Yield all labelled photographs below `folder`, sorted by manifest file, then game, then position in the game.

    A manifest is a list of records with `id`, `photo` (path), `board` (15 strings: `.` empty, upper case a tile, lower
    case or `?` a blank), `language`, `game` and `index`.
    """
    for manifest in sorted(folder.rglob("manifest.json")):
        records = json.loads(manifest.read_text(encoding="utf-8"))
        for record in sorted(records, key=lambda r: (str(r["game"]), r["index"] if r["index"] is not None else 0)):
            rows = tuple(tuple("?" if c.islower() else c for c in row) for row in record["board"])
            image = load_photo(manifest.parent / record["photo"]).image
            table, game = manifest.parent.name, str(record["game"])
            yield Shot(record["id"], table, game, image, None, rows, record["language"])
