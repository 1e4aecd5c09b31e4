"""The log of a game: presses that are taken back and brought back as wholes, also after a restart."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from device.storage.game_log import GameLog, find_press_clocks
from device.storage.store import GameStore
from engine.errors import RulesError
from engine.events import ClockRead, Event, Exchanged, GameStarted, Passed, RackRevealed, Undone, to_json
from tests.support.damaged_store import protect_from_writes

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


def test_undo_takes_back_all_events_of_a_press(log: GameLog, store: GameStore) -> None:
    log.append_press([Passed(0)])
    log.append_press([ClockRead(1, 5.0), Exchanged(1, 2), Passed(0)])
    log.undo()
    assert kinds(log) == ["pass"] == kinds(again(store))
    log.redo()
    assert kinds(log) == ["pass", "exchange", "pass"] == kinds(again(store))


def test_what_counts_instead_belongs_to_the_same_press(log: GameLog, store: GameStore) -> None:
    log.append_press([Passed(0)])
    log.append_press([Passed(1)])
    log.replace_last_press([Exchanged(1, 3)])
    assert kinds(log) == ["pass", "exchange"]
    again(store).undo()
    assert kinds(again(store)) == ["pass"]


@pytest.mark.parametrize("way", [["undo"], ["undo", "undo", "redo"]])
def test_what_counts_instead_after_an_undo_leaves_nothing_to_bring_back(
    log: GameLog, store: GameStore, way: list[str]
) -> None:
    log.append_press([Passed(0)])
    log.append_press([ClockRead(1, 5.0), Passed(1)])
    log.append_press([Passed(0)])
    for step in way:
        getattr(log, step)()
    log.replace_last_press([Exchanged(1, 3)])
    for one in (log, again(store)):
        assert kinds(one) == ["pass", "exchange"] and not one.can_redo
        assert one.game.events[-2] == ClockRead(1, 5.0) and one.seconds_used == (0.0, 5.0)
        one.undo()
        assert kinds(one) == ["pass"]
        one.redo()


def test_new_press_leaves_nothing_to_bring_back(log: GameLog, store: GameStore) -> None:
    log.append_press([Passed(0)])
    log.undo()
    assert log.can_redo and again(store).can_redo
    log.append_press([Exchanged(0, 1)])
    assert not log.can_redo and not again(store).can_redo
    with pytest.raises(RulesError, match="nothing to redo"):
        log.redo()


def test_beginning_is_not_taken_back(log: GameLog) -> None:
    assert not log.can_undo
    with pytest.raises(RulesError, match="nothing to undo"):
        log.undo()


def test_log_of_the_first_version_takes_back_event_by_event(store: GameStore) -> None:
    number = store.begin_game(to_json(STARTED))
    store.append_events(number, [to_json(event) for event in (Passed(0), Passed(1), Undone())])
    log = again(store)
    assert kinds(log) == ["pass"] and log.can_redo
    log.undo()
    assert kinds(log) == [] and kinds(again(store)) == []


def test_clock_that_was_read_is_known_though_the_turn_was_taken_back(log: GameLog, store: GameStore) -> None:
    log.append_press([ClockRead(0, 12.5), Passed(0)])
    log.undo()
    assert log.seconds_used == (12.5, 0.0) == again(store).seconds_used


def test_press_that_changes_an_earlier_turn_records_no_clock(log: GameLog, store: GameStore) -> None:
    log.append_press([ClockRead(0, 12.5), Passed(0)])
    log.append_press([ClockRead(1, 3.0), Passed(1)])
    before = log.game
    log.append_press(
        [*[Undone()] * 3, Exchanged(0, 2), RackRevealed(0, ("Q",)), RackRevealed(1, ()), *before.events[3:]]
    )
    assert find_press_clocks(before, log.game) is None and find_press_clocks(log.game, before) is None
    log.undo()
    assert log.seconds_used == (12.5, 3.0) == again(store).seconds_used


def test_imported_game_is_not_continued(log: GameLog, store: GameStore) -> None:
    log.append_press([Passed(0)])
    store.add_game(1.0, store.read_events(log.number), ())
    assert len(store.list_games()) == 2 and again(store).number == log.number


def players_and_kinds(store: GameStore) -> list[tuple[int, str, list[str]]]:
    return [(game.id, game.first_event["players"][0], stored_kinds(store, game.id)) for game in store.list_games()]


def stored_kinds(store: GameStore, number: int) -> list[str]:
    return [str(event.body["kind"]) for event in store.read_events(number)][1:]


def test_turns_of_every_game_since_the_card_failed_are_written_when_it_works_again(
    log: GameLog, store: GameStore
) -> None:
    log.append_press([Passed(0)])
    protect_from_writes(store, on=True)
    assert "cannot be written" in log.append_press([Exchanged(1, 2)])
    second, trouble = GameLog.begin_game(store, GameStarted(("Carl", "Dora")), log)
    assert trouble and second.append_press([Passed(0)])
    third, trouble = GameLog.begin_game(store, GameStarted(("Else", "Fred")), second)
    assert trouble and third.has_unsaved
    assert [one.number for one in (log, second, third)] == [1, 2, 3]
    assert players_and_kinds(store) == [(1, "Anna", ["pass"])]
    protect_from_writes(store, on=False)
    assert third.append_press([Exchanged(0, 1)]) == "" and not third.has_unsaved
    assert players_and_kinds(store) == [
        (3, "Else", ["exchange"]),
        (2, "Carl", ["pass"]),
        (1, "Anna", ["pass", "exchange"]),
    ]


def test_game_that_was_deleted_meanwhile_holds_up_no_other(log: GameLog, store: GameStore) -> None:
    protect_from_writes(store, on=True)
    assert log.append_press([Passed(0)])
    second, trouble = GameLog.begin_game(store, GameStarted(("Carl", "Dora")), log)
    assert trouble
    protect_from_writes(store, on=False)
    store.delete_game(log.number)
    assert second.save() == ""
    assert players_and_kinds(store) == [(2, "Carl", [])]


def test_log_of_another_game_leaves_unsaved_events_in_exported_files(log: GameLog, store: GameStore) -> None:
    other = GameLog(store, store.begin_game(to_json(STARTED)), [to_json(STARTED)])
    protect_from_writes(store, on=True)
    log.append_press([Passed(0)])
    other.append_press([Passed(0)])
    protect_from_writes(store, on=False)
    other.save()
    assert len(store.list_events_to_export(log.number)) == 2 and len(store.read_events(log.number)) == 1


PRESSES = st.lists(
    st.one_of(
        st.sampled_from(["undo", "redo", "restart"]),
        st.lists(st.sampled_from([Passed(0), Passed(1), Exchanged(0, 1)]), min_size=1, max_size=3),
    ),
    max_size=20,
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(PRESSES)
def test_log_and_a_list_of_games_agree_whatever_is_pressed(presses: list[str | list[Event]]) -> None:
    with GameStore(":memory:") as store:
        log = GameLog.begin_game(store, STARTED)[0]
        past, future = [log.game.events], []
        for press in presses:
            if press == "restart":
                log = again(store)
            elif press == "undo" and len(past) > 1:
                future.append(past.pop())
                log.undo()
            elif press == "redo" and future:
                past.append(future.pop())
                log.redo()
            elif not isinstance(press, str):
                past.append((*past[-1], *press))
                future.clear()
                log.append_press(press)
            assert log.game.events == past[-1]
            assert (log.can_undo, log.can_redo) == (len(past) > 1, bool(future))
        assert len(store.read_events(log.number)) == log.length
