"""A problem is reported as a user does: turns chosen, contents read, the file saved, the pictures deleted."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.api_table import WebTable, open_web_table
from tests.support.browsers import MARKS, open_tab, pair, visit
from web.host_info import HostInfo
from web.security.server import PageServer

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = MARKS


@pytest.fixture
def table(tmp_path: Path) -> Iterator[WebTable]:
    with open_web_table(tmp_path, host_info=HostInfo(examine=lambda: "ok  camera: Anna's, it works")) as table:
        table.play_three_turns()
        yield table


def test_report_is_shown_and_saved_and_pictures_are_deleted(table: WebTable, browser: Browser, tmp_path: Path) -> None:
    with PageServer(table.app, 0, "127.0.0.1") as server, open_tab(browser) as page:
        pair(page, server, table.code)
        visit(page, server, "/report")
        page.get_by_label("PASTE").uncheck()
        page.get_by_role("button", name="Show the contents").click()
        page.locator("summary").filter(has_text="doctor.txt").click()
        page.get_by_text("camera: Player 1's, it works").wait_for()
        with page.expect_download() as download:
            page.get_by_role("link", name="Save the report").click()
        download.value.save_as(tmp_path / "report.zip")
        with zipfile.ZipFile(tmp_path / "report.zip") as report:
            pictures = [name for name in report.namelist() if name.endswith("photo.jpg")]
        assert pictures == ["pictures/00001-photo.jpg", "pictures/00002-photo.jpg"]
        visit(page, server, "/data")
        page.get_by_role("link", name="Delete all pictures").click()
        page.get_by_role("button", name="Delete", exact=True).click()
        page.get_by_text("No pictures are stored.").wait_for()
        assert table.store.list_pictures(1) == ()
