"""The settings file of a table, in TOML; all settings have defaults, and error messages give the line.

`device/data/settings.toml` is a settings file with all defaults and comments. `device.settings_editor` changes a file.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from device.cameras import is_camera_spec
from device.cameras.listing import hide_credentials
from device.catalogue import get_text, list_languages
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
    parse_lost_tiles,
)
from device.storage.files import find_home_folder, may_exist
from device.storage.store import PictureLimits
from engine.board import layout_names
from engine.errors import RulesError, TilekeeperError
from engine.limits import MAX_PORT
from engine.rules import MAX_PLAYERS, MIN_PLAYERS, PRESETS
from engine.tiles import load_tile_set, playable_tile_set_names, tile_set_names

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


SYSTEM_SETTINGS_FILE = Path("/etc/tilekeeper/settings.toml")
SERVICE_DATA_FOLDER = Path("/var/lib/tilekeeper")
"""Folder in which the service of an installed table stores the games."""
MAX_DISPLAYS = 2
TURN_RANGE_S = (2, 120)
"""Smallest and largest allowed value of `CameraSettings.turn_seconds`, the time limit for reading a turn, in
seconds."""
MAX_WIFI_NAME_BYTES, MAX_WIFI_PASSWORD_BYTES = 32, 63
"""Largest lengths of a Wi-Fi name and password, in bytes (IEEE 802.11, 9.4.2.2 and J.4.1)."""
_DISPLAY_PATTERN = re.compile(r"oled:0x[0-9a-fA-F]{2}|digits:[01]")
_HOST_PATTERN = re.compile(r"[0-9A-Za-z.:%_-]*")
TABLE_PATTERN = re.compile(r"[\w.-][\w. -]{0,39}")  # a level of a topic: no /, + or #
_MAINS_HZ = (50, 60)
_BOARD_COLOURS = ("", "crossword-game", "classic-2008", "giant-deluxe-2020")
"""Editions whose board colours the page can show; empty means the colours of the table's own board."""
AUTO_CHOICES = ("off", "propose", "end")
AUTO_RANGE_S = (3, 120)
"""Smallest and largest allowed value of `TableSettings.auto_seconds`, the time without motion that ends a turn, in
seconds. The smallest value is three, because many players pause for up to three seconds while they place tiles."""
RULE_SETTINGS = {"preset": "rules", "challenge": "challenge", "minutes": "clock"}
"""The settings of `[game]` for one rule each, by field of `device.session.rule_choices`."""
_CHALLENGES = ("", *RULE_CHOICES["challenge"].values)
_PORT = Meta(extra={"range": (1, MAX_PORT)})


class SettingsError(TilekeeperError):
    """Error for an invalid or unreadable settings file; the message gives file, line, key and remedy on one line.

    If one setting is invalid, `path` is its section and key, and `reason` is the text without file, line and key.
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
    (minutes) and `more_rules` (`exchange=seven`) are choices of `device.session.rule_choices`; an empty value means the
    default of the rules. `first` is the name of the player who begins, or `draw`. `lost` are the tiles that the set
    does not have any more, such as `Q E`.
    """

    players: tuple[str, ...] = ("Player 1", "Player 2")
    tiles: Annotated[str, Meta(extra={"choices": playable_tile_set_names(), "texts": "tiles"})] = "en"
    lexicon: str | None = None
    lost: str = ""
    layout: Annotated[str, Meta(extra={"choices": layout_names(), "texts": "new.layouts"})] = "standard"
    rules: Annotated[str, Meta(extra={"choices": ("", *PRESETS), "texts": "new.presets"})] = ""
    challenge: Annotated[str, Meta(extra={"choices": _CHALLENGES, "texts": "new.challenges"})] = ""
    clock: int | str = ""
    first: str = ""
    more_rules: tuple[str, ...] = ()

    @property
    def rule_options(self) -> tuple[str, ...]:
        """The chosen rules as a list of options, in the format of `RuleChoice.parse`."""
        chosen = {field: str(getattr(self, name)) for field, name in RULE_SETTINGS.items()}
        return (*self.more_rules, *(f"{field}={value}" for field, value in chosen.items() if value))


