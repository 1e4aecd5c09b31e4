"""The harness of the slips: its positions, scripts and camera, and one slip that the table understands."""

from __future__ import annotations

from random import Random

import pytest

from engine.events import PlayMade
from engine.reading import EMPTY, HIDDEN
from engine.rules import Rules
from engine.tiles import load_tile_set
from tests.system.slips import Setting, find_script, run_case
from tests.system.slips_evenings import EveningSetting, play_evening
from tests.system.slips_positions import make_position
from tests.system.slips_scripts import ALL_SLIPS
from tests.system.slips_table import SceneCamera, make_scene


@pytest.fixture
def camera() -> SceneCamera:
    return SceneCamera(load_tile_set("de"), "1", lambda: 0.0, is_live=True)


def test_camera_reads_all_letters(camera: SceneCamera) -> None:
    symbols = (*load_tile_set("de").letters, "?", EMPTY)
    camera.scene = symbols + (EMPTY,) * (225 - len(symbols))
    board = camera.read(camera.capture_still().image, load_tile_set("de").letters).board
    assert board is not None and board.symbols == camera.scene


def test_camera_reads_hand(camera: SceneCamera) -> None:
    camera.hand = frozenset({112})
    board = camera.read(camera.capture_still().image, load_tile_set("de").letters).board
    assert board is not None and board.squares[112].symbol == HIDDEN


@pytest.mark.parametrize("slip", ALL_SLIPS)
def test_script_has_one_key_press_and_ends_with_all_true_tiles(slip: int) -> None:
    script = find_script(Setting(slip, "shared", "one", "en", "any"), seed=2)
    assert script is not None and sum(step.is_key for step in script.steps) == 1
    last = script.steps[-1]
    assert last.truth is not None and (last.scene == make_scene(last.truth.board) or script.is_over)


def test_positions_same_for_a_seed() -> None:
    one, other = (make_position("en", 3, Rules(), Random(1)).game for _ in range(2))
    assert one.board == other.board and one.turns


def test_split_play_is_legal_part() -> None:
    position = make_position("en", 4, Rules(), Random(1))
    game = position.game
    plays = position.draw_plays(game, 3)
    play, part = next((play, part) for play in plays if (part := position.split_play(game, play)) is not None)
    assert set(part.tiles) < set(play.tiles) and not game.check_play(part)
    assert game.push(PlayMade(None, part)).board


@pytest.mark.parametrize("camera", ["one", "rests"])
def test_letter_read_wrong_earlier_is_asked_and_right(camera: str) -> None:
    case = run_case(Setting(10, "shared", camera, "en", "any"), seed=1)
    assert case is not None and case.asked_at_once and case.is_offered and case.is_right


def test_clean_evening_is_right_without_answers() -> None:
    evening = play_evening(1, EveningSetting("own", "one", "en", "any", turns=8, is_clean=True, is_silent=True))
    assert evening.is_right and evening.turns == 8 and not evening.slips
