"""`tilekeeper score`: the keys of its JSON, the printed table, and messages about bad files."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

import pytest

from device.cli import score
from engine.errors import UnknownLayoutError, UnknownTileSetError

GAME = """\
#character-encoding UTF-8
#player1 A Ann
#player2 B Bob
>A: HORN 8F HORN +14 14
>B: FAM H6 FA.M +9 9
>A: PASTE 10F PASTE +26 40
>B: Q -Q +0 9
"""


def run(*words: str | Path) -> int:
    parser = argparse.ArgumentParser()
    score.configure(parser)
    return score.run(parser.parse_args([str(word) for word in words]))


@pytest.fixture
def game(tmp_path: Path) -> Path:
    path = tmp_path / "game.gcg"
    path.write_text(GAME, encoding="utf-8")
    return path


def test_each_event_has_the_score_recorded_and_the_one_by_the_rules(
    game: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(game, "--json") == 0
    result = json.loads(capsys.readouterr().out)
    assert result["file"] == str(game)
    assert result["events"][1:] == [
        {"line": 5, "player": "B", "kind": "play", "at": "H6", "word": "FARM", "recorded": 9, "score": 9},
        {"line": 6, "player": "A", "kind": "play", "at": "10F", "word": "PASTE", "recorded": 26, "score": 25},
        {"line": 7, "player": "B", "kind": "exchange", "at": None, "word": None, "recorded": 0, "score": 0},
    ]
    assert result["totals"] == {"A": 39, "B": 9}
    assert result["problems"] == ["line 6: The recorded score is +26, but by the rules it is +25."]


def test_each_file_has_a_line(game: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(game, game, "--json") == 0
    assert len([json.loads(line) for line in capsys.readouterr().out.splitlines()]) == 2


def test_printed_table_marks_the_differences(game: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(game) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].split() == ["5", "B", "H6", "FARM", "+9"]
    assert lines[3].endswith("+25  <- recorded +26")
    assert lines[5] == "total  A 39, B 9"
    assert lines[6] == "problem: line 6: The recorded score is +26, but by the rules it is +25."
    assert lines[7] == "note: an import keeps the recorded scores and ends with A 40, B 9"


def test_file_that_cannot_be_imported_is_noted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "game.gcg"
    path.write_text(f"{GAME}>A: BIT 99Z BIT +16 56\n", encoding="utf-8")
    assert run(path, "--json") == 0
    assert json.loads(capsys.readouterr().out)["notes"][0].startswith("this file cannot be imported: line 8: '99Z'")


def test_play_of_one_tile_has_the_square_of_its_word(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "game.gcg"
    path.write_text(f"{GAME}>A: S J8 S +8 48\n", encoding="utf-8")
    assert run(path, "--json") == 0
    event = json.loads(capsys.readouterr().out)["events"][-1]
    assert (event["at"], event["word"]) == ("8F", "HORNS")


def test_the_tiles_can_be_given(game: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(game, "--tiles", "de", "--json")
    result = json.loads(capsys.readouterr().out)
    assert (result["tiles"], result["events"][0]["score"]) == ("de", 12)  # H2 O2 R1 N1, twice


def test_the_board_can_be_given(game: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(game, "--layout", "exchanged", "--json")
    assert json.loads(capsys.readouterr().out)["layout"] == "exchanged"


def test_unknown_tiles_and_boards_are_named(game: Path) -> None:
    with pytest.raises(UnknownTileSetError, match=r"There is no tile set 'xx'\. Choose one of"):
        run(game, "--tiles", "xx")
    with pytest.raises(UnknownLayoutError, match=r"There is no board layout 'xx'\. Choose one of"):
        run(game, "--layout", "xx")


def test_a_broken_line_is_a_problem(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "broken.gcg"
    path.write_text(GAME.replace("8F HORN", "HORN"), encoding="utf-8")
    assert run(path, "--json") == 0
    assert json.loads(capsys.readouterr().out)["problems"][0].startswith(
        "line 4: 'HORN' is neither a square of the board"
    )


@pytest.mark.parametrize("data", [b"", b"\0\1\2", b"\xff\xd8\xff\xe0", b"hello", b">" * 5_000_000])
def test_what_is_no_gcg_is_a_problem(tmp_path: Path, capsys: pytest.CaptureFixture[str], data: bytes) -> None:
    path = tmp_path / "some.gcg"
    path.write_bytes(data)
    assert run(path, "--json") == 0
    result = json.loads(capsys.readouterr().out)
    assert result["events"] == []
    assert result["problems"][0].startswith("line 1: ")


def test_a_file_that_cannot_be_read_is_named_and_the_others_are_scored(
    game: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = tmp_path / "missing.gcg"
    assert run(missing, game, "--json") == 2
    captured = capsys.readouterr()
    reason = "No such file or directory"
    assert captured.err == f"tilekeeper: {missing}: {reason}. Check the name of the file and its permissions.\n"
    assert json.loads(captured.out)["file"] == str(game)


def test_a_folder_cannot_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path) == 2
    refusal = f"tilekeeper: {tmp_path}: Is a directory. Check the name of the file and its permissions.\n"
    assert capsys.readouterr().err == refusal


def test_nothing_heavy_is_imported() -> None:
    code = "import sys, device.cli.score; print(sorted({'cv2', 'numpy', 'onnxruntime', 'flask'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
