"""The form that starts a game from a position: from the question about the first picture, or without a camera."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from flask.testing import FlaskClient

from device.session.snapshot import TableSnapshot
from tests.support import samples
from tests.web.conftest import ShownTable

CHOSEN = replace(samples.BEGUN.question, chosen=1) if samples.BEGUN.question else None


def find_rows(html: str) -> list[str]:
    found = re.search(r"<textarea.*?>(.*?)</textarea>", html, re.S)
    assert found
    return ["".join(line.split()) for line in found[1].splitlines() if line]


def test_form_of_the_question_has_the_tiles_of_the_picture(table: ShownTable, paired: FlaskClient) -> None:
    table.show(samples.BEGUN)
    html = paired.get("/dialogs/position").text
    assert find_rows(html)[7] == "....HORN......." and find_rows(html)[9] == "...PASTEo......"
    assert "Check the 15 tiles on the board" in html and html.count('name="totals"') == 2
    assert 'id="lay-I10" value="o"' in html and '<option value="0" selected>Anna</option>' in html


def test_form_without_a_question_has_an_empty_board(table: ShownTable, paired: FlaskClient) -> None:
    table.show(samples.BEFORE)
    html = paired.get("/dialogs/position").text
    assert set("".join(find_rows(html))) == {"."} and "<details open>" in html


def test_form_after_the_first_turn_says_what_to_do(table: ShownTable, paired: FlaskClient) -> None:
    table.show(samples.MIDGAME)
    html = paired.get("/dialogs/position").text
    assert "/actions/position" not in html and "Start a new game" in html


@pytest.mark.parametrize("form", ["/dialogs/entry", "/dialogs/more"])
@pytest.mark.parametrize(("state", "is_offered"), [(samples.BEFORE, True), (samples.MIDGAME, False)])
def test_position_is_offered_before_the_first_turn(
    table: ShownTable, paired: FlaskClient, form: str, state: TableSnapshot, is_offered: bool
) -> None:
    table.show(state)
    assert ('href="/dialogs/position"' in paired.get(form).text) is is_offered


@pytest.mark.parametrize("path", ["/", "/dialogs/question"])
def test_question_about_the_first_picture_asks_for_the_points(
    table: ShownTable, paired: FlaskClient, path: str
) -> None:
    table.show(samples.BEGUN)
    html = paired.get(path).text
    assert 'href="/dialogs/position"' in html
    assert "/actions/answer/0" in html and "/actions/answer/1" not in html


def test_question_whose_position_the_panel_has_recorded_has_its_answers(table: ShownTable, paired: FlaskClient) -> None:
    table.show(replace(samples.BEGUN, question=CHOSEN, turns=(replace(samples.HORN, kind="position"),)))
    html = paired.get("/").text
    assert "/actions/answer/1" in html and 'href="/dialogs/position"' not in html


def test_line_of_a_position_offers_only_its_points(table: ShownTable, paired: FlaskClient) -> None:
    line = replace(samples.HORN, kind="position", at="", word="", words=())
    table.show(replace(samples.BEFORE, turns=(line,)))
    html = paired.get("/dialogs/turn?number=1").text
    assert "started with" in html and 'name="score"' in html and 'name="kind"' not in html
