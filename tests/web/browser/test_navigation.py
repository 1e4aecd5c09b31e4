"""The tabs of the page, notices that can be dismissed, and parts that are folded on phones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from device.session.messages import Notice, Trouble
from engine.rules import STANDARD_RULES
from tests.support import samples
from tests.support.browsers import MARKS, PHONE, SCREEN, open_tab, pair, visit
from tests.web.conftest import ShownTable
from web import create_app
from web.security.server import PageServer

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = MARKS
FAULTY = replace(
    samples.MIDGAME,
    events=samples.MIDGAME.events + 1,
    notices=(Notice("The camera is gone.", Trouble.CAMERA), Notice("Please take H off the board.")),
)
COVERED = """() => {
  const all = "h1, .code, nav.pages a, section h2, .players, #last, #panel, svg.board, .photo, #unseen, #chart, #turns";
  const isSeen = (part) => part.checkVisibility({ visibilityProperty: true });
  const parts = [...document.querySelectorAll(all)].filter(isSeen);
  parts.push(document.createRange());
  parts.at(-1).selectNodeContents(document.querySelector(".now"));
  return [...document.querySelectorAll(".notice")].flatMap((notice) => {
    const a = notice.getBoundingClientRect();
    return parts.filter((part) => {
      const b = part.getBoundingClientRect();
      return b.width && a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
    }).map((part) => part.id || part.className || part.tagName);
  });
}"""
WITHOUT_HAS = """const { querySelectorAll } = Element.prototype;
Element.prototype.querySelectorAll = function (selector) {
  if (selector.includes(":has(")) throw new SyntaxError(selector);
  return querySelectorAll.call(this, selector);
};"""
PAGES = ("/", "/history", "/records", "/join", "/setup")
SMALL_PHONE = (320, 640)


@pytest.fixture
def server(table: ShownTable) -> Iterator[PageServer]:
    table.show(samples.MIDGAME)
    with PageServer(create_app(table), 0, "127.0.0.1") as server:
        yield server


@pytest.mark.parametrize("size", [PHONE, SMALL_PHONE])
def test_tabs_are_at_the_bottom_of_every_page_on_a_phone(
    browser: Browser, server: PageServer, size: tuple[int, int]
) -> None:
    with open_tab(browser, size, has_touch=True) as phone:
        pair(phone, server, server.app.extensions["pairing"].code)
        for path in PAGES:
            visit(phone, server, path)
            tabs = phone.locator("nav.pages").bounding_box()
            assert tabs is not None and tabs["y"] + tabs["height"] == size[1] and tabs["height"] >= 44, path
            assert phone.evaluate("document.documentElement.scrollWidth") == size[0], path


def test_notices_cover_nothing_at_the_end_of_the_page_and_can_be_dismissed(
    browser: Browser, server: PageServer, table: ShownTable
) -> None:
    with open_tab(browser, has_touch=True) as phone:
        pair(phone, server, server.app.extensions["pairing"].code)
        table.show(FAULTY)
        phone.get_by_text("The camera is gone.").wait_for()
        phone.evaluate("scrollTo(0, document.body.scrollHeight)")
        phone.get_by_role("link", name="Deutsch").tap(trial=True)
        for _ in FAULTY.notices:
            phone.get_by_role("button", name="Dismiss").first.tap()
        assert not phone.locator(".notice:visible").count()
        table.show(replace(FAULTY, events=FAULTY.events + 1))
        phone.wait_for_selector(f"html[data-events='{FAULTY.events + 1}']")
        assert not phone.locator(".notice:visible").count()


@pytest.mark.parametrize("size", [SCREEN, (1440, 900), (1100, 800)])
@pytest.mark.parametrize("path", ["/", "/big", "/big?lang=fr"])
def test_notices_cover_nothing_on_a_wide_screen(
    browser: Browser, server: PageServer, table: ShownTable, size: tuple[int, int], path: str
) -> None:
    with open_tab(browser, size) as page:
        pair(page, server, server.app.extensions["pairing"].code)
        table.show(FAULTY)
        visit(page, server, path)
        page.get_by_text("The camera is gone.").wait_for()
        assert page.evaluate(COVERED) == []


@pytest.mark.parametrize("path", ["/", "/big"])
def test_long_notices_are_whole_on_a_wide_screen(
    browser: Browser, server: PageServer, table: ShownTable, path: str
) -> None:
    with open_tab(browser, (1440, 900)) as page:
        long = "If a turn was not recorded, tap “Undo” until the game continues, then end that turn. " * 2
        table.show(replace(FAULTY, notices=(Notice(f"First: {long}"), Notice(f"Second: {long}"))))
        visit(page, server, path)
        page.get_by_text("Second:").wait_for()
        cut = page.evaluate(
            "[...document.querySelectorAll('.notice')].filter(part => part.scrollHeight > part.clientHeight).length"
        )
        tops = page.evaluate(
            "[...document.querySelectorAll('.notice')].map(notice => notice.getBoundingClientRect().y)"
        )
        assert cut == 0 and min(tops) >= 0


def test_notice_that_comes_again_is_shown_again(browser: Browser, server: PageServer, table: ShownTable) -> None:
    with open_tab(browser, has_touch=True) as phone:
        pair(phone, server, server.app.extensions["pairing"].code)
        table.show(FAULTY)
        phone.get_by_role("button", name="Dismiss").first.tap()
        table.show(replace(samples.MIDGAME, events=FAULTY.events + 1))
        phone.locator(".notice").first.wait_for(state="detached")
        table.show(replace(FAULTY, events=FAULTY.events + 2))
        phone.get_by_text("The camera is gone.").wait_for()


@pytest.mark.parametrize(("size", "is_open"), [(PHONE, False), (SCREEN, True)])
def test_camera_and_unseen_tiles_are_folded_on_phones_only(
    browser: Browser, server: PageServer, size: tuple[int, int], is_open: bool
) -> None:
    with open_tab(browser, size) as page:
        visit(page, server)
        page.wait_for_load_state("load")
        assert page.locator("#camera").is_visible() is page.locator("#unseen").is_visible() is is_open


def test_rules_of_the_game_are_one_tap_away(browser: Browser, server: PageServer, table: ShownTable) -> None:
    table.show(replace(samples.MIDGAME, rules=STANDARD_RULES))
    with open_tab(browser, has_touch=True) as phone:
        visit(phone, server)
        phone.get_by_role("link", name="Rules").tap()
        phone.locator("dl.rules").wait_for()


def test_form_of_a_new_game_names_the_values_of_the_chosen_rules(browser: Browser, server: PageServer) -> None:
    with open_tab(browser) as phone:
        pair(phone, server, server.app.extensions["pairing"].code)
        phone.get_by_role("link", name="More").click()
        phone.get_by_role("link", name="New game").click()
        phone.get_by_label("Rules", exact=True).select_option("tournament")
        phone.get_by_text("Six scoreless turns in a row").wait_for()
        assert phone.get_by_label("Minutes for each player").get_attribute("placeholder") == "as the rules say: 25"
        exchange = phone.locator("#exchange option").first
        assert exchange.text_content() == "as the rules say: Allowed with seven or more tiles in the bag"


def test_notice_that_is_dismissed_with_the_keyboard_passes_on_the_focus(
    table: ShownTable, server: PageServer, browser: Browser
) -> None:
    with open_tab(browser, PHONE) as phone:
        visit(phone, server)
        table.show(FAULTY)
        phone.locator(".notice .dismiss").first.focus()
        phone.keyboard.press("Enter")
        assert phone.evaluate("document.activeElement.id") == "last"
        phone.keyboard.press("Tab")
        assert phone.evaluate("document.activeElement.matches('.notice:last-child .dismiss')")


def test_news_are_shown_in_a_browser_without_newer_selectors(
    table: ShownTable, server: PageServer, browser: Browser
) -> None:
    """Firefox before version 121 throws an error for `:has()`."""
    with open_tab(browser, PHONE) as phone:
        phone.add_init_script(WITHOUT_HAS)
        visit(phone, server)
        table.show(FAULTY)
        phone.wait_for_selector(".notice .dismiss:visible")


def test_buttons_cover_nothing_of_a_printed_page(table: ShownTable, server: PageServer, browser: Browser) -> None:
    with open_tab(browser, PHONE) as phone:
        pair(phone, server, server.app.extensions["pairing"].code)
        table.show(FAULTY)
        phone.wait_for_selector(".notice")
        phone.emulate_media(media="print")
        fixed = phone.evaluate(
            "[...document.querySelectorAll('body *')].filter(part => part.offsetWidth && "
            "getComputedStyle(part).position === 'fixed').map(part => part.id || part.className)"
        )
        assert fixed == []
