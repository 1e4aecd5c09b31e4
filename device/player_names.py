"""Validation of players' names from a settings file, the command line or another program."""

from __future__ import annotations

MAX_PLAYER_NAME_LENGTH = 40
"""Largest length of a player's name, in characters."""
_JOINERS = "\u200c\u200d"
"""Invisible characters (zero-width joiners) that are part of names in some scripts and of some emoji."""


def is_displayable(letter: str) -> bool:
    """Return False for control characters and line breaks, True for all other characters."""
    return letter.isprintable() or letter in _JOINERS


def is_player_name(name: str) -> bool:
    """Return True for a name that can be shown: 1 to `MAX_PLAYER_NAME_LENGTH` characters without control characters."""
    return 0 < len(name) <= MAX_PLAYER_NAME_LENGTH and all(map(is_displayable, name))


def parse_player_name(text: str) -> str:
    """Return a player's name without surrounding white space.

    Raises `ValueError` if the name is too long or contains control characters.

    >>> parse_player_name(" Anna ")
    'Anna'
    """
    name = text.strip()
    if len(name) > MAX_PLAYER_NAME_LENGTH or not all(map(is_displayable, name)):
        raise ValueError(f"{name[:60]!r} is no name: up to {MAX_PLAYER_NAME_LENGTH} letters")
    return name
