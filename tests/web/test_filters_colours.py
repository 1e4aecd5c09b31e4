"""The colours of the drawn board and of the players, and the contrast of text on them."""

from __future__ import annotations

import re
from dataclasses import replace
from importlib.resources import files

import pytest
from flask.testing import FlaskClient

from device.session.new_game import PALETTE
from device.session.snapshot import PlayerView, TableSnapshot
from tests.support import samples
from tests.web.conftest import ShownTable
from web import create_app
from web.filters import (
    build_editions_css,
    choose_board_colours,
    choose_ink,
    colour_of,
    compute_contrast,
    ensure_contrast,
)
from web.host_info import HostInfo

OWN = (("2L", "#60a0d0"), ("2W", "#e0a0a0"), ("3L", "#1050a0"), ("3W", "#c02020"))
STATIC = files("web") / "static"
SEEN = replace(samples.MIDGAME, board_colours=OWN)


def test_text_on_a_premium_square_has_enough_contrast() -> None:
    grounds = re.findall(r"--p:(#\w{6});--on:(#\w{6})", build_editions_css(OWN))
    assert len(grounds) > 40
    assert all(compute_contrast(ground, ink) >= 4.5 for ground, ink in grounds)


def test_texts_of_the_board_and_of_the_missing_picture_have_enough_contrast() -> None:
    sheet, page = (STATIC.joinpath(name).read_text(encoding="utf-8") for name in ("table.css", "page.css"))
    premium, missing = (
        re.findall(rf"^{rule} {{(.*)}}", sheet, re.M)[0] for rule in (r"\.board text\.p", r"\.photo\.none")
    )
    assert "opacity" not in premium, "the inks of `build_editions_css` are just dark or light enough"
    assert "color" not in missing
    texts, fields = (re.findall(rf"--{name}: (#\w+);", page) for name in ("text", "field"))
    assert all(compute_contrast(text, field) >= 4.5 for text, field in zip(texts, fields, strict=True))


@pytest.mark.parametrize(
    ("named", "state", "expected"),
    [
        ("", samples.MIDGAME, "crossword-game"),
        ("", SEEN, "own"),
        ("", replace(SEEN, edition="giant-deluxe-2020"), "giant-deluxe-2020"),
        ("classic-2008", replace(SEEN, edition="giant-deluxe-2020"), "classic-2008"),
    ],
    ids=["until-seen", "seen", "edition-of-the-rules", "named-in-the-settings"],
)
def test_board_has_the_colours_of(named: str, state: TableSnapshot, expected: str) -> None:
    assert choose_board_colours(named, state) == expected


def test_page_gets_the_colours_of_the_own_board_once_they_are_seen(table: ShownTable, client: FlaskClient) -> None:
    table.show(samples.MIDGAME)
    before = client.get("/live/state").get_json()
    assert before["colours"] == "/editions.css"
    table.show(SEEN)
    news = client.get(f"/live/state?since={before['id']}").get_json()
    assert 'data-edition="own"' in news["parts"]["board"]
    assert f'href="{news["colours"]}"' in client.get("/history").text
    assert '[data-edition="own"] .p3W' in client.get(news["colours"]).text


def test_colours_named_in_the_settings_are_on_the_page(table: ShownTable) -> None:
    table.show(SEEN)
    app = create_app(table, host_info=HostInfo(board_colours="giant-deluxe-2020"))
    assert 'class="board"' in (html := app.test_client().get("/").text)
    assert 'data-edition="giant-deluxe-2020"' in html and 'data-edition="own"' not in html
    app.extensions["live"].close()


def test_players_have_the_colour_they_chose_and_never_the_same() -> None:
    players = (PlayerView("A", 0, "blue"), PlayerView("B", 0), PlayerView("C", 0, "blue"), PlayerView("D", 0, "x"))
    state = replace(samples.BEFORE, players=players)
    colours = [colour_of(state, seat) for seat in range(4)]
    assert colours[0] == "blue" and len(set(colours)) == 4 and set(colours) <= set(PALETTE)


def test_colour_that_reads_badly_is_moved_no_further_than_needed() -> None:
    assert ensure_contrast("#3a7db8") == "#3a7db8" or compute_contrast("#3a7db8", choose_ink("#3a7db8")) < 4.5
    grey = ensure_contrast("#767676")
    assert 4.5 <= compute_contrast(grey, choose_ink(grey)) < 5


def test_contrast_is_that_of_the_guidelines() -> None:
    assert compute_contrast("#000000", "#ffffff") == pytest.approx(21)
    assert compute_contrast("#777777", "#ffffff") == pytest.approx(4.478, abs=0.01)
