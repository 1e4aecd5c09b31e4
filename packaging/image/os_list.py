"""Write the list by which Raspberry Pi Imager finds the card image (*Options*, *Content repository*).

    python3 packaging/image/os_list.py IMAGE.img.xz URL >os_list.json

URL is the address of the folder that has the image and its icon, `tilekeeper-icon.png`. The format is that of
https://github.com/raspberrypi/rpi-imager, doc/json-schema/os-list-schema.json. Imager shows the machines to choose from
that the list names itself, and a list without them offers none.
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
DEVICES = (
    ("Raspberry Pi 5", "pi5-64bit", "RPi_5.png"),
    ("Raspberry Pi 4", "pi4-64bit", "RPi_4.png"),
    ("Raspberry Pi 3", "pi3-64bit", "RPi_3.png"),
    ("Raspberry Pi Zero 2 W", "pi3-64bit", "RPi_Zero_2_W.png"),
)
"""Name, tag and icon of each machine, as in Raspberry Pi's own list; a Zero 2 W has the tag of a Pi 3."""
DEVICE_ICONS_URL = "https://downloads.raspberrypi.com/imager/icons"
ICON = "tilekeeper-icon.png"


def measure(file: IO[bytes]) -> tuple[int, str]:
    """Return the size in bytes and the SHA-256 of what is left of a file."""
    size, digest = 0, hashlib.sha256()
    while chunk := file.read(CHUNK_BYTES):
        size += len(chunk)
        digest.update(chunk)
    return size, digest.hexdigest()


def describe_devices() -> list[dict[str, object]]:
    """Return the machines that Imager offers; each shows the images of its tags."""
    return [
        {
            "name": name,
            "description": name,
            "tags": [tag],
            "icon": f"{DEVICE_ICONS_URL}/{icon}",
            "matching_type": "exclusive",
            "default": False,
        }
        for name, tag, icon in DEVICES
    ]


def make_list(image: Path, url: str, day: datetime.date) -> dict[str, object]:
    """Return the list with the one image. The file is read twice: as it is, and unpacked."""
    with image.open("rb") as packed, lzma.open(image) as plain:
        download_size, download_sha256 = measure(packed)
        size, sha256 = measure(plain)
    entry: dict[str, object] = {
        "name": "Tilekeeper",
        "description": "Score keeper of a Scrabble table, on Raspberry Pi OS Lite (64-bit)",
        "icon": f"{url}/{ICON}",
        "url": f"{url}/{image.name}",
        "release_date": day.isoformat(),
        "extract_size": size,
        "extract_sha256": sha256,
        "image_download_size": download_size,
        "image_download_sha256": download_sha256,
        "init_format": "cloudinit-rpi",
        "devices": list(dict.fromkeys(tag for _, tag, _ in DEVICES)),
    }
    return {"imager": {"devices": describe_devices()}, "os_list": [entry]}


def main(words: Iterable[str]) -> None:
    """Print the list."""
    image, url = words
    print(json.dumps(make_list(Path(image), url, datetime.date.today()), indent=2))


if __name__ == "__main__":
    main(sys.argv[1:])
