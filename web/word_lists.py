"""Names of word lists on the pages, with their language and the number of their words."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from device.storage.lexicons import count_words, find_cache_folder
from engine.lexicon import load_shipped_lexicon
from engine.tiles import load_tile_set, playable_tile_set_names
from web.i18n import texts


def describe_word_list(path: Path, language: str) -> str:
    """Return the name of a list with its language (the name of a tile set) and its number of words."""
    count = count_words(path, language, find_cache_folder())
    return path.stem if count is None else _describe(path.stem, language, count)


def _describe(name: str, language: str, count: int) -> str:
    t, number = texts(), f"{count:,}".replace(",", "\u202f")
    return t("new.list", name=name, language=t(f"tiles.{language}"), count=count, number=number)


def describe_default_lists() -> Mapping[str, str]:
    """Return the descriptions of the lists in the package by tile set."""
    name = texts()("new.included_list")
    shipped = {tile_set: load_shipped_lexicon(tile_set) for tile_set in playable_tile_set_names()}
    return {tile_set: _describe(name, tile_set, len(words)) for tile_set, words in shipped.items() if words}


def describe_own_lists(lists: Mapping[str, Path]) -> Mapping[str, str]:
    """Return the descriptions of the owner's lists by tile set; of a list for several languages, only the name."""
    languages: dict[Path, set[str]] = {}
    for tile_set, path in lists.items():
        languages.setdefault(path, set()).add(load_tile_set(tile_set).language_code)
    described = {
        path: describe_word_list(path, next(iter(codes))) if len(codes) == 1 else path.stem
        for path, codes in languages.items()
    }
    return {tile_set: described[path] for tile_set, path in lists.items()}
