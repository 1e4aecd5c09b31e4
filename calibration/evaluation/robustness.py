"""Measure how robust board reading is: shares of correct letters, boards and turns in disturbed pictures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from calibration.evaluation.disturbances import Disturbance
from calibration.evaluation.samples import Sample
from engine.inference.explain import infer_play
from engine.reading import EMPTY
from engine.validation import Proposal, Source, validate_turn
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
    """Read one picture and compare the reading with the true faces; for a turn, also compare the totals."""
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
    validated = validate_turn(Proposal(sample.turn.game_before, explained.events, Source.CAMERA, reading.board))
    sure = explained.is_certain and bool(explained.events) and validated.events == explained.events
    return Outcome(tiles, letters, all(right), sure and agrees, not sure, sure and not agrees)


def _sum_outcomes(level: float, outcomes: Sequence[tuple[str, Outcome, bool]]) -> LevelResult:
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
