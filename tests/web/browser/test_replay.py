"""A stored game in a browser: the arrow keys go through its turns."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.api_table import house
from tests.support.browsers import MARKS, SCREEN, opened, visit
from web.security.server import PageServer

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = MARKS


def test_arrow_keys_go_through_the_turns(browser: Browser, tmp_path: Path) -> None:
    with house(tmp_path) as table, PageServer(table.app, 0, "127.0.0.1") as server, opened(browser, SCREEN) as page:
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
