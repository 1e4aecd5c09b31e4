"""Score chart of a game in SVG coordinates, for a template."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from device.session.snapshot import TableSnapshot

CHART_WIDTH, CHART_HEIGHT = 400.0, 180.0
LEFT_MARGIN, RIGHT_MARGIN, TOP_MARGIN, BOTTOM_MARGIN = 36.0, 90.0, 12.0, 14.0
MIN_LABEL_GAP = 18.0
MARK_STEPS_POINTS = (10, 25, 50, 100, 200, 250, 500)


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
    width: float = CHART_WIDTH
    height: float = CHART_HEIGHT
    left: float = LEFT_MARGIN
    right: float = CHART_WIDTH - RIGHT_MARGIN


def build_score_chart(state: TableSnapshot) -> ScoreChart | None:
    """Return the score chart of a game, with each player's total after each turn, or None before the first turn."""
    if not state.turns:
        return None
    totals = [[0] for _ in state.players]
    for turn in state.turns:
        for player, line in enumerate(totals):
            line.append(turn.total if player == turn.player else line[-1])
    top = max(1, *(max(line) for line in totals))
    low = min(0, *(min(line) for line in totals))

    def height(total: float) -> float:
        return round(
            CHART_HEIGHT - BOTTOM_MARGIN - (total - low) / (top - low) * (CHART_HEIGHT - TOP_MARGIN - BOTTOM_MARGIN), 1
        )

    def across(turn: int) -> float:
        return round(LEFT_MARGIN + turn / len(state.turns) * (CHART_WIDTH - LEFT_MARGIN - RIGHT_MARGIN), 1)

    labels = _space_labels([height(line[-1]) for line in totals])
    lines = tuple(
        ChartLine(
            player,
            " ".join(f"{across(turn)},{height(total)}" for turn, total in enumerate(line)),
            across(len(line) - 1),
            height(line[-1]),
            labels[player],
        )
        for player, line in enumerate(totals)
    )
    step = next((step for step in MARK_STEPS_POINTS if (top - low) / step <= 4), MARK_STEPS_POINTS[-1])
    marks = tuple((total, height(total)) for total in range(-(-low // step) * step, top + 1, step))
    return ScoreChart(lines, marks)


def _space_labels(heights: list[float]) -> list[float]:
    """Return label positions (y) that are at least `MIN_LABEL_GAP` apart and inside the chart."""
    order = sorted(range(len(heights)), key=lambda i: heights[i])
    moved = list(heights)
    for above, below in pairwise(order):
        moved[below] = max(moved[below], moved[above] + MIN_LABEL_GAP)
    over = max(0.0, max(moved) - (CHART_HEIGHT - BOTTOM_MARGIN / 2)) if moved else 0.0
    return [round(max(TOP_MARGIN / 2, height - over), 1) for height in moved]
