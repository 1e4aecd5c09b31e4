"""The pages of a hall in Chromium: on a screen of 1920 x 1080 and on a phone, with twenty tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from device.hall.receiving.event import save_round
from engine.events import GameEnded, Passed, RackRevealed
from engine.rules import STANDARD_RULES
from tests.support.browsers import MARKS, PHONE, SCREEN, open_tab
from tests.web.hall.conftest import HORN, STARTED, ShownHall, received
from web.security.server import PageServer

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = MARKS
LONG_NAME = "Donaudampfschifffahrtsgesellschaftskapit"
CUT_OFF = """() => [...document.querySelectorAll("section, .words .word")]
  .filter((part) => part.scrollWidth > part.clientWidth + 1 && part.clientWidth)
  .map((part) => part.outerHTML.slice(0, 80))"""
MAX_DIRECTOR_PX = 2500
"""Largest height of the director's page with 12 tables on a phone."""
PAGES = ("/", "/foyer", "/event", "/tables/Table%202", "/tables/Table%202/overlay")


@pytest.fixture
def hall() -> Iterator[ShownHall]:
    with ShownHall() as hall:
        hall.set_pairings("1,Table 2,Anna,Ben\n1,Table 3,Eleonora-Wilhelmina,Hieronymus Maximilian")
        for number in range(1, 21):
            hall.state = hall.state.apply_status(f"Table {number}", is_online=True)
            hall.state = hall.state.apply_game(*received(f"Table {number}", [STARTED, HORN]))
        hall.look()
        yield hall


@pytest.fixture
def server(hall: ShownHall) -> Iterator[PageServer]:
    with PageServer(hall.app, 0, "127.0.0.1") as server:
        yield server


@pytest.mark.parametrize("size", [SCREEN, PHONE])
def test_no_page_is_wider_than_its_screen(browser: Browser, server: PageServer, size: tuple[int, int]) -> None:
    with open_tab(browser, size) as page:
        for path in PAGES:
            page.goto(f"http://127.0.0.1:{server.port}{path}")
            assert page.evaluate("document.documentElement.scrollWidth") <= size[0], path


def pair_director(page: Page, server: PageServer) -> None:
    """Pair a browser as a director does, and open the page of the event."""
    page.goto(f"http://127.0.0.1:{server.port}/pair")
    page.get_by_label("Six digits").fill(server.app.extensions["pairing"].code)
    page.get_by_role("button", name="Pair", exact=True).click()
    page.get_by_role("link", name="Standings").click()
    page.locator("#pairings").wait_for(state="attached")


def test_foyer_in_a_paired_browser_follows_the_games_without_reloading(
    browser: Browser, server: PageServer, hall: ShownHall
) -> None:
    with open_tab(browser, SCREEN) as page:
        pair_director(page, server)
        page.goto(f"http://127.0.0.1:{server.port}/foyer")
        page.evaluate("window.first = true")
        hall.state = hall.state.apply_game(*received("Table 1", [STARTED, HORN, Passed(1)]))
        hall.look()
        page.locator("#table-0").get_by_text("Ben: passed").wait_for()
        assert page.evaluate("window.first")


def test_director_saves_a_round_and_types_a_result(browser: Browser, server: PageServer, hall: ShownHall) -> None:
    with open_tab(browser, PHONE) as page:
        pair_director(page, server)
        page.get_by_role("link", name="Round 2").click()
        page.locator("#pairings").fill("\n".join(f"{n} Player {n} - Guest {n}" for n in range(1, 13)))
        page.locator("form", has=page.locator("#pairings")).get_by_role("button").click()
        row = page.locator(".lines li", has_text="Player 12")
        row.get_by_label("Player 12").fill("401")
        row.get_by_label("Guest 12").fill("380")
        row.get_by_role("button").click()
        page.get_by_text("401 : 380 by hand").wait_for()
        assert page.evaluate("document.documentElement.scrollHeight") <= MAX_DIRECTOR_PX
        assert [line.points for line in hall.state.rounds[2] if line.counts] == [(401, 380)]


