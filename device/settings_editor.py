"""Changes of the settings file from a form; comments and unchanged settings in the file are kept.

The fields of the form are derived from the declarations in `device.settings` and the defaults in
`device/data/settings.toml`, so a new setting needs no change here. `find_unusable_setting` checks whether
this machine can use changed settings, so that a saved setting does not prevent the next start.
"""

from __future__ import annotations

import dataclasses
import errno
import hashlib
import socket
import ssl
import stat
import threading
import tomllib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, get_type_hints

import msgspec

from device.catalogue import get_text
from device.settings import Settings, SettingsError, find_extra, load_settings, parse_settings, read_default_text
from device.storage.files import may_exist, rename_aside, write_file

SettingPath = tuple[str, str]
"""Section and key of a setting."""
FindUnusable = Callable[[Settings, Collection[SettingPath], Settings], tuple[SettingPath, str] | None]
YES, NO = "yes", "no"
_BYTE_ORDER_MARK = "\ufeff"
_NEW_FILE_MODE = 0o600  # the file may contain the password of a Wi-Fi or of a camera


@dataclass(frozen=True)
class SettingsFile:
    """A settings file, which may be missing; `overrides` are the command-line options that replace its settings."""

    path: Path
    overrides: Mapping[SettingPath, str] = dataclasses.field(default_factory=dict)


@dataclass(frozen=True)
class SettingField:
    """A setting as a field of a form.

    `default` is the value in the default file; its type (bool, int, str or list) is the type of the setting. `choices`
    are all allowed values, or empty if the setting has no such list. `texts` is the prefix of the keys of the choices'
    texts in the catalogue. `suggestions` are examples of values. `is_live` is True if a change takes effect without a
    restart: at once, or with the next game.
    """

    section: str
    key: str
    default: Any
    choices: tuple[str, ...] = ()
    texts: str = ""
    suggestions: tuple[str, ...] = ()
    is_live: bool = False

    @property
    def path(self) -> SettingPath:
        """Section and key of the setting."""
        return self.section, self.key

    @property
    def name(self) -> str:
        """The name of the form field: `section.key`."""
        return f"{self.section}.{self.key}"

    @property
    def kind(self) -> str:
        """The kind of form field: `switch`, `number`, `choice`, `lines` (one text in each line) or `text`."""
        if self.choices:
            return "choice"
        if isinstance(self.default, list):
            return "text" if self._has_numbers else "lines"
        return {bool: "switch", int: "number"}.get(type(self.default), "text")

    def format(self, value: Any) -> str:
        """Return the text of the form field for a value from the settings file or from `Settings`."""
        if isinstance(value, list | tuple):
            return (", " if self._has_numbers else "\n").join(map(self.format, value))
        if isinstance(value, bool):
            return YES if value else NO
        return "" if value is None else str(value)

    def parse(self, text: str) -> Any:
        """Return the value for the settings file for a text that a user entered. An invalid number stays a text."""
        if isinstance(self.default, list):
            parts = text.split(",") if self._has_numbers else text.splitlines()
            return [_parse_number(part) if self._has_numbers else part.strip() for part in parts if part.strip()]
        if isinstance(self.default, bool):
            return {YES: True, NO: False}.get(text, text)
        return _parse_number(text) if isinstance(self.default, int) else text.strip()

    @property
    def _has_numbers(self) -> bool:
        return isinstance(self.default, list) and bool(self.default) and isinstance(self.default[0], int)


@dataclass(frozen=True)
class SettingsForm:
    """The settings file as a form: the text of each field, the errors by field, and the version of the file.

    `problem` is an error that belongs to no field. A file with a problem cannot be changed with the form, only as the
    text `source`, which is empty if the file cannot be read, or it must be replaced.
    """

    texts: Mapping[SettingPath, str]
    errors: Mapping[SettingPath, str]
    version: str
    problem: str = ""
    source: str = ""


