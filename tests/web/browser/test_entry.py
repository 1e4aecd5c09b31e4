"""A turn is entered on the board of the page: by taps on a phone, and with a keyboard."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from device.cameras.base import AbsentCamera
from device.session.commands.games import StartGame
from device.session.table_session import TableSession
from device.storage.store import GameStore
from engine.events import GameStarted
from tests.support.browsers import MARKS, SCREEN, open_tab, pair, visit
from tests.support.sessions import open_session
from tests.support.text_table import HORN, STARTED, WORDS, TextTable, play
from tests.support.waiting import PATIENCE_S
from web import create_app
from web.security.server import PageServer

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = MARKS


@pytest.fixture
def table() -> TextTable:
    return TextTable()


@pytest.fixture
def session(table: TextTable) -> Iterator[TableSession]:
    with open_session(table, table) as session:
        play(session, table, HORN)
        yield session


@pytest.fixture
def server(session: TableSession) -> Iterator[PageServer]:
    with PageServer(create_app(session), 0, "127.0.0.1") as server:
        yield server


def open_entry(page: Page, server: PageServer) -> None:
    pair(page, server, server.app.extensions["pairing"].code)
    page.get_by_role("link", name="More", exact=True).click()
    page.get_by_role("link", name="Enter a turn by hand").click()
    page.locator(".entry-board").wait_for()


def enlarge(phone: Page) -> None:
    phone.get_by_role("button", name="Enlarge the board").tap()


def square(page: Page, name: str) -> None:
    page.locator(f".entry-board [data-name={name}]").tap()


def letters(page: Page, text: str) -> None:
    for letter in text:
        page.locator(f".entry-keys button:text-is('{letter}')").tap()


def test_turn_is_entered_by_taps_and_previewed(browser: Browser, server: PageServer, session: TableSession) -> None:
    with open_tab(browser, has_touch=True) as phone:
        open_entry(phone, server)
        enlarge(phone)
        square(phone, "H6")
        square(phone, "H6")  # down
        letters(phone, "FAM")  # the R of HORN is on the board
        phone.get_by_text("+9").wait_for()
        assert phone.locator(".entry-score b").inner_text() == "FARM"
        phone.get_by_role("button", name="Enter it", exact=True).tap()
        phone.get_by_role("dialog").wait_for(state="hidden")
        turn = session.state.turns[-1]
        assert (turn.word, turn.at, turn.score) == ("FA.M", "H6", 9)


def test_letters_stay_in_place_while_a_turn_is_typed(browser: Browser, server: PageServer) -> None:
    with open_tab(browser, has_touch=True) as phone:
        open_entry(phone, server)
        key, top = phone.locator(".entry-keys button:text-is('A')"), "key => key.getBoundingClientRect().top"
        enlarge(phone)
        heights = [key.evaluate(top)]
        square(phone, "F5")
        square(phone, "F5")  # down, towards the H of HORN
        for letter, shown in (("P", "do not touch"), ("A", "F5 PA do not touch"), ("S", "PASH")):
            letters(phone, letter)
            phone.locator(".entry-preview", has_text=shown).wait_for()
            heights.append(key.evaluate(top))
        assert max(heights) - min(heights) < 1  # px


def centre(page: Page, place: str) -> float:
    """Return the horizontal centre of the element in this place, in px."""
    box = page.locator(place).bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2


def test_word_of_a_language_written_from_the_right_is_entered_from_the_right(
    browser: Browser, server: PageServer, session: TableSession
) -> None:
    session.submit(StartGame(GameStarted(("Dana", "Noam"), tile_set="he"))).result(PATIENCE_S)
    with open_tab(browser, has_touch=True) as phone:
        open_entry(phone, server)
        phone.locator(".entry-board [data-name=H8]").focus()
        phone.keyboard.press("ArrowRight")
        letters(phone, "של")
        assert phone.locator(".entry-board .laid").all_inner_texts() == ["ש", "ל"]
        assert centre(phone, ".entry-board [data-name=G8]") > centre(phone, ".entry-board [data-name=H8]")
        assert "←" in phone.locator(".direction").inner_text()
        phone.get_by_role("button", name="Enter it", exact=True).tap()
        phone.get_by_role("dialog").wait_for(state="hidden")
        assert session.state.turns[-1].at == "8G"
        assert centre(phone, ".headline .tile >> nth=0") > centre(phone, ".headline .tile >> nth=1")


def test_blank_and_problems_are_shown_before_the_turn_counts(
    browser: Browser, server: PageServer, session: TableSession
) -> None:
    with open_tab(browser, has_touch=True) as phone:
        open_entry(phone, server)
        enlarge(phone)
        square(phone, "A1")
        letters(phone, "Q")
        phone.get_by_role("button", name="Next tile is a blank").tap()
        letters(phone, "X")
        phone.get_by_text("QX is not in the word list.").wait_for()
        phone.locator(".entry-preview").get_by_text("do not touch the words").wait_for()
        phone.get_by_role("button", name="Delete the last letter").tap()
        assert phone.locator(".entry input[name=notation]").input_value() == "Q"
        assert len(session.state.turns) == 1


def test_blank_that_is_entered_scores_nothing(browser: Browser, server: PageServer, session: TableSession) -> None:
    with open_tab(browser, has_touch=True) as phone:
        open_entry(phone, server)
        enlarge(phone)
        square(phone, "H6")
        square(phone, "H6")
        phone.get_by_role("button", name="Next tile is a blank").tap()
        letters(phone, "FAM")
        phone.get_by_text("+5").wait_for()
        phone.get_by_role("button", name="Enter it", exact=True).tap()
        phone.get_by_role("dialog").wait_for(state="hidden")
        assert (session.state.turns[-1].word, session.state.turns[-1].score) == ("fA.M", 5)


def test_tap_on_a_small_square_enlarges_the_board_around_it(browser: Browser, server: PageServer) -> None:
    with open_tab(browser, has_touch=True) as phone:
        open_entry(phone, server)
        square(phone, "L10")
        size = phone.locator("[data-name=L10]").bounding_box()
        frame = phone.locator(".board-frame").bounding_box()
        assert size and frame and min(size["width"], size["height"]) >= 44
        assert frame["x"] <= size["x"] and size["x"] + size["width"] <= frame["x"] + frame["width"]
        assert phone.locator(".entry-board .cursor").count() == 0  # the next tap chooses
        square(phone, "L10")
        assert phone.locator(".cursor").get_attribute("data-name") == "L10"


def test_enlarged_board_follows_the_word(browser: Browser, server: PageServer) -> None:
    with open_tab(browser, has_touch=True) as phone:
        open_entry(phone, server)
        enlarge(phone)
        square(phone, "A2")
        letters(phone, "QUIZZING")
        cursor, frame = phone.locator(".cursor").bounding_box(), phone.locator(".board-frame").bounding_box()
        assert phone.locator(".cursor").get_attribute("data-name") == "I2"
        assert cursor and frame and cursor["x"] + cursor["width"] <= frame["x"] + frame["width"]


def test_turn_is_entered_on_a_page_of_its_own(browser: Browser, server: PageServer, session: TableSession) -> None:
    with open_tab(browser, SCREEN) as page:
        pair(page, server, server.app.extensions["pairing"].code)
        visit(page, server, "/dialogs/entry")
        page.locator("[data-name=H6]").click(click_count=2)  # down
        page.keyboard.type("fam")
        page.get_by_text("+9").wait_for()
        page.get_by_role("button", name="Enter it", exact=True).click()
        page.locator("#scores").wait_for()
        assert session.state.turns[-1].word == "FA.M"


def test_mouse_chooses_a_square_without_enlarging_the_board(browser: Browser, server: PageServer) -> None:
    with open_tab(browser, SCREEN) as page:
        open_entry(page, server)
        page.locator("[data-name=L10]").click()
        assert page.locator(".cursor").get_attribute("data-name") == "L10"
        assert not page.get_by_role("button", name="Enlarge the board").is_visible()


def test_turn_is_entered_with_a_keyboard(browser: Browser, server: PageServer, session: TableSession) -> None:
    with open_tab(browser, SCREEN) as page:
        open_entry(page, server)
        for key in ("ArrowUp", "ArrowUp", " ", "f", "a", "x", "Backspace", "m"):
            page.keyboard.press(key)
        page.get_by_text("+9").wait_for()
        page.keyboard.press("Enter")
        page.get_by_role("dialog").wait_for(state="hidden")
        assert session.state.turns[-1].word == "FA.M"


def test_end_turn_without_a_camera_opens_the_entry(browser: Browser, table: TextTable) -> None:
    with (
        GameStore(":memory:") as store,
        TableSession(AbsentCamera("no camera module found"), table, store, WORDS) as session,
        PageServer(create_app(session), 0, "127.0.0.1") as server,
        open_tab(browser, has_touch=True) as phone,
    ):
        session.submit(StartGame(STARTED)).result(PATIENCE_S)
        pair(phone, server, server.app.extensions["pairing"].code)
        phone.locator("#panel .end-turn:enabled").tap()
        phone.get_by_text("The camera sends no pictures.").wait_for()
        phone.locator(".entry-board").wait_for()


def test_dotted_i_of_a_keyboard_is_not_the_dotless_letter(
    browser: Browser, server: PageServer, session: TableSession
) -> None:
    session.submit(StartGame(GameStarted(("Ada", "Can"), tile_set="tr"))).result(PATIENCE_S)
    with open_tab(browser, SCREEN) as page:
        open_entry(page, server)
        for key in ("i", "I", "k"):
            page.keyboard.press(key)
        assert page.locator(".entry input[name=notation]").input_value() == "İIK"


def test_tap_beside_the_form_closes_it_only_without_letters(browser: Browser, server: PageServer) -> None:
    with open_tab(browser, SCREEN) as page:
        open_entry(page, server)
        page.keyboard.press("f")
        page.mouse.click(5, 5)
        assert page.get_by_role("dialog").is_visible()
        page.get_by_role("button", name="Delete the last letter").click()
        page.mouse.click(5, 5)
        page.get_by_role("dialog").wait_for(state="hidden")
