"""The settings file of a table, in TOML; all settings have defaults, and error messages give the line.

`device/data/settings.toml` is a settings file with all defaults and comments; `read_default_text` returns its text.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import fields
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from device.cameras.addresses import hide_credentials
from device.panel.buttons import Pins, PinsError
from device.player_names import MAX_PLAYER_NAME_LENGTH, is_displayable
from device.session.rule_choices import (
    DRAW,
    RULE_CHOICES,
    NewGameError,
    RuleChoice,
    describe_choice,
    find_large_board,
    make_rules,
)
from device.storage.picture_limits import PictureLimits
from device.toml_text import find_line
from engine.board import layout_names
from engine.errors import RulesError, TilekeeperError
from engine.rules import PRESETS
from engine.tiles import playable_tile_set_names, tile_set_names

SYSTEM_SETTINGS_FILE = Path("/etc/tilekeeper/settings.toml")
SERVICE_DATA_FOLDER = Path("/var/lib/tilekeeper")
"""Folder in which the service of an installed table stores games."""
MAX_DISPLAYS = 2
MIN_TURN_S, MAX_TURN_S = 2, 120
"""Limits of the time for the reading of a turn, in seconds."""
MAX_PICTURES_MB, MAX_PICTURES_DAYS = 1_000_000, 36_500
MAX_WIFI_NAME_BYTES, MAX_WIFI_PASSWORD_BYTES = 32, 63
"""Largest lengths of a Wi-Fi name and password (IEEE 802.11, 9.4.2.2 and J.4.1)."""

_CAMERA_PATTERN = re.compile(r"pi(:\d)?|phone|usb:.+|folder:.+|(https?|rtsps?)://.+")
_DISPLAY_PATTERN = re.compile(r"oled:0x[0-9a-fA-F]{2}|digits:[01]")
_HOST_PATTERN = re.compile(r"[0-9A-Za-z.:%_-]*")
_CHALLENGES = ("", *RULE_CHOICES["challenge"][1])
_PIN_KEYS = {pin.name for pin in fields(Pins)}
_EMPTY_IS_DEFAULT = (("game", "lexicon"), ("page", "certificate"), ("page", "key"), ("data", "folder"))
"""Settings for which an empty text means the default."""


class SettingsError(TilekeeperError):
    """An invalid or unreadable settings file; the message gives file, line, key and remedy on one line.

    If one setting is invalid, `path` is its section and key, and `reason` is the error alone.
    """

    def __init__(self, text: str, path: tuple[str, ...] = (), reason: str = "") -> None:
        super().__init__(text)
        self.path, self.reason = path, reason


class _Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Base class of the sections of the settings file; a section is a TOML table.

    `Meta(extra=...)` describes a field of the settings page (`device.settings_editor.SettingField`).
    """


class GameSettings(_Section, frozen=True):
    """Default choices for a new game: players, tile set, word list, board layout and rules.

    `lexicon` is the argument `choice` of `device.storage.lexicons.open_lexicon`. `rules`, `challenge`, `clock`
    (minutes) and `more_rules` (`exchange=seven`) are choices of `device.session.rule_choices`. `first` is the name of
    the player who begins, or `draw`. For an empty value, the default of the rules applies.
    """

    players: tuple[str, ...] = ("Player 1", "Player 2")
    tiles: Annotated[str, Meta(extra={"choices": playable_tile_set_names(), "texts": "tiles"})] = "en"
    lexicon: str | None = None
    layout: Annotated[str, Meta(extra={"choices": layout_names(), "texts": "new.layouts"})] = "standard"
    rules: Annotated[str, Meta(extra={"choices": ("", *PRESETS), "texts": "new.presets"})] = ""
    challenge: Annotated[
        str, Meta(extra={"choices": ("", *RULE_CHOICES["challenge"][1]), "texts": "new.challenges"})
    ] = ""
    clock: int | str = ""
    first: str = ""
    more_rules: tuple[str, ...] = ()

    @property
    def rule_options(self) -> tuple[str, ...]:
        """The chosen rules as a list of options, in the format of `RuleChoice.parse`."""
        chosen = (("preset", self.rules), ("challenge", self.challenge), ("minutes", str(self.clock)))
        return (*self.more_rules, *(f"{field}={value}" for field, value in chosen if value))


