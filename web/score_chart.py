"""The score chart of a game: each player's total after each turn, in SVG coordinates."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

from device.session.snapshot import TableSnapshot

WIDE_CHART, TALL_CHART = (400.0, 180.0), (300.0, 240.0)
"""Width and height of two versions of the score chart, in SVG units. The style sheet shows the version that fits."""
LEFT_MARGIN, RIGHT_MARGIN, TOP_MARGIN, BOTTOM_MARGIN = 36.0, 104.0, 12.0, 14.0
MIN_LABEL_GAP = 18.0
MARK_STEPS_POINTS = (10, 25, 50, 100, 200, 250, 500)
MAX_MARKS = 4


@dataclass(frozen=True, slots=True)
class ChartLine:
    """Line of one player's totals: `points` of an SVG polyline, position of the last point, y of the label."""

    player: int
    points: str
    x: float
    y: float
    label_y: float


@dataclass(frozen=True, slots=True)
class ScoreChart:
    """Score chart of a game: a line for each player, and the ticks of the vertical axis as (total, y)."""

    lines: tuple[ChartLine, ...]
    marks: tuple[tuple[int, float], ...]
    width: float
    height: float
    left: float
    right: float


def build_score_charts(state: TableSnapshot) -> tuple[ScoreChart, ...]:
    """Return a wide and a tall score chart of a game, or an empty tuple before the first turn."""
    return tuple(build_score_chart(state, *size) for size in (WIDE_CHART, TALL_CHART)) if state.turns else ()


def build_score_chart(state: TableSnapshot, width: float, height: float) -> ScoreChart:
    """Return the score chart of a game, with each player's total after each turn; sizes are in SVG units.

    The game must have a turn.
    """
    totals = [[0] for _ in state.players]
    for turn in state.turns:
        for player, line in enumerate(totals):
            line.append(turn.total if player == turn.player else line[-1])
    highest = max(1, *(max(line) for line in totals))
    lowest = min(0, *(min(line) for line in totals))

    def y_of(total: float) -> float:
        share = (total - lowest) / (highest - lowest)
        return round(height - BOTTOM_MARGIN - share * (height - TOP_MARGIN - BOTTOM_MARGIN), 1)

    def x_of(turn: int) -> float:
        return round(LEFT_MARGIN + turn / len(state.turns) * (width - LEFT_MARGIN - RIGHT_MARGIN), 1)

    labels = _space_labels([y_of(line[-1]) for line in totals], height)
    lines = tuple(
        ChartLine(
            player,
            " ".join(f"{x_of(turn)},{y_of(total)}" for turn, total in enumerate(line)),
            x_of(len(line) - 1),
            y_of(line[-1]),
            labels[player],
        )
        for player, line in enumerate(totals)
    )
    step = next((step for step in MARK_STEPS_POINTS if highest - lowest <= MAX_MARKS * step), MARK_STEPS_POINTS[-1])
    marks = tuple((total, y_of(total)) for total in range(math.ceil(lowest / step) * step, highest + 1, step))
    return ScoreChart(lines, marks, width, height, LEFT_MARGIN, width - RIGHT_MARGIN)


def _space_labels(heights: list[float], chart_height: float) -> list[float]:
    """Return the y positions of labels: `heights`, moved apart to `MIN_LABEL_GAP`, but not outside the chart."""
    order = sorted(range(len(heights)), key=lambda i: heights[i])
    spaced = list(heights)
    for above, below in pairwise(order):
        spaced[below] = max(spaced[below], spaced[above] + MIN_LABEL_GAP)
    excess = max(0.0, max(spaced, default=0.0) - (chart_height - BOTTOM_MARGIN / 2))
    return [round(max(TOP_MARGIN / 2, height - excess), 1) for height in spaced]
