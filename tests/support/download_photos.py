"""Download the public photographs that `tests/data/photographs` labels.

`python -m tests.support.download_photos DIR` fills DIR with one folder for each collection, in the form that
`TILEKEEPER_PHOTOS` expects: the pictures and their `manifest.json`. Run it again after an interruption: pictures that
are there are kept, the others are fetched. The exit status is 1 if any picture is missing at the end.

The labels refer to copies, and some copies are smaller than the file upstream. A download is therefore accepted as

- `identical`: the SHA-256 is that of the labelled copy;
- `same-size`: other bytes, but upright (EXIF) the width and height of the copy; the commit in the address fixes which
  picture it is;
- `scaled`: a larger picture of the same proportions, shrunk here to that size (Pillow, Lanczos; JPEG quality 95).

Only `identical` proves that the picture is the labelled one. Measure with the others too, but expect small differences
from published figures.
"""

from __future__ import annotations

import argparse
import hashlib
import http.client
import io
import json
import sys
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final
from urllib.parse import quote

from PIL import Image, ImageOps

from tests.support.photo_labels import PhotoCollection, Record, load_collections

GITHUB_FILES_URL: Final = "https://raw.githubusercontent.com"
_TIMEOUT_S: Final = 60
_MAX_DOWNLOAD_BYTES: Final = 50_000_000
"""The largest photograph is far below this; it bounds memory if the server sends something else."""
_ROUNDING_PX: Final = 1.0
"""Maximum difference of a scaled width from the whole number of pixels that the copy has."""
_JPEG_QUALITY: Final = 95


class PhotoStatus(StrEnum):
    """The result of a download."""

    IDENTICAL = "identical"
    SAME_SIZE = "same-size"
    SCALED = "scaled"
    KEPT = "kept"
    FAILED = "failed"


class PhotoMismatchError(Exception):
    """A downloaded file is not the labelled photograph; the message gives the reason on one line."""


@dataclass(frozen=True, slots=True)
class PhotoResult:
    """The outcome for one photograph."""

    collection: str
    photo: str
    status: PhotoStatus
    reason: str = ""
    """For `FAILED`, one line."""


def photo_url(base_url: str, collection: PhotoCollection, record: Record) -> str:
    """Return the address of a photograph as `raw.githubusercontent.com` arranges files."""
    return f"{base_url}/{quote(collection.repo)}/{collection.commit}/{quote(record['origin'])}"


def fit_to_label(data: bytes, record: Record) -> tuple[PhotoStatus, bytes]:
    """Return the bytes to keep for a downloaded file, and how they relate to the labelled copy.

    Raises `PhotoMismatchError` for a file that is not a picture, is smaller than the copy or has other proportions.
    """
    if hashlib.sha256(data).hexdigest() == record["sha256"]:
        return PhotoStatus.IDENTICAL, data
    size = (record["width"], record["height"])
    try:
        upright = ImageOps.exif_transpose(Image.open(io.BytesIO(data)))
        if upright.size == size:
            upright.load()  # raises for a truncated picture
            return PhotoStatus.SAME_SIZE, data
        if not _has_proportions(upright.size, size):
            raise PhotoMismatchError(f"{upright.width} x {upright.height} px, labelled as {size[0]} x {size[1]}")
        small = upright.convert("RGB").resize(size, Image.Resampling.LANCZOS)
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise PhotoMismatchError(f"no readable picture: {error}") from error
    jpeg = io.BytesIO()
    small.save(jpeg, "JPEG", quality=_JPEG_QUALITY)
    return PhotoStatus.SCALED, jpeg.getvalue()


def _has_proportions(larger: tuple[int, int], smaller: tuple[int, int]) -> bool:
    """Return True if `larger` becomes `smaller` (width, height in px) by shrinking alone."""
    scale = max(small / large for small, large in zip(smaller, larger, strict=True))
    errors_px = [abs(large * scale - small) for small, large in zip(smaller, larger, strict=True)]
    return scale < 1 and max(errors_px) <= _ROUNDING_PX


def download_photos(collection: PhotoCollection, folder: Path, base_url: str) -> Iterator[PhotoResult]:
    """Fetch the photographs of a collection into `folder/<name>`, and write the manifest of those that are there.

    The manifest is written after the last result, so iterate to the end.
    """
    present: list[Record] = []
    target_dir = folder / collection.name
    for record in collection.records:
        target = target_dir / record["photo"]
        result = _download_photo(collection, record, target, photo_url(base_url, collection, record))
        if result.status is not PhotoStatus.FAILED:
            present.append(record)
        yield result
    manifest = json.dumps(collection.make_manifest(tuple(present)), ensure_ascii=False, indent=1)
    _write_file(target_dir / "manifest.json", manifest.encode())


def _download_photo(collection: PhotoCollection, record: Record, target: Path, url: str) -> PhotoResult:
    status, reason = PhotoStatus.KEPT, ""
    if not _is_present(target, record):
        try:
            status, data = fit_to_label(_fetch(url), record)
            _write_file(target, data)
        except (urllib.error.URLError, http.client.HTTPException, TimeoutError, ConnectionError) as error:
            status, reason = PhotoStatus.FAILED, f"{url}: {error}"
        except PhotoMismatchError as error:
            status, reason = PhotoStatus.FAILED, f"{url}: {error}"
    return PhotoResult(collection.name, record["photo"], status, reason)


def _is_present(target: Path, record: Record) -> bool:
    """Return True if `target` is a picture that an earlier run accepted."""
    if not target.is_file():
        return False
    try:
        status, _ = fit_to_label(target.read_bytes(), record)
    except PhotoMismatchError:
        return False
    return status is not PhotoStatus.SCALED


def _fetch(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=_TIMEOUT_S) as response:
        data: bytes = response.read(_MAX_DOWNLOAD_BYTES + 1)
    if len(data) > _MAX_DOWNLOAD_BYTES:
        raise PhotoMismatchError(f"more than {_MAX_DOWNLOAD_BYTES} bytes")
    return data


def _write_file(target: Path, data: bytes) -> None:
    """Write `data` under a temporary name first: an interrupted run leaves no half picture."""
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(target.name + ".part")
    temporary.write_bytes(data)
    temporary.replace(target)


def main(arguments: Iterable[str] | None = None) -> int:
    """Download the collections that are named, or all; print one line for each photograph."""
    collections = {collection.name: collection for collection in load_collections()}
    parser = argparse.ArgumentParser(prog="python -m tests.support.download_photos", description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path, help="where the photographs go; TILEKEEPER_PHOTOS then names it")
    parser.add_argument("collection", nargs="*", help=f"default: all of {', '.join(collections)}")
    parser.add_argument("--base-url", default=GITHUB_FILES_URL, help="default: %(default)s")
    options = parser.parse_args(None if arguments is None else list(arguments))
    if unknown := [name for name in options.collection if name not in collections]:
        parser.error(f"no collection {', '.join(unknown)}; there are {', '.join(collections)}")
    counts: Counter[PhotoStatus] = Counter()
    for name in options.collection or collections:
        for result in download_photos(collections[name], options.folder, options.base_url.rstrip("/")):
            counts[result.status] += 1
            print(f"{result.status:9} {result.collection}/{result.photo} {result.reason}".rstrip(), flush=True)
    print(", ".join(f"{counts[status]} {status}" for status in PhotoStatus if counts[status]))
    return 1 if counts[PhotoStatus.FAILED] else 0


if __name__ == "__main__":
    sys.exit(main())
