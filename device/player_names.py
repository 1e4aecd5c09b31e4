"""Validation of players' names from a settings file, the command line or another program.

Invisible characters are removed or refused, because two names that look the same would be two players.
"""

from __future__ import annotations

import re
import unicodedata

MAX_PLAYER_NAME_LENGTH = 40
"""Largest length of a player's name, in characters."""
MAX_MARKS = 4
"""Largest number of marks above and below one letter. Tibetan, Burmese and Hebrew names have up to three."""
_BLANKS = "\u115f\u1160\u2800\u3164\uffa0"
"""Characters that are invisible or look like a space, although Unicode classifies them as letters or symbols."""
_JOINERS = "\u200c\u200d"
"""Invisible characters (zero-width joiners) that a name may contain, because some scripts and some emoji need them."""
_SELECTORS = "\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef"
"""Invisible characters that change the shape of the letter or symbol before them."""
_CHANGED = "\u0590-\u180a\u1810-\u200b\u2010-\ufdff\ufe10-\U000e00ff"
"""Letters, marks and symbols of the scripts with joiners and selectors, and emoji; Latin, Greek, Cyrillic have none."""
_INVISIBLE = re.compile(
    "[\u034f\u17b4\u17b5\U00013441\U00013442\U00016fe4\U0001d159]"
    f"|(?<![{_CHANGED}\ufe0f])[{_JOINERS}]|(?<![{_CHANGED}])[{_SELECTORS}]"
)
"""Joiners and selectors that change nothing, and invisible characters that Unicode classifies as marks, letters or
symbols: the property Default_Ignorable_Code_Point, blank hieroglyphs, the Khitan filler, and the null notehead."""
_CHANGING = re.compile(f"[{_JOINERS}{_SELECTORS}]")


def is_displayable(letter: str) -> bool:
    """Return False for control characters, line breaks and symbols that look blank, otherwise True."""
    return (letter.isprintable() and letter not in _BLANKS) or letter in _JOINERS


def remove_invisible(name: str) -> str:
    r"""Return a name without invisible characters, and without marks that belong to no letter.

    Joiners and selectors stay after a letter that they may change. A letter keeps its first `MAX_MARKS` marks. Accents
    are composed with their letters (NFC), so that a name is the same from every keyboard. Control characters stay.

    >>> remove_invisible("A\u200dn\u034fna\ufe0f")
    'Anna'
    """
    while (cleaned := _remove_invisible_once(name)) != name:
        name = cleaned  # a character that was kept because of the one before may have lost it
    return name


def _remove_invisible_once(name: str) -> str:
    """Return a name without the characters that are invisible after the one before them in `name`."""
    kept, mark_count = "", MAX_MARKS + 1  # a mark needs a letter before it
    for letter in unicodedata.normalize("NFC", _INVISIBLE.sub("", name)):
        kind = unicodedata.category(letter)
        if not _CHANGING.match(letter):
            if kind.startswith("M"):
                mark_count += kind != "Mc"  # marks beside the letter (Mc) are not stacked
            else:
                mark_count = 0 if kind[0] in "LNS" else MAX_MARKS + 1  # letter, number or symbol
        if not kind.startswith("M") or mark_count <= MAX_MARKS:
            kept += letter
    return unicodedata.normalize("NFC", kept)  # a joiner between a letter and its accent is gone


def normalize_name(name: str) -> str:
    """Return a name in a normal form, ready to compare: without double spaces and invisible characters, in NFC.

    >>> normalize_name("Zoë  Mai") == "Zoë Mai"
    True
    """
    return " ".join(remove_invisible(name).split())


def clean_name(name: str) -> str:
    r"""Return a name without control characters and invisible ones, and with single spaces.

    The result is empty if nothing of the name is visible.

    >>> clean_name("Anna\n  \u202eM."), clean_name("\u200d")
    ('Anna M.', '')
    """
    displayable = "".join(letter if is_displayable(letter) else " " for letter in name)
    return normalize_name(displayable)


def is_player_name(name: str) -> bool:
    """Return True for a name of 1 to `MAX_PLAYER_NAME_LENGTH` characters that are all visible."""
    is_visible = all(map(is_displayable, name)) and remove_invisible(name) == unicodedata.normalize("NFC", name)
    return len(name) <= MAX_PLAYER_NAME_LENGTH and is_visible and bool(name.strip())


def parse_player_name(text: str) -> str:
    """Return a player's name without surrounding white space and invisible characters.

    Raises `ValueError` if the name is empty or too long, or contains control characters.

    >>> parse_player_name(" Anna ")
    'Anna'
    """
    name = remove_invisible(text).strip()
    if not is_player_name(name):
        raise ValueError(f"{name[:60]!r} is no name: up to {MAX_PLAYER_NAME_LENGTH} letters")
    return name
