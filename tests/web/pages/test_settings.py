"""The page that changes the settings file."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from device.settings import Settings, load_settings
from device.settings_editor import SettingsEditor, SettingsFile, list_fields
from tests.support.api_table import WebTable, open_web_table
from tests.web.conftest import pair, token
from web.host_info import HostInfo, SettingsAccess
from web.security import csrf

WRITTEN = '# Ours.\n[camera]\nsource = "usb:0"  # on the shelf\n'


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "settings.toml"
    path.write_text(WRITTEN, encoding="utf-8")
    return path


@pytest.fixture
def restarts() -> list[str]:
    """The requests that the page made."""
    return []


@pytest.fixture
def access(path: Path, tmp_path: Path, restarts: list[str]) -> SettingsAccess:
    file = SettingsFile(path, {("page", "port"): "--port"})
    editor = SettingsEditor(file, load_settings(path))
    return SettingsAccess(editor, tmp_path / "lexicons", lambda: restarts.append("restart"))


@pytest.fixture
def table(tmp_path: Path, access: SettingsAccess) -> Iterator[WebTable]:
    with open_web_table(tmp_path, host_info=HostInfo(settings=access)) as table:
        yield table


def read_form(client: FlaskClient) -> dict[str, str]:
    """Return what a browser sends for the form of the page as it is."""
    return parse_form(client.get("/settings").text)


def parse_form(page: str) -> dict[str, str]:
    """Return what a browser sends for the form of settings in a page."""
    form = page[page.index('class="settings"') : page.index("</form>", page.index('class="settings"'))]
    fields = {}
    for tag in re.findall(r"<input[^>]*>", form):
        name, value = re.search(r'name="([^"]*)"', tag), re.search(r'value="([^"]*)"', tag)
        if name and "disabled" not in tag and ("checkbox" not in tag or "checked" in tag):
            fields[name[1]] = unescape(value[1]) if value else ""
    for name, options in re.findall(r'<select[^>]*name="([^"]*)"[^>]*>(.*?)</select>', form, re.DOTALL):
        chosen = re.search(r'<option value="([^"]*)" selected', options)
        assert chosen, name
        fields[name] = unescape(chosen[1])
    for name, text in re.findall(r'<textarea[^>]*name="([^"]*)"[^>]*>\n(.*?)</textarea>', form, re.DOTALL):
        fields[name] = unescape(text).replace("\n", "\r\n")
    return fields


def test_page_has_all_settings(admin: FlaskClient) -> None:
    assert read_form(admin).keys() == {field.name for field in list_fields()} | {"csrf", "version"}
    assert "/settings" in admin.get("/dialogs/more").text and "/settings" in admin.get("/setup").text


def test_rules_are_listed_only_at_the_setting_for_them(admin: FlaskClient) -> None:
    page = admin.get("/settings").text
    assert page.count("rule-choices") == 1
    assert page.index('name="game.more_rules"') < page.index("rule-choices")


def test_page_names_a_new_version(tmp_path: Path, access: SettingsAccess) -> None:
    newer = replace(access, find_new_version=lambda: "9.1")
    with open_web_table(tmp_path, host_info=HostInfo(settings=newer)) as table:
        client = table.app.test_client()
        pair(client)
        assert "Version 9.1 of Tilekeeper is available." in client.get("/settings").text


def test_page_without_a_new_version_names_none(admin: FlaskClient) -> None:
    assert "is available" not in admin.get("/settings").text


def test_form_without_changes_leaves_the_file_as_it_is(admin: FlaskClient, path: Path) -> None:
    assert admin.post("/settings", data=read_form(admin)).status_code == 303
    assert path.read_text(encoding="utf-8") == WRITTEN


def test_changed_setting_is_saved_and_waits_for_a_restart(admin: FlaskClient, path: Path, restarts: list[str]) -> None:
    data = read_form(admin) | {"camera.source": "phone"}
    answer = admin.post("/settings", data=data, follow_redirects=True)
    assert path.read_text(encoding="utf-8") == WRITTEN.replace("usb:0", "phone")
    assert "Saved." in answer.text and "after a restart" in answer.text
    assert "is restarting" in admin.post("/settings/restart", data={"csrf": token(admin)}).text
    assert restarts == ["restart"]


def test_invalid_value_is_marked_and_not_saved(admin: FlaskClient, path: Path) -> None:
    answer = admin.post("/settings", data=read_form(admin) | {"camera.source": '<b>"webcam"'})
    assert answer.status_code == 422 and path.read_text(encoding="utf-8") == WRITTEN
    assert 'id="camera.source-wrong"' in answer.text and "<b>&#34;" not in answer.text
    assert 'value="&lt;b&gt;&#34;webcam&#34;"' in answer.text


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("camera.turn_seconds", "1", "1 ist hier nicht erlaubt. Wähle eine Zahl von 2 bis 120."),
        ("panel.buzzer", "5", "GPIO 5 gehört schon zu end_turn. Wähle eine andere GPIO-Nummer."),
        ("panel.pause", "x", "Gib eine ganze Zahl ein, ohne Anführungszeichen."),
    ],
)
def test_error_is_in_the_language_of_the_page(admin: FlaskClient, name: str, value: str, reason: str) -> None:
    answer = admin.post("/settings?lang=de", data=read_form(admin) | {name: value})
    assert answer.status_code == 422 and reason in unescape(answer.text)


def test_setting_of_the_command_line_is_changed_on_the_page(admin: FlaskClient, path: Path) -> None:
    assert "started with --port" in admin.get("/settings").text
    page = admin.post("/settings", data=read_form(admin) | {"page.port": "8081"}, follow_redirects=True).text
    assert load_settings(path).page.port == 8081 and "started with --port" not in page and "after a restart" in page


def test_uploaded_word_list_is_chosen(admin: FlaskClient, path: Path, tmp_path: Path) -> None:
    data = {"csrf": token(admin), "file": (io.BytesIO(b"horn\nfarm\n"), "../our words.txt")}
    assert admin.post("/settings/lexicon", data=data).status_code == 303
    chosen = tmp_path / "lexicons" / "en" / "our-words.txt"
    assert load_settings(path).game.lexicon == str(chosen) and chosen.read_bytes() == b"horn\nfarm\n"
    assert "our-words: 2 words, English" in admin.get("/settings").text and "# on the shelf" in path.read_text(
        encoding="utf-8"
    )


@pytest.mark.parametrize(
    ("data", "texts"),
    [
        (b"horn\nfarm\n", ["Words read from words: 2."]),
        (
            b"horn\nfarm\nOhio\n",
            ["Words read from words: 2.", "Lines left out: 1 (names and other words"],
        ),
        (b"2\nhorn/SM\nfarm/S\n", ["Words read from words: 2.", "This is the list of a spell checker"]),
    ],
)
def test_answer_to_an_upload_says_what_was_read(admin: FlaskClient, data: bytes, texts: list[str]) -> None:
    fields = {"csrf": token(admin), "file": (io.BytesIO(data), "words.txt")}
    page = unescape(admin.post("/settings/lexicon", data=fields, follow_redirects=True).text)
    assert all(text in page for text in texts)


@pytest.mark.parametrize(
    ("data", "reason"), [(b"", "has no word"), (b"x" * 20_000, "has a line of more than"), (b"\xff\xfe\x00", "")]
)
def test_file_that_is_no_word_list_is_refused(
    admin: FlaskClient, path: Path, tmp_path: Path, data: bytes, reason: str
) -> None:
    answer = admin.post("/settings/lexicon", data={"csrf": token(admin), "file": (io.BytesIO(data), "words.txt")})
    assert answer.status_code == 422 and 'id="game.lexicon-wrong"' in answer.text and reason in answer.text
    assert path.read_text(encoding="utf-8") == WRITTEN and not (tmp_path / "lexicons").exists()


def test_word_list_that_is_too_large_is_refused(
    admin: FlaskClient, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(csrf.MAX_BODY_BYTES_BY_PATH, csrf.LEXICON_PATH, 1000)
    data = {"csrf": token(admin), "file": (io.BytesIO(b"horn\n" * 1000), "words.txt")}
    assert admin.post("/settings/lexicon", data=data).status_code == 413
    assert path.read_text(encoding="utf-8") == WRITTEN


def test_word_list_that_is_not_on_the_page_is_refused(admin: FlaskClient, path: Path) -> None:
    answer = admin.post("/settings", data=read_form(admin) | {"game.lexicon": "/etc/passwd"})
    assert answer.status_code == 409 and path.read_text(encoding="utf-8") == WRITTEN


def test_malformed_file_is_replaced_on_request(admin: FlaskClient, path: Path) -> None:
    path.write_text("[camera\nsource = ", encoding="utf-8")
    page = admin.get("/settings").text
    assert "is not valid TOML" in page and 'name="camera.source"' not in page
    assert admin.post("/settings/defaults", data={"csrf": token(admin)}).status_code == 303
    assert load_settings(path) == Settings()
    assert admin.post("/settings/defaults", data={"csrf": token(admin)}).status_code == 409


def test_file_that_was_changed_meanwhile_is_kept(admin: FlaskClient, path: Path) -> None:
    data = read_form(admin) | {"camera.source": "phone"}
    path.write_text("[voice]\nuse = true\n", encoding="utf-8")
    answer = admin.post("/settings", data=data)
    assert answer.status_code == 409 and "has changed meanwhile" in answer.text
    assert path.read_text(encoding="utf-8") == "[voice]\nuse = true\n"


def test_folder_that_cannot_be_written_is_reported(admin: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("device.settings_editor.write_file", fail)
    answer = admin.post("/settings", data=read_form(admin) | {"camera.source": "phone"})
    assert answer.status_code == 500 and "Permission denied" in answer.text


@pytest.mark.parametrize("route", ["", "/lexicon", "/defaults", "/restart"])
def test_only_the_admin_may_change_settings(
    table: WebTable, admin: FlaskClient, path: Path, restarts: list[str], route: str
) -> None:
    guest = table.app.test_client()
    assert 'action="/pair"' in guest.get("/settings").text
    pair(guest)
    assert guest.get("/settings").status_code == 403
    answer = guest.post(f"/settings{route}", data={"csrf": token(guest), "camera.source": "phone"})
    assert answer.status_code == 403 and path.read_text(encoding="utf-8") == WRITTEN and not restarts
    assert admin.post(f"/settings{route}", data={"camera.source": "phone"}).status_code == 403  # without a token


def test_table_without_a_settings_file_has_no_page(tmp_path: Path) -> None:
    with open_web_table(tmp_path) as table:
        client = table.app.test_client()
        pair(client)
        assert client.get("/settings").status_code == 404 and "/settings" not in client.get("/dialogs/more").text


def test_languages_are_offered_by_their_own_names(admin: FlaskClient) -> None:
    assert '<option value="de">Deutsch</option>' in admin.get("/settings").text
