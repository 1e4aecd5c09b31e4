"""What people may ask the word list besides the game."""

from __future__ import annotations

from device.session.commands import convert_engine_errors
from device.session.messages import make_refusal
from device.session.snapshot import Phase, TableSnapshot
from device.session.snapshot_builder import WordList, can_decide_challenge, is_listed
from engine.blanks import find_blank_letters
from engine.game import Game
from engine.squares import parse_square


def look_up(state: TableSnapshot, words: WordList | None, word: str) -> bool | None:
    """Whether the list has a word; None where nobody can say. Raises `CommandRefusedError` while nobody may look."""
    if state.phase not in (Phase.LOBBY, Phase.ENDED) and not state.open_dictionary:
        raise make_refusal("closed-dictionary")
    return is_listed(word, words) if can_decide_challenge(words) else None


def list_blank_letters(game: Game, words: WordList | None, square: str) -> tuple[str, ...]:
    """The letters that the blank on a square may stand for; those that make words, where people may know them.

    Raises `CommandRefusedError` for what is no square.
    """
    if words is None or not game.rules.open_dictionary:
        return game.tiles.letters
    with convert_engine_errors():
        return find_blank_letters(game, parse_square(square), words.__contains__)
