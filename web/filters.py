"""How numbers and positions are written on the page."""

from __future__ import annotations

from flask import Flask

from device.state import LetterView, LookView, TurnView, WordView
from engine.reading import SIZE


def add_to(app: Flask) -> None:
    """Give the templates the filters of this module."""
    app.jinja_env.filters.update(
        signed=signed,
        sum_of=sum_of,
        column=column,
        row=row,
        letters_of=letters_of,
        deed=deed,
        digits=digits,
        doubts=doubts,
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


_DEEDS = {
    "play": "played",
    "pass": "passed",
    "exchange": "exchanged tiles",
    "withdrawn": "took back",
    "challenge": "challenged",
    "time": "overtime",
    "endrack": "unplayed letters",
}


def doubts(look: LookView | None) -> tuple[str, ...]:
    """What the camera could not make out, in words."""
    counted = ((len(look.doubtful), "in doubt"), (len(look.hidden), "out of sight")) if look else ()
    return tuple(f"{count} {text}" for count, text in counted if count)


def deed(turn: TurnView) -> str:
    """What the player did, after the name: `played`, `passed`."""
    return _DEEDS.get(turn.kind, turn.kind)
