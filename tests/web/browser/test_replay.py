"""A stored game in a browser: its turns, its picture to share, and a note on it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import cv2
import numpy as np
from flask import Response, request

from tests.support.api_table import WebTable, open_web_table
from tests.support.browsers import MARKS, PHONE, SCREEN, open_tab, pair, visit
from web.security.server import PageServer

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = MARKS


@contextmanager
def open_table_page(
    browser: Browser, folder: Path, size: tuple[int, int]
) -> Iterator[tuple[WebTable, PageServer, Page]]:
    """Open a table with a store in `folder`, the server of its pages, and a browser's page of this size (px)."""
    with (
        open_web_table(folder) as table,
        PageServer(table.app, 0, "127.0.0.1") as server,
        open_tab(browser, size) as page,
    ):
        yield table, server, page


def test_arrow_keys_go_through_the_turns(browser: Browser, tmp_path: Path) -> None:
    with open_table_page(browser, tmp_path, SCREEN) as (table, server, page):
        table.play_three_turns()
        table.end()
        visit(page, server, "/history/1?turn=3")
        for key, turn in (
            ("ArrowLeft", 2),
            ("ArrowLeft", 1),
            ("ArrowRight", 2),
            ("Home", 0),
            ("ArrowLeft", 0),
            ("End", 3),
        ):
            page.keyboard.press(key)
            page.wait_for_function("turn => document.querySelector('[data-slide] input').value === turn", arg=str(turn))
            page.wait_for_function("turn => location.search === `?turn=${turn}`", arg=str(turn))


def test_picture_of_the_board_is_saved_where_the_browser_cannot_share(browser: Browser, tmp_path: Path) -> None:
    with open_table_page(browser, tmp_path, PHONE) as (table, server, page):
        table.play_three_turns()
        table.end()
        page.add_init_script("navigator.canShare = undefined")
        visit(page, server, "/history/1")
        with page.expect_download() as download:
            page.get_by_role("button", name="Share this board").click()
        picture = cv2.imread(str(download.value.path()))
        assert picture.shape == (1200, 1080, 3) and len(np.unique(picture.reshape(-1, 3), axis=0)) > 50
        page.get_by_text("The picture is saved on this device").wait_for()


def test_picture_and_result_go_to_the_app_that_the_user_chooses(browser: Browser, tmp_path: Path) -> None:
    with open_table_page(browser, tmp_path, PHONE) as (table, server, page):
        table.play_three_turns()
        table.end()
        page.add_init_script(
            "navigator.canShare = () => true; navigator.share = async (data) => { window.shared = data; }"
        )
        visit(page, server, "/history/1")
        page.get_by_role("button", name="Share this board").click()
        page.wait_for_function("() => window.shared")
        assert page.evaluate("[shared.title, shared.files[0].type]") == ["Anna 39 · Ben 9", "image/png"]
        assert page.evaluate("shared.text.endsWith(`${location.origin}/history/1`)")


def test_file_is_imported_once_after_a_double_tap(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "game.gcg"
    file.write_text("#player1 A Ann\n#player2 B Bob\n>A: HORN 8F HORN +14 14\n", encoding="utf-8")
    with open_table_page(browser, tmp_path, PHONE) as (table, server, page):

        def answer_slowly(answer: Response) -> Response:
            time.sleep(0.4 if request.path == "/history/import" else 0.0)
            return answer

        table.app.after_request(answer_slowly)
        pair(page, server, table.code)
        visit(page, server, "/history")
        page.set_input_files("#file", file)
        page.locator(".bring button").dblclick(delay=30, no_wait_after=True)
        page.get_by_role("heading", name="Ann 14").wait_for()


def test_note_that_is_being_written_stays_at_the_next_turn(browser: Browser, tmp_path: Path) -> None:
    with open_table_page(browser, tmp_path, PHONE) as (table, server, page):
        table.play_three_turns()
        table.end()
        pair(page, server, table.code)
        visit(page, server, "/history/1?turn=3")
        page.locator("summary", has_text="note").click()
        page.locator("[name=comment]").fill("A close game")
        page.locator("[data-slide] [rel=prev]").click()
        page.wait_for_function("() => location.search === '?turn=2'")
        assert page.locator("[name=comment]").input_value() == "A close game"
        assert page.locator("[data-slide] input").input_value() == "2"
