"""The tile sets of languages and editions: sources, values, and games that are entered by hand."""

from __future__ import annotations

import json
import random
from importlib.resources import files

import pytest

from engine.events import GameStarted, PlayMade
from engine.game import Game
from engine.gcg import build_game, build_record, format_gcg, parse_gcg
from engine.plays import Play
from engine.tiles import load_tile_set, playable_tile_set_names, tile_set_names
from tests.support.play_at_random import random_game

POINTS = {
    "af": 179, "ar": 272, "bg": 227, "ca": 189, "cs": 205, "cy": 194, "da": 247, "de": 202, "de_old": 222,
    "el": 206, "en": 187, "en_super": 381, "es": 192, "es_na": 216, "et": 209, "fi": 210, "fr": 197, "ga": 187,
    "he": 229, "hr": 182, "hu": 235, "is": 227, "it": 293, "la": 179, "lt": 188, "lv": 250, "ms": 184, "nl": 230,
    "nl_old": 229, "no": 202, "pl": 190, "pt": 204, "ro": 211, "ru": 224, "sk": 267, "sl": 180, "sv": 194,
    "tr": 201, "uk": 234,
}  # fmt: skip
"""The sum of the values of all tiles of each set; both sources of a set agree on it."""


@pytest.mark.parametrize("name", tile_set_names())
def test_tile_set_values_add_up(name: str) -> None:
    tiles = load_tile_set(name)
    assert sum(count * tiles.values[tile] for tile, count in tiles.counts.items()) == POINTS[name]


@pytest.mark.parametrize("name", tile_set_names())
def test_tile_set_names_two_sources(name: str) -> None:
    data = json.loads((files("engine") / "data" / "tilesets" / f"{name}.json").read_text(encoding="utf-8"))
    assert len(set(data["sources"])) >= 2


def test_tile_sets_of_a_language_have_different_names() -> None:
    languages = [load_tile_set(name).language for name in tile_set_names()]
    assert len(set(languages)) == len(languages)


@pytest.mark.parametrize("name", playable_tile_set_names())
def test_tile_set_plays_a_game_that_survives_gcg(name: str) -> None:
    game = random_game(random.Random(name), 14, Game.begin(GameStarted(("Anna", "Ben"), tile_set=name)))
    assert len(game.turns) > 8
    imported = build_game(parse_gcg(format_gcg(build_record(game))))
    assert (imported.tiles, imported.totals, imported.board) == (game.tiles, game.totals, game.board)


@pytest.mark.parametrize(
    ("name", "word", "tiles"),
    [
        ("he", "שלום", "שלומ"),  # no tile has a final letter
        ("ar", "على", "علي"),
        ("nl_old", "ĳs", "IJ,S"),
        ("nl_old", "ijs", "IJ,S"),
        ("es_na", "perro", "P,E,RR,O"),
        ("es_na", "chico", "C,H,I,C,O"),
    ],
)
def test_word_is_split_into_the_tiles_of_the_edition(name: str, word: str, tiles: str) -> None:
    assert load_tile_set(name).split(word) == tuple(tiles.split(",") if "," in tiles else tiles)


@pytest.mark.parametrize("name", ["ar", "he"])
def test_right_to_left_tile_set_is_entered_by_hand(name: str) -> None:
    tiles = load_tile_set(name)
    assert tiles.right_to_left and tiles.by_hand_only


def test_blank_of_a_script_without_lower_case_is_marked() -> None:
    game = Game.begin(GameStarted(("Dana", "Noam"), tile_set="he"))
    game = game.push(PlayMade(0, Play.from_gcg(game.board, "8G", "של*ום", game.tiles)))
    assert [turn.score for turn in game.turns] == [2 * (2 + 0 + 1 + 2)]
    assert ">Dana: ?ומש 8G ש[ל*]ומ +10 10" in format_gcg(build_record(game))