class CameraSettings(_Section, frozen=True):
    """Choice of the camera; `source` is the argument of `device.cameras.open_camera`.

    If a turn is not read after `turn_seconds`, the players are asked. `mains_hz` is the frequency of the mains in Hz,
    with which lamps flicker.
    """

    source: Annotated[str, Meta(extra={"suggestions": ("pi", "pi:1", "usb:0", "phone")})] = "pi"
    turn_seconds: int = 10
    mains_hz: Annotated[int, Meta(extra={"choices": (50, 60)})] = 50


class PageSettings(_Section, frozen=True):
    """Address and ports of the page; an empty `host` means that the page is served on all network interfaces.

    `names` are further host names of the page, for example the name of a proxy. If `certificate` and `key` are set, the
    page is also served over https, at `secure_port`. `wifi` and `wifi_password` are the name and password of the Wi-Fi
    for phones at the table; if `wifi` is empty, the page does not show a Wi-Fi.
    """

    port: int = 8080
    host: str = ""
    certificate: Path | None = None
    key: Path | None = None
    secure_port: int = 8443
    wifi: str = ""
    wifi_password: str = ""
    names: tuple[str, ...] = ()


class DataSettings(_Section, frozen=True):
    """Folder in which games are stored (None means the data folder of the user), and limits for the stored pictures.

    `pictures_mb` is the size of all pictures in megabytes. `pictures_days` is their age in days, 0 for any age.
    """

    folder: Path | None = None
    pictures_mb: Annotated[int, Meta(extra={"live": True})] = 4096
    pictures_days: Annotated[int, Meta(extra={"live": True})] = 365

    @property
    def picture_limits(self) -> PictureLimits:
        """The limits for the stored pictures."""
        return PictureLimits(self.pictures_mb * 2**20, self.pictures_days)


class PanelSettings(_Section, frozen=True):
    """Buttons, lights and displays on the pins; if `use` is False, the pins are not used."""

    use: bool = True
    pins: Pins = msgspec.field(default_factory=Pins)
    displays: tuple[str, ...] = ()


class VoiceSettings(_Section, frozen=True):
    """Speech output; scores are spoken if `use` is True."""

    use: bool = False


class Settings(_Section, frozen=True):
    """All settings of one table, by section."""

    game: GameSettings = GameSettings()
    camera: CameraSettings = CameraSettings()
    page: PageSettings = PageSettings()
    data: DataSettings = DataSettings()
    panel: PanelSettings = msgspec.field(default_factory=PanelSettings)
    voice: VoiceSettings = VoiceSettings()


class _InvalidSettingError(TilekeeperError):
    """An invalid setting: `path` is its section and key, and the message gives the error or the remedy."""

    def __init__(self, path: tuple[str, ...], text: str) -> None:
        super().__init__(f"{'.'.join(path)} {text}")
        self.path, self.text = path, text


def read_default_text() -> str:
    """Return the text of the settings file with all defaults and comments."""
    return (files("device") / "data" / "settings.toml").read_text(encoding="utf-8")


def find_settings_file() -> Path | None:
    """Return the path of the settings file of this user or of this machine, or None if there is neither."""
    return next((path for path in (user_settings_file(), SYSTEM_SETTINGS_FILE) if path.is_file()), None)


def user_settings_file() -> Path:
    """Return the path of the user's settings file (XDG base directories).

    This file takes precedence over `SYSTEM_SETTINGS_FILE`.
    """
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "tilekeeper" / "settings.toml"


def load_settings(path: Path | None) -> Settings:
    """Return the settings in a file, or the default settings if `path` is None. Raises `SettingsError`."""
    if path is None:
        return Settings()
    try:
        if path.exists() and not path.is_file():
            raise SettingsError(f"{path} is no file: name another settings file")
        text = path.read_text(encoding="utf-8-sig")  # editors on Windows begin a file with a byte-order mark
    except (OSError, ValueError) as error:
        if isinstance(error, UnicodeDecodeError):
            raise SettingsError(f"{path} is no text in UTF-8: save it in UTF-8, or write it again") from error
        reason = getattr(error, "strerror", None) or error
        raise SettingsError(f"{path} cannot be read ({reason}): name another settings file") from error
    return parse_settings(text, str(path))


