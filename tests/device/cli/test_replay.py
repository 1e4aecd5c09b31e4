"""`tilekeeper replay`: photographs in, scored turns out."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from device.cli import main
from device.session.table_session import SessionConfig
from device.session.threads import _POLL_INTERVAL_S
from engine.board import parse_square
from engine.reading import BoardReading, SquareReading
from tests.support.local_data import PHOTOS_DIR, needs_photos
from tests.support.text_table import EMPTY_ROWS, FARM, HORN, PASTE, ReaderInOrder, rows
from vision.geometry import Image
from vision.recognition.reader import PhotoReading, ReadingTimes


@pytest.fixture
def photos(tmp_path: Path) -> list[str]:
    paths = [tmp_path / f"{n}.png" for n in range(9)]
    for n, path in enumerate(paths):  # a copy of the picture of an earlier turn would be refused
        assert cv2.imwrite(str(path), np.full((60, 60, 3), 90 + n, np.uint8))
    return [str(path) for path in paths]


def replay(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    photos: list[str],
    boards: Sequence[Sequence[str] | None],
    *options: str,
) -> Any:
    monkeypatch.setattr("device.cli.replay.make_profiled_reader", lambda: (ReaderInOrder(boards), None))
    assert main(["replay", *photos[: len(boards)], "--players", "Anna,Ben", "--json", *options]) == 0
    return json.loads(capsys.readouterr().out)


def test_answer_is_as_the_contract_says(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], photos: list[str]
) -> None:
    answer = replay(monkeypatch, capsys, photos, [rows(HORN), rows(HORN, FARM), rows(HORN, FARM, PASTE)])
    assert answer["totals"] == {"Anna": 39, "Ben": 9} and answer["problems"] == []
    assert [turn["photo"] for turn in answer["turns"]] == photos[:3]
    assert answer["turns"][2] == {
        "photo": photos[2],
        "player": "Anna",
        "kind": "play",
        "at": "10F",
        "word": "PASTE",
        "words": [{"word": "PASTE", "score": 15, "valid": True}, {"word": "FARMS", "score": 10, "valid": True}],
        "score": 25,
        "total": 39,
        "not_sure": [],
        "tiles": [["F10", "P"], ["G10", "A"], ["H10", "S"], ["I10", "T"], ["J10", "E"]],
    }


def test_nothing_added_is_a_pass_and_a_play_taken_back_is_withdrawn(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], photos: list[str]
) -> None:
    boards = [rows(HORN), rows(HORN), rows(HORN, ("BEE", 8, 8, True)), rows(HORN), rows(HORN, FARM)]
    turns = replay(monkeypatch, capsys, photos, boards)["turns"]
    assert [(t["player"], t["kind"]) for t in turns] == [
        ("Anna", "play"),
        ("Ben", "pass"),
        ("Anna", "play"),
        ("Anna", "withdrawn"),
        ("Ben", "play"),
    ]
    assert turns[3]["score"] == -turns[2]["score"] and turns[3]["tiles"] == []
    assert turns[1]["at"] is None and turns[1]["words"] == []


def test_photographs_that_are_read_one_after_the_other_are_no_quick_presses(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], photos: list[str]
) -> None:
    monkeypatch.setattr("device.session.game_controller.MAX_QUICK_S", 10.0)
    told = replay(monkeypatch, capsys, photos, [rows(HORN), rows(HORN, ("SET", 7, 9, False))])
    assert [turn["score"] for turn in told["turns"]] == [14, 13] and told["problems"] == []


def test_photographs_of_a_game_that_has_begun_are_scored_from_the_first_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], photos: list[str]
) -> None:
    boards = [rows(HORN, FARM, PASTE), rows(HORN, FARM, ("PASTED", 9, 5, True))]
    told = replay(monkeypatch, capsys, photos[:2], boards)
    assert [(turn["kind"], turn["score"]) for turn in told["turns"]] == [("position", 0), ("position", 0), ("play", 9)]
    assert [turn["photo"] for turn in told["turns"]] == [photos[0], photos[0], photos[1]]
    assert "Do you want to start from here?" in told["problems"][0]


def test_play_in_place_of_the_last_one_on_one_photograph_is_one_turn_and_a_question(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], photos: list[str]
) -> None:
    boards = [rows(HORN), rows(HORN, ("BEE", 8, 8, True)), rows(HORN, FARM)]
    told = replay(monkeypatch, capsys, photos, boards)
    assert [(turn["kind"], turn["score"]) for turn in told["turns"]] == [("play", 14), ("play", 9)]
    assert any("BEE is no longer where it was. What happened?" in problem for problem in told["problems"])


def test_words_are_checked_by_the_list_that_is_named(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    photos: list[str],
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    mine = tmp_path / "mine.txt"
    mine.write_text("horn\n")
    boards = [rows(HORN), rows(HORN, FARM)]
    turns = replay(monkeypatch, capsys, photos, boards, "--lexicon", str(mine))["turns"]
    assert [t["words"][0]["valid"] for t in turns] == [True, False]
    turns = replay(monkeypatch, capsys, photos, boards, "--lexicon", "none")["turns"]
    assert [t["words"][0]["valid"] for t in turns] == [None, None]


def test_photograph_without_a_board_is_a_problem_and_the_game_goes_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], photos: list[str]
) -> None:
    answer = replay(monkeypatch, capsys, photos, [rows(HORN), None, rows(HORN, FARM, PASTE)])
    assert answer["problems"][0].startswith(photos[1]) and "cat" in answer["problems"][0]
    assert answer["totals"] == {"Anna": 39, "Ben": 9}


class SlowReader(ReaderInOrder):
    """A reader that takes longer than the session waits between two looks at the clock."""

    def read(self, image: Image, tiles: Collection[str], **place: object) -> PhotoReading:
        threading.Event().wait(3 * _POLL_INTERVAL_S)
        return super().read(image, tiles, **place)


def test_photographs_are_read_on_a_slow_machine(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], photos: list[str]
) -> None:
    monkeypatch.setitem(SessionConfig.__init__.__kwdefaults__, "max_turn_s", 0.0)
    reader = SlowReader([rows(HORN), rows(HORN, FARM)])
    monkeypatch.setattr("device.cli.replay.make_profiled_reader", lambda: (reader, None))
    assert main(["replay", *photos[:2], "--players", "Anna,Ben", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert len(answer["turns"]) == 2 and answer["problems"] == []


def test_damaged_photograph_is_a_problem(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], photos: list[str]
) -> None:
    whole = Path(photos[0]).read_bytes()
    Path(photos[0]).write_bytes(whole[: len(whole) // 2])
    monkeypatch.setattr("device.cli.replay.make_profiled_reader", lambda: (ReaderInOrder([rows(HORN)]), None))
    assert main(["replay", *photos[:2], "--players", "Anna,Ben", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert photos[0] in answer["problems"][0] and len(answer["turns"]) == 1


def test_printed_replay_has_a_line_for_each_turn(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], photos: list[str]
) -> None:
    monkeypatch.setattr(
        "device.cli.replay.make_profiled_reader", lambda: (ReaderInOrder([rows(HORN), rows(HORN)]), None)
    )
    assert main(["replay", *photos[:2], "--players", "Anna,Ben"]) == 0
    first, second, total = capsys.readouterr().out.splitlines()
    assert "Anna" in first and "8F HORN" in first and "+14" in first
    assert "(pass)" in second
    assert total == "total  Anna 14, Ben 0"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--players", "Anna"], "2 to 4 different names"),
        (["--players", "A,B,C,D,E"], "2 to 4 different names"),
        (["--players", "Anna,Anna"], "different names"),
        (["--players", "Anna,Ben", "--tiles", "xx"], "Choose one of"),
        (["--players", "Anna,Ben", "--lexicon", "/no/such/list"], "cannot be read"),
    ],
)
def test_wrong_options_are_reported_in_one_line(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    photos: list[str],
    options: list[str],
    said: str,
) -> None:
    monkeypatch.setattr("device.cli.replay.make_profiled_reader", lambda: (ReaderInOrder([EMPTY_ROWS]), None))
    assert main(["replay", photos[0], *options]) == 2
    err = capsys.readouterr().err
    assert said in err and err.count("\n") == 1


def test_missing_photograph_is_reported_before_anything_is_read(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", "nowhere.jpg", "--players", "Anna,Ben"]) == 2
    assert "nowhere.jpg" in capsys.readouterr().err


def test_folder_among_photographs_is_refused(
    photos: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", photos[0], str(tmp_path), "--players", "Anna,Ben"]) == 2
    assert capsys.readouterr().err == f"tilekeeper: {tmp_path} is a folder. Name the photos in it instead.\n"


def test_folder_of_frames_is_replayed_as_a_video(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for n in range(20):
        assert cv2.imwrite(str(tmp_path / f"{n:02}.png"), np.full((60, 60, 3), 90, np.uint8))
    answer = replay(monkeypatch, capsys, [str(tmp_path)], [rows(HORN)])
    assert answer["totals"] == {"Anna": 14, "Ben": 0}
    assert [turn["photo"] for turn in answer["turns"]] == [f"{tmp_path} 0:00"]


def test_folder_with_a_photograph_of_each_turn_is_no_game_without_a_hint(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for n in range(3):
        assert cv2.imwrite(str(tmp_path / f"{n}.png"), np.full((60, 60, 3), 90 + n, np.uint8))
    answer = replay(monkeypatch, capsys, [str(tmp_path)], [rows(HORN)])
    assert answer["turns"] == [] and f"name them: {tmp_path}/*" in answer["problems"][0]


class UnsureReader:
    """Reads every picture as HORN, with a letter on G8 that may be an A or an O."""

    def read(self, image: Image, tiles: Collection[str], **_: object) -> PhotoReading:
        assert image.ndim == 3 and tiles
        squares = list(BoardReading.from_rows(rows(HORN)).squares)
        squares[parse_square("G8")] = SquareReading((("A", 0.6), ("O", 0.4)))
        return PhotoReading(BoardReading(tuple(squares)), None, (), ReadingTimes(1, 1, 2))


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_turn_and_total_with_a_doubtful_letter_are_not_sure(
    options: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for n in range(20):
        assert cv2.imwrite(str(tmp_path / f"{n:02}.png"), np.full((60, 60, 3), 90, np.uint8))
    monkeypatch.setattr("device.cli.replay.make_profiled_reader", lambda: (UnsureReader(), None))
    assert main(["replay", str(tmp_path), "--players", "Anna,Ben", *options]) == 0
    out = capsys.readouterr().out
    if options:
        answer = json.loads(out)
        assert answer["turns"][0]["not_sure"] == ["G8"] and answer["not_sure"] == ["Anna"]
    else:
        turn, total, _ = out.splitlines()
        assert turn.endswith("(not sure: G8)") and total == "total  Anna 14, Ben 0 (not sure: Anna)"


def test_turn_list_with_a_mistake_is_refused_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cv2.imwrite(str(tmp_path / "1.png"), np.full((60, 60, 3), 90, np.uint8))
    turns = tmp_path / "turns.txt"
    turns.write_text("pass at 2:31")
    assert main(["replay", str(tmp_path), "--players", "Anna,Ben", "--turns", str(turns)]) == 2
    assert "line 1: write a time and a turn" in capsys.readouterr().err


def test_missing_turn_list_is_named_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    turns = tmp_path / "turns.txt"
    assert main(["replay", str(tmp_path), "--players", "Anna,Ben", "--turns", str(turns)]) == 2
    refusal = f"tilekeeper: {turns}: No such file or directory. Check the name of the file and its permissions.\n"
    assert capsys.readouterr().err == refusal


def test_turn_list_for_photographs_is_refused(photos: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", *photos[:2], "--players", "Anna,Ben", "--turns", photos[0]]) == 2
    assert "--turns is only for a video" in capsys.readouterr().err


@pytest.mark.slow
@needs_photos
def test_recorded_game_on_photographs_is_scored_as_recorded(capsys: pytest.CaptureFixture[str]) -> None:
    folder = PHOTOS_DIR / "bucharest"
    records = [r for r in json.loads((folder / "manifest.json").read_text()) if r["game"] == "4"]
    assert records
    records.sort(key=lambda r: r["index"])
    photos = [os.fspath(folder / r["photo"]) for r in records]
    assert main(["replay", *photos, "--players", "A,B", "--tiles", "ro", "--lexicon", "none", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    expected = sum(r["turn"]["score"] - (r.get("withdrawn") or 0) for r in records if r["turn"])
    assert sum(answer["totals"].values()) == expected
