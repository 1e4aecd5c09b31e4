"""The settings file as a form: what changes is written, and everything else in the file stays as it is."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from device.settings import Settings, SettingsError, load_settings, parse_settings, read_default_text
from device.settings_editor import (
    SettingField,
    SettingPath,
    SettingsChangedError,
    SettingsEditor,
    SettingsFile,
    SettingsForm,
    list_fields,
)
from tests.support.waiting import PATIENCE_S

BY_NAME = {field.name: field for field in list_fields()}
WRITTEN = """# My table.
[game]
players = [  # the family
    "Anna", "Ben",
]
clock = 25

[camera]
source = "usb:0"    # on the shelf
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "settings.toml"
    path.write_text(WRITTEN, encoding="utf-8")
    return path


@pytest.fixture
def editor(path: Path) -> SettingsEditor:
    return SettingsEditor(SettingsFile(path), load_settings(path))


def save(editor: SettingsEditor, **changes: str) -> SettingsForm:
    """Save the form as it is shown but for `changes`, whose names have `__` in place of the point."""
    form = editor.read()
    changed: dict[SettingPath, str] = {BY_NAME[name.replace("__", ".")].path: text for name, text in changes.items()}
    return editor.save({**form.texts, **changed}, form.version)


def test_fields_are_those_of_the_default_file() -> None:
    defaults = tomllib.loads(read_default_text())
    assert [field.path for field in list_fields()] == [(name, key) for name, table in defaults.items() for key in table]


@pytest.mark.parametrize(
    ("name", "kind"),
    [("game.players", "lines"), ("game.tiles", "choice"), ("camera.mains_hz", "choice"), ("page.port", "number"),
     ("page.host", "text"), ("panel.end_turn", "text"), ("panel.use", "switch")],
)  # fmt: skip
def test_field_kind_follows_from_the_declaration(name: str, kind: str) -> None:
    assert BY_NAME[name].kind == kind


@pytest.mark.parametrize("field", list_fields(), ids=lambda field: field.name)
def test_default_is_one_of_the_choices(field: SettingField) -> None:
    assert not field.choices or field.format(field.default) in field.choices


def test_changed_setting_keeps_comments(editor: SettingsEditor, path: Path) -> None:
    assert not save(editor, camera__source="phone").errors
    assert path.read_text(encoding="utf-8") == WRITTEN.replace('"usb:0"   ', '"phone"   ')


def test_longer_value_keeps_the_column_of_its_comment(editor: SettingsEditor, path: Path) -> None:
    save(editor, camera__source="usb:10")
    assert 'source = "usb:10"   # on the shelf' in path.read_text(encoding="utf-8")


def test_setting_without_a_section_is_added(editor: SettingsEditor, path: Path) -> None:
    save(editor, voice__use="yes", page__port="8081", panel__end_turn="26", page__names="a.example\r\nb.example")
    assert path.read_text(encoding="utf-8").startswith(WRITTEN)
    settings = load_settings(path)
    assert settings.voice.use and settings.page.port == 8081 and settings.panel.pins.end_turn == (26,)
    assert settings.page.names == ("a.example", "b.example") and settings.game.players == ("Anna", "Ben")


def test_setting_of_a_section_in_several_places_is_changed(editor: SettingsEditor, path: Path) -> None:
    path.write_text('game.tiles = "en"  # ours\npage.port = 8080\ngame.clock = 25\n', encoding="utf-8")
    assert not save(editor, game__tiles="de", page__port="8081").errors
    settings = load_settings(path)
    assert (settings.game.tiles, settings.page.port, settings.game.clock) == ("de", 8081, 25)


def test_file_that_became_a_fifo_is_a_problem_of_the_form(editor: SettingsEditor, path: Path) -> None:
    path.unlink()
    os.mkfifo(path)
    with ThreadPoolExecutor(1) as worker:
        form = worker.submit(editor.read)
        try:
            assert "is not a file" in form.result(PATIENCE_S).problem
        finally:
            with suppress(OSError):  # lets a reader that waits go on
                os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))


