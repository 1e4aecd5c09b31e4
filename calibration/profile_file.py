"""The file with the examples of one table: an `.npz` archive of limited size."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import numpy as np

from calibration.tile_examples import MAX_EXAMPLES, Example
from engine.board import SQUARES
from engine.errors import TilekeeperError
from engine.messages import make_message
from vision.recognition.views import CROP_SIDE_PX

_VERSION: Final = 1
"""Version of the format of profile files."""
_MAX_UNPACKED_BYTES: Final = 4_000_000
"""Maximum uncompressed size of a profile file in bytes; a full profile is much smaller."""
_MAX_SOURCE_CHARS: Final = 24
"""Maximum length of a game's name in the file, in characters; longer names are cut off."""
_EMPTY_BOARD_ARRAYS: Final = {
    "colours": np.zeros((len(SQUARES), 3), np.float32),
    "times": np.zeros(len(SQUARES), np.uint8),
    "record": np.array(0.0),
}
"""Arrays of zeros for the colours of empty squares; earlier releases load only profile files with these arrays."""


class ProfileFileError(TilekeeperError):
    """Error for a profile file that cannot be loaded; the message says what to do."""


class ProtectedProfileError(ProfileFileError):
    """Error for a profile file that may not be read or that a newer version has written; it must not be overwritten."""


def load_examples(path: Path) -> tuple[Example, ...]:
    """Load the examples from a profile file; a missing file gives no examples.

    Raises `ProtectedProfileError` for a file that must stay as it is, and `ProfileFileError` for a damaged file, which
    is renamed to `*.damaged`.
    """
    try:
        if path.exists() and not path.is_file():  # a FIFO would wait for its writer
            raise ValueError("it is not a file")
        with zipfile.ZipFile(path) as packed:
            if sum(entry.file_size for entry in packed.infolist()) > _MAX_UNPACKED_BYTES:
                raise ValueError("it is far too large")
        with np.load(path, allow_pickle=False) as arrays:
            if int(arrays["version"]) > _VERSION:
                text = "{0} was written by a newer Tilekeeper. Update Tilekeeper, or rename the file."
                raise ProtectedProfileError(make_message("store-newer", text, path.name))
            return _from_arrays(arrays)
    except FileNotFoundError:
        return ()
    except PermissionError as error:
        text = "The pictures of your tiles may not be read. Change the permissions of {0}."
        raise ProtectedProfileError(make_message("learnt-permission", text, path.name)) from error
    except ProtectedProfileError:
        raise
    except Exception as error:  # numpy parses array headers as Python literals: damaged bytes may raise any exception
        with suppress(OSError):
            path.replace(path.with_name(f"{path.name}.damaged"))
        text = (
            "The file with the pictures of your tiles ({0}) is damaged. The table learns your tiles again as you play."
        )
        raise ProfileFileError(make_message("learnt-damaged", text, path.name)) from error


def pack_examples(examples: Sequence[Example]) -> bytes:
    """Return the content of a profile file with the examples."""
    packed = io.BytesIO()
    np.savez_compressed(packed, **_to_arrays(examples))
    return packed.getvalue()


def _to_arrays(examples: Sequence[Example]) -> dict[str, Any]:
    return {
        "version": np.array(_VERSION),
        "crops": np.array([example.crop for example in examples], np.uint8).reshape(-1, CROP_SIDE_PX, CROP_SIDE_PX),
        "symbols": np.array([example.symbol for example in examples], "U8"),
        "sources": np.array([example.source for example in examples], f"U{_MAX_SOURCE_CHARS}"),
        "squares": np.array([example.square for example in examples], np.uint8),
        "told": np.ones(len(examples), np.bool_),  # True: confirmed by the players; earlier releases require this key
    } | _EMPTY_BOARD_ARRAYS


def _from_arrays(arrays: Mapping[str, Any]) -> tuple[Example, ...]:
    """Convert the arrays of a profile file to examples. Raises ValueError or KeyError for arrays of another format."""
    if int(arrays["version"]) != _VERSION:
        raise ValueError("it is of another version")
    crops, symbols, sources, squares = (arrays[name] for name in ("crops", "symbols", "sources", "squares"))
    count = len(crops)
    fits = (
        count <= MAX_EXAMPLES
        and crops.shape == (count, CROP_SIDE_PX, CROP_SIDE_PX)
        and crops.dtype == np.uint8
        and symbols.dtype.kind == sources.dtype.kind == "U"
        and symbols.shape == sources.shape == squares.shape == (count,)
        and (squares < len(SQUARES)).all()
    )
    if not fits:
        raise ValueError("its parts do not fit together")
    rows = zip(symbols.tolist(), crops, sources.tolist(), squares.tolist(), strict=True)
    return tuple(Example(*row) for row in rows)
