"""The wiring of the panel as a drawing, from the very pins that the program uses.

    python -m device.panel.wiring > docs/wiring.svg                    # the default pins
    python -m device.panel.wiring /etc/tilekeeper/settings.toml        # those of a table

The 40-pin header is drawn as seen from above with the board's edge to the right; each part stands beside its pin, so
that no wire crosses another.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from device.panel.button_commands import label
from device.panel.buttons import Button, Pins

POWER = {1: "3.3 V", 2: "5 V", 4: "5 V", 17: "3.3 V"}
GROUND = frozenset({6, 9, 14, 20, 25, 30, 34, 39})
GPIO = {
    **{3: 2, 5: 3, 7: 4, 8: 14, 10: 15, 11: 17, 12: 18, 13: 27, 15: 22, 16: 23, 18: 24, 19: 10, 21: 9, 22: 25, 23: 11},
    **{24: 8, 26: 7, 27: 0, 28: 1, 29: 5, 31: 6, 32: 12, 33: 13, 35: 19, 36: 16, 37: 26, 38: 20, 40: 21},
}
"""Place on the header -> GPIO number. All Raspberry Pi models with 40 pins have them here."""
BUSES = {3: "SDA", 5: "SCL", 19: "MOSI", 23: "SCLK", 24: "CE0", 26: "CE1"}
"""Places that displays are wired to."""

STEP = 30
WIDTH, TOP = 1000, 110
CENTRE = WIDTH // 2
BOX_NEAR, BOX_FAR = 160, 400
"""How far from the centre the boxes of the parts begin and end."""
BUS = 445
"""How far from the centre the ground wires run."""
STYLE = """
text { font: 13px sans-serif; fill: #1d2733 }
.title { font-size: 21px; font-weight: 600 }
.small { font-size: 12px; fill: #56616e }
.part { font-weight: 600 }
.wire { stroke: #1d2733; stroke-width: 2; fill: none }
.ground { stroke: #1d2733; stroke-width: 3; fill: none; stroke-dasharray: 7 4 }
.box { fill: #fff; stroke: #1d2733; stroke-width: 1.5 }
"""


@dataclass(frozen=True, slots=True)
class Part:
    """Something wired to a pin: what it is, the colour of its mark, what stands in the wire, and where that ends."""

    name: str
    mark: str
    between: str
    to_ground: bool = True


def parts(pins: Pins) -> dict[int, Part]:
    """GPIO number -> the part that is wired to it."""
    found = {pin: Part(f"{label(button)} button", "#8a94a0", _hint(button)) for button, pin in pins.buttons.items()}
    for player, pin in enumerate(pins.player_lights, 1):
        found[pin] = Part(f"light of player {player}", "#f2f2e6", "330 Ω + LED")
    for colour, mark, pin in zip(
        ("red", "green", "blue"), ("#e23b3b", "#35b04a", "#3c6fe0"), pins.status_light, strict=False
    ):
        where = "330 Ω, to 3.3 V" if pins.common_anode else "330 Ω"
        found[pin] = Part(f"status light, {colour}", mark, where, to_ground=not pins.common_anode)
    if pins.buzzer is not None:
        found[pins.buzzer] = Part("buzzer", "#4a4238", "active, 3.3 V, below 12 mA")
    return found


def draw(pins: Pins) -> str:
    """The drawing as SVG."""
    wired = parts(pins)
    bottom = TOP + 20 * STEP
    rows = [_place(place, wired) for place in range(1, 41)]
    notes = (
        "Buttons join their pin to ground. LEDs go to ground by the short leg, the status light by its common leg"
        + (" to 3.3 V," if pins.common_anode else ",")
        + " the buzzer by its minus.",
        "Displays, if any: OLED to SDA and SCL; digits to MOSI, SCLK and CE0 or CE1; power and ground as printed.",
    )
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {bottom + 90}" role="img" '
            'aria-label="Wiring of the panel">',
            f"<style>{STYLE}</style>",
            f'<rect width="{WIDTH}" height="{bottom + 90}" fill="#f7f8fa"/>',
            _text(CENTRE, 38, "Wiring of the panel", "title", "middle"),
            _text(
                CENTRE,
                62,
                "The 40-pin header from above; places 1 and 2 are those farthest from the USB sockets.",
                "small",
            ),
            f'<rect x="{CENTRE - 44}" y="{TOP - 14}" width="88" height="{20 * STEP + 8}" rx="6" fill="#24303c"/>',
            *rows,
            *(_ground_wire(side, wired) for side in (-1, 1)),
            *(_text(CENTRE, bottom + 34 + 22 * row, note, "small") for row, note in enumerate(notes)),
            "</svg>",
            "",
        ]
    )


def _place(place: int, wired: dict[int, Part]) -> str:
    """One place of the header, with its number and what is wired to it."""
    side = -1 if place % 2 else 1
    y = _y(place)
    x = CENTRE + side * 20
    anchor = "end" if side < 0 else "start"
    colour = "#d9822b" if place in POWER else "#11161c" if place in GROUND else "#e8c95a"
    drawn = [
        f'<circle cx="{x}" cy="{y}" r="9" fill="{colour}" stroke="#f7f8fa" stroke-width="1"/>',
        f'<text x="{x}" y="{y + 4}" text-anchor="middle" style="font-size:10px;fill:'
        f'{"#fff" if place in GROUND else "#11161c"}">{place}</text>',
    ]
    part = wired.get(GPIO.get(place, -1))
    name = POWER.get(place) or ("ground" if place in GROUND else f"GPIO {GPIO[place]}")
    if place in BUSES and part is None:
        name += f" {BUSES[place]}"
    drawn.append(_text(CENTRE + side * 52, y + 4, name, "part" if part else "small", anchor))
    if part is not None:
        drawn.append(_part(part, side, y))
    return "\n".join(drawn)


def _part(part: Part, side: int, y: int) -> str:
    near, far = CENTRE + side * BOX_NEAR, CENTRE + side * BOX_FAR
    left = min(near, far)
    return "\n".join(
        [
            f'<path class="wire" d="M{CENTRE + side * 118} {y}H{near}"/>',
            f'<rect class="box" x="{left}" y="{y - 12}" width="{BOX_FAR - BOX_NEAR}" height="24" rx="5"/>',
            f'<circle cx="{left + 15}" cy="{y}" r="6" fill="{part.mark}" stroke="#1d2733"/>',
            f'<text x="{left + 28}" y="{y + 4}"><tspan class="part">{escape(part.name)}</tspan>'
            f'<tspan class="small" dx="6">{escape(part.between)}</tspan></text>',
            f'<path class="wire" d="M{far} {y}H{CENTRE + side * BUS}"/>' if part.to_ground else "",
        ]
    )


def _ground_wire(side: int, wired: dict[int, Part]) -> str:
    """The wire that joins the parts of one side with the nearest ground of the header below or above them."""
    grounded = {pin for pin, part in wired.items() if part.to_ground}
    places = [place for place, pin in GPIO.items() if pin in grounded and (place % 2 == 0) == (side > 0)]
    if not places:
        return ""
    ys = [_y(place) for place in places]
    grounds = sorted(place for place in GROUND if (place % 2 == 0) == (side > 0))
    ground = next((place for place in grounds if min(ys) < _y(place)), grounds[-1])
    x, y = CENTRE + side * BUS, _y(ground)
    return "\n".join(
        [
            f'<path class="ground" d="M{x} {min(*ys, y)}V{max(*ys, y)}"/>',
            f'<path class="ground" d="M{CENTRE + side * 104} {y}H{x}"/>',
            _text(x, max(*ys, y) + 20, "ground", "small", "middle"),
        ]
    )


def _hint(button: Button) -> str:
    return {Button.PAUSE: "(held: undo)", Button.NEW_GAME: "(hold)", Button.POWER: "(hold)"}.get(button, "")


def _y(place: int) -> int:
    return TOP + (place - 1) // 2 * STEP


def _text(x: int, y: int, text: str, kind: str, anchor: str = "middle") -> str:
    return f'<text x="{x}" y="{y}" class="{kind}" text-anchor="{anchor}">{escape(text)}</text>'


def main(arguments: Sequence[str]) -> int:
    """Write the drawing to standard output."""
    from device.settings import SettingsError, load_settings

    try:
        settings = load_settings(Path(arguments[0]) if arguments else None)
    except SettingsError as error:
        print(error, file=sys.stderr)
        return 2
    sys.stdout.write(draw(settings.panel.pins))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
