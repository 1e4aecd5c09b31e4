"""A request for a new game makes the game that was chosen, or an error with the reason."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from device.session.commands.games import StartGame
from device.session.new_game import NewGameRequest, make_game
from device.session.rule_choices import NewGameError
from engine.rules import PRESETS, ChallengeRule, FinishLineLevel, UnplayedRule


def make(
    own: Path | None = None,
    players: tuple[str, ...] = ("Anna", "Ben", "", ""),
    colours: tuple[str, ...] = (),
    first: int | None = 0,
    variations: tuple[str, ...] = (),
    levels: tuple[str, ...] = (),
    **choices: str,
) -> StartGame:
    return make_game(NewGameRequest(players, colours, first, choices, variations, levels), lambda _: own)


def test_plain_form_is_the_standard_game_with_its_words() -> None:
    new = make()
    assert new.started.players == ("Anna", "Ben") and new.started.first == 0
    assert new.started.rules == replace(PRESETS["classic-2008"], list_decides=False)
    assert new.words is not None and "HORN" in new.words and new.started.lexicon == new.words.name


def test_names_are_trimmed_and_empty_seats_left_out() -> None:
    new = make(players=(" Anna  Lena ", "", "Ben", "Zoë"), first=2)
    assert new.started.players == ("Anna Lena", "Ben", "Zoë") and new.started.first == 1


def test_names_are_what_an_exported_game_may_hold() -> None:
    """Invisible characters would control a terminal, and the game could not be imported again."""
    coder = "\N{MAN}\N{ZERO WIDTH JOINER}\N{PERSONAL COMPUTER}"
    assert make(players=("Anna\x1b[2J\n", coder, "\x07")).started.players == ("Anna [2J", coder)


@pytest.mark.parametrize("players", [(), ("Anna",), ("Anna", "Anna"), ("A", "B", "C", "D", "E"), ("A" * 41, "B")])
def test_wrong_players_are_refused(players: tuple[str, ...]) -> None:
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


def test_layout_of_the_board_is_chosen() -> None:
    assert make().started.layout == "standard"
    assert make(layout="exchanged").started.layout == "exchanged"


def test_tiles_of_super_scrabble_are_refused_with_the_board_that_they_need() -> None:
    with pytest.raises(NewGameError) as wrong:
        make(tiles="en_super")
    assert (wrong.value.key, wrong.value.values) == ("new.wrong.board", {"squares": "21 x 21"})


@pytest.mark.parametrize(
    "choices",
    [
        {"layout": "round"},
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


def test_every_rule_of_clubs_for_challenges_is_chosen() -> None:
    rules = make(challenge="points", points_for="word", payer="challenger").started.rules
    assert (rules.challenge, rules.challenge_points) == (ChallengeRule.POINTS, 5)
    assert rules.challenge_each_word and rules.challenger_pays
    assert make(challenge="void").started.rules.challenge is ChallengeRule.VOID
    assert make(points="10").started.rules.challenge_points == 0, "only where points are agreed"


def test_word_list_decides_challenges_only_if_it_was_chosen() -> None:
    assert make(lexicon="shipped").started.rules.list_decides and not make().started.rules.list_decides
    assert make(judge="list").started.rules.list_decides
    assert not make(lexicon="shipped", judge="players").started.rules.list_decides


def test_scoreless_turns_and_overtime_are_numbers() -> None:
    rules = make(scoreless="4", overtime="5", minutes="25").started.rules
    assert (rules.scoreless_turns, rules.overtime_points, rules.clock_seconds) == (4, 5, 1500)
    assert make(preset="tournament", scoreless="0").started.rules.scoreless_turns == 0
    for wrong in ({"scoreless": "21"}, {"overtime": "101"}, {"overtime": "-1"}):
        with pytest.raises(NewGameError):
            make(**wrong)


def test_finish_line_has_a_level_for_each_player() -> None:
    new = make(players=("Anna", "", "Ben"), levels=("expert", "", "beginner"), finish_round="yes", finish_unplayed="no")
    rules = new.started.rules
    assert rules.finish_line == (FinishLineLevel.EXPERT, FinishLineLevel.BEGINNER)
    assert rules.finish_lines(2) == (200, 70) and rules.finish_round and not rules.finish_unplayed


@pytest.mark.parametrize("levels", [("expert",), ("expert", ""), ("expert", "novice")])
def test_missing_or_unknown_level_is_refused(levels: tuple[str, ...]) -> None:
    with pytest.raises(NewGameError) as wrong:
        make(levels=levels)
    assert wrong.value.key == "new.wrong.levels"


def test_lost_tiles_are_missing_in_the_set() -> None:
    assert make(lost="q, e ?").started.lost == ("Q", "E", "?")
    with pytest.raises(NewGameError) as wrong:
        make(lost="QQ")
    assert wrong.value.key == "new.wrong.lost" and wrong.value.values == {"choice": "Q"}
