"""The forms that open after a tap on a button."""

from __future__ import annotations

import random
import re
from dataclasses import replace

import pytest
from flask import Flask
from flask.testing import FlaskClient

from device.player_names import MAX_PLAYER_NAME_LENGTH
from device.session.snapshot import Phase, PlayerView
from engine.rules import VARIATIONS, Rules
from tests.support import samples
from tests.web.conftest import ShownTable
from web.i18n import languages
from web.pages.dialogs import draw_tiles


def test_names_with_html_are_escaped_in_every_form(table: ShownTable, app: Flask, paired: FlaskClient) -> None:
    players = (PlayerView("<b>Anna</b>", 1), PlayerView('Ben & "Co"', 2))
    table.show(replace(samples.RACKS, players=players, turn_of=0))
    app.extensions["pairing"].pair(app.extensions["pairing"].code, "1", "<i>phone</i>")
    pages = ("/", "/big", "/phones", "/dialogs/exchange", "/dialogs/rack", "/dialogs/new-game")
    for path in pages:
        html = paired.get(path).text
        assert "<b>Anna" not in html and "<i>phone" not in html and '& "Co"' not in html, path
    assert "&lt;b&gt;Anna" in paired.get("/dialogs/rack").text
    assert "&lt;i&gt;phone" in paired.get("/phones").text


def test_blank_is_offered_the_letters_that_fit(table: ShownTable, paired: FlaskClient) -> None:
    table.show(samples.MIDGAME)
    html = paired.get("/dialogs/square?square=I10").text
    assert "These letters make words" in html
    assert re.findall(r'name="letter" value="(\w)"', html)[:2] == ["O", "I"]
    assert "These letters make words" not in paired.get("/dialogs/square?square=E8").text


def test_language_is_chosen_under_more(paired: FlaskClient) -> None:
    assert 'href="/?lang=de" lang="de" hreflang="de">Deutsch</a>' in paired.get("/dialogs/more").text


def test_number_of_letters_of_the_first_word_chooses_the_plural_form(table: ShownTable, paired: FlaskClient) -> None:
    table.show(samples.MIDGAME)
    html = paired.get("/dialogs/new-game", headers={"Accept-Language": "pl"}).text
    assert all(text in html for text in ("2 litery", "4 litery", "5 liter<"))


def test_words_are_looked_up_unless_only_a_challenge_may(table: ShownTable, paired: FlaskClient) -> None:
    table.show(samples.MIDGAME)
    assert "HORN is in the list" in paired.get("/dialogs/word?word=horn").text
    assert "XQ is not in the list" in paired.get("/dialogs/word?word=x+q").text
    assert "/dialogs/word" in paired.get("/dialogs/more").text
    table.show(replace(samples.MIDGAME, open_dictionary=False))
    answer = paired.get("/dialogs/word?word=horn").text
    assert "in the list" not in answer and "only in a challenge" in answer
    assert "/dialogs/word" not in paired.get("/dialogs/more").text


@pytest.mark.parametrize("phase", [Phase.DRAWING, Phase.PAUSED])
def test_game_ends_or_starts_from_a_position_during_the_draw_too(
    table: ShownTable, paired: FlaskClient, phase: Phase
) -> None:
    table.show(replace(samples.DRAWING, phase=phase, turn_of=None))
    offered = paired.get("/dialogs/more").text
    assert 'href="/dialogs/end-game"' in offered and 'href="/dialogs/position"' in offered
    table.show(replace(samples.DRAWING, phase=Phase.ENDED, turn_of=None))
    offered = paired.get("/dialogs/more").text
    assert "/dialogs/end-game" not in offered and "/dialogs/position" not in offered


def test_page_draws_a_tile_for_each_who_draws(table: ShownTable, paired: FlaskClient) -> None:
    table.show(samples.DRAWING)
    dealt = paired.get("/dialogs/draw?deal").text
    assert len(re.findall(r"<option[^>]* selected>", dealt)) == 2
    assert not re.findall(r"<option[^>]* selected>", paired.get("/dialogs/draw").text)
    assert draw_tiles(samples.DRAWING, random.Random(1)).keys() == {0, 1}


def test_question_is_opened_by_the_square_that_it_is_about(table: ShownTable, paired: FlaskClient) -> None:
    table.show(samples.ASKED)
    html = paired.get("/").text
    assert 'href="/dialogs/question?square=G10"' in html and html.count('class="ring"') == 1
    dialog = paired.get("/dialogs/question?square=G10").text
    assert re.findall(r'formaction="/actions/answer/(\d)"', dialog) == ["0", "1"]
    assert "Something else is there" in dialog


def test_form_to_rename_has_the_names_of_all_players(table: ShownTable, paired: FlaskClient) -> None:
    table.show(samples.MIDGAME)
    text = paired.get("/dialogs/more").text
    assert text.count('action="/actions/rename"') == len(samples.MIDGAME.players)
    assert all(f'value="{player.name}"' in text for player in samples.MIDGAME.players)


def test_form_to_rename_takes_a_name_as_long_as_that_of_a_new_game(table: ShownTable, paired: FlaskClient) -> None:
    table.show(samples.MIDGAME)
    text = paired.get("/dialogs/more").text
    assert text.count(f'maxlength="{MAX_PLAYER_NAME_LENGTH}"') == len(samples.MIDGAME.players)


@pytest.mark.parametrize("variation", VARIATIONS)
def test_board_form_is_offered_in_games_with_a_variation(
    table: ShownTable, paired: FlaskClient, variation: str
) -> None:
    table.show(samples.MIDGAME)
    assert "/dialogs/entry" in paired.get("/dialogs/more").text
    assert "/dialogs/board" not in paired.get("/dialogs/more").text
    table.show(replace(samples.MIDGAME, rules=Rules(**{variation: True})))
    assert "/dialogs/board" in paired.get("/dialogs/more").text


@pytest.mark.parametrize("variation", VARIATIONS)
def test_board_form_explains_the_variations_of_the_game(table: ShownTable, paired: FlaskClient, variation: str) -> None:
    table.show(replace(samples.MIDGAME, rules=Rules(**{variation: True})))
    html = paired.get("/dialogs/board").text
    explained = [name for name in VARIATIONS if languages()["en"](f"lay.{name}") in html]
    assert explained == [variation]


def test_square_is_shown_as_the_camera_saw_it(table: ShownTable, paired: FlaskClient) -> None:
    table.show(samples.MIDGAME)
    form = paired.get("/dialogs/square?square=G10").text
    assert 'href="/pictures/1-3.jpg"' in form and "Photo of G10" in form
    assert 'viewBox="180.0 300.0 200 200"' in form  # columns 4 to 8, rows 7 to 11; squares of 40, a border of 20
    table.show(samples.BEFORE)
    assert "Photo of" not in paired.get("/dialogs/square?square=G10").text


@pytest.mark.parametrize(("square", "first", "last"), [("H8", "F6", "J10"), ("A1", "A1", "E5"), ("O2", "K1", "O5")])
def test_squares_around_a_square_can_be_tapped(
    table: ShownTable, paired: FlaskClient, square: str, first: str, last: str
) -> None:
    table.show(samples.MIDGAME)
    form = paired.get(f"/dialogs/square?square={square}").text
    names = re.findall(r'href="/dialogs/square\?square=(\w+)"', form)
    assert len(names) == 25 and names[0] == first and names[-1] == last
    assert re.findall(r'aria-label="([^"]*)" aria-current="true"', form)[0].startswith(square)
