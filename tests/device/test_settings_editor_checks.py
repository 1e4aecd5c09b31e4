"""Settings that are valid, but with which the program would not start on this machine."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from device.settings import Settings, load_settings
from device.settings_editor import SettingPath, SettingsEditor, SettingsFile, find_unusable_setting
from engine.messages import key_of
from tests.support.ports import find_free_port

HOST, PORT, SECURE_PORT = ("page", "host"), ("page", "port"), ("page", "secure_port")


@pytest.fixture
def editor(tmp_path: Path) -> SettingsEditor:
    return SettingsEditor(SettingsFile(tmp_path / "settings.toml"), Settings(), find_unusable=find_unusable_setting)


def find_error(editor: SettingsEditor, texts: dict[SettingPath, str]) -> str:
    """Save settings; return the key of the error at the first of them, and check that nothing was written."""
    form = editor.save(texts, editor.read().version)
    assert form.errors and not editor.path.exists() and dict(form.texts).items() >= texts.items()
    return key_of(form.errors[next(iter(texts))])


@pytest.mark.parametrize("host", ["192.0.2.1", "nowhere.invalid", "a..b", "2001:db8::1"])
def test_address_of_another_machine_is_refused(editor: SettingsEditor, host: str) -> None:
    assert find_error(editor, {HOST: host}) == "setting-host"


@pytest.mark.parametrize("setting", [PORT, SECURE_PORT])
def test_port_of_another_program_is_refused(editor: SettingsEditor, setting: SettingPath) -> None:
    with socket.create_server(("", 0)) as other:
        assert find_error(editor, {setting: str(other.getsockname()[1])}) == "setting-unusable"


def test_port_of_the_page_that_is_also_that_of_https_is_refused(editor: SettingsEditor) -> None:
    assert find_error(editor, {PORT: str(Settings().page.secure_port)}) == "setting-same-port"


def test_certificate_that_cannot_be_read_is_refused(editor: SettingsEditor, tmp_path: Path) -> None:
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    texts = {("page", "certificate"): str(certificate), ("page", "key"): str(key)}
    assert find_error(editor, texts) == "setting-unusable"
    certificate.write_text("no certificate")
    key.write_text("no key")
    assert find_error(editor, texts) == "setting-unusable"


def test_camera_folder_that_is_missing_is_refused(editor: SettingsEditor, tmp_path: Path) -> None:
    assert find_error(editor, {("camera", "source"): f"folder:{tmp_path / 'missing'}"}) == "setting-unusable"


def test_data_folder_that_cannot_be_written_is_refused(editor: SettingsEditor, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    for folder in (file, file / "games", Path("/proc/games"), Path("/proc")):
        assert find_error(editor, {("data", "folder"): str(folder)}) == "setting-unusable"


def test_settings_that_the_machine_can_use_are_saved(editor: SettingsEditor, tmp_path: Path) -> None:
    texts = {HOST: "127.0.0.1", PORT: str(find_free_port()), ("camera", "source"): f"folder:{tmp_path}"}
    texts[("data", "folder")] = str(tmp_path / "new" / "games")
    assert not editor.save(texts, editor.read().version).errors
    assert load_settings(editor.path).page.host == "127.0.0.1"


def test_ports_of_the_running_program_may_be_exchanged(tmp_path: Path) -> None:
    with socket.create_server(("", 0)) as first, socket.create_server(("", 0)) as second:
        ports = [server.getsockname()[1] for server in (first, second)]
        path = tmp_path / "settings.toml"
        path.write_text(f"[page]\nport = {ports[0]}\nsecure_port = {ports[1]}\n")
        editor = SettingsEditor(SettingsFile(path), load_settings(path), find_unusable=find_unusable_setting)
        form = editor.save({PORT: str(ports[1]), SECURE_PORT: str(ports[0])}, editor.read().version)
    assert not form.errors
