"""Measure how robust board reading is: shares of correct letters, boards and turns in disturbed pictures.

The limits are the levels of a disturbance at which reading begins to fail. The chart needs matplotlib
(`pip install '.[train]'`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from calibration.evaluation.samples import DISTURBANCES, Disturbance, Sample
from engine.inference.explain import infer_play
from engine.ledger import Source
from engine.reading import EMPTY
from engine.validation import Proposal, validate_turn
from vision.recognition.reader import PhotoReader, best_guess


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of reading one picture.

    `tiles` is the number of tiles on the board, `letters` the number of tiles read correctly. `whole_board` is True if
    all 225 squares are correct. If the picture shows a turn of a game, one of three fields is True: `scored` (correct
    total), `asked` (a question about the play, before anything is recorded) or `wrong` (a wrong total).
    """

    tiles: int
    letters: int
    whole_board: bool
    scored: bool = False
    asked: bool = False
    wrong: bool = False


@dataclass(frozen=True, slots=True)
class LevelResult:
    """Summary of the results of all pictures at one level of a disturbance.

    `letters` is the share (0..1) of tiles read correctly, `whole` the share of pictures with all squares correct.
    `turns` is the number of pictures that show a turn. Of these pictures, `scored` is the share with a correct total
    and no question, `asked` the share with a question. `wrong` has the names of pictures with a wrong total and no
    question.
    """

    level: float
    pictures: int
    letters: float
    whole: float
    turns: int
    scored: float
    asked: float
    wrong: tuple[str, ...]


Curves = Mapping[str, Sequence[tuple[Disturbance, Sequence[LevelResult]]]]
"""Results of each disturbance at each level, for each kind of picture (`rendered`, `photographs`)."""


def measure_robustness(
    reader: PhotoReader, disturbance: Disturbance, samples: Sequence[Sample]
) -> Iterator[LevelResult]:
    """Read every sample at every level of a disturbance, and yield a summary for each level.

    The random numbers depend only on the number of the sample, so that they are the same at all levels.
    """
    for level in disturbance.levels:
        outcomes: list[tuple[str, Outcome, bool]] = []
        for number, sample in enumerate(samples):
            spoiled = disturbance.apply(sample, level, np.random.default_rng([0, number]))
            if spoiled is not None:
                outcomes.append((sample.name, assess_sample(reader, spoiled), sample.turn is not None))
        if outcomes:
            yield _sum_outcomes(level, outcomes)


def assess_sample(reader: PhotoReader, sample: Sample) -> Outcome:
    """Read one picture and compare the reading with the true faces; for a turn, also compare the totals.

    The table records a turn without a question if its explanation is certain and the rules do not object to it.
    """
    reading = reader.read(sample.image, sample.letters)
    tiles = sum(face != EMPTY for face in sample.faces)
    if reading.board is None:
        return Outcome(tiles, 0, False, asked=sample.turn is not None)
    seen = [best_guess(square)[0] for square in reading.board.squares]
    right = [one == face for one, face in zip(seen, sample.faces, strict=True)]
    letters = sum(ok for ok, face in zip(right, sample.faces, strict=True) if face != EMPTY)
    if sample.turn is None:
        return Outcome(tiles, letters, all(right))
    explained = infer_play(sample.turn.game_before, reading.board)
    agrees = explained.best.game.totals == sample.turn.totals
    validated = validate_turn(Proposal(sample.turn.game_before, explained.events, Source.PRESS, reading.board))
    sure = explained.is_certain and bool(explained.events) and validated.events == explained.events
    return Outcome(tiles, letters, all(right), sure and agrees, not sure, sure and not agrees)


