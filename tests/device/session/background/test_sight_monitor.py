"""The field `sight` between presses: ready, a hand in view, the board moved, the board differs."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pytest

from device.capture.board_camera import LONG_REST_S
from device.session.background.sight_monitor import judge_sight
from device.session.commands.base import TableCommand
from device.session.commands.corrections import CorrectSquare
from device.session.commands.games import Pause, Redo, StartGame
from device.session.commands.turns import EndTurn
from device.session.messages import CommandRefusedError
from device.session.snapshot import Sight
from engine.game import Game
from engine.reading import BoardReading
from tests.support.engine_table import new_game, play, seen
from tests.support.stepped_tables import SteppedTable
from tests.support.stepped_tables import stepped as stepped
from tests.support.text_table import FARM, HORN, PASTE, STARTED
from vision.geometry import Floats, Image
from vision.recognition.reader import PhotoReading, ReadingTimes

CORNERS = np.array([[0.0, 0.0], [300.0, 0.0], [300.0, 300.0], [0.0, 300.0]])


def photograph(board: BoardReading | None, corners: Floats = CORNERS) -> PhotoReading:
    """Return the reading of a photograph in which the board has these corners."""
    return PhotoReading(board, None if board is None else corners, (), ReadingTimes(1, 1, 2))


@pytest.fixture
def game() -> Game:
    return play(new_game(), "8F HORN")


def test_board_with_new_tiles_is_ready(game: Game) -> None:
    assert judge_sight(game, photograph(seen(play(game, "H6 FA.M").board)), CORNERS) is Sight.READY


@pytest.mark.parametrize("symbols", [{".": 1.0}, {"S": 1.0}])
def test_board_with_a_missing_or_other_tile_differs(game: Game, symbols: dict[str, float]) -> None:
    assert judge_sight(game, photograph(seen(game.board, {"F8": symbols})), CORNERS) is Sight.BOARD_DIFFERS


def test_hidden_tile_is_no_difference(game: Game) -> None:
    assert judge_sight(game, photograph(seen(game.board, {"F8": {"#": 1.0}})), CORNERS) is Sight.READY


def test_board_at_another_place_has_moved(game: Game) -> None:
    assert judge_sight(game, photograph(seen(game.board), CORNERS + 60.0), CORNERS) is Sight.BOARD_MOVED


def test_board_that_is_not_found_has_moved(game: Game) -> None:
    assert judge_sight(game, photograph(None), CORNERS) is Sight.BOARD_MOVED


def test_board_at_rest_is_ready(stepped: SteppedTable) -> None:
    stepped.until(lambda: stepped.session.state.sight is Sight.READY)


def test_tiles_that_were_taken_off_make_the_board_differ(stepped: SteppedTable) -> None:
    stepped.lay(HORN)
    stepped.submit(EndTurn())
    stepped.lay(FARM)
    stepped.until(lambda: stepped.session.state.sight is Sight.BOARD_DIFFERS)
    stepped.lay(HORN, FARM)
    stepped.until(lambda: stepped.session.state.sight is Sight.READY)


def pass_hand(stepped: SteppedTable) -> None:
    """Move something over the board, which comes to rest as it was."""
    board = stepped.table.rows
    for words in ((PASTE,), (), (PASTE,)):
        stepped.lay(*words)
        stepped.rest(0.1)
    stepped.table.rows = board
    stepped.rest(1.0)


@pytest.fixture
def differing(stepped: SteppedTable) -> SteppedTable:
    """Return a table whose board has no tiles of the recorded play."""
    stepped.lay(HORN)
    stepped.submit(EndTurn())
    stepped.lay(FARM)
    stepped.until(lambda: stepped.session.state.sight is Sight.BOARD_DIFFERS)
    return stepped


def test_difference_remains_after_a_hand_has_passed(differing: SteppedTable) -> None:
    pass_hand(differing)
    assert differing.session.state.sight is Sight.BOARD_DIFFERS


def test_difference_ends_as_soon_as_the_board_has_changed(differing: SteppedTable) -> None:
    differing.lay(HORN, FARM)
    assert differing.rest(1.0).sight is Sight.READY


def test_differing_board_is_read_again_after_a_hand_has_passed(differing: SteppedTable) -> None:
    reads = differing.table.reads
    pass_hand(differing)
    differing.rest(LONG_REST_S)
    assert differing.table.reads == reads + 1 and differing.session.state.sight is Sight.BOARD_DIFFERS


def test_difference_is_found_although_a_hand_has_passed_before(stepped: SteppedTable) -> None:
    stepped.lay(HORN)
    stepped.submit(EndTurn())
    stepped.lay(FARM)
    stepped.rest(3.0)
    pass_hand(stepped)
    stepped.until(lambda: stepped.session.state.sight is Sight.BOARD_DIFFERS)


def test_hand_that_comes_while_the_board_is_read_remains_in_view(
    stepped: SteppedTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    stepped.lay(HORN)
    stepped.submit(EndTurn())
    stepped.rest(LONG_REST_S / 2)
    read, reads = stepped.table.read, stepped.table.reads

    def read_under_a_hand(image: Image, tiles: Collection[str], **place: object) -> PhotoReading:
        stepped.session._background.handle_motion(True)
        return read(image, tiles, **place)

    monkeypatch.setattr(stepped.table, "read", read_under_a_hand)
    stepped.until(lambda: stepped.table.reads > reads)
    assert stepped.rest(0.2).sight is Sight.HAND_IN_VIEW


def test_board_as_recorded_is_not_read_again_after_a_hand_has_passed(stepped: SteppedTable) -> None:
    stepped.lay(HORN)
    stepped.submit(EndTurn())
    stepped.rest(2 * LONG_REST_S)
    reads = stepped.table.reads
    pass_hand(stepped)
    stepped.rest(2 * LONG_REST_S)
    assert stepped.table.reads == reads and stepped.session.state.sight is Sight.READY


@pytest.mark.parametrize("command", [StartGame(STARTED), CorrectSquare("F8", ".")], ids=["new game", "correction"])
def test_difference_from_the_record_ends_with_a_change_of_the_game(
    stepped: SteppedTable, command: TableCommand
) -> None:
    stepped.lay(HORN)
    stepped.submit(EndTurn())
    stepped.lay()
    stepped.until(lambda: stepped.session.state.sight is Sight.BOARD_DIFFERS)
    with pytest.raises(CommandRefusedError):
        stepped.submit(Redo())
    assert stepped.submit(Pause()).sight is Sight.BOARD_DIFFERS
    assert stepped.submit(command).sight is Sight.READY
