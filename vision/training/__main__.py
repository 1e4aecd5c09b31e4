"""Train all networks (python -m vision.training).

Renders the scenes once, extracts the training data of each network, trains the four networks in two processes with one
thread each, and writes the ONNX files to `vision/models`. The same seed gives the same scenes and, on the same machine,
the same weights. Takes about an hour on two cores with AVX-512; needs `pip install .[train]` and the Debian font
packages listed in `vision.rendering.fonts`.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

try:
    import torch

    from vision import net
    from vision.rendering.fonts import packaged_fonts, training_fonts
    from vision.training import dataset, detectors, letters, squares
    from vision.training.scene_parts import extract_parts
    from vision.training.scenes import FIRST_UNSEEN_SCENE, extract_scenes
except ModuleNotFoundError as error:
    raise SystemExit(f"{error}; training needs more than playing: pip install '.[train]'") from error

HELD_OUT_SCENES = 300
"""Maximum number of scenes kept for evaluation; at most a fifth of all scenes."""


def log_progress(begun: float, what: str) -> None:
    """Print a progress message to stderr with the minutes since `begun`, a time of `time.monotonic`."""
    print(f"[{(time.monotonic() - begun) / 60:5.1f} min] {what}", file=sys.stderr, flush=True)


def main(argv: Sequence[str] | None = None) -> int:
    """Render the training scenes, train all networks and write their ONNX files; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m vision.training", description=str(__doc__).split("\n\n")[0])
    parser.add_argument("--out", type=Path, help="folder for all .onnx files (default: vision/models)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--scenes", type=int, default=FIRST_UNSEEN_SCENE, help=f"scenes to draw (default {FIRST_UNSEEN_SCENE})"
    )
    parser.add_argument("--share", type=float, default=1.0, help="share of the training steps, for a quick trial")
    parser.add_argument(
        "--fonts",
        choices=["all", "packaged"],
        default="all",
        help="fonts of the tiles: all, or for a trial only those that come with Python packages",
    )
    args = parser.parse_args(argv)
    begun = time.monotonic()

    share: float = args.share
    folder: Path = args.out or net.MODELS_DIR

    def steps(whole: int) -> int:
        return max(20, round(whole * share))

    log_progress(begun, f"drawing {args.scenes} scenes")
    draw = partial(dataset.draw_scene, fonts=packaged_fonts() if args.fonts == "packaged" else training_fonts())
    parts = list(extract_scenes(args.scenes, extract_parts, seed=args.seed, draw=draw))
    views = [view for view, _ in parts]
    detector_scenes = [kept for _, kept in parts if kept is not None]
    del parts
    held_out = views[-min(HELD_OUT_SCENES, args.scenes // 5) :]
    views = views[: -len(held_out)]

    def place() -> None:
        torch.set_num_threads(1)
        detectors.train(detectors.FINDER, detector_scenes, steps(detectors.FINDER.steps), folder / "finder.onnx")
        log_progress(begun, "finder done")
        detectors.train(detectors.LATTICE, detector_scenes, steps(detectors.LATTICE.steps), folder / "lattice.onnx")
        log_progress(begun, "lattice done")
        print(squares.train(views, held_out, steps(squares.STEPS), folder / "squares.onnx"), flush=True)
        log_progress(begun, "squares done")

    def read() -> None:
        torch.set_num_threads(1)
        print(letters.train(views, held_out, steps(letters.STEPS), folder / "letters.onnx"), flush=True)
        log_progress(begun, "letters done")

    log_progress(begun, "training")
    context = multiprocessing.get_context("fork")  # forked processes share the scenes without a copy
    children = [context.Process(target=work, name=work.__name__) for work in (place, read)]
    for child in children:
        child.start()
    for child in children:
        child.join()
    if any(child.exitcode for child in children):
        raise SystemExit("a training failed: see above")
    log_progress(begun, "done")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
