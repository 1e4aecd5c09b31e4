"""The word list of a game that goes on is the one it was begun with."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from device.cli import UserError
from device.cli.options import make_lexicon_finder, merge_game_settings, prepare_game
from device.settings import GameSettings
from device.storage.lexicons import open_lexicon
from engine.events import GameStarted


def begun(lexicon: str | None, tiles: str = "en") -> GameStarted:
    return GameStarted(("Anna", "Ben"), tile_set=tiles, lexicon=lexicon)


def test_a_game_without_a_list_goes_on_without() -> None:
    assert make_lexicon_finder(GameSettings())(begun(None, "de")) is None


def test_the_shipped_list_is_found_by_its_name() -> None:
    shipped = open_lexicon(None, "en")
    assert shipped is not None
    found = make_lexicon_finder(GameSettings())(begun(shipped.name))
    assert found is not None and "HORN" in found


def test_the_owners_list_is_found_by_its_name_and_no_other_takes_its_place(tmp_path: Path) -> None:
    path = tmp_path / "club.txt"
    path.write_text("HORN\nFARM\n", encoding="utf-8")
    own = open_lexicon(str(path), "en", tmp_path)
    assert own is not None
    found = make_lexicon_finder(GameSettings(lexicon=str(path)))(begun(own.name))
    assert found is not None and "ZAX" not in found
    assert make_lexicon_finder(GameSettings())(begun(own.name)) is None


@pytest.mark.parametrize("name", ["A" * 41, "Anna\x1b[2J"])
def test_a_name_that_no_page_would_take_is_refused(name: str) -> None:
    with pytest.raises(UserError, match="is no name"):
        merge_game_settings(argparse.Namespace(players=f"{name},Ben", tiles=None, lexicon=None))


def test_only_a_chosen_word_list_decides_challenges(tmp_path: Path) -> None:
    words = tmp_path / "club.txt"
    words.write_text("horn\n", encoding="utf-8")
    assert not prepare_game(GameSettings())[0].rules.list_decides
    assert prepare_game(GameSettings(lexicon=str(words)))[0].rules.list_decides
