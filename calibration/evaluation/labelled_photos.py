"""Photographs with their truth, as `manifest.json` files name them, a game at a time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from calibration.evaluation.rendered_tables import Shot
from vision.photo import load_photo


def load_photo_shots(folder: Path) -> Iterator[Shot]:
    """All photographs below `folder`, each board's together and each game's in order.

    A manifest lists records with `photo`, `board` (15 strings: `.` empty, a capital a tile, a small letter or `?` a
    blank), `language`, `game` and `index`.
    """
    for manifest in sorted(folder.rglob("manifest.json")):
        records = json.loads(manifest.read_text(encoding="utf-8"))
        for record in sorted(records, key=lambda r: (str(r["game"]), r["index"] if r["index"] is not None else 0)):
            rows = tuple(tuple("?" if c.islower() else c for c in row) for row in record["board"])
            image = load_photo(manifest.parent / record["photo"]).image
            table, game = manifest.parent.name, str(record["game"])
            yield Shot(record["id"], table, game, image, None, rows, record["language"])
