"""What a table learns from the pictures of its turns, and which turns it does not learn from."""

from __future__ import annotations

import numpy as np
import pytest

from calibration.profile import TableProfile
from device.cameras.base import Frame
from device.session.background.profile_updater import ProfileUpdater
from device.session.turns.decision import Decision
from device.session.turns.turn_capture import TurnCapture
from engine.events import Passed
from engine.game import Game
from engine.reading import BoardReading
from tests.device.capture.test_board_camera import HERE
from tests.support.engine_table import as_ledger, new_game, new_ledger, play, record_one_of, seen
from tests.support.own_tiles import Muddle, OwnTable
from vision.recognition.reader import PhotoReading, ReadingTimes
from vision.recognition.views import BoardViews

CAB_VIEWS = OwnTable().picture({110: "C", 111: "A", 112: "B"})


@pytest.fixture
def profile() -> TableProfile:
    return TableProfile(None, Muddle())


@pytest.fixture
def updater(profile: TableProfile) -> ProfileUpdater:
    return ProfileUpdater(profile)


def capture(
    game: Game, views: BoardViews = CAB_VIEWS, own: BoardReading | None = None, *, is_aligned: bool = True
) -> TurnCapture:
    """Return a capture of the last turn of `game`; `own` is the reading of its picture alone."""
    photo = PhotoReading(seen(game.board), HERE, (), ReadingTimes(1, 1, 2), views=views)
    frame = Frame(np.zeros((300, 300, 3), np.uint8), 0.0)
    decision = Decision(game.events[-1:])
    own = own or seen(game.board)
    return TurnCapture(frame, photo, as_ledger(game), decision=decision, is_aligned=is_aligned, own_board=own)


def confirm(updater: ProfileUpdater, game: Game) -> None:
    """Add a pass after the last turn of `game`."""
    after = game.push(Passed(1))
    updater.add_turn(capture(after), "1", as_ledger(after))


def list_symbols(profile: TableProfile) -> set[str]:
    return {example.symbol for example in profile.examples}


def test_turn_is_learnt_once_the_next_one_confirms_it(updater: ProfileUpdater, profile: TableProfile) -> None:
    game = play(new_game(), "8F CAB")
    updater.add_turn(capture(game), "1", as_ledger(game))
    assert not profile.examples
    confirm(updater, game)
    assert len(profile.examples) == 3


def test_discarded_turn_is_not_learnt(updater: ProfileUpdater, profile: TableProfile) -> None:
    game = play(new_game(), "8F CAB")
    updater.add_turn(capture(game), "1", as_ledger(game))
    updater.discard_pending()
    confirm(updater, game)
    assert not profile.examples


def test_turn_that_was_taken_back_is_not_learnt(updater: ProfileUpdater, profile: TableProfile) -> None:
    before = new_game()
    game = play(before, "8F CAB")
    updater.add_turn(capture(game), "1", as_ledger(game))
    updater.add_turn(capture(before), "1", as_ledger(before))
    assert not profile.examples


def test_corrected_turn_is_learnt_with_its_correction(updater: ProfileUpdater, profile: TableProfile) -> None:
    read, right = play(new_game(), "8F CAA"), play(new_game(), "8F CAB")
    updater.add_turn(capture(read), "1", as_ledger(read))
    confirm(updater, right)
    assert list_symbols(profile) == {"A", "B", "C"}


def test_turn_that_is_corrected_after_it_was_learnt_is_learnt_again(
    updater: ProfileUpdater, profile: TableProfile
) -> None:
    read, right = play(new_game(), "8F CAA"), play(new_game(), "8F CAB")
    updater.add_turn(capture(read), "1", as_ledger(read))
    confirm(updater, read)
    assert list_symbols(profile) == {"A", "C"}
    updater.learn_corrections("1", as_ledger(right.push(Passed(1))))
    assert list_symbols(profile) == {"A", "B", "C"} and len(profile.examples) == 3


def test_other_play_after_an_undo_does_not_change_what_was_learnt(
    updater: ProfileUpdater, profile: TableProfile
) -> None:
    read = play(new_game(), "8F CAB")
    updater.add_turn(capture(read), "1", as_ledger(read))
    confirm(updater, read)
    updater.discard_pending()
    updater.learn_corrections("1", as_ledger(play(new_game(), "8F BAA").push(Passed(1))))
    assert [example.symbol for example in profile.examples] == ["C", "A", "B"]


def test_square_with_an_open_question_is_not_learnt(updater: ProfileUpdater, profile: TableProfile) -> None:
    asked = record_one_of(new_ledger(), "8F CAB", "8F CAA")
    updater.add_turn(capture(asked.game), "1", asked)
    after = asked.record([((Passed(None),),)])
    updater.add_turn(capture(after.game), "1", after)
    assert list_symbols(profile) == {"C", "A"}


def test_tile_that_its_picture_does_not_show_is_not_learnt(updater: ProfileUpdater, profile: TableProfile) -> None:
    game = play(new_game(), "8F CAB")
    rows = seen(game.board).rows()
    own = BoardReading.from_rows(["".join(row).replace("B", "#") for row in rows])  # an earlier picture shows the B
    updater.add_turn(capture(game, OwnTable().picture({110: "C", 111: "A"}), own), "1", as_ledger(game))
    confirm(updater, game)
    assert list_symbols(profile) == {"C", "A"}


def test_turn_that_was_played_again_after_an_undo_is_not_learnt(updater: ProfileUpdater, profile: TableProfile) -> None:
    for game in (play(new_game(), "8F CAA"), play(new_game(), "8F BAB")):
        updater.add_turn(capture(game, OwnTable().picture({110: "C", 111: "A", 112: "A"})), "1", as_ledger(game))
    assert not profile.examples


def test_turn_whose_grid_was_one_square_off_is_not_learnt(updater: ProfileUpdater, profile: TableProfile) -> None:
    game = play(new_game(), "8F CAB")
    updater.add_turn(
        capture(game, OwnTable().picture({111: "C", 112: "A", 113: "B"}), is_aligned=False), "1", as_ledger(game)
    )
    confirm(updater, game)
    assert not profile.examples