def parse_settings(text: str, name: str = "settings.toml") -> Settings:
    """Return the settings in a TOML text; `name` is the file name for error messages. Raises `SettingsError`."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{name} is not written as TOML: {error}; compare it with the default file") from error
    except RecursionError:
        raise SettingsError(f"{name} is nested too deeply: compare it with the default file") from None
    try:
        return _build_settings(document)
    except _InvalidSettingError as error:
        line = find_line(text, error.path)
        message = f"{name}{f', line {line}' if line else ''}: {error}"
        raise SettingsError(message, error.path, error.text) from None


def _build_settings(document: dict[str, Any]) -> Settings:
    """Return the settings in a parsed TOML document. Raises `_InvalidSettingError`."""
    for path, text in _find_texts(document):
        if not all(map(is_displayable, text)):
            raise _InvalidSettingError(path, "has control characters: leave them out")
    try:
        settings = msgspec.convert(_prepare_document(document), Settings, dec_hook=_decode_path)
    except msgspec.ValidationError as error:
        raise _explain_error(error) from None
    _check_game(settings.game)
    if not _CAMERA_PATTERN.fullmatch(source := settings.camera.source):
        kinds = '"pi", "phone", "usb:0", "http://...", "rtsp://..." or "folder:/path"'
        text = f"is {hide_credentials(source)!r}: write {kinds}"
        raise _InvalidSettingError(("camera", "source"), text)
    if not MIN_TURN_S <= (seconds := settings.camera.turn_seconds) <= MAX_TURN_S:
        text = f"is {seconds}: choose a number from {MIN_TURN_S} to {MAX_TURN_S}"
        raise _InvalidSettingError(("camera", "turn_seconds"), text)
    if (frequency := settings.camera.mains_hz) not in (50, 60):
        raise _InvalidSettingError(("camera", "mains_hz"), f"is {frequency}: choose 50 or 60")
    _check_page(settings.page)
    _check_data(settings.data)
    displays = settings.panel.displays
    if len(displays) > MAX_DISPLAYS or not all(map(_DISPLAY_PATTERN.fullmatch, displays)):
        text = 'may name two: "oled:0x3C" and "oled:0x3D", or "digits:0" and "digits:1"'
        raise _InvalidSettingError(("panel", "displays"), text)
    return settings


def _find_texts(value: object, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield each text in a TOML document with its path (the keys from the root to the text)."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield (*path, key), key
            yield from _find_texts(inner, (*path, key))
    elif isinstance(value, list):
        for inner in value:
            yield from _find_texts(inner, path)


def _prepare_document(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document in the structure of `Settings`.

    The pins are moved from `panel` to a table `panel.pins`, where the pin number 0 becomes None (not wired). Empty
    texts that mean the default are removed.
    """
    prepared = {key: dict(value) if isinstance(value, dict) else value for key, value in document.items()}
    for section, key in _EMPTY_IS_DEFAULT:
        if isinstance(table := prepared.get(section), dict) and table.get(key) == "":
            del table[key]
    if isinstance(panel := prepared.get("panel"), dict):
        if "pins" in panel:
            raise _InvalidSettingError(("panel", "pins"), "is not known: name each pin by itself")
        pins = {key: panel.pop(key) for key in _PIN_KEYS & panel.keys()}
        panel["pins"] = {key: None if type(value) is int and value == 0 else value for key, value in pins.items()}
    if isinstance(game := prepared.get("game"), dict) and isinstance(game.get("players"), list):
        game["players"] = [name.strip() if isinstance(name, str) else name for name in game["players"]]
    return prepared


def _decode_path(kind: type, value: object) -> Path:
    """Convert the text of a setting to a path with `~` expanded; a hook for msgspec.

    msgspec adds the path of the setting to the message of a `ValueError`.
    """
    if kind is not Path or not isinstance(value, str):
        raise ValueError("Expected `str`")
    try:
        return Path(value).expanduser()
    except RuntimeError:
        raise ValueError(f"names the home of an unknown user: {value}") from None


def _explain_error(error: msgspec.ValidationError) -> _InvalidSettingError:
    """Convert an error of msgspec, such as "Expected `int`, got `str` - at `$.page.port`", to a message for users."""
    if isinstance(pins := error.__cause__, PinsError):
        return _InvalidSettingError(("panel", pins.key), pins.text)
    what, _, where = str(error).partition(" - at `$")
    path = tuple(key for key in re.findall(r"\.(\w+)", where) if key != "pins")
    defaults = tomllib.loads(read_default_text())
    if unknown := re.fullmatch(r"Object contains unknown field `(.*)`", what):
        known = (
            f"[{path[0]}] has {', '.join(defaults[path[0]])}" if path else f"the tables are [{'], ['.join(defaults)}]"
        )
        return _InvalidSettingError((*path, unknown[1]), f"is not known: {known}")
    if not what.startswith("Expected"):
        return _InvalidSettingError(path, what)
    if len(path) == 1:
        return _InvalidSettingError(path, f"must be a table: write [{path[0]}] on a line of its own")
    default = defaults[path[0]][path[1]]
    if isinstance(default, list):
        numbers = default and isinstance(default[0], int)
        kind = "a list of whole numbers: [5, 6]" if numbers else 'a list of texts: ["a", "b"]'
    else:
        kind = {bool: "true or false", int: "a whole number", str: 'text in "quotes"'}[type(default)]
    return _InvalidSettingError(path, f"must be {kind}")


