"""How numbers and positions are written on the page."""

from __future__ import annotations

import time
from collections.abc import Iterable

from flask import Flask

from device.state import LetterView, TableState, TurnView, WordView
from engine.reading import SIZE
from engine.squares import square_name
from web.live import flags


def add_to(app: Flask) -> None:
    """Give the templates the filters of this module."""
    app.jinja_env.filters.update(
        signed=signed,
        sum_of=sum_of,
        column=column,
        row=row,
        letters_of=letters_of,
        digits=digits,
        flags=flags,
        names=names,
        standing=standing,
        clock_time=clock_time,
        square_name=square_name,
    )
    app.jinja_env.globals["size"] = SIZE


def signed(score: int) -> str:
    """`+14`, `−5` with a true minus sign, `0`."""
    return f"+{score}" if score > 0 else f"−{-score}" if score < 0 else "0"


def digits(score: int) -> str:
    """A total with a true minus sign."""
    return str(score) if score >= 0 else f"−{-score}"


def sum_of(word: WordView) -> str:
    """How the points of a word come about: `3 + 1×2 + 1`, in brackets where the word counts twice or more."""
    terms = "\u200a+\u200a".join(f"{t.value}×{t.factor}" if t.factor > 1 else str(t.value) for t in word.letters)
    return f"({terms})\u200a×\u200a{word.factor}" if word.factor > 1 else terms


def column(square: int) -> int:
    """The column of a square, from 0."""
    return square % SIZE


def row(square: int) -> int:
    """The row of a square, from 0."""
    return square // SIZE


def letters_of(turn: TurnView) -> tuple[LetterView, ...]:
    """The tiles of the main word of a play."""
    return turn.words[0].letters if turn.words else ()


def clock_time(since: float) -> str:
    """Hours and minutes of a moment, as the table's clock shows them."""
    return time.strftime("%H:%M", time.localtime(since))


def names(state: TableState, players: Iterable[int]) -> str:
    """The names of players, in one text."""
    return ", ".join(state.players[player].name for player in players)


def standing(state: TableState) -> str:
    """Names and totals in one text."""
    return ", ".join(f"{player.name} {digits(player.total)}" for player in state.players)
