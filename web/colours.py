"""The colours of the page that the game knows by name: those of players, and those of an edition's board."""

from __future__ import annotations

from collections.abc import Iterator

from device.session.snapshot import TableState
from engine.rules import COLOURS, Colours

PALETTE = ("amber", "blue", "green", "violet", "red", "teal", "pink", "lime")
"""Colours of players, each a class `c-NAME` of the style sheet; by seat where nobody chose."""

_DARK_GROUND, _LIGHT_GROUND = "#14171c", "#fffdf8"
_DIMMED = {_DARK_GROUND: 0.28, _LIGHT_GROUND: 0.12}
"""A printed board in the light of a screen: its colours mixed with so much of the page's ground."""
_INKS = ("#10151a", "#ffffff")
_LEAST_CONTRAST = 4.5


def colour_of(state: TableState, player: int) -> str:
    """The colour of a player: the remembered one, else the one of the seat, else one that nobody else has."""
    taken: list[str] = []
    for seat, seen in enumerate(state.players):
        wishes = (seen.colour, PALETTE[seat % len(PALETTE)], *PALETTE)
        taken.append(next((wish for wish in wishes if wish in PALETTE and wish not in taken), PALETTE[0]))
    return taken[player]


def editions_css() -> str:
    """The style sheet of all editions: `--p` (the square) and `--on` (what is written on it) for each premium."""
    light = "".join(_rules(_LIGHT_GROUND))
    return f"{''.join(_rules(_DARK_GROUND))}@media (prefers-color-scheme:light){{{light}}}\n"


def _rules(ground: str) -> Iterator[str]:
    for edition, colours in COLOURS.items():
        for premium, colour in _premiums(colours).items():
            shown = readable(mixed(colour, ground, _DIMMED[ground]))
            yield f'[data-edition="{edition}"] .p{premium}{{--p:{shown};--on:{ink_on(shown)}}}\n'


def _premiums(colours: Colours) -> dict[str, str]:
    return {
        "2L": colours.double_letter[1],
        "3L": colours.triple_letter[1],
        "2W": colours.double_word[1],
        "3W": colours.triple_word[1],
    }


def mixed(colour: str, ground: str, share: float) -> str:
    """`colour` with so much of `ground` in it, both `#rrggbb`."""
    pairs = zip(_channels(colour), _channels(ground), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def ink_on(ground: str) -> str:
    """The ink that is read better on a ground."""
    return max(_INKS, key=lambda ink: contrast(ink, ground))


def readable(ground: str) -> str:
    """`ground`, or one so near that small type on it is read well (WCAG 2.2, 1.4.3)."""
    while contrast(ink := ink_on(ground), ground) < _LEAST_CONTRAST:
        ground = mixed(ground, _INKS[0] if ink == _INKS[1] else _INKS[1], 0.03)
    return ground


def contrast(one: str, other: str) -> float:
    """The contrast ratio of two colours, 1 to 21 (WCAG 2.2)."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _channels(colour: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(colour.removeprefix("#")))


def _luminance(colour: str) -> float:
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (v / 255 for v in _channels(colour))]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