def _check_game(game: GameSettings) -> None:
    """Raise `_InvalidSettingError` for invalid players, rules, word list or tile set."""
    names = game.players
    if not 2 <= len(names) <= 4 or len({*names} - {""}) < len(names):
        raise _InvalidSettingError(("game", "players"), "must be 2 to 4 different names")
    if any(len(name) > MAX_PLAYER_NAME_LENGTH for name in names):
        raise _InvalidSettingError(("game", "players"), f"must be names of up to {MAX_PLAYER_NAME_LENGTH} letters")
    if game.lexicon:
        try:
            Path(game.lexicon).expanduser()
        except RuntimeError:
            text = f"names the home of an unknown user: {game.lexicon}"
            raise _InvalidSettingError(("game", "lexicon"), text) from None
    _check_rules(game)
    if game.tiles not in tile_set_names():
        text = f"is {game.tiles!r}: choose one of {', '.join(playable_tile_set_names())}"
        raise _InvalidSettingError(("game", "tiles"), text)
    if squares := find_large_board(game.tiles):
        raise _InvalidSettingError(("game", "tiles"), f"is {game.tiles!r}, which needs a board of {squares} squares")
    if game.layout not in layout_names():
        text = f"is {game.layout!r}: choose one of {', '.join(layout_names())}"
        raise _InvalidSettingError(("game", "layout"), text)


def _check_rules(game: GameSettings) -> None:
    """Raise `_InvalidSettingError` if the rules are not offered, or if `first` is not one of the players."""
    try:
        rules = make_rules(RuleChoice.parse(game.rule_options))
        rules.finish_lines(len(game.players))
    except NewGameError as error:
        key = {"preset": "rules", "challenge": "challenge", "minutes": "clock"}.get(error.field, "more_rules")
        raise _InvalidSettingError(("game", key), f"has {describe_choice(error)}") from None
    except RulesError as error:
        raise _InvalidSettingError(("game", "more_rules"), f"names {error}") from None
    if game.first and game.first not in (DRAW, *game.players):
        text = f"is {game.first!r}: choose {DRAW} or one of {', '.join(game.players)}"
        raise _InvalidSettingError(("game", "first"), text)


def _check_page(page: PageSettings) -> None:
    """Raise `_InvalidSettingError` for an invalid address, port, certificate or Wi-Fi."""
    for key, number in (("port", page.port), ("secure_port", page.secure_port)):
        if not 1 <= number <= 65535:
            raise _InvalidSettingError(("page", key), f"is {number}: choose a number from 1 to 65535")
    if not _HOST_PATTERN.fullmatch(page.host):
        raise _InvalidSettingError(("page", "host"), f"is {page.host!r}: write an address or a name of this machine")
    if bool(page.certificate) != bool(page.key):
        missing = "key" if page.certificate else "certificate"
        raise _InvalidSettingError(("page", missing), "is missing: https needs a certificate and its key")
    if page.certificate and page.port == page.secure_port:
        raise _InvalidSettingError(("page", "secure_port"), "is the port of http: choose another one")
    if not page.wifi and page.wifi_password:
        raise _InvalidSettingError(("page", "wifi"), "is missing: name the Wi-Fi of this password")
    if len(page.wifi.encode()) > MAX_WIFI_NAME_BYTES or len(page.wifi_password.encode()) > MAX_WIFI_PASSWORD_BYTES:
        text = f"has up to {MAX_WIFI_NAME_BYTES} bytes, wifi_password up to {MAX_WIFI_PASSWORD_BYTES}"
        raise _InvalidSettingError(("page", "wifi"), text)


def _check_data(data: DataSettings) -> None:
    """Raise `_InvalidSettingError` for limits of the stored pictures that are out of range."""
    for key, number, most in (
        ("pictures_mb", data.pictures_mb, MAX_PICTURES_MB),
        ("pictures_days", data.pictures_days, MAX_PICTURES_DAYS),
    ):
        if not 0 <= number <= most:
            raise _InvalidSettingError(("data", key), f"is {number}: choose a number from 0 to {most}")


if __name__ == "__main__":  # python -m device.settings > ~/.config/tilekeeper/settings.toml
    print(read_default_text(), end="")
