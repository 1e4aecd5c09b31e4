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
_EMOJI_SELECTOR = "\ufe0f"
"""Invisible character that makes the symbol before it an emoji."""
_HAN = "[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd]"
_MONGOLIAN = "[\u1820-\u1878\u1880-\u18aa]"
_INVISIBLE = re.compile(
    "[\u034f\u17b4\u17b5\ufe03-\ufe0e\U00013441\U00013442\U00016fe4\U0001d159]"
    f"|(?<!{_HAN})[\ufe00-\ufe02\U000e0100-\U000e01ef]|(?<!{_MONGOLIAN})[\u180b-\u180d\u180f]"
)
"""Invisible characters that Unicode classifies as marks, letters or symbols: those with the property
Default_Ignorable_Code_Point, blank hieroglyphs, the Khitan filler, and the null notehead. A variation selector after a
Han or Mongolian letter is none of them, because it changes the shape of the letter."""
_VIRAMA_CLASS = 9
"""Canonical combining class of the marks (virama) that remove the vowel of an Indic letter."""


def is_displayable(letter: str) -> bool:
    """Return False for control characters, line breaks and symbols that look blank, otherwise True."""
    return (letter.isprintable() and letter not in _BLANKS) or letter in _JOINERS


def remove_invisible(name: str) -> str:
    r"""Return a name without invisible characters, and without marks that belong to no letter.

    Joiners stay where Arabic, Indic scripts or emoji need them, variation selectors after Han and Mongolian letters. A
    letter keeps its first `MAX_MARKS` marks. Accents are composed with their letters (NFC), so that a name is the same
    from every keyboard. Control characters stay.

    >>> remove_invisible("A\u200dn\u034fna\ufe0f")
    'Anna'
    """
    while (cleaned := _remove_invisible_once(name)) != name:
        name = cleaned  # a character that was kept because of its neighbour may have lost it
    return name


def _remove_invisible_once(name: str) -> str:
    """Return a name without the characters that are invisible between their neighbours in `name`."""
    text = unicodedata.normalize("NFC", _INVISIBLE.sub("", name))
    kept, mark_count = "", MAX_MARKS + 1  # a mark needs a letter before it
    for letter, after in zip(text, f"{text[1:]} ", strict=False):
        before = kept[-1:] or " "
        kind = unicodedata.category(letter)
        if letter in _JOINERS:
            is_kept = _can_join(before, after)
        elif letter == _EMOJI_SELECTOR:
            is_kept = unicodedata.category(before) == "So"
        elif kind.startswith("M"):
            mark_count += kind != "Mc"  # marks beside the letter (Mc) are not stacked
            is_kept = mark_count <= MAX_MARKS
        else:
            is_kept, mark_count = True, 0 if kind[0] in "LNS" else MAX_MARKS + 1  # letter, number or symbol
        kept += letter if is_kept else ""
    return unicodedata.normalize("NFC", kept)  # a joiner between a letter and its accent is gone


def _can_join(before: str, after: str) -> bool:
    """Return True if a joiner between two characters may change how they look."""
    if _VIRAMA_CLASS in (unicodedata.combining(before), unicodedata.combining(after)):
        return True
    if unicodedata.bidirectional(after) == "AL":  # an Arabic letter; it may follow a vowel mark (NSM)
        return unicodedata.bidirectional(before) in ("AL", "NSM")
    is_emoji = unicodedata.category(before) in ("So", "Sk") or before == _EMOJI_SELECTOR
    return is_emoji and unicodedata.category(after) == "So"


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