def _sum_outcomes(level: float, outcomes: Sequence[tuple[str, Outcome, bool]]) -> LevelResult:
    """Summarise outcomes at one level; each is given with the picture's name, and True if the picture shows a turn."""
    tiles = sum(outcome.tiles for _, outcome, _ in outcomes)
    turns = sum(is_turn for *_, is_turn in outcomes)
    return LevelResult(
        level=level,
        pictures=len(outcomes),
        letters=sum(outcome.letters for _, outcome, _ in outcomes) / max(tiles, 1),
        whole=sum(outcome.whole_board for _, outcome, _ in outcomes) / len(outcomes),
        turns=turns,
        scored=sum(outcome.scored for _, outcome, _ in outcomes) / max(turns, 1),
        asked=sum(outcome.asked for _, outcome, _ in outcomes) / max(turns, 1),
        wrong=tuple(name for name, outcome, _ in outcomes if outcome.wrong),
    )


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
    for side in (ordered[middle::-1], ordered[middle:]):  # from the neutral level downwards, and upwards
        last = max(at for at, result in enumerate(side) if result.letters >= MIN_LETTERS)  # the last good level
        if last + 1 < len(side):
            good, bad = side[last], side[last + 1]
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


_LINE_COLOURS = {
    "letters right": "#1f5fa8",
    "turns scored without a question": "#2a8a4a",
    "turns asked about": "#d08a1c",
}
_LINE_STYLES = ("-", "--")
_EARLIER_COLOUR = "#b9a6cf"


def draw_chart(curves: Curves, path: Path, earlier: Curves | None) -> None:
    """Draw a PNG file with one panel for each disturbance.

    A panel shows three shares by level: of correct letters, of scored turns and of turns with a question. A cross marks
    a level at which a wrong total was accepted. Each kind of picture has its own line style. If `earlier` is given, the
    shares of letters in this earlier measurement are drawn as well.
    """
    names = list(dict.fromkeys(d.name for kind in curves.values() for d, _ in kind))
    columns = 4
    rows = -(-len(names) // columns)
    figure = Figure(figsize=(3.1 * columns, 2.6 * rows + 0.5), layout="constrained")
    FigureCanvasAgg(figure)
    for at, name in enumerate(names):
        axes = figure.add_subplot(rows, columns, at + 1)
        for style, group in zip(_LINE_STYLES, curves, strict=False):
            for before in (levels for d, levels in (earlier or {}).get(group, ()) if d.name == name):
                letters = [100 * level.letters for level in before]
                axes.plot([level.level for level in before], letters, style, color=_EARLIER_COLOUR, lw=3)
        for style, kind in zip(_LINE_STYLES, curves.values(), strict=False):
            for disturbance, levels in kind:
                if disturbance.name != name:
                    continue
                x = [level.level for level in levels]
                drawn = ([v.letters for v in levels], [v.scored for v in levels], [v.asked for v in levels])
                for colour, y in zip(_LINE_COLOURS.values(), drawn, strict=True):
                    axes.plot(x, [100 * value for value in y], style, color=colour, marker=".", lw=1.4)
                for level in levels:
                    if level.wrong:
                        axes.plot([level.level], [2], "x", color="#c0202a", ms=8, mew=2)
                axes.set_title(f"{name} ({disturbance.unit})", fontsize=9)
                axes.axvline(disturbance.neutral_level, color="#bbbbbb", lw=0.7, zorder=0)
        axes.set_ylim(-4, 104)
        axes.grid(alpha=0.25)
        axes.tick_params(labelsize=8)
        if at % columns == 0:
            axes.set_ylabel("per cent", fontsize=8)
    lines = [Line2D([], [], color=colour, label=label) for label, colour in _LINE_COLOURS.items()]
    if earlier:
        lines.append(Line2D([], [], color=_EARLIER_COLOUR, lw=3, label="letters right before"))
    lines += [Line2D([], [], color="black", ls=s, label=group) for s, group in zip(_LINE_STYLES, curves, strict=False)]
    lines.append(Line2D([], [], color="#c0202a", marker="x", ls="", mew=2, label="a wrong total accepted"))
    figure.legend(handles=lines, loc="outside lower center", ncols=len(lines), fontsize=9, frameon=False)
    figure.savefig(path, dpi=90)