class CameraSettings(_Section, frozen=True):
    """Choice of the camera; `source` is the argument of `device.cameras.listing.resolve_camera`.

    If reading a turn takes longer than `turn_seconds`, the players are asked. `mains_hz` is the frequency of the mains
    in Hz, at which lamps flicker.
    """

    source: Annotated[str, Meta(extra={"suggestions": ("auto", "pi", "pi:1", "usb:0", "phone", "phone-stream")})] = (
        "auto"
    )
    turn_seconds: Annotated[int, Meta(extra={"range": TURN_RANGE_S})] = 10
    mains_hz: Annotated[int, Meta(extra={"choices": _MAINS_HZ})] = 50


class PageSettings(_Section, frozen=True):
    """Address and ports of the page.

    - `host`: address at which the page is served; empty for all network interfaces.
    - `names`: further host names, such as that of a proxy.
    - `secure_port`: port for https. `certificate` and `key`: files for https; without them, the table makes a
      certificate.
    - `wifi`, `wifi_password`: shown to phones that need the Wi-Fi at the table. If `wifi` is empty, nothing is shown.
    - `language`: language for devices on which none was chosen; empty for the browser's language.
    - `board_colours`: edition in whose colours the board is drawn; empty for the colours of the table's own board.
    - `new_versions`: if True, the table checks once a day for a newer program.
    """

    port: Annotated[int, _PORT] = 8080
    host: str = ""
    certificate: Path | None = None
    key: Path | None = None
    secure_port: Annotated[int, _PORT] = 8443
    wifi: str = ""
    wifi_password: str = ""
    names: tuple[str, ...] = ()
    language: Annotated[str, Meta(extra={"choices": ("", *list_languages())})] = ""
    board_colours: Annotated[str, Meta(extra={"choices": _BOARD_COLOURS, "texts": "settings.board_colours"})] = ""
    new_versions: bool = False


class DataSettings(_Section, frozen=True):
    """Folder in which games are stored (None means the data folder of the user), and limits for the stored pictures.

    `pictures_mb` limits the size of all pictures in megabytes, and `pictures_days` their age in days (0: no limit).
    """

    folder: Path | None = None
    pictures_mb: Annotated[int, Meta(extra={"live": True, "range": (0, 1_000_000)})] = 4096
    pictures_days: Annotated[int, Meta(extra={"live": True, "range": (0, 36_500)})] = 365

    @property
    def picture_limits(self) -> PictureLimits:
        """The limits for the stored pictures."""
        return PictureLimits(self.pictures_mb * 2**20, self.pictures_days)


class PanelSettings(_Section, frozen=True):
    """Buttons, lights and displays on the pins; if `use` is False, the pins are not used."""

    use: bool = True
    pins: Pins = msgspec.field(default_factory=Pins)
    displays: tuple[str, ...] = ()


class TableSettings(_Section, frozen=True):
    """Settings for turns without a button.

    After `auto_seconds` without motion, a legal play ends the turn, or the end of the turn is proposed to the players.
    """

    auto: Annotated[str, Meta(extra={"choices": AUTO_CHOICES, "texts": "settings.auto"})] = "off"
    auto_seconds: Annotated[int, Meta(extra={"range": AUTO_RANGE_S})] = 5


class VoiceSettings(_Section, frozen=True):
    """Speech output; scores are spoken if `use` is True.

    `device` is the ALSA device that plays them (`aplay -L` lists them). If it is empty, the first USB loudspeaker is
    used, and without one the device that ALSA chooses.
    """

    use: bool = False
    device: Annotated[str, Meta(max_length=100)] = ""


class HallSettings(_Section, frozen=True):
    """The MQTT broker of the hall, to which the table publishes its games under the name `table`.

    If `host` is empty, nothing is published. With `ca`, a file of certificates, the connection uses TLS.
    `password_file` contains the password of `user`. If `home_assistant` is True, Home Assistant discovers the table
    over MQTT.
    """

    host: str = ""
    port: Annotated[int, _PORT] = 1883
    ca: Path | None = None
    user: str = ""
    password_file: Path | None = None
    table: str = ""
    home_assistant: bool = False