class SettingsChangedError(SettingsError):
    """Error for a settings file that was changed after the form had been requested."""


@cache
def list_fields() -> tuple[SettingField, ...]:
    """Return the fields of all settings, in the order of the default file."""
    sections = get_type_hints(Settings)
    return tuple(
        _describe_field(sections[section], section, key, default)
        for section, table in tomllib.loads(read_default_text()).items()
        for key, default in table.items()
    )


def _describe_field(kind: type, section: str, key: str, default: object) -> SettingField:
    """Return the field of the setting `key` in the section class `kind`, with the data in its annotation."""
    annotation = get_type_hints(kind, include_extras=True).get(key)
    extra = find_extra(annotation)
    return SettingField(
        section,
        key,
        default,
        tuple(map(str, extra.get("choices", ()))),
        extra.get("texts", ""),
        extra.get("suggestions", ()),
        extra.get("live", section == "game"),
    )


class SettingsEditor:
    """Editor that reads the settings file as a form, and writes changed settings to the file.

    `running` are the settings of the running program, in which only fields with `is_live` change. `find_unusable` gets
    the new settings, the changed ones and those of the running program; it returns a setting that this machine cannot
    use, and the reason.

    An option of the command line replaces a setting until the setting is changed here.
    """

    def __init__(
        self,
        file: SettingsFile,
        running: Settings,
        find_unusable: FindUnusable = lambda _settings, _changed, _running: None,
    ) -> None:
        self.path = file.path
        self.overrides = dict(file.overrides)
        """The options of the command line whose settings were not changed since, by setting."""
        self.running = running
        """The settings of the running program."""
        self._apply: Callable[[Settings], None] = lambda _: None
        self._find_unusable = find_unusable
        self._lock = threading.Lock()

    def set_listener(self, apply: Callable[[Settings], None]) -> None:
        """Call `apply` with the settings of the running program after each change."""
        self._apply = apply

    def read(self) -> SettingsForm:
        """Return the settings file as a form, which includes the errors in the file."""
        try:
            if self.path.exists() and not self.path.is_file():  # a FIFO would wait for its writer
                raise OSError(errno.EINVAL, "no file", str(self.path))
            data = self.path.read_bytes()
            text = data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")  # as `load_settings` reads it
            document = tomllib.loads(text)
        except FileNotFoundError:
            data, text, document = b"", "", {}
        except OSError:
            return SettingsForm({}, {}, "", _find_problem(self.path))
        except (ValueError, RecursionError):
            source = data.decode("utf-8-sig", errors="ignore")
            return SettingsForm({}, {}, _make_version(data), _find_problem(self.path), source)
        errors, problem = _find_errors(text, self.path.name)
        overridden = {
            field.path: field.format(_get_value(self.running, field))
            for field in list_fields()
            if field.path in self.overrides
        }
        return SettingsForm({**_format_document(document), **overridden}, errors, _make_version(data), problem, text)

    def save(self, texts: Mapping[SettingPath, str], version: str) -> SettingsForm:
        """Write the changed settings to the file, and return the new form.

        If a value is invalid, nothing is written, and the returned form has `texts` and the errors. Raises
        `SettingsChangedError` if the file no longer has the version `version`, and `OSError` if it cannot be written.
        """
        with self._lock:
            form = self.read()
            if form.problem:
                return form
            if version != form.version:
                raise SettingsChangedError("the settings file was changed meanwhile")
            changes = self.find_changes(form.texts, texts)
            if not changes:
                return form
            new_text = self._change_text(changes)
            errors, problem = _find_errors(new_text.removeprefix(_BYTE_ORDER_MARK), self.path.name)
            if not errors and not problem:
                settings = parse_settings(new_text.removeprefix(_BYTE_ORDER_MARK), self.path.name)
                errors = dict(filter(None, [self._find_unusable(settings, tuple(changes), self.running)]))
            if errors or problem:
                return SettingsForm({**form.texts, **texts}, errors, version, problem)
            self._write(new_text)
            for path in changes:
                self.overrides.pop(path, None)
            self.running = self._update_running(load_settings(self.path))
        self._apply(self.running)
        return self.read()

    def _update_running(self, stored: Settings) -> Settings:
        """Return the settings of the running program with the stored values of the settings that are live."""
        running = self.running
        for field in list_fields():
            if field.is_live and field.path not in self.overrides:
                value = {field.key: _get_value(stored, field)}
                section = msgspec.structs.replace(getattr(running, field.section), **value)
                running = msgspec.structs.replace(running, **{field.section: section})
        return running

    def find_changes(
        self, before: Mapping[SettingPath, str], after: Mapping[SettingPath, str]
    ) -> dict[SettingPath, Any]:
        """Return the new values of the settings whose texts differ in value."""
        values = {
            field.path: (field.parse(before[field.path]), field.parse(after[field.path]))
            for field in list_fields()
            if field.path in after
        }
        return {path: new for path, (old, new) in values.items() if new != old}

    def save_source(self, source: str, version: str) -> SettingsForm:
        """Write the whole text of the settings file, and return the new form.

        If the text has a mistake, nothing is written, and the returned form has the text and the problem. Raises
        `SettingsChangedError` if the file no longer has the version `version`, and `OSError` if it cannot be written.
        """
        text = source.replace("\r\n", "\n")
        with self._lock:
            if version != self.read().version:
                raise SettingsChangedError("the settings file was changed meanwhile")
            try:
                settings = parse_settings(text, str(self.path))
            except SettingsError as error:
                return SettingsForm({}, {}, version, str(error), text)
            self._write(text)
        self._apply(settings)
        return self.read()

    def replace_by_defaults(self) -> None:
        """Replace the file by the default settings; the old file is kept under another name. Raises `OSError`."""
        with self._lock:
            if may_exist(self.path):
                rename_aside(self.path)
            self._write(read_default_text())

    def list_pending(self) -> tuple[SettingField, ...]:
        """Return the fields whose settings in the file differ from those of the running program."""
        try:
            stored = load_settings(self.path if self.path.exists() else None)
        except (SettingsError, OSError):
            return ()
        return tuple(
            field
            for field in list_fields()
            if field.path not in self.overrides
            and not field.is_live
            and _get_value(stored, field) != _get_value(self.running, field)
        )

    def _change_text(self, changes: Mapping[SettingPath, Any]) -> str:
        """Return the text of the settings file, or of the default file if there is none, with changed settings.

        Raises `SettingsError` if the text cannot be changed automatically.
        """
        import tomlkit  # only a changed setting needs it
        from tomlkit.exceptions import TOMLKitError

        text = self.path.read_bytes().decode() if self.path.is_file() else read_default_text()
        mark = _BYTE_ORDER_MARK if text.startswith(_BYTE_ORDER_MARK) else ""
        try:
            document = tomlkit.parse(text.removeprefix(mark))
            wanted = tomllib.loads(text.removeprefix(mark))
            for (section, key), value in changes.items():
                if section not in document:
                    document.append(section, tomlkit.table())
                _set_value(document[section], key, value)
                wanted.setdefault(section, {})[key] = value
            new_text = mark + tomlkit.dumps(document)
            if tomllib.loads(new_text.removeprefix(mark)) != wanted:
                raise SettingsError(f"{self.path} cannot be changed here. Edit it by hand.")
        except (TOMLKitError, tomllib.TOMLDecodeError) as error:
            raise SettingsError(f"{self.path} cannot be changed here. Edit it by hand.") from error
        return new_text

    def _write(self, text: str) -> None:
        """Write the settings file completely or not at all, with unchanged permissions. Raises `OSError`."""
        path = self.path.resolve()  # a symbolic link is kept, and its target written
        path.parent.mkdir(parents=True, exist_ok=True)
        mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else _NEW_FILE_MODE
        write_file(path, text.encode(), mode)


