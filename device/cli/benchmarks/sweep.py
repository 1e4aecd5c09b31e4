"""Measure how robust board reading is: disturb pictures step by step, read the boards, and infer the turns.

The games of the demo are rendered on tables with different boards. `--photos` adds photographs with their ground truth.
A turn counts as accepted if the table would score the turn without a question. The exit status is 1 if a turn was
accepted with a wrong total.

`--out DIR` keeps the figures in `DIR/sweeps.json`. `--compare FILE` adds the figures of an earlier file to the chart.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from device.cli import UserError
from device.cli.options import make_board_reader

if TYPE_CHECKING:
    from calibration.evaluation.robustness import Curves, LevelResult
    from calibration.evaluation.samples import Disturbance, Sample

MIN_ASKED_SHARE = 0.1
"""Share (0..1) of turns with a question; if it is higher at a level of a disturbance, the results name this level."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command to the parser."""
    parser.add_argument(
        "--photos", type=Path, metavar="DIR", help="folder of labelled photographs (DIR/*/manifest.json)"
    )
    parser.add_argument("--step", type=int, default=5, help="use every Nth photograph (default 5)")
    parser.add_argument(
        "--rendered", type=int, default=40, metavar="N", help="number of rendered pictures (default 40)"
    )
    parser.add_argument("--only", default="", metavar="NAME,...", help="measure only these disturbances")
    parser.add_argument("--out", type=Path, metavar="DIR", help="folder for sweeps.png and sweeps.json")
    parser.add_argument(
        "--compare",
        type=Path,
        metavar="FILE",
        help="sweeps.json of an earlier measurement, to be drawn in the same chart",
    )


def run(args: argparse.Namespace) -> int:
    """Measure, print a table, and write `sweeps.png` and `sweeps.json` to `--out`. Return 1 if a total was wrong."""
    from calibration.evaluation.samples import DISTURBANCES

    draw = _load_chart_drawer() if args.out else None
    earlier = _load_earlier_curves(args.compare) if args.compare else None
    names = {name.strip() for name in args.only.split(",") if name.strip()}
    chosen = [d for d in DISTURBANCES if not names or d.name in names]
    if not names <= {d.name for d in chosen}:
        raise UserError(f"--only takes some of: {', '.join(d.name for d in DISTURBANCES)}")
    if args.out:
        args.out.mkdir(parents=True, exist_ok=True)
    curves = _measure_curves(_load_samples(args.photos, args.rendered, args.step), chosen)
    wrong = sum(len(level.wrong) for found in curves.values() for _, levels in found for level in levels)
    print(f"wrong totals accepted: {wrong}")
    _print_limits(curves, earlier)
    if draw:
        (args.out / "sweeps.json").write_text(json.dumps(_to_plain_data(curves), indent=1) + "\n", encoding="utf-8")
        draw(curves, args.out / "sweeps.png", earlier)
    return 1 if wrong else 0


def _measure_curves(groups: Mapping[str, list[Sample]], chosen: Sequence[Disturbance]) -> Curves:
    """Read the samples of each kind of picture with each disturbance, and print the results."""
    from calibration.evaluation.robustness import measure_robustness

    reader = make_board_reader()
    curves: dict[str, list[tuple[Disturbance, list[LevelResult]]]] = {}
    for kind, samples in groups.items():
        print(f"{kind}: {len(samples)} pictures, {sum(s.turn is not None for s in samples)} of them turns of a game")
        curves[kind] = []
        for disturbance in chosen:
            levels = list(measure_robustness(reader, disturbance, samples))
            if levels:
                curves[kind].append((disturbance, levels))
                asking = _format_asking_levels(levels, disturbance.neutral_level)
                print(f"  {disturbance.name} ({disturbance.unit}); {asking}")
                print("\n".join(f"  {_format_level(level)}" for level in levels), flush=True)
    return curves


def _load_earlier_curves(path: Path) -> Curves:
    from calibration.evaluation.robustness import load_curves

    try:
        return load_curves(path)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise UserError(f"{path}: not a sweeps.json of this command") from None


def _print_limits(curves: Curves, earlier: Curves | None) -> None:
    from calibration.evaluation.robustness import MIN_LETTERS, format_limits

    print(f"\nlevels at which fewer than {100 * MIN_LETTERS:g} % of the letters are right:")
    print(format_limits(curves, earlier))


def _load_chart_drawer() -> Callable[[Curves, Path, Curves | None], None]:
    """Return the function that draws the curves. Raises `UserError` if its library is not installed.

    Called before the measurement, which takes minutes.
    """
    try:
        from calibration.evaluation.robustness import draw_chart
    except ModuleNotFoundError as error:
        raise UserError(f"{error}: drawing the curves needs more than playing: pip install '.[train]'") from error
    return draw_chart


def _load_samples(photos: Path | None, count: int, step: int) -> dict[str, list[Sample]]:
    from calibration.evaluation.samples import load_photo_samples, render_samples
    from device.demo.demo_table import load_demo_games
    from engine.gcg import build_game

    games = [build_game(record) for record in load_demo_games().values()]
    samples = {"rendered": list(render_samples(games, count))} if count else {}
    if photos:
        if not any(photos.glob("*/manifest.json")):
            raise UserError(f"{photos}: there is no */manifest.json with the truth of photographs")
        samples["photographs"] = list(load_photo_samples(photos, step))
    return samples


def _format_level(level: LevelResult) -> str:
    text = f"{level.level:9g}  letters {100 * level.letters:6.2f} %  boards {100 * level.whole:5.1f} %"
    if level.turns:
        text += f"  turns: scored {100 * level.scored:5.1f} %, asked {100 * level.asked:5.1f} %"
    return text + (f"  WRONG {', '.join(level.wrong)}" if level.wrong else "")


def _format_asking_levels(levels: list[LevelResult], plain: float) -> str:
    """Return a text with the weakest levels of a disturbance at which the table asks about many turns.

    There may be two levels, one on each side of the neutral level `plain`.
    """
    asks = [level.level for level in levels if level.turns and level.asked > MIN_ASKED_SHARE and level.level != plain]
    below, above = [v for v in asks if v < plain], [v for v in asks if v > plain]
    shares = [f"{v:g}" for v in (max(below, default=None), min(above, default=None)) if v is not None]
    return f"asks from {' and '.join(shares)}" if shares else "asks nowhere"


def _to_plain_data(curves: Curves) -> Any:
    return {
        kind: {d.name: {"unit": d.unit, "levels": [asdict(level) for level in levels]} for d, levels in found}
        for kind, found in curves.items()
    }
