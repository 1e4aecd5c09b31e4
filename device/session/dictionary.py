"""Look up words for the players, if the rules allow this during a game."""

from __future__ import annotations

from device.session.messages import convert_engine_errors, make_refusal
from device.session.snapshot import Phase, TableSnapshot, WordList, can_decide_challenge, is_listed
from engine.blanks import find_blank_letters
from engine.board import parse_square
from engine.game import Game


def look_up(state: TableSnapshot, words: WordList | None, word: str) -> bool | None:
    """Return True if the word list contains the word, or None if there is no authoritative list.

    Raises `CommandRefusedError` if the rules forbid looking up words now.
    """
    if state.phase not in (Phase.LOBBY, Phase.ENDED) and not state.open_dictionary:
        raise make_refusal("closed-dictionary")
    return is_listed(word, words) if can_decide_challenge(words) else None


def list_blank_letters(game: Game, words: WordList | None, square: str) -> tuple[str, ...]:
    """Return the letters that the blank on a square may stand for.

    If words may be looked up, only letters that form valid words are returned. Raises `CommandRefusedError` if `square`
    is not the name of a square.
    """
    if words is None or not game.rules.open_dictionary:
        return game.tiles.letters
    with convert_engine_errors():
        return find_blank_letters(game.state, parse_square(square), words.__contains__)
