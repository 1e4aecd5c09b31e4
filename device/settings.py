"""The one settings file of a table: TOML, every value with a default, mistakes said with their line.

`device/data/settings.toml` is the commented file that holds all defaults; `default_text` gives it for writing out.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from device.panel.buttons import Pins, PinsError
from engine.tiles import tile_set_names

SYSTEM_FILE = Path("/etc/tilekeeper/settings.toml")
SERVICE_DATA = Path("/var/lib/tilekeeper")
"""Where the service of an installed table keeps its games."""
MOST_DISPLAYS = 2

_CAMERA = re.compile(r"pi|usb:.+|folder:.+")
_DISPLAY = re.compile(r"oled:0x[0-9a-fA-F]{2}|digits:[01]")


class SettingsError(Exception):
    """The settings file cannot be used; the message names file, line and key, and what to do, on one line."""


@dataclass(frozen=True, slots=True)
class GameSettings:
    """The game that is begun where nothing else is said. `lexicon` as `engine.lexicon.open_lexicon` takes it."""

    players: tuple[str, ...] = ("Player 1", "Player 2")
    tiles: str = "en"
    lexicon: str | None = None


@dataclass(frozen=True, slots=True)
class CameraSettings:
    """The camera, as `device.cameras.open_camera` takes it."""

    source: str = "pi"


@dataclass(frozen=True, slots=True)
class PageSettings:
    """Where the page is served; an empty `host` means on all networks.

    With `certificate` and `key` it is served over https too, at `secure_port`. `wifi` and its password are what phones
    at the table join; empty: nobody is told.
    """

    port: int = 8080
    host: str = ""
    certificate: Path | None = None
    key: Path | None = None
    secure_port: int = 8443
    wifi: str = ""
    wifi_password: str = ""


@dataclass(frozen=True, slots=True)
class DataSettings:
    """Where games are kept; None: in the user's own folder."""

    folder: Path | None = None


@dataclass(frozen=True, slots=True)
class PanelSettings:
    """Buttons, lights and displays; without `use` no pins are touched."""

    use: bool = True
    pins: Pins = field(default_factory=Pins)
    displays: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class VoiceSettings:
    """Whether the score is spoken."""

    use: bool = False


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that is set at one table."""

    game: GameSettings = field(default_factory=GameSettings)
    camera: CameraSettings = field(default_factory=CameraSettings)
    page: PageSettings = field(default_factory=PageSettings)
    data: DataSettings = field(default_factory=DataSettings)
    panel: PanelSettings = field(default_factory=PanelSettings)
    voice: VoiceSettings = field(default_factory=VoiceSettings)


def default_text() -> str:
    """The commented settings file with all defaults."""
    return (files("device") / "data" / "settings.toml").read_text(encoding="utf-8")


def settings_file() -> Path | None:
    """The settings file of this user or of this machine, if there is one (XDG base directories)."""
    return next((path for path in (user_file(), SYSTEM_FILE) if path.is_file()), None)


def user_file() -> Path:
    """Where a user has settings of their own, which come before the machine's."""
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "tilekeeper" / "settings.toml"


def load_settings(path: Path | None) -> Settings:
    """The settings in `path`; without a file the defaults. Raises `SettingsError`."""
    if path is None:
        return Settings()
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise SettingsError(f"{path} cannot be read ({error.strerror}): name another settings file") from error
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path} is no text in UTF-8: write the settings file anew") from error
    return parse_settings(text, str(path))


def parse_settings(text: str, name: str = "settings.toml") -> Settings:
    """The settings in `text`, which messages call `name`. Raises `SettingsError`."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{name} is not written as TOML: {error}; compare it with the default file") from error
    try:
        merged = _merge(tomllib.loads(default_text()), document)
        return Settings(
            game=_game(**merged["game"]),
            camera=_camera(**merged["camera"]),
            page=_page(**merged["page"]),
            data=_data(**merged["data"]),
            panel=_panel(**merged["panel"]),
            voice=VoiceSettings(**merged["voice"]),
        )
    except _Wrong as wrong:
        line = _line_of(text, wrong.table, wrong.key)
        where = f"{name}, line {line}" if line else name
        key = f"{wrong.table}.{wrong.key}" if wrong.key else wrong.table
        raise SettingsError(f"{where}: {key} {wrong.text}") from None


class _Wrong(Exception):  # noqa: N818 (becomes a SettingsError when its line is known)
    def __init__(self, table: str, key: str, text: str) -> None:
        self.table, self.key, self.text = table, key, text


def _merge(defaults: dict[str, Any], document: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The document over the defaults, which say what tables and keys there are, and of what kind. Raises `_Wrong`."""
    merged = {table: dict(values) for table, values in defaults.items()}
    for table, values in document.items():
        if table not in defaults:
            raise _Wrong(table, "", f"is not known: the tables are {', '.join(f'[{known}]' for known in defaults)}")
        if not isinstance(values, dict):
            raise _Wrong(table, "", f"must be a table: write [{table}] on a line of its own")
        for key, value in values.items():
            if key not in defaults[table]:
                raise _Wrong(table, key, f"is not known: [{table}] has {', '.join(defaults[table])}")
            if wanted := _other_kind(defaults[table][key], value):
                raise _Wrong(table, key, f"must be {wanted}")
            merged[table][key] = value
    return merged


