"""A game is replayed from the frames of a video, without a button."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np
import pytest

from device.capture.video_frames import VideoFrame
from device.session.turns.video_replay import (
    EnteredTurn,
    TurnListError,
    VideoResult,
    format_time,
    parse_turn_list,
    replay_video,
)
from engine.board import parse_square
from engine.events import GameStarted
from engine.reading import BoardReading, SquareReading
from tests.support.text_table import FARM, HORN, PASTE, rows
from vision.geometry import Image
from vision.recognition.reader import PhotoReading, ReadingTimes

Rows = tuple[str, ...]
STARTED = GameStarted(("Anna", "Ben"))
STATES = tuple(map(BoardReading.from_rows, (rows(), rows(HORN), rows(HORN, FARM), rows(HORN, FARM, PASTE))))
STEP_S = 0.1


def with_doubt(board: BoardReading, square: str, candidates: dict[str, float]) -> BoardReading:
    """Return the reading with other candidates on a square."""
    squares = list(board.squares)
    squares[parse_square(square)] = SquareReading(tuple(candidates.items()))
    return BoardReading(tuple(squares))


class GreyReader:
    """Reads a grey frame as the board whose number is its brightness."""

    def __init__(self, states: Sequence[BoardReading] = STATES) -> None:
        self._states = states

    def read(self, image: Image, tiles: Collection[str], **_place: object) -> PhotoReading:  # noqa: ARG002
        board = self._states[int(image[0, 0, 0]) // 40]
        quad = np.array([[5.0, 5.0], [50.0, 5.0], [50.0, 50.0], [5.0, 50.0]])
        return PhotoReading(board, quad, (), ReadingTimes(1, 1, 2))


def grey_frames(*scenes: tuple[int, float]) -> Iterator[VideoFrame]:
    """Yield frames of scenes: the number of the board and the seconds that it is shown; a hand moves between them."""
    time = 0.0
    for board, seconds in scenes:
        for n in range(5 + round(seconds / STEP_S)):
            image = np.full((72, 96, 3), 40 * board, np.uint8)
            if n < 5:
                image[20:50, 15 * n : 15 * n + 20] = 255
            yield VideoFrame(time, image)
            time += STEP_S


def replay(*scenes: tuple[int, float], entered: Sequence[EnteredTurn] = ()) -> VideoResult:
    return replay_video(grey_frames(*scenes), GreyReader(), STARTED, None, entered)


def test_every_play_that_is_still_is_a_turn() -> None:
    result = replay((0, 2), (1, 6), (2, 6), (3, 6))
    assert [turn.word for turn in result.state.turns] == ["HORN", "FA.M", "PASTE"]
    assert [player.total for player in result.state.players] == [39, 9]
    assert result.problems == ()
    assert result.times[0] == pytest.approx(3.0, abs=0.3)


def test_play_at_the_end_of_a_video_is_a_turn() -> None:
    assert [turn.word for turn in replay((0, 2), (1, 6), (2, 1)).state.turns] == ["HORN", "FA.M"]


def test_board_that_is_still_for_long_gives_one_turn_and_a_problem() -> None:
    result = replay((0, 1), (1, 300), (2, 6))
    assert [turn.word for turn in result.state.turns] == ["HORN", "FA.M"]
    assert len(result.problems) == 1 and "--turns" in result.problems[0]


def test_entered_pass_gives_the_next_play_to_the_other_player() -> None:
    result = replay((0, 2), (1, 8), (2, 6), entered=(EnteredTurn(9.0, 0),))
    assert [(turn.player, turn.kind) for turn in result.state.turns] == [(0, "play"), (1, "pass"), (0, "play")]


O_OR_A = {"A": 0.6, "O": 0.4}


def replay_with_doubt(*doubtful: int) -> VideoResult:
    """Replay three plays; on the boards of these numbers, the letter on G8 is in doubt."""
    states = [with_doubt(board, "G8", O_OR_A) if n in doubtful else board for n, board in enumerate(STATES)]
    return replay_video(grey_frames((0, 2), (1, 6), (2, 6), (3, 6)), GreyReader(states), STARTED, None)


def test_letter_that_stays_in_doubt_stops_no_later_turn() -> None:
    result = replay_with_doubt(1, 2, 3)
    assert [(turn.word, turn.provisional, turn.doubtful) for turn in result.state.turns] == [
        ("HARN", True, ("G8",)),
        ("FA.M", False, ()),
        ("PASTE", False, ()),
    ]
    assert len(result.problems) == 1 and "G8" in result.problems[0] and result.problems[0].startswith("0:03")


def test_letter_in_doubt_is_read_again_on_the_board_of_the_next_play() -> None:
    result = replay_with_doubt(1)
    assert result.state.turns[0].word == "HORN" and not result.state.turns[0].provisional
    assert [player.total for player in result.state.players] == [39, 9] and result.problems == ()


def test_board_that_no_play_explains_is_a_problem() -> None:
    loose = BoardReading.from_rows(rows(HORN, ("FARMS", 0, 0, True)))
    result = replay_video(grey_frames((0, 2), (1, 6), (2, 6)), GreyReader((*STATES[:2], loose)), STARTED, None)
    assert [turn.word for turn in result.state.turns] == ["HORN"]
    assert len(result.problems) == 1 and "A1" in result.problems[0]


def test_turn_list_with_an_unknown_turn_names_the_line() -> None:
    with pytest.raises(TurnListError, match="line 2"):
        parse_turn_list("2:31 pass\n3:00 swim")


def test_turn_list_is_in_the_order_of_time() -> None:
    assert parse_turn_list("5:02 exchange 3\n\n# Ben\n2:31 pass") == (EnteredTurn(151.0, 0), EnteredTurn(302.0, 3))


def test_time_has_hours_only_if_needed() -> None:
    assert [format_time(5.9), format_time(605), format_time(3600)] == ["0:05", "10:05", "1:00:00"]
