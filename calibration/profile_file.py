"""The file of a table profile: one `.npz` of bounded size, written atomically."""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from calibration.tile_examples import MAX_EXAMPLES, Example
from engine.errors import TilekeeperError
from engine.messages import said
from engine.reading import BOARD_SIZE
from vision.recognition.views import CROP_SIDE_PX

_VERSION: Final = 1
_MAX_UNPACKED_BYTES: Final = 4_000_000
"""Limit of the unpacked size in bytes; a full profile has a fraction of it."""
_MAX_SOURCE_CHARS: Final = 24
_SQUARE_COUNT: Final = BOARD_SIZE * BOARD_SIZE
_EMPTY_BOARD_ARRAYS: Final = {
    "colours": np.zeros((_SQUARE_COUNT, 3), np.float32),
    "times": np.zeros(_SQUARE_COUNT, np.uint8),
    "record": np.array(0.0),
}
"""Colours of empty squares, of which nothing is known: no longer used, but earlier releases need these keys."""


class ProfileError(TilekeeperError):
    """The profile could not be saved."""


@dataclass(frozen=True, slots=True, eq=False)
class ProfileData:
    """The content of a profile file."""

    examples: tuple[Example, ...] = ()


def load_profile(path: Path) -> tuple[ProfileData, str]:
    """Return the content of a profile file, and what was wrong with it (empty if nothing).

    A damaged file is renamed to `*.damaged`; the profile then starts empty.
    """
    try:
        with zipfile.ZipFile(path) as packed:
            if sum(entry.file_size for entry in packed.infolist()) > _MAX_UNPACKED_BYTES:
                raise ValueError("it is far too large")
        with np.load(path, allow_pickle=False) as arrays:
            return _from_arrays(arrays), ""
    except FileNotFoundError:
        return ProfileData(), ""
    except PermissionError:
        return ProfileData(), said(
            "learnt-permission", "what this table has learnt cannot be read: no permission for {0}", path.name
        )
    except Exception:  # numpy reads the head of an array as Python: damaged bytes may raise anything
        with suppress(OSError):
            path.replace(path.with_name(f"{path.name}.damaged"))
        return ProfileData(), said(
            "learnt-damaged", "what this table has learnt is damaged ({0}): it learns anew", path.name
        )


def save_profile(path: Path, kept: ProfileData) -> None:
    """Write the file, sync it, then replace the old one. Raises `ProfileError`."""
    packed = io.BytesIO()
    np.savez_compressed(packed, **_to_arrays(kept))
    new = path.with_name(f"{path.name}.new")
    try:
        with new.open("wb") as file:
            file.write(packed.getbuffer())
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as error:
        text = "what this table has learnt is not saved: {0}"
        raise ProfileError(said("learnt-not-saved", text, error.strerror or error)) from error


def _to_arrays(kept: ProfileData) -> dict[str, Any]:
    examples = kept.examples
    return {
        "version": np.array(_VERSION),
        "crops": np.array([one.crop for one in examples], np.uint8).reshape(-1, CROP_SIDE_PX, CROP_SIDE_PX),
        "symbols": np.array([one.symbol for one in examples], "U8"),
        "sources": np.array([one.source for one in examples], f"U{_MAX_SOURCE_CHARS}"),
        "squares": np.array([one.square for one in examples], np.uint8),
        "told": np.array([one.confirmed for one in examples], np.bool_),
    } | _EMPTY_BOARD_ARRAYS


def _from_arrays(arrays: Mapping[str, Any]) -> ProfileData:
    """Return the profile in these arrays. Raises ValueError or KeyError if they are not a profile."""
    if int(arrays["version"]) != _VERSION:
        raise ValueError("it is of another version")
    crops, symbols, sources = arrays["crops"], arrays["symbols"], arrays["sources"]
    squares, told = arrays["squares"], arrays["told"]
    count = len(crops)
    fits = (
        count <= MAX_EXAMPLES
        and crops.shape == (count, CROP_SIDE_PX, CROP_SIDE_PX)
        and crops.dtype == np.uint8
        and symbols.dtype.kind == sources.dtype.kind == "U"
        and symbols.shape == sources.shape == squares.shape == told.shape == (count,)
        and (squares < _SQUARE_COUNT).all()
    )
    if not fits:
        raise ValueError("its parts do not fit together")
    examples = tuple(
        Example(str(symbol), crop, str(source), int(square), bool(was_told))
        for symbol, crop, source, square, was_told in zip(symbols, crops, sources, squares, told, strict=True)
    )
    return ProfileData(examples)