class Settings(_Section, frozen=True):
    """All settings of one table, by section."""

    game: GameSettings = GameSettings()
    camera: CameraSettings = CameraSettings()
    table: TableSettings = TableSettings()
    page: PageSettings = PageSettings()
    data: DataSettings = DataSettings()
    panel: PanelSettings = msgspec.field(default_factory=PanelSettings)
    voice: VoiceSettings = VoiceSettings()
    hall: HallSettings = HallSettings()


def find_settings_file() -> Path | None:
    """Return the path of the settings file of this user or of this machine, or None if there is neither.

    If the folder of the file may not be searched, the path is returned, too: `load_settings` then gives the reason.
    """
    return next(filter(may_exist, (find_user_settings_file(), SYSTEM_SETTINGS_FILE)), None)


def find_user_folder() -> Path:
    """Return the data folder of the user (XDG base directories), which may not exist. Raises `HomeFolderError`."""
    return Path(os.environ.get("XDG_DATA_HOME") or find_home_folder() / ".local" / "share") / "tilekeeper"


def find_user_settings_file() -> Path:
    """Return the path of the user's settings file (XDG base directories).

    This file takes precedence over `SYSTEM_SETTINGS_FILE`. Raises `HomeFolderError`.
    """
    return Path(os.environ.get("XDG_CONFIG_HOME") or find_home_folder() / ".config") / "tilekeeper" / "settings.toml"


def load_settings(path: Path | None) -> Settings:
    """Return the settings in a file, or the default settings if `path` is None. Raises `SettingsError`."""
    if path is None:
        return Settings()
    try:
        if path.exists() and not path.is_file():
            raise SettingsError(f"{path} is not a file. Name another settings file.")
        text = path.read_text(encoding="utf-8-sig")  # editors on Windows begin a file with a byte-order mark
    except (OSError, ValueError) as error:
        if isinstance(error, UnicodeDecodeError):
            raise SettingsError(f"{path} is not a text in UTF-8. Save it in UTF-8, or write it again.") from error
        reason = getattr(error, "strerror", None) or error
        raise SettingsError(f"{path} cannot be read ({reason}). Name another settings file.") from error
    return parse_settings(text, str(path))


def parse_settings(text: str, name: str = "settings.toml") -> Settings:
    """Return the settings in a TOML text; `name` is the file name for error messages. Raises `SettingsError`."""
    try:
        document = tomllib.loads(text)
    except ValueError as error:  # also for a number with more digits than Python converts
        raise SettingsError(f"{name} is not valid TOML: {error}. Compare it with the default file.") from error
    except RecursionError:
        raise _make_depth_error(name) from None
    try:
        return _build_settings(document)
    except RecursionError:  # a dotted key can be nested more deeply than any brackets that can be parsed
        raise _make_depth_error(name) from None
    except InvalidSettingError as error:
        line = find_line(text, error.path)
        message = f"{name}{f', line {line}' if line else ''}: {error}"
        raise SettingsError(message, error.path, error.text) from None


def _make_depth_error(name: str) -> SettingsError:
    return SettingsError(f"{name} is nested too deeply. Compare it with the default file.")


def _build_settings(document: dict[str, Any]) -> Settings:
    """Return the settings in a parsed TOML document. Raises `InvalidSettingError`."""
    for path, text in find_texts(document):
        if not all(map(is_displayable, text)):
            raise InvalidSettingError(path, get_text("setting-controls"))
    try:
        settings = msgspec.convert(prepare_document(document), Settings, dec_hook=decode_path)
    except msgspec.ValidationError as error:
        raise explain_error(error) from None
    check_game(settings.game)
    if not is_camera_spec(source := settings.camera.source):
        raise InvalidSettingError(("camera", "source"), get_text("setting-camera", repr(hide_credentials(source))))
    if (frequency := settings.camera.mains_hz) not in _MAINS_HZ:
        raise InvalidSettingError(("camera", "mains_hz"), get_text("setting-mains", frequency))
    _check_page(settings.page)
    hall = settings.hall
    if (hall.host or hall.table) and not TABLE_PATTERN.fullmatch(hall.table):
        raise InvalidSettingError(("hall", "table"), get_text("setting-table", repr(hall.table)))
    for section in ("camera", "table", "page", "data", "hall"):
        _check_values(section, getattr(settings, section))
    displays = settings.panel.displays
    if len(displays) > MAX_DISPLAYS or not all(map(_DISPLAY_PATTERN.fullmatch, displays)):
        raise InvalidSettingError(("panel", "displays"), get_text("setting-displays"))
    return settings


