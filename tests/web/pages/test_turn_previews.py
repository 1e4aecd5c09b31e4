"""The score sheet as it would be after a correction, before the correction is confirmed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from tests.support.api_table import WebTable, open_web_table
from tests.web.pages.test_turn_forms import fill_in, list_turns


@pytest.fixture
def table(tmp_path: Path) -> Iterator[WebTable]:
    """A table with HORN, FARM and PASTE by Anna and Ben in turn."""
    with open_web_table(tmp_path) as table:
        table.play_three_turns()
        yield table


def preview(phone: FlaskClient, command: str, form: dict[str, str]) -> str:
    """Return the words of the preview of a form."""
    answer = phone.post(f"/dialogs/{command}/preview", data=form, headers={"X-Dialog": "1"})
    assert answer.status_code == 200
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", answer.text)).split())


def test_missing_pass_shows_the_players_and_totals_that_follow_from_it(table: WebTable, phone: FlaskClient) -> None:
    before = list_turns(table)
    form = fill_in(phone, "/dialogs/turn?number=2&insert", kind="pass")
    shown = preview(phone, "insert-turn", form)
    assert "Ben passed 0 0 Anna FARM H6 +9 23 Ben PASTE 10F +25 25 Totals: Anna 23 · Ben 25" in shown
    assert list_turns(table) == before, "nothing is recorded"
    assert phone.post("/actions/insert-turn", data=form).status_code == 204
    assert [player.total for player in table.session.state.players] == [23, 25]


def test_pass_that_is_removed_again_shows_the_totals_without_it(table: WebTable, phone: FlaskClient) -> None:
    phone.post("/actions/insert-turn", data=fill_in(phone, "/dialogs/turn?number=2&insert", kind="pass"))
    form = fill_in(phone, "/dialogs/turn?number=2", kind="none")
    assert "Totals: Anna 39 · Ben 9" in preview(phone, "turn", form)
    assert phone.post("/actions/turn", data=form).status_code == 204
    assert [player.total for player in table.session.state.players] == [39, 9]


@pytest.mark.parametrize(
    ("fields", "line", "totals"),
    [
        ({"kind": "penalty", "player": "1", "score": "−10"}, "Ben penalty −10 −1", "Anna 39 · Ben −1"),
        ({"kind": "bonus", "player": "0", "score": "5"}, "Anna bonus +5 44", "Anna 44 · Ben 9"),
    ],
)
def test_points_of_a_club_are_entered_and_removed(
    table: WebTable, phone: FlaskClient, fields: dict[str, str], line: str, totals: str
) -> None:
    form = fill_in(phone, "/dialogs/turn?number=4&insert", **fields)
    shown = preview(phone, "insert-turn", form)
    assert line in shown and f"Totals: {totals}" in shown
    assert phone.post("/actions/insert-turn", data=form).status_code == 204
    assert list_turns(table)[-1][1] == fields["kind"]
    assert phone.get("/").status_code == 200
    removal = fill_in(phone, "/dialogs/turn?number=4", kind="none")
    assert phone.post("/actions/turn", data=removal).status_code == 204
    assert len(list_turns(table)) == 3


def test_failed_challenge_is_entered_afterwards_and_moves_no_turn(table: WebTable, phone: FlaskClient) -> None:
    before = list_turns(table)
    form = fill_in(phone, "/dialogs/turn?number=2&insert", kind="challenge", player="1")
    assert "Ben" in preview(phone, "insert-turn", form)
    assert phone.post("/actions/insert-turn", data=form).status_code == 204
    assert [turn for turn in list_turns(table) if turn[1] != "challenge"] == before


def test_impossible_correction_shows_its_reason(phone: FlaskClient) -> None:
    form = fill_in(phone, "/dialogs/turn?number=4&insert", kind="penalty", player="1")
    assert preview(phone, "insert-turn", form) == "Enter the player and the points."
    form = fill_in(phone, "/dialogs/turn?number=1", word="QXZ", at="A1 or so")
    assert preview(phone, "turn", form) != ""


def test_browser_without_script_gets_a_page_that_sends_the_form(phone: FlaskClient) -> None:
    form = fill_in(phone, "/dialogs/turn?number=2&insert", kind="pass")
    page = phone.post("/dialogs/insert-turn/preview", data=form).text
    fields = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', page))
    assert 'action="/actions/insert-turn"' in page and fields == form
    assert phone.post("/actions/insert-turn", data=fields).status_code == 204
