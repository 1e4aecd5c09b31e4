"""Style sheet with the colours of the drawn board: those of each edition, and those of the table's own board.

The element around drawn squares has the name of the colours in its attribute `data-edition`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from engine.rules import EDITION_COLOURS, PremiumColours

OWN_BOARD = "own"
"""Name of the colours of the table's own board, as the camera has seen them."""
_DARK_GROUND, _LIGHT_GROUND = "#14171c", "#fffdf8"
_GROUND_SHARE = {_DARK_GROUND: 0.28, _LIGHT_GROUND: 0.12}
"""Share (0 to 1) of the page's background that is mixed into the colours of premium squares, by background colour.

The unmixed colours of a board are too strong on a screen.
"""
_INKS = ("#10151a", "#ffffff")
_MIN_CONTRAST = 4.5
_CONTRAST_STEP = 0.03
"""Share of the other ink that is mixed into a background at each step, until the contrast is large enough."""


def build_editions_css(own: tuple[tuple[str, str], ...] = ()) -> str:
    """Return a style sheet that defines `--p` (square) and `--on` (text) for each premium of each edition.

    `own` are the colours of the table's own board by premium, if they are known.
    """
    boards = {edition: _list_premium_colours(colours) for edition, colours in EDITION_COLOURS.items()}
    boards[OWN_BOARD] = dict(own)
    light = "".join(_generate_css_rules(boards, _LIGHT_GROUND))
    return f"{''.join(_generate_css_rules(boards, _DARK_GROUND))}@media (prefers-color-scheme:light){{{light}}}\n"


def _generate_css_rules(boards: Mapping[str, Mapping[str, str]], ground: str) -> Iterator[str]:
    for edition, colours in boards.items():
        for premium, colour in colours.items():
            shown = ensure_contrast(mix_colours(colour, ground, _GROUND_SHARE[ground]))
            yield f'[data-edition="{edition}"] .p{premium}{{--p:{shown};--on:{choose_ink(shown)}}}\n'


def _list_premium_colours(colours: PremiumColours) -> dict[str, str]:
    return {
        "2L": colours.double_letter[1],
        "3L": colours.triple_letter[1],
        "2W": colours.double_word[1],
        "3W": colours.triple_word[1],
    }


def mix_colours(colour: str, ground: str, share: float) -> str:
    """Return `colour` mixed with a `share` (0 to 1) of `ground`. All colours are `#rrggbb`."""
    pairs = zip(_parse_channels(colour), _parse_channels(ground), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def choose_ink(ground: str) -> str:
    """Return the text colour (dark or light) with the higher contrast to the background `ground`."""
    return max(_INKS, key=lambda ink: compute_contrast(ink, ground))


def ensure_contrast(ground: str) -> str:
    """Return a background close to `ground` with enough contrast to small text (WCAG 2.2, 1.4.3)."""
    while compute_contrast(ink := choose_ink(ground), ground) < _MIN_CONTRAST:
        other_ink = _INKS[0] if ink == _INKS[1] else _INKS[1]
        ground = mix_colours(ground, other_ink, _CONTRAST_STEP)
    return ground


def compute_contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two colours, 1 to 21 (WCAG 2.2)."""
    darker, lighter = sorted((_compute_luminance(one), _compute_luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _parse_channels(colour: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(colour.removeprefix("#")))


def _compute_luminance(colour: str) -> float:
    """Return the relative luminance of a colour, 0 to 1 (WCAG 2.2)."""
    red, green, blue = (_linearise(channel / 255) for channel in _parse_channels(colour))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linearise(channel: float) -> float:
    """Return the linear value of an sRGB channel; both are from 0 to 1."""
    return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4
