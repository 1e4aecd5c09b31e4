"""The game that the command line asks for, and the word list of a game that goes on."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from device.cli import UserError
from device.cli.options import (
    add_game_options,
    add_rule_options,
    make_lexicon_finder,
    merge_game_settings,
    prepare_game,
)
from device.session.new_game import NewGameRequest, make_game
from device.session.rule_choices import list_option_texts
from device.settings import GameSettings
from device.storage.lexicons import OwnLists, open_lexicon, save_uploaded_list
from engine.board import layout_names
from engine.errors import TilekeeperError
from engine.events import GameStarted
from engine.rules import ChallengeRule
from engine.tiles import load_tile_set


def begun(lexicon: str | None, tiles: str = "en") -> GameStarted:
    return GameStarted(("Anna", "Ben"), tile_set=tiles, lexicon=lexicon)


def test_a_game_without_a_list_goes_on_without() -> None:
    assert make_lexicon_finder(OwnLists())(begun(None, "de")) is None


def test_the_shipped_list_is_found_by_its_name() -> None:
    shipped = open_lexicon(None, "en")
    assert shipped is not None
    found = make_lexicon_finder(OwnLists())(begun(shipped.name))
    assert found is not None and "HORN" in found


def test_the_owners_list_is_found_by_its_name_and_no_other_takes_its_place(tmp_path: Path) -> None:
    path = tmp_path / "club.txt"
    path.write_text("HORN\nFARM\n", encoding="utf-8")
    own = open_lexicon(str(path), "en", tmp_path)
    assert own is not None
    found = make_lexicon_finder(OwnLists(path))(begun(own.name))
    assert found is not None and "ZAX" not in found
    assert make_lexicon_finder(OwnLists())(begun(own.name)) is None


def test_uploaded_list_of_a_game_is_found_after_another_was_uploaded(tmp_path: Path) -> None:
    for name in ("first.txt", "second.txt"):
        save_uploaded_list(name, b"horn\n", tmp_path, load_tile_set("en"))
    find = make_lexicon_finder(OwnLists(folder=tmp_path))
    assert {name: found.name for name in ("first", "second") if (found := find(begun(name)))} == {
        "first": "first",
        "second": "second",
    }


def test_list_that_was_uploaded_for_other_tiles_is_not_used(tmp_path: Path) -> None:
    path = save_uploaded_list("ours.txt", b"horn\n", tmp_path, load_tile_set("en"))
    settings = GameSettings(tiles="la", lexicon=str(path))
    assert prepare_game(settings, tmp_path)[1] is None
    own = save_uploaded_list("verba.txt", b"ara\n", tmp_path, load_tile_set("la"))
    words = prepare_game(settings, tmp_path)[1]
    assert words is not None and words.name == own.stem


@pytest.mark.parametrize("name", ["A" * 41, "Anna\x1b[2J"])
def test_a_name_that_no_page_would_take_is_refused(name: str) -> None:
    with pytest.raises(UserError, match="is no name"):
        merge_game_settings(argparse.Namespace(players=f"{name},Ben", tiles=None, lexicon=None))


def test_only_a_chosen_word_list_decides_challenges(tmp_path: Path) -> None:
    words = tmp_path / "club.txt"
    words.write_text("horn\n", encoding="utf-8")
    assert not prepare_game(GameSettings())[0].rules.list_decides
    assert prepare_game(GameSettings(lexicon=str(words)))[0].rules.list_decides


def prepare(
    *words: str, players: tuple[str, ...] = ("Anna", "Ben"), settings: GameSettings | None = None
) -> GameStarted:
    """Return the start of the game that the options of `tilekeeper run` ask for."""
    parser = argparse.ArgumentParser()
    add_game_options(parser, players_needed=False)
    add_rule_options(parser)
    args = parser.parse_args(["--players", ",".join(players), *words])
    return prepare_game(merge_game_settings(args, settings))[0]


def test_rules_challenge_and_clock_are_chosen_on_the_command_line() -> None:
    rules = prepare("--rules", "travel-case", "--challenge", "points", "--clock", "25", "--rule", "points=10").rules
    assert (rules.edition, rules.exchange_minimum_bag) == ("travel-case", 7)
    assert (rules.challenge, rules.challenge_points, rules.clock_seconds) == (ChallengeRule.POINTS, 10, 1500)


@pytest.mark.parametrize(("name", "first", "draw"), [("Ben", 1, False), ("draw", 0, True)])
def test_who_begins_is_chosen_on_the_command_line(name: str, first: int, draw: bool) -> None:
    started = prepare("--first", name)
    assert (started.first, started.draw) == (first, draw)


def test_tiles_of_the_command_line_lack_no_tile_of_the_settings() -> None:
    settings = GameSettings(tiles="de", lost="Ä")
    for tiles, lost in ((None, ("Ä",)), ("de", ("Ä",)), ("en", ())):
        args = argparse.Namespace(players=None, tiles=tiles)
        assert prepare_game(merge_game_settings(args, settings))[0].lost == lost


def test_name_is_the_same_with_composed_and_separate_accents() -> None:
    started = prepare("--players", "Ben,Rene\u0301", "--first", "Ren\u00e9")
    assert (started.players, started.first) == (("Ben", "Ren\u00e9"), 1)


def test_variations_and_levels_are_chosen_on_the_command_line() -> None:
    rules = prepare("--rule", "variations=recycle,retake_blanks", "--rule", "levels=beginner,expert").rules
    assert rules.recycle and rules.retake_blanks and not rules.rearrange
    assert rules.finish_lines(2) == (70, 200)


@pytest.mark.parametrize(
    ("rule", "field", "value"),
    [
        ("challenge=void", "challenge", ChallengeRule.VOID),
        ("minutes=10", "clock_seconds", 600),
        ("preset=tournament", "exchange_minimum_bag", 7),
    ],
)
def test_rule_of_the_command_line_wins_over_the_settings(rule: str, field: str, value: object) -> None:
    settings = GameSettings(rules="classic-2008", challenge="points", clock=25)
    assert getattr(prepare("--rule", rule, settings=settings).rules, field) == value


def test_option_of_a_rule_wins_over_more_rules_of_the_settings() -> None:
    settings = GameSettings(more_rules=("challenge=points", "minutes=25"))
    rules = prepare("--challenge", "single", "--clock", "10", settings=settings).rules
    assert (rules.challenge, rules.clock_seconds) == (ChallengeRule.SINGLE, 600)


def test_command_line_and_page_choose_the_same_rules() -> None:
    choices = {"preset": "tournament", "challenge": "void", "exchange": "any", "overtime": "5", "lexicon": "none"}
    chosen = make_game(NewGameRequest(("Anna", "Ben"), choices=choices), lambda _: None).started
    options = ("--rule", "exchange=any", "--rule", "overtime=5", "--lexicon", "none")
    assert prepare("--rules", "tournament", "--challenge", "void", *options) == chosen


@pytest.mark.parametrize("text", [text.partition(" ")[0] for text in list_option_texts()])
def test_help_lists_only_rules_that_can_be_chosen(text: str) -> None:
    field, _, values = text.partition("=")
    for value in values.replace("..", "|").split("|"):
        prepare("--rule", f"{field}={value}")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--rules", "x"), r"--rules: 'x' is not a choice for preset. Choose one of classic-2008, .*tournament"),
        (
            ("--challenge", "x"),
            "--challenge: 'x' is not a choice for challenge. Choose one of double, single, void, points",
        ),
        (("--clock", "999"), "--clock: '999' is not a choice for minutes. Choose 0 to 180."),
        (("--rule", "exchange=x"), "--rule: 'x' is not a choice for exchange. Choose one of any, seven"),
        (("--rule", "exchange"), "--rule: 'exchange' is not a choice for exchange. Choose one of any, seven"),
        (("--rule", "x"), "--rule: 'x' is not a choice for rule. Choose one of preset, "),
        (
            ("--rule", "variations=x"),
            "--rule: 'x' is not a choice for variations. Choose one of rearrange, recycle, retake_blanks",
        ),
        (
            ("--rule", "levels=x,expert"),
            "--rule: 'x' is not a choice for levels. Choose one of beginner, intermediate, expert",
        ),
        (("--rule", "levels=expert,expert,expert"), "--rule: There are 3 levels for 2 players."),
        (
            ("--layout", "round"),
            f"--layout: 'round' is not one of the choices. Choose one of {', '.join(layout_names())}.",
        ),
        (("--tiles", "en_super"), "--tiles: 'en_super' needs a board of 21 x 21 squares"),
        (("--first", "Cleo"), "--first: No player is called 'Cleo'. Enter draw or one of the names Anna, Ben."),
    ],
)
def test_choice_that_is_not_offered_is_refused_with_the_choices(words: tuple[str, ...], said: str) -> None:
    with pytest.raises(TilekeeperError, match=said):
        prepare(*words)


def test_player_of_the_settings_begins_only_if_the_player_plays() -> None:
    args = argparse.Namespace(players="Eva,Ida", tiles=None, lexicon=None)
    settings = GameSettings(players=("Anna", "Ben"), first="Ben")
    assert prepare_game(merge_game_settings(args, settings))[0].first == 0
    args.players = "Eva,Ben"
    assert prepare_game(merge_game_settings(args, settings))[0].first == 1
