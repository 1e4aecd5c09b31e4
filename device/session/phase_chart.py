"""The session drawn as a state machine, from the table of its transitions: a picture of the ways, and all of them."""

from __future__ import annotations

from html import escape
from itertools import groupby
from math import hypot

from device.session.phases import PLAYING, TRANSITIONS, Cue
from device.session.snapshot import Phase

WIDTH, TOP, BOX_W, BOX_H, LINE = 1080, 70, 132, 44, 17
IN_PLAY = "in play"
"""The frame around the phases in which somebody has the turn."""
FRAME_W, FRAME_H = 480, 280
PLACES = {
    Phase.LOBBY: (110, 80),
    Phase.DRAWING: (110, 340),
    IN_PLAY: (510, 190),
    Phase.TURN: (390, 190),
    Phase.CHALLENGE: (630, 110),
    Phase.QUESTION: (630, 280),
    Phase.LOOKING: (960, 190),
    Phase.PAUSED: (330, 420),
    Phase.ENDED: (820, 420),
}
"""The middle of each phase's box, and of the frame."""
EVERYWHERE = (Cue.START, Cue.RESUME, Cue.UNDO, Cue.REDO, Cue.PUT_RIGHT, Cue.RACK)
"""Commands that can be given in many phases: they stand in the table alone, or nobody could follow the ways."""
STYLE = """
svg { background: #fff; font: 14px system-ui, sans-serif; }
rect { fill: #f4ecd8; stroke: #4a4032; stroke-width: 1.5; } rect.frame { fill: #faf7ef; stroke-dasharray: 6 4; }
.name { font-weight: 600; text-anchor: middle; }
path { fill: none; stroke: #6a7a8a; stroke-width: 1.3; marker-end: url(#arrow); }
.cue { font-size: 11.5px; fill: #2f4a66; text-anchor: middle; paint-order: stroke; stroke: #fff; stroke-width: 3px; }
.small { font-size: 12.5px; } .head { font-weight: 600; font-size: 15px; }
""".strip()


def draw() -> str:
    """The drawing, as SVG."""
    table = list(_table())
    bottom = 520 + LINE * len(table)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {bottom}" role="img" '
        'aria-label="The phases of the session and what leads from one to another">',
        f"<style>{STYLE}</style>",
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" '
        'orient="auto"><path d="M0 0L8 4L0 8z" style="fill:#6a7a8a;stroke:none;marker-end:none"/></marker></defs>',
        _box(IN_PLAY),
        *(_way(one, other, cues) for (one, other), cues in _ways().items()),
        *(_box(phase) for phase in Phase),
        f'<text x="24" y="{bottom - LINE * len(table) - 22}" class="head">Every command and the phases that may '
        "follow</text>",
        *(
            f'<text x="24" y="{bottom - LINE * (len(table) - at)}" class="small">{escape(line)}</text>'
            for at, line in enumerate(table)
        ),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _ways() -> dict[tuple[str, str], list[Cue]]:
    """The ways that are drawn: from one phase to another, with the commands that lead there.

    What holds in all the phases of a turn leads from the frame around them, what leads to all of them leads there.
    """
    found: dict[tuple[str, str], list[Cue]] = {}
    for phase, cues in TRANSITIONS.items():
        for cue, following in cues.items():
            everywhere = all(TRANSITIONS[other].get(cue) == following for other in PLAYING)
            one: str = IN_PLAY if phase in PLAYING and everywhere else phase
            others: set[str] = set(following)
            if others.issuperset(PLAYING):
                others = others - set(PLAYING) | {IN_PLAY}
            drawn = cue not in EVERYWHERE or phase is Phase.LOBBY
            for other in sorted(others) if drawn else ():
                inside = (one == IN_PLAY and other in PLAYING) or (one in PLAYING and other == IN_PLAY)
                if other != one and not inside and cue not in found.setdefault((one, other), []):
                    found[one, other].append(cue)
    return {way: cues for way, cues in found.items() if cues and cues != [Cue.RESUME]}


def _table() -> list[str]:
    """Every transition in words, equal ones of several phases together."""
    lines = []
    for cue in Cue:
        rows = [(TRANSITIONS[phase].get(cue), phase) for phase in Phase if cue in TRANSITIONS[phase]]
        rows.sort(key=lambda row: str(row[0]))
        for following, group in groupby(rows, key=lambda row: row[0]):
            begins = ", ".join(phase for _, phase in group)
            lines.append(f"{cue}: in {begins} → {', '.join(following or ())}")
    return lines


def _box(name: str) -> str:
    x, y = _place(name)
    wide, high = _size(name)
    kind = "frame" if name == IN_PLAY else "phase"
    return (
        f'<rect x="{x - wide // 2}" y="{y - high // 2}" width="{wide}" height="{high}" rx="10" '
        f'class="{kind}"/>'
        f'<text x="{x}" y="{y - high // 2 + 22 if name == IN_PLAY else y + 5}" class="name">{name}</text>'
    )


def _place(name: str) -> tuple[int, int]:
    x, y = PLACES[name]
    return x, y + TOP - 40


def _size(name: str) -> tuple[int, int]:
    return (FRAME_W, FRAME_H) if name == IN_PLAY else (BOX_W, BOX_H)


def _way(one: str, other: str, cues: list[Cue]) -> str:
    """An arrow that bends to its right, so that there and back are two; its commands stand beside it."""
    (x0, y0), (x1, y1) = _place(one), _place(other)
    far = hypot(x1 - x0, y1 - y0)
    right = (-(y1 - y0) / far, (x1 - x0) / far)
    bend = 26 + far * 0.05
    cx, cy = (x0 + x1) / 2 + right[0] * bend, (y0 + y1) / 2 + right[1] * bend
    sx, sy = _edge(one, cx, cy)
    ex, ey = _edge(other, cx, cy)
    label = ", ".join(cue for cue in cues if cue is not Cue.RESUME)
    lx, ly = (sx + ex) / 4 + cx / 2, (sy + ey) / 4 + cy / 2
    text = f'<text x="{lx:.0f}" y="{ly:.0f}" class="cue">{escape(label)}</text>'
    return f'<path d="M{sx:.0f} {sy:.0f}Q{cx:.0f} {cy:.0f} {ex:.0f} {ey:.0f}"/>{text}'


def _edge(name: str, towards_x: float, towards_y: float) -> tuple[float, float]:
    """Where a way from the middle of a box leaves it."""
    x, y = _place(name)
    wide, high = _size(name)
    dx, dy = towards_x - x, towards_y - y
    share = min((wide / 2 + 2) / max(abs(dx), 1e-9), (high / 2 + 2) / max(abs(dy), 1e-9))
    return x + dx * share, y + dy * share
