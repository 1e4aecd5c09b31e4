"""`tilekeeper read`: its answers, its errors, its exit status."""

from __future__ import annotations

import json
from pathlib import Path

import cv2
import numpy as np
import onnxruntime
import pytest

from device.cli import main
from vision.rendering.scene import Scene
from vision.rendering.simulated_table import SimulatedTable


@pytest.fixture(scope="module")
def scene() -> Scene:
    table = SimulatedTable(seed=1)
    table.lay_tiles({(7, 7 + i): c for i, c in enumerate("HORN")})
    return table.photograph()


@pytest.fixture()
def photo(tmp_path: Path, scene: Scene) -> Path:
    path = tmp_path / "board.png"
    cv2.imwrite(str(path), scene.image)
    return path


def corners(scene: Scene) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in scene.corners)


def answers(capsys: pytest.CaptureFixture[str]) -> tuple[list[dict[str, object]], str]:
    out, err = capsys.readouterr()
    return [json.loads(line) for line in out.splitlines()], err


def test_a_photograph_is_answered_by_one_json_object(
    photo: Path, scene: Scene, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["read", "--json", "--corners", corners(scene), str(photo)]) == 0
    (answer,), _ = answers(capsys)
    assert answer["photo"] == str(photo)
    assert answer["board"] == ["." * 15] * 7 + [".......HORN...."] + ["." * 15] * 7
    assert answer["problems"] == []
    assert np.allclose(np.array(answer["corners"]), scene.corners, atol=0.1)
    confidence = np.array(answer["confidence"])
    assert confidence.shape == (15, 15)
    assert 0.5 < confidence.min() <= confidence.max() <= 1
    ms = answer["ms"]
    assert isinstance(ms, dict)
    assert set(ms) == {"locate", "read", "total"}


def test_without_json_the_board_is_drawn(photo: Path, scene: Scene, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["read", "--corners", corners(scene), str(photo)]) == 0
    lines = capsys.readouterr().out.splitlines()
    row = next(line for line in lines if line.strip().startswith("8 "))
    assert row.replace("·", "").replace("!", "").split() == ["8", "H", "O", "R", "N"]


def test_corners_are_pixels_of_the_file_even_when_it_is_shrunk(
    tmp_path: Path, scene: Scene, capsys: pytest.CaptureFixture[str]
) -> None:
    large = cv2.resize(scene.image, None, fx=2.5, fy=2.5, interpolation=cv2.INTER_CUBIC)
    cv2.imwrite(str(tmp_path / "large.jpg"), large)
    there = (scene.corners + 0.5) * 2.5 - 0.5
    text = " ".join(f"{x:.1f},{y:.1f}" for x, y in there)
    assert main(["read", "--json", "--corners", text, str(tmp_path / "large.jpg")]) == 0
    (answer,), _ = answers(capsys)
    assert np.allclose(np.array(answer["corners"]), there, atol=0.2)
    board = answer["board"]
    assert isinstance(board, list)
    assert board[7] == ".......HORN...."


def test_a_file_that_cannot_be_opened_is_named_and_the_others_are_answered(
    tmp_path: Path, photo: Path, scene: Scene, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = tmp_path / "broken.jpg"
    broken.write_bytes(b"\xff\xd8\xff\xe0 cut short")
    assert main(["read", "--json", "--corners", corners(scene), str(broken), str(photo)]) == 2
    found, err = answers(capsys)
    assert [a["photo"] for a in found] == [str(broken), str(photo)]
    assert found[0]["board"] is None
    assert found[1]["board"] is not None
    assert err.count("\n") == 1
    assert "broken.jpg" in err


def test_a_picture_of_one_pixel_has_no_board(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cv2.imwrite(str(tmp_path / "dot.png"), np.zeros((1, 1, 3), np.uint8))
    assert main(["read", "--json", str(tmp_path / "dot.png")]) == 0
    (answer,), _ = answers(capsys)
    assert answer["board"] is None
    assert answer["problems"]


@pytest.mark.parametrize(
    "text", ["1,2 3,4", "a,b c,d e,f g,h", "0,0 9,9 9,0 0,9", "0,0 nan,0 9,9 0,9", "0,0 1e9,0 1e9,1e9 0,1e9"]
)
def test_corners_that_no_board_can_have_are_refused(photo: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["read", "--corners", text, str(photo)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert text in err


@pytest.mark.parametrize("garbage", [float("nan"), float("inf"), 1e30])
@pytest.mark.parametrize("placed", [True, False])
def test_machine_that_calculates_wrongly_says_so_and_reads_nothing(
    photo: Path,
    scene: Scene,
    garbage: float,
    placed: bool,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    right = onnxruntime.InferenceSession.run

    def wrong(net: onnxruntime.InferenceSession, *asked: object) -> list[np.ndarray]:
        return [np.full_like(output, garbage) for output in right(net, *asked)]

    monkeypatch.setattr(onnxruntime.InferenceSession, "run", wrong)
    options = ["--corners", corners(scene)] if placed else []
    assert main(["read", "--json", *options, str(photo)]) == 0
    (answer,), _ = answers(capsys)
    assert answer["board"] is None
    assert "the processor of this machine" in str(answer["problems"])


def test_an_unknown_tile_set_names_those_there_are(photo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["read", "--tiles", "xx", str(photo)]) == 2
    err = capsys.readouterr().err
    assert "xx" in err
    assert "de" in err
