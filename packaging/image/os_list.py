"""Write the list by which Raspberry Pi Imager finds the card image (*Options*, *Content repository*).

    python3 packaging/image/os_list.py IMAGE.img.xz URL >os_list.json

The format is that of https://github.com/raspberrypi/rpi-imager, doc/json-schema/os-list-schema.json.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import lzma
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import IO

CHUNK_BYTES = 1 << 20
DEVICES = ["pi5-64bit", "pi4-64bit", "pi3-64bit"]


def measure(file: IO[bytes]) -> tuple[int, str]:
    """Return the size in bytes and the SHA-256 of what is left of a file."""
    size, digest = 0, hashlib.sha256()
    while chunk := file.read(CHUNK_BYTES):
        size += len(chunk)
        digest.update(chunk)
    return size, digest.hexdigest()


def make_list(image: Path, url: str, day: datetime.date) -> dict[str, list[dict[str, object]]]:
    """Return the list with the one image. The file is read twice: as it is, and unpacked."""
    with image.open("rb") as packed, lzma.open(image) as plain:
        download_size, download_sha256 = measure(packed)
        size, sha256 = measure(plain)
    entry: dict[str, object] = {
        "name": "Tilekeeper",
        "description": "Score keeper of a Scrabble table, on Raspberry Pi OS Lite (64-bit)",
        "url": url,
        "release_date": day.isoformat(),
        "extract_size": size,
        "extract_sha256": sha256,
        "image_download_size": download_size,
        "image_download_sha256": download_sha256,
        "init_format": "cloudinit-rpi",
        "devices": DEVICES,
    }
    return {"os_list": [entry]}


def main(words: Iterable[str]) -> None:
    """Print the list."""
    image, url = words
    print(json.dumps(make_list(Path(image), url, datetime.date.today()), indent=2))


if __name__ == "__main__":
    main(sys.argv[1:])
