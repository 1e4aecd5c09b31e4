"""Train all networks (python -m vision.training).

Renders the scenes once, extracts the training data of each network, trains the four networks in two processes with one
thread each, and writes the ONNX files to `vision/models`. A network that is trained alone gets two threads. The same
command gives the same files on the same machine. Takes about two hours on two cores with AVX-512; needs
`pip install .[train]` and the font packages listed in `fonts.json`.

An interrupted training continues when the same command is run again: the scenes are rendered again (a quarter of the
time), and each network continues from its last checkpoint in `checkpoints/` of the output folder.
"""

from __future__ import annotations

import argparse
import multiprocessing
import platform
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from types import ModuleType

try:
    import cv2
    import numpy
    import PIL
    import torch

    from vision import net
    from vision.rendering.fonts import packaged_fonts
    from vision.training import dataset, detectors, fit_tile_similarity, letters, squares
    from vision.training.checkpoints import Checkpoint, hash_training_code
    from vision.training.dataset import TrainingViews
    from vision.training.detector_data import DetectorScene
    from vision.training.font_list import split_by_family, training_fonts, weight_by_kind
    from vision.training.scenes import FIRST_UNSEEN_SCENE, extract_parts, extract_scenes, extract_views_only
except ModuleNotFoundError as error:
    raise SystemExit(f"{error}; training needs more than playing: pip install '.[train]'") from error

HELD_OUT_SCENES = 450
"""Number of scenes kept for calibration and evaluation, or a fifth of all scenes if that is less. The tiles of these
scenes have font families that are not used for training."""

CORES = 2
"""Number of processor cores used on every machine, because the weights depend on the number of threads."""
NETWORKS = ("finder", "lattice", "squares", "letters")


