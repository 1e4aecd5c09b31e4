"""Validation of players' names from a settings file, the command line or another program."""

from __future__ import annotations

import unicodedata

MAX_PLAYER_NAME_LENGTH = 40
"""Largest length of a player's name, in characters."""
_BLANKS = "\u115f\u1160\u2800\u3164\uffa0"
"""Characters that are invisible or look like a space, although Unicode classifies them as letters or symbols."""
_JOINERS = "\u200c\u200d"
"""Invisible characters (zero-width joiners) that a name may contain, because some scripts and some emoji need them."""


def is_displayable(letter: str) -> bool:
    """Return False for control characters, line breaks and symbols that look blank, otherwise True."""
    return (letter.isprintable() and letter not in _BLANKS) or letter in _JOINERS


def clean_name(name: str) -> str:
    r"""Return a name without control characters, and with single spaces; empty if nothing of it is visible.

    Accents are composed with their letters (NFC), so that a name is the same from every keyboard.

    >>> clean_name("Anna\n  \u202eM."), clean_name("\u200d")
    ('Anna M.', '')
    """
    composed = unicodedata.normalize("NFC", name)
    words = "".join(letter if is_displayable(letter) else " " for letter in composed).split()
    return " ".join(word for word in words if word.strip(_JOINERS))


def is_player_name(name: str) -> bool:
    """Return True for a name that can be shown: 1 to `MAX_PLAYER_NAME_LENGTH` visible characters."""
    return len(name) <= MAX_PLAYER_NAME_LENGTH and all(map(is_displayable, name)) and bool(clean_name(name))


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
