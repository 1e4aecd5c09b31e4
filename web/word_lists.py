"""Names of word lists on the pages, with their language and the number of their words."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from device.storage.lexicons import count_words, find_cache_folder
from engine.tiles import load_tile_set
from web.i18n import texts


def describe_word_list(path: Path, language: str) -> str:
    """Return the name of a list with its language (the name of a tile set) and its number of words."""
    t = texts()
    count = count_words(path, language, find_cache_folder())
    if count is None:
        return path.stem
    number = f"{count:,}".replace(",", "\u202f")
    return t("new.list", name=path.stem, language=t(f"tiles.{language}"), count=count, number=number)


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