def _set_value(table: Any, key: str, value: object) -> None:
    """Set a value in a tomlkit table; a comment behind the value stays in its column if possible.

    It is not possible in a section whose lines are in several places of the file: tomlkit then has no items.
    """
    old = table.item(key) if key in table and hasattr(table, "item") else None
    table[key] = value
    if old is not None and old.trivia.comment:
        new = table.item(key)
        width = len(old.as_string()) + len(old.trivia.comment_ws)
        new.trivia.comment_ws = " " * max(1, width - len(new.as_string()))


def _find_problem(path: Path) -> str:
    """Return the reason why a settings file cannot be read, or an empty string."""
    try:
        load_settings(path)
    except SettingsError as error:
        return str(error)
    return ""


def _find_errors(text: str, name: str) -> tuple[dict[SettingPath, str], str]:
    """Return the first error in a settings text: as a dict by field, or as a text if it belongs to no field.

    The other item of the pair is empty; both are empty if there is no error. `name` is the file name for messages.
    """
    try:
        parse_settings(text, name)
    except SettingsError as error:
        for field in list_fields():
            if field.path == error.path[:2]:
                return {field.path: error.reason}, ""
        return {}, str(error)
    return {}, ""


def _format_document(document: Mapping[str, Any]) -> dict[SettingPath, str]:
    """Return the texts of all fields, with the defaults for missing settings."""
    tables = {key: table for key, table in document.items() if isinstance(table, dict)}
    return {
        field.path: field.format(tables.get(field.section, {}).get(field.key, field.default)) for field in list_fields()
    }


