"""Pictures of a game that was played: each turn shows the board that it was read from, however the log came about."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from device.storage.errors import StoreError
from device.storage.game_log import GameLog
from device.storage.store import GameStore
from engine.events import (
    Act,
    Exchanged,
    GameEnded,
    GameStarted,
    Passed,
    PlayMade,
    RackRevealed,
    Ref,
    TurnCorrected,
    TurnInserted,
)
from engine.plays import Play
from tests.support.archives import record_acts
from tests.support.damaged_store import protect_from_writes
from web.game_archive import GameArchive

STARTED = GameStarted(("Anna", "Ben"))


class Evening:
    """A game, command by command: `read` ones come with a picture, which is named after the last entry."""

    def __init__(self, store: GameStore) -> None:
        self.store = store
        self.log, _ = GameLog.begin_game(store, STARTED)

    def read(self, *acts: Act) -> str:
        ledger = self.log.ledger.record([((act,),) for act in acts])
        self.log.append(ledger, {len(ledger.entries): {"board": b"a picture"}})
        return f"{self.log.number}-{self.log.length - 1}"

    def undo(self) -> None:
        self.log.append(self.log.ledger.undo())

    def redo(self) -> None:
        self.log.append(self.log.ledger.redo())

    def lay(self, at: str, word: str) -> str:
        game = self.log.game
        return self.read(PlayMade(None, Play.from_gcg(game.board, at, word, game.tiles)))

    @property
    def pictures(self) -> list[str]:
        replay = GameArchive(self.store, lambda: 0).load_replay(self.log.number)
        return [replay.find_picture_name(turn) for turn in range(1, replay.turn_count + 1)]


@pytest.fixture
def evening() -> Iterator[Evening]:
    with GameStore(":memory:") as store:
        yield Evening(store)


def test_turn_that_was_entered_by_hand_has_no_picture_and_moves_no_other(evening: Evening) -> None:
    first, second = evening.lay("8F", "HORN"), evening.lay("H6", "FA.M")
    record_acts(evening.log, TurnInserted(Ref(2, 0), Passed(None)))
    assert evening.pictures == [first, "", second]


def test_picture_of_a_removed_turn_is_not_shown(evening: Evening) -> None:
    first, _, third = evening.lay("8F", "HORN"), evening.read(Passed(None)), evening.lay("H6", "FA.M")
    record_acts(evening.log, TurnCorrected(Ref(2, 0), None))
    assert evening.pictures == [first, third]
    record_acts(evening.log, GameEnded())
    assert evening.pictures == [first, third]


def test_corrected_turn_keeps_its_picture(evening: Evening) -> None:
    pictures = [evening.lay("8F", "HORN"), evening.lay("H6", "FA.M")]
    record_acts(evening.log, TurnCorrected(Ref(2, 0), Exchanged(None, 3)))
    assert evening.pictures == pictures


def test_turn_that_came_back_has_its_picture_again(evening: Evening) -> None:
    first, second = evening.lay("8F", "HORN"), evening.lay("H6", "FA.M")
    record_acts(evening.log, TurnCorrected(Ref(1, 0), None))
    assert evening.pictures == [second]
    evening.undo()
    assert evening.pictures == [first, second]
    evening.undo()
    assert evening.pictures == [first]
    evening.redo()
    assert evening.pictures == [first, second]


def test_turn_that_was_played_again_has_the_new_picture(evening: Evening) -> None:
    first, before = evening.lay("8F", "HORN"), evening.lay("H6", "FA.M")
    evening.undo()
    after = evening.lay("H6", "FA.M")
    assert before != after and evening.pictures == [first, after]


def test_answer_and_the_turn_beside_it_show_the_picture_of_their_press(evening: Evening) -> None:
    first = evening.read(Passed(None), Passed(None))
    assert evening.pictures == [first, first]
    record_acts(evening.log, TurnCorrected(Ref(1, 0), Exchanged(None, 2)))
    assert evening.pictures == [first, first]


def test_list_names_no_winner_before_racks_are_counted(evening: Evening) -> None:
    evening.lay("8F", "HORN")
    record_acts(evening.log, GameEnded())
    archive = GameArchive(evening.store, lambda: 0)
    [line] = archive.make_lines(archive.find_games())
    assert (line.winners, line.ended, line.racks_wanted) == ((), True, (0, 1))
    record_acts(evening.log, RackRevealed(0, ("A",)), RackRevealed(1, ("B",)))
    [line] = archive.make_lines(archive.find_games())
    assert (line.winners, line.totals, line.racks_wanted) == ((0,), (13, -3), ())


def test_name_that_could_not_be_saved_is_in_no_exported_file(evening: Evening) -> None:
    archive = GameArchive(evening.store, lambda: 0)
    protect_from_writes(evening.store, on=True)
    with pytest.raises(StoreError):
        archive.rename_player("Anna", "Anne")
    assert "Anne" not in archive.export_gcg(evening.log.number)[0]


def test_rename_that_fails_leaves_unsaved_turns_in_exported_files(evening: Evening) -> None:
    GameLog.begin_game(evening.store, GameStarted(("Cleo", "Dan")))
    protect_from_writes(evening.store, on=True)
    evening.lay("8F", "HORN")
    archive = GameArchive(evening.store, lambda: evening.log.number)
    with pytest.raises(StoreError):
        archive.rename_player("Cleo", "Chloe")
    assert "HORN" in archive.export_gcg(evening.log.number)[0]
