"""Check and convert the TOML document of a settings file, before it becomes `Settings`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec

from device.catalogue import get_text
from device.panel.buttons import Pins, PinsError
from engine.errors import TilekeeperError

_PIN_KEYS = {pin.name for pin in fields(Pins)}
_EMPTY_IS_DEFAULT = (
    ("game", "lexicon"),
    ("page", "certificate"),
    ("page", "key"),
    ("data", "folder"),
    ("hall", "ca"),
    ("hall", "password_file"),
)
"""Settings for which an empty text means the default value."""


class InvalidSettingError(TilekeeperError):
    """Error for an invalid setting: `path` is its section and key, and the message gives the error or the remedy."""

    def __init__(self, path: tuple[str, ...], text: str) -> None:
        super().__init__(f"{'.'.join(path)}: {text}")
        self.path, self.text = path, text


def read_default_text() -> str:
    """Return the text of the settings file with all defaults and comments."""
    return (files("device") / "data" / "settings.toml").read_text(encoding="utf-8")


def find_texts(value: object, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield each text in a TOML document with its path (the keys from the root to the text)."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield (*path, key), key
            yield from find_texts(inner, (*path, key))
    elif isinstance(value, list):
        for inner in value:
            yield from find_texts(inner, path)


def prepare_document(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document in the structure of `Settings`.

    The pins are moved from `panel` to a table `panel.pins`, in which None replaces the pin number 0 (not wired). Empty
    texts that mean the default are removed.
    """
    prepared = {key: dict(value) if isinstance(value, dict) else value for key, value in document.items()}
    for section, key in _EMPTY_IS_DEFAULT:
        if isinstance(table := prepared.get(section), dict) and table.get(key) == "":
            del table[key]
    if isinstance(panel := prepared.get("panel"), dict):
        if "pins" in panel:
            raise InvalidSettingError(("panel", "pins"), get_text("setting-pins"))
        pins = {key: panel.pop(key) for key in _PIN_KEYS & panel.keys()}
        panel["pins"] = {key: None if type(value) is int and value == 0 else value for key, value in pins.items()}
    if isinstance(game := prepared.get("game"), dict) and isinstance(game.get("players"), list):
        game["players"] = [name.strip() if isinstance(name, str) else name for name in game["players"]]
    return prepared


def decode_path(kind: type, value: object) -> Path:
    """Convert the text of a setting to a file path with `~` expanded; msgspec calls this function (`dec_hook`).

    Raises `ValueError` for an invalid text; msgspec adds the section and the key of the setting to the message.
    """
    if kind is not Path or not isinstance(value, str):
        raise ValueError("Expected `str`")
    try:
        return Path(value).expanduser()
    except RuntimeError:
        raise ValueError(get_text("setting-home", value)) from None


def explain_error(error: msgspec.ValidationError) -> InvalidSettingError:
    """Convert an error of msgspec, such as "Expected `int`, got `str` - at `$.page.port`", to a message for users."""
    if isinstance(pins := error.__cause__, PinsError):
        return InvalidSettingError(("panel", pins.key), pins.text)
    what, _, where = str(error).partition(" - at `$")
    path = tuple(key for key in re.findall(r"\.(\w+)", where) if key != "pins")
    defaults = tomllib.loads(read_default_text())
    if unknown := re.fullmatch(r"Object contains unknown field `(.*)`", what):
        known = (
            f"setting. [{path[0]}] has {', '.join(defaults[path[0]])}."
            if path
            else f"table. The tables are [{'], ['.join(defaults)}]."
        )
        return InvalidSettingError((*path, unknown[1]), f"There is no such {known}")
    if not what.startswith("Expected"):
        return InvalidSettingError(path, str(error.__cause__ or what))
    if len(path) == 1:
        return InvalidSettingError(path, f"This must be a table. Write [{path[0]}] on a line of its own.")
    default = defaults[path[0]][path[1]]
    if isinstance(default, list):
        if default and isinstance(default[0], int):
            return InvalidSettingError(path, get_text("setting-numbers"))
        return InvalidSettingError(path, get_text("setting-texts"))
    if isinstance(default, bool):
        return InvalidSettingError(path, get_text("setting-switch"))
    if isinstance(default, int):
        return InvalidSettingError(path, get_text("setting-number"))
    return InvalidSettingError(path, get_text("setting-text"))


def find_extra(annotation: object) -> Mapping[str, Any]:
    """Return the data in the annotation of a setting: its `choices` or `range`, and how the page shows it."""
    return next((meta.extra or {} for meta in getattr(annotation, "__metadata__", ())), {})


def describe_range(value: int, least: int, most: int) -> str:
    """Return the message about a number that is out of range."""
    return get_text("setting-range", value, least, most)


def describe_choices(value: str, choices: Iterable[str]) -> str:
    """Return the message about a value that is not one of the choices."""
    return get_text("setting-choice", repr(value), ", ".join(choices))


def find_line(text: str, path: tuple[str, ...]) -> int:
    """Return the line number of the key at `path`.

    If the key is not found, return the line number of its TOML table, or 0 if there is no such table. The text is
    searched, because TOML parsers do not return line numbers.
    """
    section, key = path[0], path[1] if len(path) > 1 else ""
    inside, found = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        if header := re.match(r"\s*\[\s*([\w-]+)\s*\]", line):
            inside = header[1]
            found = number if inside == section else found
        elif inside == section and key and re.match(rf"""\s*["']?{re.escape(key)}["']?\s*=""", line):
            return number
        elif not inside and re.match(rf"""\s*["']?{re.escape(section)}["']?\s*[.=]""", line):
            found = number
    return found