def _make_version(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def _get_value(settings: Settings, field: SettingField) -> object:
    section = getattr(settings, field.section)
    return getattr(section, field.key) if hasattr(section, field.key) else getattr(section.pins, field.key)


def _parse_number(text: str) -> int | str:
    digits = text.strip()
    return int(digits) if digits.isascii() and digits.removeprefix("-").isdecimal() and len(digits) < 10 else digits


_FOLDER_CAMERA = "folder:"


def find_unusable_setting(
    settings: Settings, changed: Collection[SettingPath], running: Settings
) -> tuple[SettingPath, str] | None:
    """Return the first of the changed settings with which the program would end at its next start, and the reason.

    Return None if there is no such setting. `changed` are the changed settings, and `running` the settings of the
    running program, whose own ports are in use.
    """
    page, camera = settings.page, settings.camera
    own_ports = (running.page.port, running.page.secure_port)
    for path in changed:
        if path in (("page", "port"), ("page", "secure_port")) and page.port == page.secure_port:
            return path, get_text("setting-same-port")
        try:
            match path:
                case "page", "host":
                    _open_port(page.host, 0)
                case "page", "port" if page.port not in own_ports:
                    _open_port(page.host, page.port)
                case "page", "secure_port" if page.secure_port not in own_ports:
                    _open_port(page.host, page.secure_port)
                case "page", "certificate" | "key" if page.certificate and page.key:
                    ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(page.certificate, page.key, password="")
                case "camera", "source" if camera.source.startswith(_FOLDER_CAMERA):
                    next(Path(camera.source.removeprefix(_FOLDER_CAMERA)).iterdir(), None)
                case "data", "folder" if folder := settings.data.folder:
                    folder.mkdir(parents=True, exist_ok=True)  # as the next start does
                    TemporaryFile(dir=folder).close()
        except (OSError, ValueError) as error:  # ssl.SSLError is an OSError, a wrong name of a host a ValueError
            if path == ("page", "host"):
                return path, get_text("setting-host", repr(page.host))
            value = getattr(getattr(settings, path[0]), path[1])
            return path, get_text("setting-unusable", str(value), getattr(error, "strerror", None) or str(error))
    return None


def _open_port(host: str, port: int) -> None:
    """Open a port of the page for a moment; port 0 stands for any free port. Raises `OSError`, `ValueError`."""
    socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET).close()
