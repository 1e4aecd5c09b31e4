"""Every page fits a phone of 320 px, and what can be tapped is large enough for a thumb."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from device.session.messages import Notice, Question, Trouble
from device.session.snapshot import PlayerView, TableSnapshot
from device.settings import Settings
from device.settings_editor import SettingsEditor, SettingsFile
from tests.support import samples
from tests.support.api_table import WebTable
from tests.support.browsers import EVERY_PAGE, MARKS, open_tab, pair, unpair_all, visit
from tests.web.conftest import ShownTable
from web import create_app
from web.host_info import HostInfo, SettingsAccess
from web.security.server import PageServer

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = MARKS

SMALL_PHONE = (320, 640)
PADDING_PX = 10
"""Least space between a text and the edge of its card."""
MEASURE = """() => {
  const least = 44, exempt = "svg.board, [hidden], [aria-hidden=true]";
  for (const part of document.querySelectorAll("details")) part.open = true;
  for (const button of document.querySelectorAll(".board-zoom[aria-pressed=false]")) button.click();
  const wrong = [];
  if (document.documentElement.scrollWidth > innerWidth) wrong.push(`${document.documentElement.scrollWidth} px wide`);
  for (const part of document.querySelectorAll("a, button, input:not([type=hidden]), select, textarea, summary")) {
    const isBox = part.type === "checkbox" || part.type === "radio"; // its label is tapped
    const target = isBox ? part.labels[0] : part;
    const { width, height } = target.getBoundingClientRect();
    if (!width || target.closest(exempt)) continue;
    const isInText = getComputedStyle(part).display === "inline" && part.matches("p a, li a, dd a, label a");
    const isLow = Math.round(height) < least || Math.round(width) < least;
    const size = `${Math.round(width)} x ${Math.round(height)}`;
    if (isLow && !isInText) wrong.push(`${size}: ${target.outerHTML.slice(0, 80)}`);
  }
  return wrong;
}"""


@pytest.fixture
def phone(browser: Browser) -> Iterator[Page]:
    with open_tab(browser, SMALL_PHONE, has_touch=True, reduced_motion="reduce") as page:
        yield page


@pytest.mark.parametrize("language", ["en", "de"])
def test_every_page_fits_a_small_phone(
    phone: Page, played_table: WebTable, played_server: PageServer, language: str
) -> None:
    pair(phone, played_server, played_table.code)
    visit(phone, played_server, f"/?lang={language}")
    found = {}
    for path in EVERY_PAGE:
        visit(phone, played_server, path)
        phone.wait_for_load_state("load")
        if wrong := phone.evaluate(MEASURE):
            found[path] = wrong
    unpair_all(played_table.app)
    assert found == {}, "\n".join(f"{k}: {w}" for k, v in found.items() for w in v)


def test_every_state_of_the_score_fits_a_small_phone(phone: Page, table: ShownTable) -> None:
    found = {}
    with PageServer(create_app(table), 0, "127.0.0.1") as server:
        pair(phone, server, server.app.extensions["pairing"].code)
        for name, state in samples.EVERY.items():
            table.show(state)
            visit(phone, server)
            phone.wait_for_load_state("load")
            if wrong := phone.evaluate(MEASURE):
                found[name] = wrong
    assert found == {}, "\n".join(f"{k}: {w}" for k, v in found.items() for w in v)


@pytest.mark.parametrize("state", [samples.TIMED, replace(samples.FINISHED, clock=samples.TIMED.clock)])
def test_clocks_are_not_cut_off_on_a_small_phone(phone: Page, table: ShownTable, state: TableSnapshot) -> None:
    table.show(state)
    with PageServer(create_app(table), 0, "127.0.0.1") as server:
        visit(phone, server, "/?lang=pl")
        cards = [
            (card.bounding_box(), card.locator(".clock").bounding_box()) for card in phone.locator(".players li").all()
        ]
    assert len(cards) == 2
    for card, clock in cards:
        assert card is not None and clock is not None
        assert clock["x"] + clock["width"] <= card["x"] + card["width"] - PADDING_PX


def test_question_about_a_player_with_a_long_name_fits_a_small_phone(phone: Page, table: ShownTable) -> None:
    name = "W" * 40
    question = Question(f"Did {name} pass?", (f"{name} passed.", "No."))
    table.show(replace(samples.MIDGAME, question=question))
    with PageServer(create_app(table), 0, "127.0.0.1") as server:
        pair(phone, server, server.app.extensions["pairing"].code)
        phone.wait_for_selector(".question button")
        assert phone.evaluate("document.querySelector('#talk').scrollWidth") <= SMALL_PHONE[0]


def test_long_names_of_files_fit_a_small_phone(phone: Page, table: ShownTable, tmp_path: Path) -> None:
    folder = tmp_path / ("a_long_name_without_a_gap" * 3)
    folder.mkdir()
    (folder / "settings.toml").write_text("", encoding="utf-8")
    editor = SettingsEditor(SettingsFile(folder / "settings.toml"), Settings())
    table.show(replace(samples.MIDGAME, notices=(Notice(f"There is no folder {folder}.", Trouble.CAMERA),)))
    place = HostInfo(settings=SettingsAccess(editor, tmp_path))
    widths = {}
    with PageServer(create_app(table, host_info=place), 0, "127.0.0.1") as server:
        pair(phone, server, server.app.extensions["pairing"].code)
        for path in ("/", "/settings"):
            visit(phone, server, path)
            phone.wait_for_load_state("load")
            widths[path] = phone.evaluate(
                "Math.max(...[...document.querySelectorAll('html, .notice')].map(p => p.scrollWidth))"
            )
    assert max(widths.values()) <= SMALL_PHONE[0], widths


def test_words_of_the_turns_stay_in_one_line_if_the_text_is_twice_as_large(phone: Page, table: ShownTable) -> None:
    table.show(samples.MIDGAME)
    with PageServer(create_app(table), 0, "127.0.0.1") as server:
        visit(phone, server)
        phone.evaluate("document.documentElement.style.fontSize = '200%'")
        heights = phone.evaluate("[...document.querySelectorAll('.turns b')].map(word => word.offsetHeight)")
        assert max(heights) < 2 * 32, heights


@pytest.mark.parametrize("players", [samples.ENDED.players[:2], samples.ENDED.players[:3], samples.ENDED.players])
def test_totals_are_whole_if_the_text_is_twice_as_large(
    phone: Page, table: ShownTable, players: tuple[PlayerView, ...]
) -> None:
    table.show(replace(samples.MIDGAME, players=players))
    with PageServer(create_app(table), 0, "127.0.0.1") as server:
        visit(phone, server)
        phone.evaluate("document.documentElement.style.fontSize = '200%'")
        cut = phone.evaluate(
            "[...document.querySelectorAll('.players .total')].filter(total => total.scrollWidth > total.clientWidth)"
            ".map(total => total.textContent)"
        )
        assert cut == []


def test_names_of_a_new_game_have_room_if_the_text_is_twice_as_large(phone: Page, table: ShownTable) -> None:
    table.show(samples.MIDGAME)
    with PageServer(create_app(table), 0, "127.0.0.1") as server:
        pair(phone, server, server.app.extensions["pairing"].code)
        visit(phone, server, "/dialogs/new-game")
        phone.evaluate("document.documentElement.style.fontSize = '200%'")
        widths = phone.evaluate("[...document.querySelectorAll('.seat > input')].map(field => field.offsetWidth)")
        assert min(widths) > 0.6 * SMALL_PHONE[0], widths
