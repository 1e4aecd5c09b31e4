"""Names of players, as they may come from a settings file, the command line or another program."""

from __future__ import annotations

MAX_PLAYER_NAME_LENGTH = 40
"""Letters of a player's name."""
_JOINERS = "\u200c\u200d"
"""Part of names in some scripts and of some emoji, although they are not visible."""


def is_displayable(letter: str) -> bool:
    """Return False for characters that drive a terminal or break a line."""
    return letter.isprintable() or letter in _JOINERS


def parse_player_name(text: str) -> str:
    """Return the name without surrounding blanks. Raises `ValueError` if it is too long or has control characters.

    >>> parse_player_name(" Anna ")
    'Anna'
    """
    name = text.strip()
    if len(name) > MAX_PLAYER_NAME_LENGTH or not all(map(is_displayable, name)):
        raise ValueError(f"{name[:60]!r} is no name: up to {MAX_PLAYER_NAME_LENGTH} letters")
    return name