def log_progress(begun: float, what: str) -> None:
    """Print a progress message to stderr with the minutes since `begun`, a time of `time.monotonic`."""
    print(f"[{(time.monotonic() - begun) / 60:5.1f} min] {what}", file=sys.stderr, flush=True)


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Return the options of the command line.

    By default, the scenes are those before `FIRST_UNSEEN_SCENE`. Scenes from that number on are for evaluations, so
    networks that were trained with more scenes cannot be compared with others there.
    """
    parser = argparse.ArgumentParser(prog="python -m vision.training", description=str(__doc__).split("\n\n")[0])
    parser.add_argument("--out", type=Path, help="folder for all .onnx files (default: vision/models)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--scenes", type=int, default=FIRST_UNSEEN_SCENE, help=f"scenes to draw (default {FIRST_UNSEEN_SCENE})"
    )
    parser.add_argument("--share", type=float, default=1.0, help="share of the training steps, for a quick trial")
    parser.add_argument(
        "--networks", nargs="+", choices=NETWORKS, default=NETWORKS, help="networks to train (default: all)"
    )
    parser.add_argument(
        "--from-scratch",
        action="store_true",
        help="train letters and squares from random instead of start weights, as for another architecture",
    )
    parser.add_argument(
        "--fonts",
        choices=["all", "packaged"],
        default="all",
        help="fonts of the tiles: all, or for a trial only those that come with Python packages",
    )
    return parser.parse_args(argv)


def describe_run(args: argparse.Namespace, fonts: Sequence[Path]) -> dict[str, object]:
    """Return everything that determines the weights: settings, fonts, code, libraries and processor."""
    libraries = ", ".join(f"{library.__name__} {library.__version__}" for library in (torch, numpy, cv2, PIL))
    processor = f"{platform.machine()} with {torch.backends.cpu.get_cpu_capability()}"
    return {
        "seed": args.seed,
        "scenes": args.scenes,
        "share": args.share,
        "from scratch": args.from_scratch,
        "fonts": [font.name for font in fonts],
        "code": hash_training_code(),
        "machine": f"{processor}, Python {platform.python_version()}, {libraries}",
    }


def render_training_data(
    scenes: int, seed: int, fonts: tuple[Path, ...], *, with_detectors: bool
) -> tuple[list[TrainingViews], list[TrainingViews], list[DetectorScene]]:
    """Render `scenes` scenes; return the views for training, those for evaluation, and the scenes for the detectors.

    The views for evaluation are the last ones, and show other font families than the views for training. Without
    `with_detectors` the third list is empty, and rendering takes two thirds of the time.
    """
    extract = extract_parts if with_detectors else extract_views_only
    held_out = min(HELD_OUT_SCENES, scenes // 5)
    numbers = (0, scenes - held_out), (scenes - held_out, held_out)
    draws = (partial(dataset.draw_scene, fonts=weight_by_kind(faces)) for faces in split_by_family(fonts))
    parts = [
        part
        for (first, count), draw in zip(numbers, draws, strict=True)
        for part in extract_scenes(count, extract, seed=seed, first=first, draw=draw)
    ]
    views = [view for view, _ in parts]
    return views[:-held_out], views[-held_out:], [kept for _, kept in parts if kept is not None]


def run_in_processes(groups: Sequence[Sequence[Callable[[], None]]]) -> None:
    """Run each group of trainings in its own process, one training after the other. The processes share two cores.

    Raises SystemExit if a training fails.
    """

    def run_group(group: Sequence[Callable[[], None]]) -> None:
        torch.set_num_threads(CORES // len(groups))
        for train in group:
            train()

    context = multiprocessing.get_context("fork")  # forked processes share the scenes without a copy
    children = [context.Process(target=run_group, args=(group,)) for group in groups]
    for child in children:
        child.start()
    for child in children:
        child.join()
    if any(child.exitcode for child in children):
        raise SystemExit("A training failed: see above. The same command continues after the last checkpoint.")


def main(argv: Sequence[str] | None = None) -> int:
    """Render the training scenes, train the chosen networks and write their ONNX files; return the exit code."""
    args = parse_arguments(argv)
    begun = time.monotonic()

    share: float = args.share
    folder: Path = args.out or net.MODELS_DIR

    def steps(whole: int) -> int:
        return max(20, round(whole * share))

    fonts = packaged_fonts() if args.fonts == "packaged" else training_fonts()
    run = describe_run(args, fonts)
    log_progress(begun, f"{run['machine']}; drawing {args.scenes} scenes")

    def checkpoint(name: str) -> Checkpoint:
        return Checkpoint(folder / "checkpoints" / f"{name}.pt", run)

    views, held_out, detector_scenes = render_training_data(
        args.scenes, args.seed, fonts, with_detectors=not {"finder", "lattice"}.isdisjoint(args.networks)
    )

    def train_detector(task: detectors.Task) -> None:
        path = folder / f"{task.name}.onnx"
        detectors.train(task, detector_scenes, steps(task.steps), path, checkpoint(task.name))
        log_progress(begun, f"{task.name} done")

    def train_classifier(name: str, module: ModuleType) -> None:
        count = steps(module.STEPS_FROM_SCRATCH if args.from_scratch else module.REFINING_STEPS)
        path, saved = folder / f"{name}.onnx", checkpoint(name)
        report = module.train(views, held_out, count, path, checkpoint=saved, from_scratch=args.from_scratch)
        print(report, flush=True)
        log_progress(begun, f"{name} done")

    trainings: dict[str, Callable[[], None]] = {
        "finder": partial(train_detector, detectors.FINDER),
        "lattice": partial(train_detector, detectors.LATTICE),
        "squares": partial(train_classifier, "squares", squares),
        "letters": partial(train_classifier, "letters", letters),
    }

    log_progress(begun, "training")
    # The letter network takes as long as the other three.
    groups = [[trainings[name] for name in group if name in args.networks] for group in (NETWORKS[:3], NETWORKS[3:])]
    run_in_processes([group for group in groups if group])
    if "letters" in args.networks:
        scenes, (_, faces) = min(fit_tile_similarity.SCENES, args.scenes), split_by_family(fonts)
        print(fit_tile_similarity.write_similarity(folder / "letters.onnx", scenes, faces), flush=True)
    shutil.rmtree(folder / "checkpoints", ignore_errors=True)
    log_progress(begun, "done")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
