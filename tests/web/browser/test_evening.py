"""A whole game on two phones and a big screen, with a real session, from pairing to the winner."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from device.session.table_session import TableSession
from device.storage.lexicons import open_lexicon
from device.storage.store import GameStore
from tests.support.browsers import MARKS, SCREEN, open_tab, pair, visit
from tests.support.rendered_table import RenderedTable
from web import create_app
from web.security.server import PageServer

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = MARKS

HORN = ("HORN", 7, 5, True)
FARM = ("FARM", 5, 7, False)
PASTE = ("PASTE", 9, 5, True)
VEX = ("VEX", 8, 9, False)
QZ = ("QZ", 7, 10, False)


@pytest.fixture
def table() -> RenderedTable:
    return RenderedTable()


@pytest.fixture
def server(table: RenderedTable, tmp_path: Path) -> Iterator[PageServer]:
    with (
        GameStore(tmp_path / "games.db") as store,
        TableSession(table, table, store, open_lexicon(None, "en")) as session,
        PageServer(create_app(session, store=store), 0, "127.0.0.1") as server,
    ):
        yield server


def totals(page: Page) -> list[str]:
    return page.locator(".players .total").all_inner_texts()


def all_show(pages: tuple[Page, ...], *expected: str) -> None:
    """Wait until every screen shows these totals."""
    for page in pages:
        page.wait_for_function(
            "expected => [...document.querySelectorAll('.players .total')].map(e => e.textContent).join() === expected",
            arg=",".join(expected),
        )


def end_turn(page: Page) -> None:
    page.locator("#panel .end-turn:enabled").tap()


def choose(page: Page, name: str, dialog: str) -> None:
    """Open a form from the menu behind `More`."""
    page.get_by_role("link", name="More", exact=True).tap()
    page.get_by_role("dialog").get_by_role("link", name=name).tap()
    page.get_by_role("dialog").get_by_role("heading", name=dialog).wait_for()


def test_whole_game_on_two_phones_and_a_big_screen(browser: Browser, server: PageServer, table: RenderedTable) -> None:
    code = server.app.extensions["pairing"].code
    with (
        open_tab(browser, has_touch=True) as anna,
        open_tab(browser, has_touch=True) as ben,
        open_tab(browser, SCREEN) as big,
    ):
        everybody = (anna, ben, big)
        visit(big, server, "/big")
        pair(anna, server, code)
        pair(ben, server, code)

        # A new game with clocks, in which they draw for first.
        anna.get_by_role("link", name="Begin a new game").tap()
        anna.get_by_label("Player 1", exact=True).fill("Anna")
        anna.get_by_label("Player 2", exact=True).fill("Ben")
        anna.get_by_label("Minutes for each player").fill("25")
        anna.get_by_label("Draw tiles to decide who begins").check()
        anna.get_by_text("More rules").tap()
        anna.locator("select[name=judge]").select_option("list")  # challenges need no answer of the players
        anna.get_by_role("button", name="Begin", exact=True).tap()
        ben.get_by_role("link", name="Draw for first play").tap()
        ben.get_by_label("Anna", exact=True).select_option("B")
        ben.get_by_label("Ben", exact=True).select_option("K")
        ben.get_by_role("button", name="Save the draw").tap()
        for page in everybody:
            page.wait_for_selector(".on-turn .name:text('Anna')")

        # Each ends a turn on the own phone; the board is read, everybody sees it, and clocks run.
        table.lay(HORN)
        end_turn(anna)
        all_show(everybody, "14", "0")
        assert "HORN" in big.inner_text("#last")
        table.lay(HORN, FARM)
        end_turn(ben)
        all_show(everybody, "14", "9")
        running = anna.locator(".clock.runs")
        before = running.inner_text()
        anna.wait_for_function("before => document.querySelector('.clock.runs').textContent !== before", arg=before)

        # A pause: the clocks stand; then the game goes on.
        ben.locator("#panel .pause:enabled").tap()
        big.wait_for_selector("#status:has-text('Paused')")
        assert big.locator(".clock.runs").count() == 0
        ben.get_by_role("button", name="Continue").tap()
        big.wait_for_selector(".clock.runs")

        # A letter in doubt: the page asks; the answer is tapped on the board itself.
        table.lay(HORN, FARM, PASTE)
        table.doubt = {(9, 9): "EF"}
        end_turn(anna)
        for page in everybody:
            page.wait_for_selector(".question")
        ben.locator("a:has(.ring)").first.click()
        answers = ben.get_by_role("dialog").locator("button[formaction]")
        answers.filter(has_text="PASTE").first.tap()
        table.doubt = {}
        all_show(everybody, "39", "9")

        # A phony is marked, and challenged off.
        table.lay(HORN, FARM, PASTE, VEX)
        end_turn(ben)
        big.wait_for_selector("#last .word:text('VEX')")
        table.lay(HORN, FARM, PASTE, VEX, QZ)
        end_turn(anna)
        for page in everybody:
            page.wait_for_selector("#last .verdict")
        before_challenge = totals(ben)
        ben.get_by_role("button", name="Challenge").tap()
        for page in everybody:
            page.wait_for_selector("#last h2:has-text('took back')")
        assert totals(big)[0] == "39" and before_challenge[0] != "39"
        table.lay(HORN, FARM, PASTE, VEX)

        # A turn is put right by hand, and that taken back and brought again.
        anna.locator(".turns .mend").last.tap()
        anna.get_by_role("dialog").get_by_label("Score (only").fill("20")
        anna.get_by_role("button", name="Correct").tap()
        big.wait_for_selector(".players .total:text-is('45')")
        anna.locator("#panel .undo:enabled").tap()
        big.wait_for_selector(".players .total:text-is('39')")
        anna.get_by_role("link", name="More", exact=True).tap()
        anna.get_by_role("dialog").get_by_role("button", name="Redo").tap()
        big.wait_for_selector(".players .total:text-is('45')")

        # The end: unplayed letters are told, and everybody sees who won.
        choose(ben, "End game", "End the game?")
        ben.get_by_role("dialog").get_by_role("button", name="End game").tap()
        ben.get_by_role("link", name="Unplayed letters").tap()
        racks = ben.get_by_role("dialog").locator(".rack input[name=letters]")
        racks.nth(0).fill("AEIOUTN")
        racks.nth(1).fill("LSRDTEI")
        ben.get_by_role("dialog").locator("button.primary").tap()
        for page in everybody:
            page.wait_for_selector(".players .winner")
            page.wait_for_selector("#status:has-text('wins')")
            assert page.locator("#last .summary tbody tr").count() == 2