def test_missing_file_is_written_from_the_default_file(tmp_path: Path) -> None:
    path = tmp_path / "tilekeeper" / "settings.toml"
    editor = SettingsEditor(SettingsFile(path), Settings())
    save(editor)
    assert not path.exists()
    save(editor, camera__source="usb:0")
    assert load_settings(path).camera.source == "usb:0" and "# 2 to 4 names" in path.read_text(encoding="utf-8")
    assert path.stat().st_mode & 0o777 == 0o600


def test_permissions_of_the_file_are_kept(editor: SettingsEditor, path: Path) -> None:
    path.chmod(0o640)
    save(editor, camera__source="phone")
    assert path.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("camera__source", "webcam", "'webcam' is not a camera. Enter"),
        ("camera__turn_seconds", "soon", "Enter a whole number"),
        ("camera__turn_seconds", "1", "Choose a number from 2 to 120"),
        ("page__port", "", "Enter a whole number"),
        ("panel__use", "perhaps", "Enter true or false"),
        ("panel__end_turn", "5, x", "Enter only whole numbers"),
        ("panel__buzzer", "5", "is already used by end_turn"),
        ("game__players", "Anna", "Enter 2 to 4 different names"),
        ("page__wifi", "home\x07", "has control characters"),
    ],
)
def test_invalid_value_is_not_written(editor: SettingsEditor, path: Path, name: str, text: str, reason: str) -> None:
    form = save(editor, **{name: text})
    field = BY_NAME[name.replace("__", ".")]
    assert list(form.errors) == [field.path] and reason in form.errors[field.path]
    assert form.texts[field.path] == text and path.read_text(encoding="utf-8") == WRITTEN


def test_form_of_an_older_file_is_refused(editor: SettingsEditor, path: Path) -> None:
    form = editor.read()
    path.write_text("[voice]\nuse = true\n", encoding="utf-8")
    with pytest.raises(SettingsChangedError):
        editor.save({**form.texts, ("page", "port"): "81"}, form.version)
    assert path.read_text(encoding="utf-8") == "[voice]\nuse = true\n"


@pytest.mark.parametrize(
    "data",
    [b"[game\nplayers = [", b"[page]\nport = 80\nport = 81\n", b"\xff\xfe[", b"page = 5\n", b"[page]\nprot = 1\n"],
)
def test_file_that_cannot_be_used_is_only_replaced(editor: SettingsEditor, path: Path, data: bytes) -> None:
    path.write_bytes(data)
    assert editor.read().problem
    assert editor.save({("page", "port"): "81"}, editor.read().version).problem and path.read_bytes() == data
    editor.replace_by_defaults()
    assert load_settings(path) == Settings() and [
        old.read_bytes() for old in path.parent.glob("settings.toml.old-*")
    ] == [data]


def test_invalid_value_in_the_file_is_shown_at_its_field(editor: SettingsEditor, path: Path) -> None:
    path.write_text("[page]\nport = 0\n", encoding="utf-8")
    form = editor.read()
    assert list(form.errors) == [("page", "port")] and not form.problem and form.texts["page", "port"] == "0"
    assert not save(editor, page__port="8080").errors


