"""Setting a table up: the picture with its corners, corners that people place and the table keeps, the tile lesson."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from calibration.profile import TableKnowledge
from device.capture.board_camera import Sight, Whereabouts
from device.session.messages import Refused
from device.session.profile_updater import Learner
from device.session.setup import SetUp
from device.storage.store import GameStore
from engine.events import Passed, PlayMade
from engine.game import Game
from engine.plays import Play
from engine.reading import BoardReading
from tests.device.capture.test_board_camera import HERE, Board, Letters
from tests.support.own_tiles import Muddle, OwnTable, rows_of
from tests.support.text_table import PaintedTable

TILES = ("A", "B", "C")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[GameStore]:
    with GameStore(tmp_path / "games.db") as store:
        yield store


@pytest.fixture
def board() -> Board:
    return Board()


@pytest.fixture
def set_up(store: GameStore, board: Board) -> SetUp:
    where = Whereabouts(board)
    return SetUp(Sight(PaintedTable(), Letters(where), where), store, None)


def again(store: GameStore, board: Board) -> SetUp:
    """The set-up after a restart."""
    where = Whereabouts(board)
    return SetUp(Sight(PaintedTable(), Letters(where), where), store, None)


def test_picture_shows_where_the_board_is(set_up: SetUp) -> None:
    view = set_up.look_around(TILES)
    assert view.size == (300, 300) and view.corners is not None and not view.placed
    assert view.corners[0] == (50.0, 20.0)


def test_picture_without_a_board_says_so(set_up: SetUp, board: Board) -> None:
    board.at = None
    view = set_up.look_around(TILES)
    assert view.corners is None and view.problems and view.confidence == 0


def test_placed_corners_are_kept_over_a_restart(set_up: SetUp, store: GameStore, board: Board) -> None:
    board.at = None
    set_up.look_around(TILES)
    placed = tuple((float(x), float(y)) for x, y in HERE + 7)
    assert set_up.place(placed, TILES).corners == placed
    view = again(store, board).look_around(TILES)
    assert view.corners == placed and view.placed


def test_placed_corners_are_forgotten_when_people_say_so(set_up: SetUp, store: GameStore, board: Board) -> None:
    set_up.place([(float(x), float(y)) for x, y in HERE + 7], TILES)
    assert not set_up.place(None, TILES).placed
    assert not again(store, board).look_around(TILES).placed


@pytest.mark.parametrize("corners", [[(0.0, 0.0)] * 4, [(1.0, 2.0)], [(0.0, 0.0), (0.0, 9.0), (9.0, 9.0), (9.0, 0.0)]])
def test_corners_that_are_no_board_are_refused(set_up: SetUp, corners: list[tuple[float, float]]) -> None:
    with pytest.raises(Refused, match="corners"):
        set_up.place(corners, TILES)


def test_broken_note_of_corners_is_as_none(store: GameStore, board: Board) -> None:
    for text in ("nonsense", '{"corners": [[1, 2]], "shape": [3]}', "[]"):
        store.note(0, "corners", text)
        assert not again(store, board).look_around(TILES).placed


# Learning

LESSON = {100: "A", 102: "B", 104: "C", 106: "?"}


class TaughtTable(PaintedTable):
    """A painted table whose reader also hands out the views of an `OwnTable`."""

    def read(self, *args: object, **named: object) -> object:  # type: ignore[override]
        found = super().read(*args, **named)  # type: ignore[arg-type]
        return replace(found, views=OwnTable().picture(LESSON))


@pytest.fixture
def taught() -> TaughtTable:
    table = TaughtTable()
    table.rows = tuple("".join(row) for row in rows_of(LESSON))
    return table


@pytest.fixture
def knowledge() -> TableKnowledge:
    return TableKnowledge(None, Muddle())


def test_lesson_that_lies_as_asked_is_learnt(taught: TaughtTable, store: GameStore, knowledge: TableKnowledge) -> None:
    set_up = SetUp(Sight(taught, taught), store, knowledge)  # type: ignore[arg-type]
    assert set_up.teach(rows_of(LESSON), TILES) == ()
    assert set(knowledge.view().letters) >= set(TILES)


def test_tile_that_is_missing_is_named_and_nothing_is_learnt(
    taught: TaughtTable, store: GameStore, knowledge: TableKnowledge
) -> None:
    set_up = SetUp(Sight(taught, taught), store, knowledge)  # type: ignore[arg-type]
    for _ in range(2):
        assert set_up.teach(rows_of({**LESSON, 0: "A"}), TILES) == ("A1",)
    assert knowledge.view().examples == 0


def test_tile_read_as_another_is_learnt_once_people_insist(
    taught: TaughtTable, store: GameStore, knowledge: TableKnowledge
) -> None:
    set_up = SetUp(Sight(taught, taught), store, knowledge)  # type: ignore[arg-type]
    taught.rows = tuple(row.replace("B", "C") for row in taught.rows)
    assert set_up.teach(rows_of(LESSON), TILES) == ("M7",)
    assert set_up.teach(rows_of(LESSON), TILES) == ()


def test_lesson_of_another_size_is_refused(taught: TaughtTable, store: GameStore, knowledge: TableKnowledge) -> None:
    with pytest.raises(Refused, match="15 rows"):
        SetUp(Sight(taught, taught), store, knowledge).teach(["A"], TILES)  # type: ignore[arg-type]


def test_table_without_a_place_for_it_teaches_nothing(taught: TaughtTable, store: GameStore) -> None:
    with pytest.raises(Refused, match="learns nothing"):
        SetUp(Sight(taught, taught), store, None).teach(rows_of(LESSON), TILES)  # type: ignore[arg-type]


def turn(game: Game, word: str) -> Game:
    return game.push(PlayMade(game.to_move, Play.from_gcg(game.board, "8F", word, game.tiles)))


def read_of(game: Game) -> BoardReading:
    faces = [tile.face if (tile := game.board[s]) else "." for s in range(225)]
    return BoardReading.certain([faces[at : at + 15] for at in range(0, 225, 15)])


def test_turn_is_learnt_once_the_next_one_confirms_it(knowledge: TableKnowledge) -> None:
    learner, game = Learner(knowledge), turn(Game.start(("Anna", "Ben")), "CAB")
    views = OwnTable().picture({s: tile.face for s in game.board.occupied() if (tile := game.board[s])})
    learner.remember(game, read_of(game), views)
    assert knowledge.view().examples == 0
    learner.confirm("1", game.push(Passed(1)))
    assert knowledge.view().examples == 3


def test_turn_that_was_taken_back_is_not_learnt(knowledge: TableKnowledge) -> None:
    learner, before = Learner(knowledge), Game.start(("Anna", "Ben"))
    game = turn(before, "CAB")
    learner.remember(game, read_of(game), OwnTable().picture({112: "A"}))
    learner.confirm("1", before)
    learner.remember(game, read_of(game), OwnTable().picture({112: "A"}))
    learner.forget()
    learner.confirm("1", game.push(Passed(1)))
    assert knowledge.view().examples == 0


def test_turn_is_learnt_as_people_put_it_right(knowledge: TableKnowledge) -> None:
    learner, before = Learner(knowledge), Game.start(("Anna", "Ben"))
    read, right = turn(before, "CAA"), turn(before, "CAB")
    learner.remember(read, read_of(read), OwnTable().picture(dict(zip((110, 111, 112), "CAB", strict=True))))
    learner.confirm("1", right.push(Passed(1)))
    assert set(knowledge.view().letters) == {"A", "B", "C"}
    assert np.isfinite(knowledge.view().examples)
