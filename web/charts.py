"""The scores of a game as a chart: lines in the coordinates of an SVG, drawn by a template."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from device.session.snapshot import TableState

WIDTH, HEIGHT = 400.0, 180.0
LEFT, RIGHT, TOP, BOTTOM = 36.0, 90.0, 12.0, 14.0
NAME_GAP = 18.0
STEPS = (10, 25, 50, 100, 200, 250, 500)


@dataclass(frozen=True, slots=True)
class Line:
    """One player's totals: `points` as an SVG polyline has them, and where its last point and its name stand."""

    player: int
    points: str
    x: float
    y: float
    label_y: float


@dataclass(frozen=True, slots=True)
class Course:
    """The chart of a game: its lines, and the totals that are marked at the side with their heights."""

    lines: tuple[Line, ...]
    marks: tuple[tuple[int, float], ...]
    width: float = WIDTH
    height: float = HEIGHT
    left: float = LEFT
    right: float = WIDTH - RIGHT


def course(state: TableState) -> Course | None:
    """How the totals grew turn by turn; None before the first turn."""
    if not state.turns:
        return None
    totals = [[0] for _ in state.players]
    for turn in state.turns:
        for player, line in enumerate(totals):
            line.append(turn.total if player == turn.player else line[-1])
    top = max(1, *(max(line) for line in totals))
    low = min(0, *(min(line) for line in totals))

    def height(total: float) -> float:
        return round(HEIGHT - BOTTOM - (total - low) / (top - low) * (HEIGHT - TOP - BOTTOM), 1)

    def across(turn: int) -> float:
        return round(LEFT + turn / len(state.turns) * (WIDTH - LEFT - RIGHT), 1)

    labels = _apart([height(line[-1]) for line in totals])
    lines = tuple(
        Line(
            player,
            " ".join(f"{across(turn)},{height(total)}" for turn, total in enumerate(line)),
            across(len(line) - 1),
            height(line[-1]),
            labels[player],
        )
        for player, line in enumerate(totals)
    )
    step = next((step for step in STEPS if (top - low) / step <= 4), STEPS[-1])
    marks = tuple((total, height(total)) for total in range(-(-low // step) * step, top + 1, step))
    return Course(lines, marks)


def _apart(heights: list[float]) -> list[float]:
    """The heights moved so far apart that a name fits between two of them, kept inside the chart."""
    order = sorted(range(len(heights)), key=lambda i: heights[i])
    moved = list(heights)
    for above, below in pairwise(order):
        moved[below] = max(moved[below], moved[above] + NAME_GAP)
    over = max(0.0, max(moved) - (HEIGHT - BOTTOM / 2)) if moved else 0.0
    return [round(max(TOP / 2, height - over), 1) for height in moved]
