"""The form of a new game makes the game that was chosen, or says what is wrong with it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from engine.rules import PRESETS, ChallengeRule, FinishLineLevel, UnplayedRule
from tests.support import samples
from tests.web.conftest import ShownTable, pair, token
from web import create_app
from web.pages.new_game_form import FormError, NewGame, parse_form


def game(
    own: Path | None = None,
    players: tuple[str, ...] = ("Anna", "Ben", "", ""),
    colours: tuple[str, ...] = (),
    **form: str,
) -> NewGame:
    return parse_form(form, players, colours, own)


def test_plain_form_is_the_standard_game_with_its_words() -> None:
    new = game()
    assert new.started.players == ("Anna", "Ben") and new.started.first == 0
    assert new.started.rules == PRESETS["classic-2008"]
    assert new.lexicon is not None and "HORN" in new.lexicon and new.started.lexicon == new.lexicon.name


def test_names_are_trimmed_and_empty_seats_left_out() -> None:
    new = game(players=(" Anna  Lena ", "", "Ben", "Zoë"), first="2")
    assert new.started.players == ("Anna Lena", "Ben", "Zoë") and new.started.first == 1


def test_names_are_what_an_exported_game_may_hold() -> None:
    """Signs that nobody can see would drive a terminal, and the game could not be brought back."""
    coder = "\N{MAN}\N{ZERO WIDTH JOINER}\N{PERSONAL COMPUTER}"
    assert game(players=("Anna\x1b[2J\n", coder, "\x07")).started.players == ("Anna [2J", coder)


@pytest.mark.parametrize("players", [(), ("Anna",), ("Anna", "Anna"), ("A", "B", "C", "D", "E"), ("A" * 25, "B")])
def test_wrong_players_are_said(players: tuple[str, ...]) -> None:
    with pytest.raises(FormError) as wrong:
        game(players=players)
    assert wrong.value.key == "new.wrong.players"


def test_empty_seat_cannot_begin() -> None:
    with pytest.raises(FormError) as wrong:
        game(first="3")
    assert wrong.value.key == "new.wrong.first"


def test_rules_are_the_preset_with_what_was_chosen_otherwise() -> None:
    rules = game(
        preset="tournament", challenge="points", points="10", unplayed="none", exchange="any", dictionary="open",
        level="expert", first_word="4",
    ).started.rules  # fmt: skip
    assert (rules.challenge, rules.challenge_points) == (ChallengeRule.POINTS, 10)
    assert rules.unplayed is UnplayedRule.NONE and rules.exchange_minimum_bag == 0 and rules.open_dictionary
    assert rules.finish_line == (FinishLineLevel.EXPERT,) and rules.first_word_minimum == 4
    assert rules.clock_seconds == PRESETS["tournament"].clock_seconds


@pytest.mark.parametrize(
    "form",
    [{"tiles": "../../etc/passwd"}, {"lexicon": "/etc/passwd"}, {"preset": "x"}, {"challenge": "x"}, {"first": "9"}],
)
def test_choice_that_was_not_offered_is_refused(form: dict[str, str]) -> None:
    with pytest.raises(FormError) as wrong:
        parse_form(form, ("Anna", "Ben"), (), None)
    assert wrong.value.key == "new.wrong.choice"


def test_words_may_be_nobodys_or_the_tables_own(tmp_path: Path) -> None:
    assert game(lexicon="none").lexicon is None and game(tiles="ro").lexicon is None
    own = tmp_path / "club.txt"
    own.write_text("zoo\nhorn\n")
    words = game(own, lexicon="own").lexicon
    assert words is not None and "ZOO" in words and "FARM" not in words
    own.write_bytes(b"\0\1\2")
    with pytest.raises(FormError) as wrong:
        game(own, lexicon="own")
    assert wrong.value.key == "new.wrong.lexicon"


def test_form_remembers_who_played(table: ShownTable, paired: FlaskClient) -> None:
    table.show(samples.MIDGAME)
    html = paired.get("/dialogs/new-game").text
    assert '<option value="Zoë" data-colour="teal">' in html
    assert re.findall(r'<input name="player"[^>]* value="([^"]*)"', html) == ["Anna", "Ben", "", ""]
    assert "ends without a result" in html


def test_form_of_the_page_begins_the_game_it_shows(table: ShownTable, tmp_path: Path) -> None:
    own = tmp_path / "club.txt"
    own.write_text("zoo\n")
    app = create_app(table, own_lexicon=own)
    client = app.test_client()
    pair(client)
    html = client.get("/dialogs/new-game").text
    assert "club" in html
    form = {"csrf": token(client), "seen": "0", "player": ["Anna", "Ben", "", ""], "first": "1", "lexicon": "own"}
    assert client.post("/actions/new-game", data=form).status_code == 204
    assert table.started is not None and (table.started.first, table.started.lexicon) == (1, "club")
    bad = client.post("/actions/new-game", data={**form, "player": ["Anna"]})
    assert bad.status_code == 409 and "two to four" in bad.text
    app.extensions["live"].close()


def test_clock_variations_and_the_draw_are_chosen() -> None:
    started = game(minutes="20", recycle="1", retake_blanks="1", first="draw").started
    assert started.rules.clock_seconds == 1200 and started.draw and started.first == 0
    assert started.rules.recycle and started.rules.retake_blanks and not started.rules.rearrange
    assert game(preset="tournament", minutes="0").started.rules.clock_seconds == 0
    for minutes in ("-1", "ten", "9999", "½"):
        with pytest.raises(FormError):
            game(minutes=minutes)


def test_colours_go_with_the_players_and_not_with_the_seats() -> None:
    new = game(players=("Anna", "", "Ben"), colours=("teal", "red", "mauve"))
    assert new.colours == ("teal", "")
