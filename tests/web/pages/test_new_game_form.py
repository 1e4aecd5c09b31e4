"""The form of a new game: what it offers, and the game that it starts."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from device.session.rule_choices import CHOICE_FIELDS, RuleChoice, make_rules
from device.storage.lexicons import OwnLists, save_uploaded_list
from engine.events import GameStarted
from engine.rules import PRESETS
from engine.tiles import load_tile_set
from tests.support import samples
from tests.web.conftest import ShownTable, pair, token
from web import create_app
from web.host_info import HostInfo


def test_form_remembers_who_played(table: ShownTable, paired: FlaskClient) -> None:
    table.show(samples.MIDGAME)
    html = paired.get("/dialogs/new-game").text
    assert '<option value="Zoë" data-colour="teal">' in html
    assert re.findall(r'<input name="players"[^>]* value="([^"]*)"', html) == ["Anna", "Ben", "", ""]
    assert "the current one ends without a result" in html


@pytest.mark.parametrize(("tile_set", "is_shown"), [("en", False), ("la", True)])
def test_form_says_that_a_language_has_no_list(
    table: ShownTable, paired: FlaskClient, tile_set: str, is_shown: bool
) -> None:
    table.show(replace(samples.BEFORE, tile_set=tile_set))
    ((sets, hidden),) = re.findall(r'data-without-list="([^"]*)"( hidden)?>', paired.get("/dialogs/new-game").text)
    assert "en" not in sets.split() and "la" in sets.split()
    assert (not hidden) == is_shown


def test_form_of_the_page_begins_the_game_it_shows(table: ShownTable, tmp_path: Path) -> None:
    own = tmp_path / "club.txt"
    own.write_text("zoo\n")
    app = create_app(table, find_own=lambda _: own)
    client = app.test_client()
    pair(client)
    html = client.get("/dialogs/new-game").text
    assert "club" in html
    form = {"csrf": token(client), "seen": "0-0", "players": ["Anna", "Ben", "", ""], "first": "1", "lexicon": "own"}
    assert client.post("/actions/new-game", data=form).status_code == 204
    (request, _), *_ = table.submitted
    assert (request.started.first, request.started.lexicon) == (1, "club")
    bad = client.post("/actions/new-game", data={**form, "players": ["Anna", "", "", ""]})
    assert bad.status_code == 409 and "two to four" in bad.text
    app.extensions["live"].close()


def test_form_names_the_uploaded_list_of_each_language(table: ShownTable, tmp_path: Path) -> None:
    save_uploaded_list("woerter.txt", b"horn\nfarm\n", tmp_path, load_tile_set("de"))
    client = create_app(table, find_own=OwnLists(folder=tmp_path).find).test_client()
    pair(client)
    html = unescape(client.get("/dialogs/new-game").text)
    (lists,) = re.findall(r'data-own-lists="({.*?})"', html)
    assert json.loads(lists) == dict.fromkeys(("de", "de_old"), "woerter: 2 words, German")


def test_form_shows_the_game_of_changed_settings(table: ShownTable) -> None:
    table.show(samples.MIDGAME)
    started = GameStarted(("Mira", "Tom"), tile_set="de", layout="exchanged", draw=True)
    client = create_app(table, host_info=HostInfo(find_new_game=lambda _: started)).test_client()
    pair(client)
    html = client.get("/dialogs/new-game").text
    assert re.findall(r'<input name="players"[^>]* value="([^"]*)"', html) == ["Mira", "Tom", "", ""]
    assert '<option value="de" selected>' in html and '<option value="exchanged" selected>' in html
    assert re.findall(r'name="first" value="(\w+)" checked', html) == ["null"]
    assert f'name="seen" value="{samples.MIDGAME.moment}"' in html


@pytest.mark.parametrize("lexicon", [None, "en"])
@pytest.mark.parametrize("judge", ["list", "players"])
def test_form_shows_word_list_and_judge_of_changed_settings(
    table: ShownTable, tmp_path: Path, judge: str, lexicon: str | None
) -> None:
    started = GameStarted(("Mira", "Tom"), make_rules(RuleChoice({"judge": judge})), lexicon=lexicon)
    own = tmp_path / "club.txt"
    own.write_text("zoo\n")
    client = create_app(
        table, find_own=lambda _: own if lexicon else None, host_info=HostInfo(find_new_game=lambda _: started)
    ).test_client()
    pair(client)
    html = client.get("/dialogs/new-game").text
    assert f'<option value="{judge}" selected>' in html
    assert f'<option value="{"own" if lexicon else "none"}" selected>' in html


@pytest.mark.parametrize(("lexicon", "choice"), [(None, "none"), ("en", "shipped")])
def test_form_of_the_next_game_has_the_word_list_of_the_last_one(
    table: ShownTable, paired: FlaskClient, lexicon: str | None, choice: str
) -> None:
    table.show(replace(samples.BEFORE, lexicon=lexicon))
    assert f'<option value="{choice}" selected>' in paired.get("/dialogs/new-game").text


def test_form_begins_a_game_of_the_changed_rules(table: ShownTable) -> None:
    choices = {"challenge": "points", "points": "10", "exchange": "seven", "minutes": "20", "overtime": "5"}
    rules = make_rules(RuleChoice({**choices, "finish_round": "yes"}, ("recycle",), ("beginner", "expert")))
    started = GameStarted(("Mira", "Tom"), rules)
    client = create_app(table, host_info=HostInfo(find_new_game=lambda _: started)).test_client()
    pair(client)
    html = client.get("/dialogs/new-game").text
    selects = re.findall(r'<select id="[^"]*" name="([^"]*)">(.*?)</select>', html)
    form: dict[str, list[str]] = {"csrf": [token(client)], "seen": ["0-0"]}
    for name, values in selects:
        form.setdefault(name, []).append("".join(re.findall(r'value="([^"]*)" selected', values)))
    for field in re.findall(r"<input[^>]*>", html):
        if named := re.search(r'name="(players|minutes|scoreless|overtime)"[^>]* value="([^"]*)"', field):
            form.setdefault(named[1], []).append(named[2])
    for name, value in re.findall(r'name="(\w+)" value="(\w+)" checked', html):
        form.setdefault(name, []).append(value)
    assert client.post("/actions/new-game", data=form).status_code == 204
    (request, _), *_ = table.submitted
    assert request.started.rules == rules


@pytest.mark.parametrize("first", ["9", "x", "-1", "²"])
def test_player_who_begins_must_be_one_of_the_seats(table: ShownTable, paired: FlaskClient, first: str) -> None:
    form = {"csrf": token(paired), "seen": "0-0", "players": ["Anna", "Ben"], "first": first}
    assert paired.post("/actions/new-game", data=form).status_code == 400
    assert table.submitted == []


def test_form_offers_every_rule(paired: FlaskClient) -> None:
    html = paired.get("/dialogs/new-game").text
    fields = set(re.findall(r'<(?:select|input)[^>]* name="(\w+)"', html))
    assert fields >= {*CHOICE_FIELDS, "players", "colours", "first", "levels", "variations"}


def test_form_starts_a_game_with_the_rules_of_a_club(table: ShownTable, paired: FlaskClient) -> None:
    form = {
        "csrf": token(paired), "seen": "0-0", "players": ["Anna", "Ben", "", ""],
        "levels": ["expert", "beginner", "", ""],
        "challenge": "points", "points": "10", "points_for": "word", "payer": "challenger", "judge": "players",
        "lexicon": "shipped", "scoreless": "6", "overtime": "5", "minutes": "", "finish_round": "yes",
    }  # fmt: skip
    assert paired.post("/actions/new-game", data=form).status_code == 204
    (request, _), *_ = table.submitted
    rules = request.started.rules
    assert rules.finish_lines(2) == (200, 70) and rules.finish_round and rules.challenger_pays
    assert (rules.scoreless_turns, rules.overtime_points, rules.list_decides) == (6, 5, False)


def test_form_says_how_each_preset_differs_and_what_it_chooses(paired: FlaskClient) -> None:
    html = paired.get("/dialogs/new-game").text
    found = dict(re.findall(r'data-preset="([^"]+)" data-choices="([^"]+)"', html))
    chosen = {preset: json.loads(unescape(choices)) for preset, choices in found.items()}
    assert set(chosen) == set(PRESETS)
    assert (chosen["tournament"]["unplayed"], chosen["tournament"]["minutes"]) == ("twice", "25")
    assert (chosen["classic-2008"]["unplayed"], chosen["travel-case"]["exchange"]) == ("both", "seven")


def test_next_game_is_begun_by_the_next_player(table: ShownTable, paired: FlaskClient) -> None:
    table.show(samples.FINISHED)
    html = paired.get("/dialogs/new-game").text
    assert re.findall(r'name="first" value="(\w+)" checked', html) == ["1"]


@pytest.mark.parametrize("preset", PRESETS)
def test_next_game_has_the_rules_of_the_last_one(table: ShownTable, paired: FlaskClient, preset: str) -> None:
    rules = replace(PRESETS[preset], list_decides=False)
    table.show(replace(samples.FINISHED, rules=rules, edition=rules.edition))
    html = paired.get("/dialogs/new-game").text
    assert re.findall(r'<option value="([^"]*)" selected', html.partition('name="preset"')[2])[0] == preset
    assert re.findall(r'data-preset="([^"]*)" data-choices="[^"]*">', html) == [preset]


def test_next_game_after_own_rules_has_the_preset_of_their_edition(table: ShownTable, paired: FlaskClient) -> None:
    rules = replace(PRESETS["giant-deluxe-2020"], exchange_minimum_bag=7)
    table.show(replace(samples.FINISHED, rules=rules, edition=rules.edition))
    assert '<option value="giant-deluxe-2020" selected>' in paired.get("/dialogs/new-game").text


@pytest.mark.parametrize(
    ("preset", "seconds", "minutes"),
    [("classic-2008", 0, ""), ("classic-2008", 1500, "25"), ("tournament", 1500, "25"), ("tournament", 0, "0")],
)
def test_next_game_has_the_clock_of_the_last_one(
    table: ShownTable, paired: FlaskClient, preset: str, seconds: int, minutes: str
) -> None:
    table.show(replace(samples.FINISHED, rules=replace(PRESETS[preset], clock_seconds=seconds)))
    html = paired.get("/dialogs/new-game").text
    assert re.findall(r'name="minutes"[^>]* value="(\d*)"', html) == [minutes]
