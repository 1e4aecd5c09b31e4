"""Jinja filters that format numbers, times and names."""

from __future__ import annotations

import time
from collections.abc import Iterable

from flask import Flask

from device.session.snapshot import TableSnapshot, TurnView
from engine.board import Square, square_name
from engine.reading import BOARD_SIZE
from engine.tiles import load_tile_set
from web.board_view import list_squares
from web.colours import colour_of
from web.game_summary import summaries
from web.live import flags
from web.rule_texts import list_rule_texts


def register_filters(app: Flask) -> None:
    """Add the filters of this module to the Jinja environment of the application."""
    app.jinja_env.filters.update(
        signed=signed,
        digits=digits,
        flags=flags,
        names=names,
        square_names=square_names,
        standing=standing,
        clock_time=clock_time,
        clock_text=clock_text,
        colour_of=colour_of,
        summaries=summaries,
        tenths=tenths,
        unseen_tiles=unseen_tiles,
        list_squares=list_squares,
        list_rule_texts=list_rule_texts,
        actor=actor,
    )
    app.jinja_env.globals["size"] = BOARD_SIZE


def signed(score: int) -> str:
    """Format a score with its sign: `+14`, `−5` (U+2212) or `0`."""
    return f"+{score}" if score > 0 else f"−{-score}" if score < 0 else "0"


def digits(score: int) -> str:
    """Format a player's total as text. Negative totals get the minus sign U+2212."""
    return str(score) if score >= 0 else f"−{-score}"


def clock_time(since: float) -> str:
    """Format a Unix time as hours and minutes in local time."""
    return time.strftime("%H:%M", time.localtime(since))


def clock_text(left: float) -> str:
    """Format the remaining seconds of a player's clock as `24:05`, or as `−0:30` in overtime."""
    whole = abs(int(left))
    return f"{'−' if left < 0 else ''}{whole // 60}:{whole % 60:02}"


def tenths(value: float, language: str) -> str:
    """Format a number with one decimal and the decimal separator of the language."""
    text = f"{value:.1f}".replace("-", "−")
    return text if language == "en" else text.replace(".", ",")


def unseen_tiles(state: TableSnapshot) -> tuple[tuple[str, int], ...]:
    """Return (symbol, number of unseen tiles) for all symbols of the tile set, also for the number 0."""
    left = dict(state.unseen)
    return tuple((tile, left.get(tile, 0)) for tile in load_tile_set(state.tile_set).counts)


def actor(state: TableSnapshot, turn: TurnView) -> str:
    """Return the name of the player who acted in a turn. In a challenge this is the challenger."""
    return state.players[turn.player if turn.kind != "challenge" or turn.by is None else turn.by].name


def names(state: TableSnapshot, players: Iterable[int]) -> str:
    """Join the names of players with commas."""
    return ", ".join(state.players[player].name for player in players)


def square_names(squares: Iterable[Square]) -> str:
    """Join the names of squares with commas: `H8, H9`."""
    return ", ".join(map(square_name, squares))


def standing(state: TableSnapshot) -> str:
    """Format the names and totals of all players as one line."""
    return ", ".join(f"{player.name} {digits(player.total)}" for player in state.players)