def _other_kind(default: Any, value: Any) -> str:
    """What the value must be to be of the default's kind; empty where it is."""
    if isinstance(default, list):
        item = default[0] if default else ""
        if isinstance(value, list) and not any(_other_kind(item, one) for one in value):
            return ""
        return "a list of whole numbers: [5, 6]" if isinstance(item, int) else 'a list of texts: ["a", "b"]'
    kinds = {bool: "true or false", int: "a whole number", str: 'text in "quotes"'}
    return "" if type(value) is type(default) else kinds[type(default)]


def _game(players: list[str], tiles: str, lexicon: str) -> GameSettings:
    names = tuple(name.strip() for name in players)
    if not 2 <= len(names) <= 4 or len({*names} - {""}) < len(names):
        raise _Wrong("game", "players", "must be 2 to 4 different names")
    if tiles not in tile_set_names():
        raise _Wrong("game", "tiles", f"is {tiles!r}: choose one of {', '.join(tile_set_names())}")
    return GameSettings(names, tiles, lexicon or None)


def _camera(source: str) -> CameraSettings:
    if not _CAMERA.fullmatch(source):
        raise _Wrong("camera", "source", f'is {source!r}: write "pi", "usb:0" or "folder:/path"')
    return CameraSettings(source)


def _page(
    port: int, host: str, certificate: str, key: str, secure_port: int, wifi: str, wifi_password: str
) -> PageSettings:
    for name, number in (("port", port), ("secure_port", secure_port)):
        if not 1 <= number <= 65535:
            raise _Wrong("page", name, f"is {number}: choose a number from 1 to 65535")
    if bool(certificate) != bool(key):
        missing = "key" if certificate else "certificate"
        raise _Wrong("page", missing, "is missing: https needs a certificate and its key")
    if certificate and port == secure_port:
        raise _Wrong("page", "secure_port", "is the port of http: choose another one")
    if not wifi and wifi_password:
        raise _Wrong("page", "wifi", "is missing: name the Wi-Fi of this password")
    if len(wifi.encode()) > 32 or len(wifi_password.encode()) > 63:  # IEEE 802.11, 9.4.2.2 and J.4.1
        raise _Wrong("page", "wifi", "has up to 32 bytes, wifi_password up to 63")
    return PageSettings(port, host, _file(certificate), _file(key), secure_port, wifi, wifi_password)


def _file(named: str) -> Path | None:
    return Path(named).expanduser() if named else None


def _data(folder: str) -> DataSettings:
    return DataSettings(_file(folder))


def _panel(use: bool, displays: list[str], **pins: Any) -> PanelSettings:
    if len(displays) > MOST_DISPLAYS or not all(map(_DISPLAY.fullmatch, displays)):
        raise _Wrong("panel", "displays", 'may name two: "oled:0x3C" and "oled:0x3D", or "digits:0" and "digits:1"')
    try:
        return PanelSettings(use, Pins(**{key: _wired(value) for key, value in pins.items()}), tuple(displays))
    except PinsError as error:
        raise _Wrong("panel", error.key, error.text) from error


def _wired(value: Any) -> Any:
    """A pin or pins as `Pins` takes them: 0 in the file is not wired."""
    if isinstance(value, list):
        return tuple(value)
    return value if isinstance(value, bool) else value or None


def _line_of(text: str, table: str, key: str) -> int:
    """The line of a key, or of the table where the key is not found; 0 where neither is."""
    inside, found = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        if header := re.match(r"\s*\[\s*([\w-]+)\s*\]", line):
            inside = header[1]
            found = number if inside == table else found
        elif inside == table and key and re.match(rf"""\s*["']?{re.escape(key)}["']?\s*=""", line):
            return number
        elif not inside and re.match(rf"""\s*["']?{re.escape(table)}["']?\s*[.=]""", line):
            found = number
    return found


if __name__ == "__main__":  # python -m device.settings > ~/.config/tilekeeper/settings.toml
    print(default_text(), end="")