def check_game(game: GameSettings) -> None:
    """Raise `InvalidSettingError` for invalid players, rules, word list, tile set or layout."""
    names = game.players
    if not MIN_PLAYERS <= len(names) <= MAX_PLAYERS or len({*names} - {""}) < len(names):
        raise InvalidSettingError(("game", "players"), get_text("setting-players"))
    if any(len(name) > MAX_PLAYER_NAME_LENGTH for name in names):
        raise InvalidSettingError(("game", "players"), get_text("setting-long-names", MAX_PLAYER_NAME_LENGTH))
    if game.lexicon:
        try:
            Path(game.lexicon).expanduser()
        except RuntimeError:
            raise InvalidSettingError(("game", "lexicon"), get_text("setting-home", game.lexicon)) from None
    _check_rules(game)
    if game.tiles not in tile_set_names():
        raise InvalidSettingError(("game", "tiles"), describe_choices(game.tiles, playable_tile_set_names()))
    if squares := find_large_board(game.tiles):
        raise InvalidSettingError(("game", "tiles"), get_text("setting-board", repr(game.tiles), squares))
    try:
        parse_lost_tiles(game.lost, load_tile_set(game.tiles))
    except NewGameError as error:
        raise InvalidSettingError(("game", "lost"), get_text("setting-lost", error.values["choice"])) from None
    if game.layout not in layout_names():
        raise InvalidSettingError(("game", "layout"), describe_choices(game.layout, layout_names()))


def _check_rules(game: GameSettings) -> None:
    """Raise `InvalidSettingError` for invalid rules, or if `first` is not one of the players."""
    try:
        rules = make_rules(RuleChoice.parse(game.rule_options))
        rules.finish_lines(len(game.players))
    except NewGameError as error:
        key = RULE_SETTINGS.get(error.field, "more_rules")
        raise InvalidSettingError(("game", key), describe_choice(error)) from None
    except RulesError as error:
        raise InvalidSettingError(("game", "more_rules"), str(error)) from None
    if game.first and game.first not in (DRAW, *game.players):
        message = get_text("setting-first", repr(game.first), DRAW, ", ".join(game.players))
        raise InvalidSettingError(("game", "first"), message)


def _check_values(section: str, settings: _Section) -> None:
    """Raise `InvalidSettingError` for a value that is not in the range or the choices in the setting's annotation."""
    for field in msgspec.structs.fields(settings):
        value, extra = getattr(settings, field.name), find_extra(field.type)
        if "range" in extra and not extra["range"][0] <= value <= extra["range"][1]:
            raise InvalidSettingError((section, field.name), describe_range(value, *extra["range"]))
        if value not in extra.get("choices", (value,)):
            raise InvalidSettingError((section, field.name), describe_choices(value, filter(None, extra["choices"])))


def _check_page(page: PageSettings) -> None:
    """Raise `InvalidSettingError` for an invalid address, port, certificate or Wi-Fi."""
    if not _HOST_PATTERN.fullmatch(page.host):
        raise InvalidSettingError(("page", "host"), get_text("setting-host", repr(page.host)))
    if bool(page.certificate) != bool(page.key):
        missing = "key" if page.certificate else "certificate"
        raise InvalidSettingError(("page", missing), get_text("setting-https"))
    if page.certificate and page.port == page.secure_port:
        raise InvalidSettingError(("page", "secure_port"), get_text("setting-same-port"))
    if not page.wifi and page.wifi_password:
        raise InvalidSettingError(("page", "wifi"), get_text("setting-wifi"))
    if len(page.wifi.encode()) > MAX_WIFI_NAME_BYTES or len(page.wifi_password.encode()) > MAX_WIFI_PASSWORD_BYTES:
        message = get_text("setting-long-wifi", MAX_WIFI_NAME_BYTES, MAX_WIFI_PASSWORD_BYTES)
        raise InvalidSettingError(("page", "wifi"), message)


if __name__ == "__main__":  # python -m device.settings > ~/.config/tilekeeper/settings.toml
    print(read_default_text(), end="")
