"""The ledger of a game in the store: groups that are saved whole, undone and redone, also after a restart."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from device.storage.errors import StoreError
from device.storage.game_log import GameLog, read_ledger, write_ledger
from device.storage.store import GameStore
from engine.errors import NotationError, RulesError
from engine.events import Act, Exchanged, GameStarted, Passed, PlayerRenamed, to_json
from engine.ledger import Doubt, Ledger, Source
from tests.support.damaged_store import protect_from_writes
from tests.support.examples import try_examples

STARTED = GameStarted(("Anna", "Ben"))


@pytest.fixture
def log(store: GameStore) -> GameLog:
    return GameLog.begin_game(store, STARTED)[0]


def again(store: GameStore) -> GameLog:
    log = GameLog.load_newest(store)
    assert log is not None
    return log


def kinds(log: GameLog) -> list[str]:
    return [turn.kind for turn in log.game.turns]


def record(log: GameLog, *acts: Act) -> str:
    """Record one command with an entry for each act."""
    return log.append(log.ledger.record([((act,),) for act in acts]))


def test_ledger_is_the_same_after_a_restart(log: GameLog, store: GameStore) -> None:
    alternatives = ((Passed(None),), (Exchanged(None, 2),))
    doubt = Doubt("passed", confidence=0.5)
    log.append(
        log.ledger.record([alternatives], doubt=doubt, chosen=1, seat=0, source=Source.PRESS, clocks=(12.5, 0.0))
    )
    log.append(log.ledger.answer(1, 0))
    assert again(store).ledger == log.ledger and again(store).game == log.game
    assert again(store).length == log.length == len(store.read_events(log.number))


def test_undo_takes_back_all_entries_of_a_group(log: GameLog, store: GameStore) -> None:
    record(log, Passed(None))
    record(log, Exchanged(None, 2), Passed(None))
    log.append(log.ledger.undo())
    assert kinds(log) == ["pass"] == kinds(again(store))
    log.append(log.ledger.redo())
    assert kinds(log) == ["pass", "exchange", "pass"] == kinds(again(store))


def test_new_group_leaves_nothing_to_redo(log: GameLog, store: GameStore) -> None:
    record(log, Passed(None))
    log.append(log.ledger.undo())
    assert log.can_redo and again(store).can_redo
    record(log, Exchanged(None, 1))
    assert not log.can_redo and not again(store).can_redo


def test_pictures_and_notes_are_saved_with_their_entries(log: GameLog, store: GameStore) -> None:
    ledger = log.ledger.record([((Passed(None),),)])
    assert log.append(ledger, {1: {"board": b"jpeg"}}, {"evidence": "A1"}) == ""
    assert store.read_picture(log.number, 1, "board") == b"jpeg" and store.read_note(log.number, "evidence") == "A1"


def test_start_of_a_game_is_not_undone(log: GameLog) -> None:
    assert not log.can_undo
    with pytest.raises(RulesError, match="nothing to undo"):
        log.ledger.undo()


def test_game_that_cannot_begin_is_refused(store: GameStore) -> None:
    with pytest.raises(RulesError):
        GameLog.begin_game(store, GameStarted(("Anna",)))
    assert store.list_games() == ()


def test_imported_game_is_not_continued(log: GameLog, store: GameStore) -> None:
    record(log, Passed(None))
    store.add_game(1.0, store.read_events(log.number), ())
    assert len(store.list_games()) == 2 and again(store).number == log.number


@pytest.mark.parametrize("version", [1, 3])
def test_game_of_another_version_is_not_read(store: GameStore, version: int) -> None:
    store.begin_game({**to_json(STARTED), "v": version})
    with pytest.raises(StoreError, match="This version of Tilekeeper cannot read game 1"):
        GameLog.load_newest(store)


def test_entries_before_the_start_are_no_game() -> None:
    start, *entries = write_ledger(Ledger(STARTED).record([((Passed(None),),)]))
    for bodies in ([], entries, [start, start]):
        with pytest.raises((NotationError, RulesError)):
            read_ledger(bodies)


def test_entries_of_a_game_that_is_not_at_the_table_are_saved_or_not_kept(log: GameLog, store: GameStore) -> None:
    other = GameLog.load(store, log.number)
    assert other is not None
    renamed = other.ledger.record([((PlayerRenamed(0, "Cleo"),),)])
    protect_from_writes(store, on=True)
    with pytest.raises(StoreError):
        other.append_saved(renamed)
    protect_from_writes(store, on=False)
    assert other.game.players == ("Anna", "Ben")
    other.append_saved(renamed)
    assert other.game.players == ("Cleo", "Ben") == again(store).game.players


def players_and_kinds(store: GameStore) -> list[tuple[int, str, list[str]]]:
    return [(game.id, game.first_event["players"][0], stored_kinds(store, game.id)) for game in store.list_games()]


def stored_kinds(store: GameStore, number: int) -> list[str]:
    ledger = read_ledger(event.body for event in store.read_events(number))
    return [step.kind for entry in ledger.entries for step in entry.alternatives[0]]


def test_turns_of_every_game_since_the_card_failed_are_written_when_it_works_again(
    log: GameLog, store: GameStore
) -> None:
    record(log, Passed(None))
    protect_from_writes(store, on=True)
    assert "cannot be written" in record(log, Exchanged(None, 2))
    second, trouble = GameLog.begin_game(store, GameStarted(("Carl", "Dora")), log)
    assert trouble and record(second, Passed(None))
    third, trouble = GameLog.begin_game(store, GameStarted(("Else", "Fred")), second)
    assert trouble and third.has_unsaved
    assert [one.number for one in (log, second, third)] == [1, 2, 3]
    assert players_and_kinds(store) == [(1, "Anna", ["pass"])]
    protect_from_writes(store, on=False)
    assert record(third, Exchanged(None, 1)) == "" and not third.has_unsaved
    assert players_and_kinds(store) == [
        (3, "Else", ["exchange"]),
        (2, "Carl", ["pass"]),
        (1, "Anna", ["pass", "exchange"]),
    ]


def test_game_that_was_deleted_meanwhile_holds_up_no_other(log: GameLog, store: GameStore) -> None:
    protect_from_writes(store, on=True)
    assert record(log, Passed(None))
    second, trouble = GameLog.begin_game(store, GameStarted(("Carl", "Dora")), log)
    assert trouble
    protect_from_writes(store, on=False)
    store.delete_game(log.number)
    assert second.save() == ""
    assert players_and_kinds(store) == [(2, "Carl", [])]


def test_log_of_another_game_leaves_unsaved_entries_in_exported_files(log: GameLog, store: GameStore) -> None:
    other = GameLog.load(store, store.begin_game(to_json(STARTED)))
    assert other is not None
    protect_from_writes(store, on=True)
    record(log, Passed(None))
    record(other, Passed(None))
    protect_from_writes(store, on=False)
    other.save()
    assert len(store.list_events_to_export(log.number)) == 2 and len(store.read_events(log.number)) == 1


COMMANDS = st.lists(
    st.one_of(
        st.sampled_from(["undo", "redo", "restart"]),
        st.lists(st.sampled_from([Passed(None), Exchanged(None, 1)]), min_size=1, max_size=3),
    ),
    max_size=20,
)


@try_examples(40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(COMMANDS)
def test_log_and_a_list_of_games_agree_whatever_is_commanded(commands: list[str | list[Act]]) -> None:
    with GameStore(":memory:") as store:
        log = GameLog.begin_game(store, STARTED)[0]
        past, future = [log.game.events], []
        for command in commands:
            if command == "restart":
                log = again(store)
            elif command == "undo" and len(past) > 1:
                future.append(past.pop())
                log.append(log.ledger.undo())
            elif command == "redo" and future:
                past.append(future.pop())
                log.append(log.ledger.redo())
            elif not isinstance(command, str):
                past.append((*past[-1], *command))
                future.clear()
                record(log, *command)
            assert log.game.events == past[-1]
            assert (log.can_undo, log.can_redo) == (len(past) > 1, bool(future))
        assert len(store.read_events(log.number)) == log.length