def test_row_of_a_pairing_is_replaced_while_the_director_watches(
    browser: Browser, server: PageServer, hall: ShownHall
) -> None:
    with open_tab(browser, SCREEN) as page:
        pair_director(page, server)
        row = page.locator(".lines li", has_text="Eleonora").locator(".state")
        assert row.inner_text().startswith("plays another game")
        played = replace(STARTED, players=("Eleonora-Wilhelmina", "Hieronymus Maximilian"))
        hall.state = hall.state.apply_game(*received("Table 3", [played, HORN], started=200.0))
        hall.look()
        row.get_by_text("14 : 0").wait_for()
        assert row.inner_text() == "14 : 0 playing"
        hall.state = hall.state.apply_game(*received("Table 3", [played, HORN, GameEnded()], started=200.0))
        hall.look()
        row.get_by_text("Let it count").wait_for()
        assert row.inner_text().startswith("14 : 0 unplayed letters missing")


def test_no_page_is_wider_than_its_screen_if_the_text_is_twice_as_large(browser: Browser, server: PageServer) -> None:
    with open_tab(browser, PHONE) as page:
        pair_director(page, server)
        for path in PAGES:
            page.goto(f"http://127.0.0.1:{server.port}{path}")
            page.evaluate("document.documentElement.style.fontSize = '200%'")
            assert page.evaluate("document.documentElement.scrollWidth") <= PHONE[0], path


@pytest.mark.parametrize("size", [(1440, 900), PHONE])
def test_long_names_fit_the_screen(
    browser: Browser, server: PageServer, hall: ShownHall, size: tuple[int, int]
) -> None:
    started = replace(STARTED, players=(LONG_NAME, "Ben"), rules=STANDARD_RULES)
    ended = [started, HORN, GameEnded(), RackRevealed(0, ("Q",)), RackRevealed(1, ())]
    hall.state = hall.state.apply_game(*received("Table 4", ended))
    hall.set_pairings(f"1,Table 4,{LONG_NAME},Ben\n2,Table 4,{LONG_NAME},Anna")
    hall.look()
    with open_tab(browser, size) as page:
        for path in ("/", "/foyer", "/event", "/tables/Table%204"):
            page.goto(f"http://127.0.0.1:{server.port}{path}")
            assert page.evaluate("document.documentElement.scrollWidth") <= size[0], path
            assert page.evaluate(CUT_OFF) == [], path


def test_turn_is_shown_without_reloading(browser: Browser, server: PageServer, hall: ShownHall) -> None:
    with open_tab(browser, SCREEN) as page:
        page.goto(f"http://127.0.0.1:{server.port}/")
        page.evaluate("window.first = true")
        hall.state = hall.state.apply_game(*received("Table 7", [STARTED, HORN, Passed(1)]))
        hall.look()
        page.get_by_text("Ben: passed").wait_for()
        assert page.evaluate("window.first")
        page.locator("#table-6 a").click()
        page.locator("#board").wait_for()
        assert page.url.endswith("/tables/Table%207")


def test_open_page_of_the_event_shows_a_new_round(browser: Browser, server: PageServer, hall: ShownHall) -> None:
    with open_tab(browser, SCREEN) as page:
        page.goto(f"http://127.0.0.1:{server.port}/event")
        hall.set_pairings("1,Table 2,Anna,Ben\n2,Table 3,Cleo,Dan")
        hall.look()
        page.locator("#round-2").get_by_text("Cleo").wait_for()
        hall.edit_event(lambda event: save_round(event, 1, ()))
        hall.look()
        page.locator("#round-1").wait_for(state="detached")


def test_foyer_shows_the_tables_in_turn(browser: Browser, server: PageServer) -> None:
    with open_tab(browser, SCREEN) as page:
        page.clock.install()
        page.goto(f"http://127.0.0.1:{server.port}/foyer")
        seen = set[str]()
        for _ in range(4):
            seen |= set(page.locator(".tables li:visible h2").all_inner_texts())
            page.clock.run_for(10_000)
        assert {name.split("\n")[0].split(" bag")[0] for name in seen} == {f"Table {n}" for n in range(1, 21)}


@pytest.mark.parametrize("size", [SCREEN, PHONE])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(browser: Browser, server: PageServer, size: tuple[int, int], scheme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    found = []
    with open_tab(browser, size, bypass_csp=True, color_scheme=scheme, reduced_motion="reduce") as page:
        for path in PAGES:
            page.goto(f"http://127.0.0.1:{server.port}{path}")
            for one in Axe().run(page).response["violations"]:
                if one["impact"] in ("serious", "critical"):
                    found.append(f"{path}: {one['id']}: {one['nodes'][0]['html'][:160]}")
    assert found == []
