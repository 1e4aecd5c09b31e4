"""The labels of public photographs: complete, consistent, and true to the photographs where those are at hand."""

from __future__ import annotations

import hashlib
import json
import re

import pytest
from PIL import ExifTags, Image

from engine.tiles import tile_set_names
from tests.support.local_data import PHOTOS_DIR, needs_photos
from tests.support.photo_labels import PhotoCollection, load_collections

COLLECTIONS = load_collections()
each_collection = pytest.mark.parametrize("collection", COLLECTIONS, ids=lambda collection: collection.name)


def test_labels_number_of_photographs() -> None:
    assert sum(len(collection.records) for collection in COLLECTIONS) == 233


@each_collection
def test_labels_name_their_source(collection: PhotoCollection) -> None:
    assert re.fullmatch(r"[\w.-]+/[\w.-]+", collection.repo)
    assert re.fullmatch(r"[0-9a-f]{40}", collection.commit)


@each_collection
def test_labels_name_each_picture_once(collection: PhotoCollection) -> None:
    for key in ("id", "photo", "origin", "sha256"):
        assert len({record[key] for record in collection.records}) == len(collection.records), key


@each_collection
def test_labels_have_possible_boards(collection: PhotoCollection) -> None:
    for record in collection.records:
        assert [len(row) for row in record["board"]] == [15] * 15, record["id"]
        assert record["language"] in tile_set_names(), record["id"]


@each_collection
def test_labels_corners_clockwise(collection: PhotoCollection) -> None:
    for record in collection.records:
        corners = record["corners"]
        doubled_area = sum(
            x1 * y2 - x2 * y1 for (x1, y1), (x2, y2) in zip(corners, corners[1:] + corners[:1], strict=True)
        )
        # Image y points down: clockwise is positive. Every board fills at least a tenth of its picture.
        assert len(corners) == 4
        assert doubled_area / 2 > 0.1 * record["width"] * record["height"], record["id"]


@needs_photos
@each_collection
def test_labels_match_the_photographs(collection: PhotoCollection) -> None:
    others = []
    for record in collection.records:
        photo = PHOTOS_DIR / collection.name / record["photo"]
        with Image.open(photo) as image:
            is_sideways = image.getexif().get(ExifTags.Base.Orientation, 1) >= 5
            size = image.size[::-1] if is_sideways else image.size
            assert size == (record["width"], record["height"]), record["id"]
        if hashlib.sha256(photo.read_bytes()).hexdigest() != record["sha256"]:
            others.append(record["id"])
    if others:
        pytest.skip(f"{len(others)} pictures have the labelled size but other bytes, as download_photos may leave them")


@needs_photos
@each_collection
def test_labels_make_the_manifest(collection: PhotoCollection) -> None:
    manifest = json.loads((PHOTOS_DIR / collection.name / "manifest.json").read_text(encoding="utf-8"))
    assert collection.make_manifest(collection.records) == manifest
