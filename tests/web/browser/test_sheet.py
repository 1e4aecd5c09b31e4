"""The sheet of the table in a browser: its lists follow the tiles, and the chosen camera shows its picture."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from device.cameras.listing import AvailableCamera
from device.cameras.reconnecting import CameraPreview
from device.settings import Settings
from device.settings_editor import SettingsEditor, SettingsFile
from device.storage.lexicons import OwnLists, save_uploaded_list
from engine.tiles import load_tile_set
from tests.device.cameras.test_preview import Machine
from tests.support.api_table import WebTable, open_web_table
from tests.support.browsers import MARKS, pair, visit
from web.host_info import HostInfo, SettingsAccess
from web.security.server import PageServer

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = MARKS
CAMERAS = (AvailableCamera("usb:7", "Webcam", "Webcam"), AvailableCamera("phone", "a phone"))


@pytest.fixture
def table(tmp_path: Path) -> Iterator[WebTable]:
    save_uploaded_list("woerter.txt", b"horn\nfarm\n", tmp_path / "lexicons", load_tile_set("de"))
    editor = SettingsEditor(SettingsFile(tmp_path / "settings.toml"), Settings())
    preview = CameraPreview(Machine().open)
    access = SettingsAccess(editor, tmp_path / "lexicons", list_cameras=lambda: CAMERAS, preview=preview)
    find_own = OwnLists(folder=tmp_path / "lexicons").find
    with open_web_table(tmp_path, host_info=HostInfo(settings=access), find_own=find_own) as table:
        yield table


@pytest.fixture
def sheet(table: WebTable, phone: Page) -> Iterator[Page]:
    with PageServer(table.app, 0, "127.0.0.1") as server:
        pair(phone, server, table.code)
        visit(phone, server, "/setup")
        yield phone


def find_list(page: Page) -> str:
    return str(page.locator("#lexicon option:checked").inner_text())


def test_word_list_follows_the_tiles(sheet: Page) -> None:
    assert find_list(sheet).startswith("Included list: 271")
    sheet.select_option("#tiles", "de")
    assert find_list(sheet) == "woerter: 2 words, German"
    sheet.select_option("#tiles", "la")
    assert sheet.get_by_text("Upload one here, if you have one.").is_visible()
    assert sheet.get_by_label("Text file").is_visible()
    sheet.select_option("#lexicon", "none")
    sheet.select_option("#tiles", "de")
    assert find_list(sheet).startswith("None"), "a choice against lists stays"


def test_camera_shows_its_picture_before_it_is_saved(sheet: Page) -> None:
    picture = sheet.get_by_alt_text("Live picture of this camera")
    assert not picture.is_visible()
    sheet.get_by_text("Webcam").tap()
    picture.wait_for()
    sheet.get_by_text("A phone takes a picture").tap()
    assert not picture.is_visible()


def test_path_of_a_folder_is_asked_for_only_if_it_is_the_camera(sheet: Page) -> None:
    path = sheet.get_by_label("Path of the folder")
    assert not path.is_visible()
    sheet.get_by_text("Pictures in a folder").tap()
    assert path.is_visible()


def test_saved_sheet_says_so_and_keeps_the_code(sheet: Page) -> None:
    sheet.get_by_label("Player 1", exact=True).fill("Anna")
    sheet.get_by_role("button", name="Save").tap()
    sheet.get_by_text("✓ Saved.").wait_for()
    assert sheet.get_by_label("Player 1", exact=True).input_value() == "Anna"
    assert sheet.locator("svg.qr").count() == 1
