"""The one settings file of a table: TOML, every value with a default, mistakes said with their line.

`device/data/settings.toml` is the commented file that holds all defaults; `read_default_text` gives it for writing out.
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
from engine.errors import TilekeeperError
from engine.tiles import tile_set_names

SYSTEM_SETTINGS_FILE = Path("/etc/tilekeeper/settings.toml")
SERVICE_DATA_FOLDER = Path("/var/lib/tilekeeper")
"""Where the service of an installed table keeps its games."""
MAX_DISPLAYS = 2

_CAMERA_PATTERN = re.compile(r"pi|usb:.+|folder:.+")
_DISPLAY_PATTERN = re.compile(r"oled:0x[0-9a-fA-F]{2}|digits:[01]")


class SettingsError(TilekeeperError):
    """The settings file cannot be used; the message names file, line and key, and what to do, on one line."""


@dataclass(frozen=True, slots=True)
class GameSettings:
    """The game to start if nothing else is chosen. `lexicon`: see `device.storage.lexicons.open_lexicon`."""

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


def read_default_text() -> str:
    """The commented settings file with all defaults."""
    return (files("device") / "data" / "settings.toml").read_text(encoding="utf-8")


def find_settings_file() -> Path | None:
    """The settings file of this user or of this machine, if there is one (XDG base directories)."""
    return next((path for path in (user_settings_file(), SYSTEM_SETTINGS_FILE) if path.is_file()), None)


def user_settings_file() -> Path:
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
        merged = _merge_with_defaults(tomllib.loads(read_default_text()), document)
        return Settings(
            game=_make_game_settings(**merged["game"]),
            camera=_make_camera_settings(**merged["camera"]),
            page=_make_page_settings(**merged["page"]),
            data=_make_data_settings(**merged["data"]),
            panel=_make_panel_settings(**merged["panel"]),
            voice=VoiceSettings(**merged["voice"]),
        )
    except _InvalidSettingError as wrong:
        line = _find_line(text, wrong.section, wrong.key)
        where = f"{name}, line {line}" if line else name
        key = f"{wrong.section}.{wrong.key}" if wrong.key else wrong.section
        raise SettingsError(f"{where}: {key} {wrong.text}") from None


class _InvalidSettingError(TilekeeperError):
    def __init__(self, table: str, key: str, text: str) -> None:
        self.section, self.key, self.text = table, key, text


def _merge_with_defaults(defaults: dict[str, Any], document: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The document over the defaults, which say what tables and keys there are, and of what kind. Raises
    `_InvalidSettingError`."""
    merged = {table: dict(values) for table, values in defaults.items()}
    for table, values in document.items():
        if table not in defaults:
            raise _InvalidSettingError(
                table, "", f"is not known: the tables are {', '.join(f'[{known}]' for known in defaults)}"
            )
        if not isinstance(values, dict):
            raise _InvalidSettingError(table, "", f"must be a table: write [{table}] on a line of its own")
        for key, value in values.items():
            if key not in defaults[table]:
                raise _InvalidSettingError(table, key, f"is not known: [{table}] has {', '.join(defaults[table])}")
            if wanted := _describe_expected_type(defaults[table][key], value):
                raise _InvalidSettingError(table, key, f"must be {wanted}")
            merged[table][key] = value
    return merged


def _describe_expected_type(default: Any, value: Any) -> str:
    """What the value must be to be of the default's kind; empty where it is."""
    if isinstance(default, list):
        item = default[0] if default else ""
        if isinstance(value, list) and not any(_describe_expected_type(item, one) for one in value):
            return ""
        return "a list of whole numbers: [5, 6]" if isinstance(item, int) else 'a list of texts: ["a", "b"]'
    kinds = {bool: "true or false", int: "a whole number", str: 'text in "quotes"'}
    return "" if type(value) is type(default) else kinds[type(default)]


def _make_game_settings(players: list[str], tiles: str, lexicon: str) -> GameSettings:
    names = tuple(name.strip() for name in players)
    if not 2 <= len(names) <= 4 or len({*names} - {""}) < len(names):
        raise _InvalidSettingError("game", "players", "must be 2 to 4 different names")
    if tiles not in tile_set_names():
        raise _InvalidSettingError("game", "tiles", f"is {tiles!r}: choose one of {', '.join(tile_set_names())}")
    return GameSettings(names, tiles, lexicon or None)


def _make_camera_settings(source: str) -> CameraSettings:
    if not _CAMERA_PATTERN.fullmatch(source):
        raise _InvalidSettingError("camera", "source", f'is {source!r}: write "pi", "usb:0" or "folder:/path"')
    return CameraSettings(source)


def _make_page_settings(
    port: int, host: str, certificate: str, key: str, secure_port: int, wifi: str, wifi_password: str
) -> PageSettings:
    for name, number in (("port", port), ("secure_port", secure_port)):
        if not 1 <= number <= 65535:
            raise _InvalidSettingError("page", name, f"is {number}: choose a number from 1 to 65535")
    if bool(certificate) != bool(key):
        missing = "key" if certificate else "certificate"
        raise _InvalidSettingError("page", missing, "is missing: https needs a certificate and its key")
    if certificate and port == secure_port:
        raise _InvalidSettingError("page", "secure_port", "is the port of http: choose another one")
    if not wifi and wifi_password:
        raise _InvalidSettingError("page", "wifi", "is missing: name the Wi-Fi of this password")
    if len(wifi.encode()) > 32 or len(wifi_password.encode()) > 63:  # IEEE 802.11, 9.4.2.2 and J.4.1
        raise _InvalidSettingError("page", "wifi", "has up to 32 bytes, wifi_password up to 63")
    return PageSettings(port, host, _parse_path(certificate), _parse_path(key), secure_port, wifi, wifi_password)


def _parse_path(named: str) -> Path | None:
    return Path(named).expanduser() if named else None


def _make_data_settings(folder: str) -> DataSettings:
    return DataSettings(_parse_path(folder))


def _make_panel_settings(use: bool, displays: list[str], **pins: Any) -> PanelSettings:
    if len(displays) > MAX_DISPLAYS or not all(map(_DISPLAY_PATTERN.fullmatch, displays)):
        raise _InvalidSettingError(
            "panel", "displays", 'may name two: "oled:0x3C" and "oled:0x3D", or "digits:0" and "digits:1"'
        )
    try:
        return PanelSettings(use, Pins(**{key: _parse_pins(value) for key, value in pins.items()}), tuple(displays))
    except PinsError as error:
        raise _InvalidSettingError("panel", error.key, error.text) from error


def _parse_pins(value: Any) -> Any:
    """A pin or pins as `Pins` takes them: 0 in the file is not wired."""
    if isinstance(value, list):
        return tuple(value)
    return value if isinstance(value, bool) else value or None


def _find_line(text: str, table: str, key: str) -> int:
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
    print(read_default_text(), end="")
