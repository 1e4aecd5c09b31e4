"""The file that a table's knowledge is kept in: one `.npz`, bounded, written whole or not at all."""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from calibration.empty_board import SQUARES, BareBoard
from calibration.tile_examples import MOST, Example
from engine.messages import said
from vision.recognition.tile_crops import SIDE

_VERSION: Final = 1
_LARGEST: Final = 4_000_000
"""Bytes, unpacked, that no file of ours comes near."""
_LONGEST_NAME: Final = 24


class KnowledgeError(Exception):
    """A table's knowledge could not be put on disk; the message says why, on one line."""


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """What a table has taught."""

    examples: tuple[Example, ...] = ()
    bare: BareBoard = field(default_factory=BareBoard.unknown)
    record: float = 0.0
    """Nats that the bare board's words have won so far, the latest counting most."""


def load(path: Path) -> tuple[Kept, str]:
    """What a file holds, and what was wrong with it as a sentence. A damaged file is set aside as `*.damaged`."""
    try:
        with zipfile.ZipFile(path) as packed:
            if sum(entry.file_size for entry in packed.infolist()) > _LARGEST:
                raise ValueError("it is far too large")
        with np.load(path, allow_pickle=False) as arrays:
            return _from_arrays(arrays), ""
    except FileNotFoundError:
        return Kept(), ""
    except PermissionError:
        return Kept(), said(
            "learnt-permission", "what this table has learnt cannot be read: no permission for {0}", path.name
        )
    except Exception:  # numpy reads the head of an array as Python: damaged bytes may raise anything
        with suppress(OSError):
            path.replace(path.with_name(f"{path.name}.damaged"))
        return Kept(), said("learnt-damaged", "what this table has learnt is damaged ({0}): it learns anew", path.name)


def store(path: Path, kept: Kept) -> None:
    """Write the file, synced, then put it in place of the old one. Raises `KnowledgeError`."""
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
        raise KnowledgeError(said("learnt-not-saved", text, error.strerror or error)) from error


def _to_arrays(kept: Kept) -> dict[str, Any]:
    examples = kept.examples
    return {
        "version": np.array(_VERSION),
        "crops": np.array([one.crop for one in examples], np.uint8).reshape(-1, SIDE, SIDE),
        "symbols": np.array([one.symbol for one in examples], "U8"),
        "sources": np.array([one.source for one in examples], f"U{_LONGEST_NAME}"),
        "squares": np.array([one.square for one in examples], np.uint8),
        "told": np.array([one.told for one in examples], np.bool_),
        "colours": kept.bare.colours.astype(np.float32),
        "times": np.minimum(kept.bare.times, 255).astype(np.uint8),
        "record": np.array(kept.record),
    }


def _from_arrays(arrays: Mapping[str, Any]) -> Kept:
    """Raises ValueError or KeyError for arrays that are not ours."""
    if int(arrays["version"]) != _VERSION:
        raise ValueError("it is of another version")
    crops, symbols, sources = arrays["crops"], arrays["symbols"], arrays["sources"]
    squares, told = arrays["squares"], arrays["told"]
    colours, times, record = arrays["colours"].astype(np.float64), arrays["times"], float(arrays["record"])
    count = len(crops)
    fits = (
        count <= MOST
        and crops.shape == (count, SIDE, SIDE)
        and crops.dtype == np.uint8
        and symbols.dtype.kind == sources.dtype.kind == "U"
        and symbols.shape == sources.shape == squares.shape == told.shape == (count,)
        and (squares < SQUARES).all()
        and colours.shape == (SQUARES, 3)
        and times.shape == (SQUARES,)
        and np.isfinite(colours).all()
        and np.isfinite(record)
    )
    if not fits:
        raise ValueError("its parts do not fit together")
    examples = tuple(
        Example(str(symbol), crop, str(source), int(square), bool(was_told))
        for symbol, crop, source, square, was_told in zip(symbols, crops, sources, squares, told, strict=True)
    )
    return Kept(examples, BareBoard(colours, times.astype(np.int64)), record)
