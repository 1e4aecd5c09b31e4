"""`tilekeeper rebuild`: from a photograph and a score sheet to the plays."""

from __future__ import annotations

import json
from pathlib import Path

import cv2
import pytest

from device.cli import main
from engine.gcg import parse_gcg
from vision.rendering.simulated_table import SimulatedTable


@pytest.fixture(scope="module")
def photo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The board after HORN at 8F (14 points) and FARM at H6 down through its R (9 points)."""
    table = SimulatedTable(seed=1)
    table.lay_tiles({(7, 5): "H", (7, 6): "O", (7, 7): "R", (7, 8): "N", (5, 7): "F", (6, 7): "A", (8, 7): "M"})
    path = tmp_path_factory.mktemp("rebuild") / "board.png"
    cv2.imwrite(str(path), table.photograph().image)
    return path


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    return tmp_path / "scores.csv"


def rebuild(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str]:
    status = main(["rebuild", *map(str, words)])
    return status, capsys.readouterr().out


def test_plays_are_found_in_their_order(photo: Path, scores: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scores.write_text("Anna,Ben\n14,9\n")
    status, out = rebuild(capsys, photo, scores, "--json")
    report = json.loads(out)
    assert (status, report["orders"], report["totals"]) == (0, 1, {"Anna": 14, "Ben": 9})
    assert [turn["plays"] for turn in report["turns"]] == [
        [{"at": "8F", "word": "HORN"}],
        [{"at": "H6", "word": "FA(R)M"}],
    ]
    assert [entry.score for entry in parse_gcg(report["gcg"]).entries] == [14, 9]


def test_game_is_written_to_a_file(
    photo: Path, scores: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scores.write_text("14,9\n")
    rebuild(capsys, photo, scores, "--gcg", tmp_path / "game.gcg")
    assert "8F HORN +14 14" in (tmp_path / "game.gcg").read_text()


def test_wrong_score_is_named_with_the_right_one(photo: Path, scores: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scores.write_text("14,8\n")
    status, out = rebuild(capsys, photo, scores, "--json")
    [place] = json.loads(out)["mistakes"]
    assert (status, place["turn"], place["at"]) == (1, 2, "H6")
    assert {"mistake": "score", "points": 9} in place["mistakes"]


def test_scores_that_cannot_be_read_are_refused(photo: Path, scores: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scores.write_text("Anna,Ben\ntwelve,9\n")
    assert main(["rebuild", str(photo), str(scores)]) == 2
    assert "'twelve' in row 1 is not a score" in capsys.readouterr().err
