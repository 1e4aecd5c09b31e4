"""Find the level of each disturbance at which reading begins to fail, and compare two measurements of these levels."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final

from calibration.evaluation.disturbances import DISTURBANCES, Disturbance
from calibration.evaluation.robustness import Curves, LevelResult

MIN_LETTERS: Final = 0.99
"""Minimum share (0..1) of letters that are read correctly; if the share is lower, the disturbance is too strong."""


def find_limits(disturbance: Disturbance, levels: Sequence[LevelResult]) -> tuple[float, ...]:
    """Return the levels of a disturbance at which reading begins to fail: fewer letters than `MIN_LETTERS` are right.

    The neutral level has no disturbance, and levels may be lower or higher than it, so there are up to two limits. Each
    one is interpolated between the last good level on its side and the next level. If all levels on a side are good,
    that side has no limit. If even the neutral level is not good, it is the only limit.
    """
    ordered = sorted(levels, key=lambda result: result.level)
    neutral = min(ordered, key=lambda result: abs(result.level - disturbance.neutral_level))
    if neutral.letters < MIN_LETTERS:
        return (neutral.level,)
    middle = ordered.index(neutral)
    limits = []
    for side in (ordered[middle::-1], ordered[middle:]):
        last = max(at for at, result in enumerate(side) if result.letters >= MIN_LETTERS)
        for good, bad in pairwise(side[last : last + 2]):
            share = (good.letters - MIN_LETTERS) / (good.letters - bad.letters)
            limits.append(good.level + share * (bad.level - good.level))
    return tuple(limits)


def format_limits(curves: Curves, earlier: Curves | None = None) -> str:
    """Return a Markdown table of the limits; if `earlier` is given, also of the limits in this earlier measurement."""
    header = ["disturbance"]
    for kind in curves:
        header += [f"{kind}, before", f"{kind}, now"] if earlier else [kind]
    lines = ["| " + " | ".join(header) + " |", "| --- " * len(header) + "|"]
    for disturbance in dict.fromkeys(d for found in curves.values() for d, _ in found):
        cells = [f"{disturbance.name} ({disturbance.unit})"]
        for kind in curves:
            cells += [_format_cell(disturbance, run.get(kind, ())) for run in ([earlier] if earlier else []) + [curves]]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _format_cell(disturbance: Disturbance, found: Sequence[tuple[Disturbance, Sequence[LevelResult]]]) -> str:
    for other, levels in found:
        if other.name == disturbance.name:
            limits = find_limits(disturbance, levels)
            return " and ".join(f"{limit:.2g}" for limit in limits) if limits else "none"
    return "-"


def load_curves(path: Path) -> Curves:
    """Load the curves of an earlier measurement from the file `path` (`sweeps.json`).

    Disturbances that no longer exist are left out. Raises OSError, ValueError, KeyError or TypeError if the file cannot
    be read or has no curves.
    """
    by_name = {disturbance.name: disturbance for disturbance in DISTURBANCES}
    data = json.loads(path.read_text(encoding="utf-8"))
    return {
        kind: [
            (by_name[name], [LevelResult(**level | {"wrong": tuple(level["wrong"])}) for level in found["levels"]])
            for name, found in disturbances.items()
            if name in by_name
        ]
        for kind, disturbances in data.items()
    }
