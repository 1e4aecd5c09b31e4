"""A request for a new game makes the game that was chosen, or an error with the reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from device.session.commands.games import StartGame
from device.session.new_game import NewGameError, NewGameRequest, make_game
from engine.rules import PRESETS, ChallengeRule, FinishLineLevel, UnplayedRule


def make(
    own: Path | None = None,
    players: tuple[str, ...] = ("Anna", "Ben", "", ""),
    colours: tuple[str, ...] = (),
    first: int | None = 0,
    variations: tuple[str, ...] = (),
    **choices: str,
) -> StartGame:
    return make_game(NewGameRequest(players, colours, first, choices, variations), own)


def test_plain_form_is_the_standard_game_with_its_words() -> None:
    new = make()
    assert new.started.players == ("Anna", "Ben") and new.started.first == 0
    assert new.started.rules == PRESETS["classic-2008"]
    assert new.words is not None and "HORN" in new.words and new.started.lexicon == new.words.name


def test_names_are_trimmed_and_empty_seats_left_out() -> None:
    new = make(players=(" Anna  Lena ", "", "Ben", "Zoë"), first=2)
    assert new.started.players == ("Anna Lena", "Ben", "Zoë") and new.started.first == 1


def test_names_are_what_an_exported_game_may_hold() -> None:
    """Signs that nobody can see would drive a terminal, and the game could not be brought back."""
    coder = "\N{MAN}\N{ZERO WIDTH JOINER}\N{PERSONAL COMPUTER}"
    assert make(players=("Anna\x1b[2J\n", coder, "\x07")).started.players == ("Anna [2J", coder)


@pytest.mark.parametrize("players", [(), ("Anna",), ("Anna", "Anna"), ("A", "B", "C", "D", "E"), ("A" * 25, "B")])
def test_wrong_players_are_said(players: tuple[str, ...]) -> None:
    with pytest.raises(NewGameError) as wrong:
        make(players=players)
    assert wrong.value.key == "new.wrong.players"


def test_empty_seat_cannot_begin() -> None:
    with pytest.raises(NewGameError) as wrong:
        make(first=3)
    assert wrong.value.key == "new.wrong.first"


def test_rules_are_the_preset_with_what_was_chosen_otherwise() -> None:
    rules = make(
        preset="tournament", challenge="points", points="10", unplayed="none", exchange="any", dictionary="open",
        level="expert", first_word="4",
    ).started.rules  # fmt: skip
    assert (rules.challenge, rules.challenge_points) == (ChallengeRule.POINTS, 10)
    assert rules.unplayed is UnplayedRule.NONE and rules.exchange_minimum_bag == 0 and rules.open_dictionary
    assert rules.finish_line == (FinishLineLevel.EXPERT,) and rules.first_word_minimum == 4
    assert rules.clock_seconds == PRESETS["tournament"].clock_seconds


@pytest.mark.parametrize(
    "choices",
    [
        {"tiles": "../../etc/passwd"},
        {"lexicon": "/etc/passwd"},
        {"preset": "x"},
        {"challenge": "x"},
        {"scoreless_turns": "6"},
        {"rearrange": "1"},
    ],
)
def test_choice_that_was_not_offered_is_refused(choices: dict[str, str]) -> None:
    with pytest.raises(NewGameError) as wrong:
        make(**choices)
    assert wrong.value.key == "new.wrong.choice"


def test_words_may_be_nobodys_or_the_tables_own(tmp_path: Path) -> None:
    assert make(lexicon="none").words is None and make(tiles="ro").words is None
    own = tmp_path / "club.txt"
    own.write_text("zoo\nhorn\n")
    words = make(own, lexicon="own").words
    assert words is not None and "ZOO" in words and "FARM" not in words
    own.write_bytes(b"\0\1\2")
    with pytest.raises(NewGameError) as wrong:
        make(own, lexicon="own")
    assert wrong.value.key == "new.wrong.lexicon"


def test_clock_variations_and_the_draw_are_chosen() -> None:
    started = make(minutes="20", variations=("recycle", "retake_blanks"), first=None).started
    assert started.rules.clock_seconds == 1200 and started.draw and started.first == 0
    assert started.rules.recycle and started.rules.retake_blanks and not started.rules.rearrange
    assert make(preset="tournament", minutes="0").started.rules.clock_seconds == 0
    assert make(minutes="0020").started.rules.clock_seconds == 20 * 60
    for minutes in ("-1", "ten", "9999", "½", "0" * 6 + "9" * 400, "9" * 4400, "0" * 13 + "999999"):
        with pytest.raises(NewGameError):
            make(minutes=minutes)


def test_colours_go_with_the_players_and_not_with_the_seats() -> None:
    new = make(players=("Anna", "", "Ben"), colours=("teal", "red", "mauve"))
    assert new.colours == ("teal", "")


def test_variation_that_was_not_offered_is_refused() -> None:
    with pytest.raises(NewGameError, match="challenge"):
        make(variations=("challenge",))