@pytest.mark.parametrize("text", ["[camera]\nmains_hz = [50]", '[page]\nport = ["a"]', "[voice]\nuse = [true]"])
def test_list_in_the_file_is_shown_at_a_field_without_lists(editor: SettingsEditor, path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    form = editor.read()
    assert len(form.errors) == 1 and not form.problem


def test_file_with_the_line_ends_of_old_systems_is_shown(editor: SettingsEditor, path: Path) -> None:
    path.write_bytes(b'[camera]\rsource = "phone"\r')
    form = editor.read()
    assert form.texts["camera", "source"] == load_settings(path).camera.source == "phone" and not form.problem
    with pytest.raises(SettingsError, match="by hand"):
        save(editor, page__port="81")


def test_setting_of_the_command_line_is_shown_until_it_is_changed(path: Path) -> None:
    running = parse_settings('[camera]\nsource = "phone"\n')
    editor = SettingsEditor(SettingsFile(path, {("camera", "source"): "--camera"}), running)
    assert editor.read().texts["camera", "source"] == "phone"
    save(editor, data__pictures_mb="10")
    assert load_settings(path).camera.source == "usb:0" and editor.overrides and editor.list_pending() == ()
    save(editor, camera__source="pi")
    assert load_settings(path).camera.source == "pi" and not editor.overrides
    assert [field.name for field in editor.list_pending()] == ["camera.source"]


def test_settings_that_need_a_restart_are_listed(editor: SettingsEditor) -> None:
    assert editor.list_pending() == ()
    save(editor, camera__source="phone", data__pictures_mb="10", panel__pause="0")
    assert [field.name for field in editor.list_pending()] == ["camera.source", "panel.pause"]


def test_live_setting_is_applied(path: Path) -> None:
    applied: list[Settings] = []
    editor = SettingsEditor(SettingsFile(path), load_settings(path))
    editor.set_listener(applied.append)
    save(editor, data__pictures_mb="10")
    assert [settings.data.pictures_mb for settings in applied] == [10]


@pytest.mark.parametrize(
    "change", [lambda text: text.replace("\n", "\r\n"), lambda text: "\ufeff" + text], ids=["CRLF", "byte-order-mark"]
)
def test_line_ends_and_byte_order_mark_are_kept(
    editor: SettingsEditor, path: Path, change: Callable[[str], str]
) -> None:
    path.write_bytes(change(WRITTEN).encode())
    save(editor, camera__source="phone")
    assert path.read_bytes() == change(WRITTEN.replace("usb:0", "phone")).encode()


_NAMES = st.text(st.characters(exclude_categories=["C", "Zl", "Zp"]), min_size=1, max_size=8)
_BLANKS = st.sampled_from(["", "  ", "\t"])


@st.composite
def settings_texts(draw: st.DrawFn) -> str:
    """Valid settings files with odd spaces, comments, quotes and line ends."""
    end = draw(st.sampled_from(["\n", "\r\n"]))
    lines = [f"# {draw(_NAMES)}"]
    for section, keys in {
        "camera": {"source": "'usb:1'", "turn_seconds": str(draw(st.integers(2, 120)))},
        "page": {"port": str(draw(st.integers(1, 65535))), "wifi": '"""caf\\u00e9"""'},
        "game": {"players": f"[ 'A',{end}  \"B\" , # two{end} ]", "clock": draw(st.sampled_from(["20", '"20"', "''"]))},
        "panel": {"end_turn": "[5,6]", "buzzer": "0", "use": "false"},
    }.items():
        if draw(st.booleans()):
            lines += ["", f"[ {section} ] # {draw(_NAMES)}"]
            lines += [
                f"{draw(_BLANKS)}{key}{draw(_BLANKS)}={draw(_BLANKS)}{value}{draw(_BLANKS)}# {draw(_NAMES)}"
                for key, value in keys.items()
                if draw(st.booleans())
            ]
    return end.join(lines) + draw(st.sampled_from(["", end]))


@given(text=settings_texts(), phone=st.booleans())
def test_unchanged_form_leaves_the_file_as_it_is(
    tmp_path_factory: pytest.TempPathFactory, text: str, phone: bool
) -> None:
    path = tmp_path_factory.getbasetemp() / "unchanged.toml"
    path.write_bytes(text.encode())
    editor = SettingsEditor(SettingsFile(path), Settings())
    form = editor.read()
    assert not form.errors and not form.problem
    sent = {key: value.replace("\n", "\r\n") for key, value in form.texts.items()}  # as browsers send text areas
    assert not editor.save(sent, form.version).errors
    assert path.read_bytes() == text.encode()
    if phone:  # one change leaves every comment where it is
        editor.save({**sent, ("camera", "source"): "phone"}, form.version)
        assert load_settings(path).camera.source == "phone"
        changed = path.read_bytes().decode()
        assert all(line in changed for line in text.splitlines() if line.lstrip().startswith("#"))
