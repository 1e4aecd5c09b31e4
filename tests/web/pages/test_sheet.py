"""The sheet of the table on the set-up page: what it shows, and what it saves."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from device.cameras.listing import AvailableCamera
from device.cameras.reconnecting import CameraPreview
from device.settings import Settings, load_settings
from device.settings_editor import SettingsEditor, SettingsFile
from tests.device.cameras.test_preview import Machine
from tests.support.api_table import WebTable, open_web_table
from tests.web.conftest import pair, token
from web.host_info import HostInfo, SettingsAccess

CAMERAS = (
    AvailableCamera("usb:7", "<b>C920</b>", "<b>C920</b>"),
    AvailableCamera("phone", "a phone"),
    AvailableCamera("phone-stream", "a phone on a stand"),
    AvailableCamera("folder:DIR", "a folder"),
)
PATH = "/setup/table"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "settings.toml"


@pytest.fixture
def restarts() -> list[str]:
    return []


@pytest.fixture
def table(tmp_path: Path, path: Path, restarts: list[str]) -> Iterator[WebTable]:
    editor = SettingsEditor(
        SettingsFile(path, {("camera", "source"): "--camera", ("page", "port"): "--port"}), Settings()
    )
    preview = CameraPreview(Machine().open)
    access = SettingsAccess(editor, tmp_path / "lexicons", lambda: restarts.append("restart"), lambda: CAMERAS, preview)
    host = HostInfo(settings=access, is_new_table=lambda: not path.exists())
    with open_web_table(tmp_path, host_info=host) as table:
        yield table


def read_sheet(client: FlaskClient) -> str:
    return unescape(client.get("/setup").text)


def fill(client: FlaskClient, players: str = "", **fields: Any) -> dict[str, Any]:
    """Return the sheet as it is at the first start but for the players (`Anna,Ben`) and `fields`."""
    (version,) = re.findall(r'name="version" value="([^"]*)"', client.get("/setup").text)
    form = {"tiles": "en", "lexicon": "shipped", "source": "phone", "colours": "", "version": version, **fields}
    return {"csrf": token(client), "players": [*players.split(","), ""], **form}


def save(client: FlaskClient, players: str = "", **fields: Any) -> TestResponse:
    return client.post(PATH, data=fill(client, players, **fields))


def test_first_page_of_a_new_table_is_the_sheet_once(admin: FlaskClient) -> None:
    assert admin.get("/").location == "/setup"
    assert 'class="sheet"' in read_sheet(admin)
    assert admin.get("/").status_code == 200


def test_phone_that_is_not_the_admins_sees_no_sheet(table: WebTable, admin: FlaskClient) -> None:
    guest = table.app.test_client()
    pair(guest)
    assert guest.get("/").status_code == 200 and 'class="sheet"' not in read_sheet(guest)
    assert guest.post(PATH, data={"csrf": token(guest), "players": "Anna"}).status_code == 403
    assert admin.get("/setup").status_code == 200


def test_sheet_has_the_cameras_and_marks_the_one_in_use(admin: FlaskClient) -> None:
    sheet = admin.get("/setup").text
    assert "USB camera <small>&lt;b&gt;C920&lt;/b&gt;</small>" in sheet and "folder:DIR" not in sheet
    assert re.findall(r'name="source" value="([^"]*)" checked', sheet) == ["phone"]
    assert re.findall(r'data-picture="([^"]*)"', sheet) == ["/settings/cameras/picture?source=usb%3A7"]


def test_sheet_names_the_options_that_it_may_change(admin: FlaskClient) -> None:
    assert "started with --camera." in read_sheet(admin)


def test_skipped_sheet_is_the_standard_game(admin: FlaskClient, path: Path, restarts: list[str]) -> None:
    assert save(admin).location == "/setup?saved" and restarts == []
    assert not path.exists() or load_settings(path) == Settings()


def test_players_and_tiles_are_saved_without_a_restart(admin: FlaskClient, path: Path, restarts: list[str]) -> None:
    assert save(admin, " Anna ,,Ben", tiles="de").location == "/setup?saved" and restarts == []
    game = load_settings(path).game
    assert (game.players, game.tiles, game.lexicon) == (("Anna", "Player 2", "Ben"), "de", None)
    assert re.findall(r'name="players"[^>]* value="([^"]*)"', admin.get("/setup?saved").text)[:3] == [*game.players]


def test_sheet_that_is_saved_during_a_game_speaks_of_the_next_one(table: WebTable, admin: FlaskClient) -> None:
    table.play_three_turns()
    assert (
        "The next game has these players" in admin.post(PATH, follow_redirects=True, data=fill(admin, "Eva,Ida")).text
    )


def test_uploaded_list_is_chosen_for_the_tiles_of_the_sheet(admin: FlaskClient, path: Path, tmp_path: Path) -> None:
    assert save(admin, tiles="de", file=(io.BytesIO(b"horn\nfarm\n"), "woerter.txt")).status_code == 303
    assert load_settings(path).game.lexicon == str(tmp_path / "lexicons" / "de" / "woerter.txt")
    sheet = read_sheet(admin)
    assert '<option value="own" selected>woerter: 2 words, German' in sheet
    assert save(admin, tiles="de", lexicon="none").status_code == 303
    assert load_settings(path).game.lexicon == "none"
    assert save(admin, tiles="de", lexicon="own").status_code == 303
    assert load_settings(path).game.lexicon == str(tmp_path / "lexicons" / "de" / "woerter.txt")


def test_file_that_is_no_list_is_explained_and_nothing_is_saved(admin: FlaskClient, path: Path) -> None:
    answer = save(admin, "Anna,Ben", tiles="de", file=(io.BytesIO(b""), "empty.txt"))
    assert answer.status_code == 422 and "has no word" in answer.text and not path.exists()
    assert re.findall(r'name="players"[^>]* value="([^"]*)"', answer.text)[:2] == ["Anna", "Ben"]
    assert '<option value="de" selected>' in answer.text


@pytest.mark.parametrize(
    ("fields", "source"),
    [
        ({"source": "usb:7"}, "usb:7"),
        ({"source": "phone-stream"}, "phone-stream"),
        ({"source": "folder", "folder": "PICTURES"}, "folder:PICTURES"),
        ({"source": "network", "network": " rtsp://192.168.1.5/video "}, "rtsp://192.168.1.5/video"),
    ],
)
def test_camera_is_saved_and_used_after_a_restart(
    admin: FlaskClient, path: Path, restarts: list[str], fields: dict[str, str], source: str
) -> None:
    answer = save(admin, **fields)
    assert "is restarting" in answer.text and 'data-next="/setup?saved"' in answer.text
    assert load_settings(path).camera.source == source and restarts == ["restart"]
    sheet = admin.get("/setup").text
    shown = source if source in ("usb:7", "phone-stream") else fields["source"]
    assert re.findall(r'name="source" value="([^"]*)" checked', sheet) == [shown]
    assert shown == source or f'value="{source.removeprefix("folder:")}"' in sheet


@pytest.mark.parametrize(("source", "where"), [("folder", ""), ("network", ""), ("network", "192.168.1.5")])
def test_camera_without_its_path_or_address_is_marked(admin: FlaskClient, path: Path, source: str, where: str) -> None:
    answer = save(admin, "Anna,Ben", source=source, **{source: where})
    assert re.findall(r'name="source" value="([^"]*)" checked', answer.text) == [source]
    assert f'name="{source}" value="{where}"' in answer.text
    assert answer.status_code == 422 and "is not a camera" in answer.text and not path.exists()


def test_two_players_of_one_name_are_marked(admin: FlaskClient, path: Path) -> None:
    answer = save(admin, "Anna,Anna")
    assert answer.status_code == 422 and 'class="wrong"' in answer.text and not path.exists()


def test_colours_of_the_board_are_saved(admin: FlaskClient, path: Path) -> None:
    assert "is restarting" in save(admin, colours="classic-2008").text
    assert load_settings(path).page.board_colours == "classic-2008"


def test_wrong_line_of_the_file_is_named_with_a_link_to_the_settings(admin: FlaskClient, path: Path) -> None:
    path.write_text("[voice]\nuse = 7\n", encoding="utf-8")
    for page in (read_sheet(admin), unescape(save(admin, "Anna,Ben").text)):
        assert "voice.use: Enter true or false" in page and 'href="/settings"' in page
    path.write_text("[voice", encoding="utf-8")
    assert "is not valid TOML" in read_sheet(admin) and 'class="sheet"' not in read_sheet(admin)
