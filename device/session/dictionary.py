"""What people may ask the word list besides the game."""

from __future__ import annotations

from device.session.commands import refusing
from device.session.messages import refusal
from device.session.snapshot import Phase, TableState
from device.session.snapshot_builder import Words, decides, is_listed
from engine.blanks import letters_that_fit
from engine.game import Game
from engine.squares import parse_square


def look_up(state: TableState, words: Words | None, word: str) -> bool | None:
    """Whether the list has a word; None where nobody can say. Raises `Refused` while nobody may look."""
    if state.phase not in (Phase.LOBBY, Phase.ENDED) and not state.open_dictionary:
        raise refusal("closed-dictionary")
    return is_listed(word, words) if decides(words) else None


def letters_for(game: Game, words: Words | None, square: str) -> tuple[str, ...]:
    """The letters that the blank on a square may stand for; those that make words, where people may know them.

    Raises `Refused` for what is no square.
    """
    if words is None or not game.rules.open_dictionary:
        return game.tiles.letters
    with refusing():
        return letters_that_fit(game, parse_square(square), words.__contains__)
