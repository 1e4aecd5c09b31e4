"""What a command at the table means for the game: the events that it makes, or why it is refused. Pure.

Commands name squares as people do (`H8`), tiles as a tile set writes them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from device.view import Words
from engine.errors import NotationError, RulesError
from engine.events import BlankNamed, Challenged, Event, Exchanged, GameEnded, Passed, RackRevealed, SquareCorrected
from engine.game import Game
from engine.reading import EMPTY
from engine.squares import parse_square
from engine.turns import Turn


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


def challenge(game: Game, words: Words) -> Challenged:
    """The player whose turn it is challenges the last play; the word list decides."""
    wrong = tuple(word.word for word in _challenged(game).words if "?" not in word.word and word.word not in words)
    return Challenged(game.to_move, bool(wrong), wrong)


def challenge_answers(game: Game) -> tuple[tuple[str, tuple[Event, ...]], ...]:
    """What people may answer who look the words of the last play up themselves; first, that they have not yet."""
    name = game.players[_challenged(game).player]
    return (
        ("They are being looked up", ()),
        (f"No: {name} takes the tiles back", (Challenged(game.to_move, upheld=True),)),
        ("Yes: the challenge failed", (Challenged(game.to_move, upheld=False),)),
    )


def _challenged(game: Game) -> Turn:
    play = game.challengeable
    if play is None:
        raise Refused("There is no play to challenge.")
    return play


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
