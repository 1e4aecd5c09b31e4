"""Look up words for the players, as far as the rules allow it during a game."""

from __future__ import annotations

from device.session.game_controller import convert_engine_errors
from device.session.messages import make_refusal
from device.session.snapshot import Phase, TableSnapshot, WordList, can_decide_challenge, is_listed
from engine.blanks import find_blank_letters
from engine.board import parse_square
from engine.game import Game


def look_up(state: TableSnapshot, words: WordList | None, word: str) -> bool | None:
    """Return True if the list has the word, None if it cannot decide.

    Raises `CommandRefusedError` while the rules do not allow looking words up.
    """
    if state.phase not in (Phase.LOBBY, Phase.ENDED) and not state.open_dictionary:
        raise make_refusal("closed-dictionary")
    return is_listed(word, words) if can_decide_challenge(words) else None


def list_blank_letters(game: Game, words: WordList | None, square: str) -> tuple[str, ...]:
    """Return the letters that the blank on a square may stand for; only those that form words if the rules allow it.

    Raises `CommandRefusedError` if `square` is not a square.
    """
    if words is None or not game.rules.open_dictionary:
        return game.tiles.letters
    with convert_engine_errors():
        return find_blank_letters(game.state, parse_square(square), words.__contains__)
