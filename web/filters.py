"""How numbers and positions are written on the page."""

from __future__ import annotations

import time
from collections.abc import Iterable

from flask import Flask

from device.session.snapshot import LetterView, Phase, TableSnapshot, TurnView
from device.session.snapshot_builder import list_premium_texts
from engine.board import load_layout
from engine.reading import BOARD_SIZE
from engine.squares import square_name
from engine.tiles import load_tile_set
from web.colours import colour_of
from web.game_summary import summaries
from web.live import flags


def register_filters(app: Flask) -> None:
    """Give the templates the filters of this module."""
    app.jinja_env.filters.update(
        signed=signed,
        column=column,
        row=row,
        letters_of=letters_of,
        digits=digits,
        flags=flags,
        names=names,
        standing=standing,
        clock_time=clock_time,
        clock_text=clock_text,
        square_name=square_name,
        colour_of=colour_of,
        summaries=summaries,
        tenths=tenths,
        unseen_tiles=unseen_tiles,
        asked_squares=asked_squares,
        premiums_shown=premiums_shown,
    )
    app.jinja_env.globals["size"] = BOARD_SIZE


def signed(score: int) -> str:
    """`+14`, `−5` with a true minus sign, `0`."""
    return f"+{score}" if score > 0 else f"−{-score}" if score < 0 else "0"


def digits(score: int) -> str:
    """A total with a true minus sign."""
    return str(score) if score >= 0 else f"−{-score}"


def column(square: int) -> int:
    """The column of a square, from 0."""
    return square % BOARD_SIZE


def row(square: int) -> int:
    """The row of a square, from 0."""
    return square // BOARD_SIZE


def letters_of(turn: TurnView) -> tuple[LetterView, ...]:
    """The tiles of the main word of a play."""
    return turn.words[0].letters if turn.words else ()


def clock_time(since: float) -> str:
    """Hours and minutes of a moment, as the table's clock shows them."""
    return time.strftime("%H:%M", time.localtime(since))


def clock_text(left: float) -> str:
    """What is left on a player's clock: `24:05`, in overtime `−0:30`, as a chess clock shows it."""
    whole = abs(int(left))
    return f"{'−' if left < 0 else ''}{whole // 60}:{whole % 60:02}"


def tenths(value: float, language: str) -> str:
    """A number with one decimal, as the language writes it."""
    text = f"{value:.1f}".replace("-", "−")
    return text if language == "en" else text.replace(".", ",")


def unseen_tiles(state: TableSnapshot) -> tuple[tuple[str, int], ...]:
    """Every tile of the set and how many of it do not lie on the board: also those of which none is left."""
    left = dict(state.unseen)
    return tuple((tile, left.get(tile, 0)) for tile in load_tile_set(state.tile_set).counts)


def asked_squares(state: TableSnapshot) -> tuple[int, ...]:
    """The squares that the open question is about."""
    return state.question.squares if state.question else ()


def premiums_shown(state: TableSnapshot) -> tuple[str, ...]:
    """The premiums of the board; before the first game those of the standard one, as it lies on most tables."""
    return list_premium_texts(load_layout()) if state.phase is Phase.LOBBY else state.board.premiums


def names(state: TableSnapshot, players: Iterable[int]) -> str:
    """The names of players, in one text."""
    return ", ".join(state.players[player].name for player in players)


def standing(state: TableSnapshot) -> str:
    """Names and totals in one text."""
    return ", ".join(f"{player.name} {digits(player.total)}" for player in state.players)
