"""What a command at the table means for the game: the events that it makes, or why it is refused. Pure.

Commands name squares as people do (`H8`), tiles as a tile set writes them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from device.view import Words, decides
from engine.errors import NotationError, RulesError
from engine.events import BlankNamed, Challenged, Event, Exchanged, GameEnded, Passed, RackRevealed, SquareCorrected
from engine.game import Game
from engine.reading import EMPTY
from engine.squares import parse_square


class Refused(Exception):  # noqa: N818 (named for what happened)
    """A command that makes no sense now; the message says why, on one line, to whoever gave it."""


def exchange(game: Game, count: int) -> Event:
    """The player whose turn it is exchanges so many tiles."""
    if not game.can_exchange(count):
        raise Refused(f"{count} tiles cannot be exchanged now: {game.bag} are in the bag.")
    return Exchanged(game.to_move, count)


def pass_turn(game: Game) -> Event:
    """The player whose turn it is lays nothing."""
    return Passed(game.to_move)


def challenge(game: Game, words: Words | None) -> Challenged:
    """The player whose turn it is challenges the last play; the word list decides."""
    play = game.challengeable
    if play is None:
        raise Refused("There is no play to challenge.")
    if words is None:
        raise Refused("Words are not checked: if the play is taken back, take its tiles up and end the turn.")
    if not decides(words):
        raise Refused("The word list only advises, you decide: to take the play back, take its tiles up, end the turn.")
    wrong = tuple(word.word for word in play.words if "?" not in word.word and word.word not in words)
    return Challenged(game.to_move, bool(wrong), wrong)


def correct(game: Game, square: str, symbol: str) -> Event:
    """A square was read wrong: `symbol` lies there (`A` a tile, `a` a blank, `.` nothing)."""
    with refusing():
        at = parse_square(square)
        tiles = () if symbol == EMPTY else game.tiles.parse(symbol)
    if symbol != EMPTY and len(tiles) != 1:
        raise Refused(f"One tile lies on a square, not {symbol or 'none'}.")
    return SquareCorrected(at, tiles[0] if tiles else None, told=True)


def name_blank(game: Game, square: str, letter: str) -> Event:
    """Somebody says what the blank on a square stands for."""
    with refusing():
        at = parse_square(square)
    tile = game.board[at]
    if tile is None or not tile.is_blank:
        raise Refused(f"There is no blank on {square}.")
    if letter not in game.tiles.letters:
        raise Refused(f"A blank stands for one of {' '.join(game.tiles.letters)}, not for {letter}.")
    return BlankNamed(at, letter)


def tell_rack(game: Game, player: int, letters: str) -> Event:
    """Somebody tells the unplayed letters of a player."""
    with refusing():
        tiles = tuple(tile.face for tile in game.tiles.parse(letters))
    if not 0 <= player < len(game.players):
        raise Refused(f"There is no player number {player}.")
    if lacking := Counter(tiles) - game.unseen:
        raise Refused(f"{', '.join(lacking)} cannot be left: they all lie on the board.")
    return RackRevealed(player, tiles)


def end_game(game: Game) -> Event:
    """The players end the game."""
    due = game.end_due
    return GameEnded(due) if due else GameEnded()


@contextmanager
def refusing() -> Iterator[None]:
    """Turn what the engine objects to into a refusal."""
    try:
        yield
    except (NotationError, RulesError) as error:
        raise Refused(sentence(str(error))) from error


def sentence(text: str) -> str:
    """A capital at the beginning, a full stop at the end."""
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "?", "!")) else f"{text}."
