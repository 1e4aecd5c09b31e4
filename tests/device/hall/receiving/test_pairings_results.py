"""Results of a table's games, or that the director enters: each counts once, and is kept over a power cut."""

from __future__ import annotations

import json
import time
from pathlib import Path

import msgspec
import pytest

from device.hall.messages import OrderAnswer, make_state_message, make_status_message
from device.hall.receiving.pairings import Pairing, PairingsError, Result, format_pairings
from device.hall.receiving.receiver import DOUBLE_CLICK_S, HallReceiver
from device.settings import HallSettings
from device.storage.errors import StoreFullError
from engine.events import EndReason, GameEnded, GameStarted, Passed, RackRevealed, to_json
from engine.ledger import Undone
from engine.messages import key_of
from engine.rules import Rules, UnplayedRule
from tests.support import samples
from tests.support.archives import write_act, write_acts


def test_result_of_a_form_that_is_sent_twice_counts_once(tmp_path: Path) -> None:
    first = Result("", ("Cleo", "Dan"), (300, 410), (1,), 1000.0)
    again, later = (msgspec.structs.replace(first, ended=first.ended + seconds) for seconds in (0.3, DOUBLE_CLICK_S))
    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        for result in (first, again, later):
            hall.add_result(result)
        assert hall.state.results == (first, later)


def test_deleted_result_stays_deleted(tmp_path: Path) -> None:
    wrong, right = (Result("", ("Cleo", "Dan"), (points, 410), (1,), float(points)) for points in (300, 310))
    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        for result in (wrong, right):
            hall.add_result(result)
        hall.remove_result(wrong)
        assert hall.state.results == (right,)
    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        assert hall.state.results == (right,)


def test_result_counts_after_the_disk_was_full_at_the_end_of_the_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The broker sends the last event again, which the file has already."""

    def fail(*_: object) -> None:
        raise StoreFullError("the disk is full")

    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        with monkeypatch.context() as full, pytest.raises(StoreFullError):
            full.setattr(hall.games, "save_result", fail)
            send_ended_game(hall, 1)
        send_ended_game(hall, 1)
        assert [result.game for result in hall.state.results] == [1]
        assert [result.game for result in hall.games.list_results()] == [1]


def test_result_is_kept_after_a_power_cut_at_the_end_of_the_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        monkeypatch.setattr(hall.games, "save_result", lambda *_: None)
        send_ended_game(hall, 1)
    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        send_ended_game(hall, 1)  # the log of the table, after each connection
        send_ended_game(hall, 2)
    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        assert [result.game for result in hall.state.results] == [1, 2]


def test_result_of_a_game_that_goes_on_is_gone_after_a_power_cut_at_the_undo(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        send_ended_game(hall, 1)
        monkeypatch.setattr(hall.games, "save_result", lambda *_: None)
        undone = {"table": "7", "store": "a", "game": 1, "number": 4, "time": 1.0, "event": write_act(Undone(3), 4)}
        hall.receive("tilekeeper/v2/7/events", json.dumps(undone).encode(), False)
        assert hall.state.results == ()
    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        send_ended_game(hall, 2)
    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        assert [result.game for result in hall.state.results] == [2]


def test_game_that_a_table_sends_again_under_a_new_name_counts_once(tmp_path: Path) -> None:
    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        for table in ("7", "8"):
            send_ended_game(hall, 1, table)
        assert [result.table for result in hall.state.results] == ["7"]
    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        assert [result.table for result in hall.state.results] == ["7"]
        send_ended_game(hall, 2, "8")
        assert [result.table for result in hall.state.results] == ["7", "8"]


def test_game_that_is_corrected_after_its_table_has_a_new_name_counts_once(tmp_path: Path) -> None:
    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        for table in ("7", "8"):
            send_ended_game(hall, 1, table)
        send_ended_game(hall, 1, "8", rack="Q")
        assert [(result.table, result.totals) for result in hall.state.results] == [("7", (-10, 0))]
    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        assert [(result.table, result.totals) for result in hall.state.results] == [("7", (-10, 0))]
        send_ended_game(hall, 1, "7")
        assert [result.totals for result in hall.state.results] == [(-1, 0)]


def test_game_that_goes_on_after_its_table_has_a_new_name_counts_in_the_next_event(tmp_path: Path) -> None:
    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        for table in ("7", "8"):
            send_ended_game(hall, 1, table)
        for number, act in ((4, Undone(3)), (5, Passed(0))):
            body = write_act(act, number)
            message = {"table": "8", "store": "a", "game": 1, "number": number, "time": 20.0, "event": body}
            hall.receive("tilekeeper/v2/8/events", json.dumps(message).encode(), False)
        hall.begin_event()
        message |= {"number": 6, "event": write_act(GameEnded(EndReason.AGREED), 6)}
        hall.receive("tilekeeper/v2/8/events", json.dumps(message).encode(), False)
        assert [result.game for result in hall.state.results] == [1]


def test_game_that_was_sent_again_under_a_new_name_does_not_count_in_the_next_event(tmp_path: Path) -> None:
    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        for table in ("7", "8"):
            send_ended_game(hall, 1, table)
        hall.begin_event()
    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        assert hall.state.results == ()


def test_game_of_a_table_that_is_online_stays_when_another_table_sends_it(tmp_path: Path) -> None:
    def send_status(*, is_online: bool) -> None:
        message = make_status_message("7", online=is_online)
        hall.receive(message.topic, message.payload, False)

    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        send_status(is_online=True)
        send_ended_game(hall, 1, "7")
        send_ended_game(hall, 1, "8", rack="Q")
        assert [(result.table, result.totals) for result in hall.state.results] == [("7", (-1, 0))]
        assert hall.state.problems == ("tilekeeper/v2/8/log: the game of another table, 7",)
        send_status(is_online=False)  # the device has got a new name
        send_ended_game(hall, 1, "8", rack="Q")
        assert [result.totals for result in hall.state.results] == [(-10, 0)]


def test_game_that_ended_without_a_turn_has_no_result() -> None:
    """The table deletes such a game without an event when the next one begins."""
    started = GameStarted(("Anna", "Ben"), Rules(unplayed=UnplayedRule.NONE))
    logged = [{"time": 1.0, "event": body} for body in write_acts(started, GameEnded(EndReason.AGREED))]
    log = {"table": "7", "store": "a", "game": 1, "events": logged}
    with HallReceiver(":memory:", HallSettings("127.0.0.1", 1)) as hall:
        hall.receive("tilekeeper/v2/7/log", json.dumps(log).encode(), False)
        assert hall.state.results == ()


def test_new_event_is_kept_and_unsound_pairings_of_an_earlier_version_are_read(tmp_path: Path) -> None:
    entered = Result("", ("Cleo", "Dan"), (300, 410), (1,), 1.0)
    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        hall.add_result(entered)
        send_ended_game(hall, 1)
        assert len(hall.state.results) == 2
        hall.begin_event()
        send_ended_game(hall, 1)
        send_ended_game(hall, 2, ended=time.time() + 1)
        assert [result.game for result in hall.state.results] == [2]
        with pytest.raises(PairingsError):
            hall.set_pairings("1,1,Anna,Ben\n1,2,Anna,Cleo")
        hall.games.save_note("pairings", "1,1,Anna,Ben\n1,2,Anna,Cleo")
        kept = hall.state.results
    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        assert hall.state.results == kept and len(hall.state.pairings) == 2


def test_pairings_that_an_earlier_version_accepted_do_not_stop_the_hall(tmp_path: Path) -> None:
    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        hall.games.save_note("pairings", "Round 1,1,Anna,Ben")
    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        assert hall.state.pairings == () and [key_of(one) for one in hall.state.problems] == ["pairings-line"]


def test_byes_at_a_table_that_an_earlier_version_saved_are_kept(tmp_path: Path) -> None:
    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        hall.games.save_note("pairings", "1,1,Anna,Ben\n1,7,Eve")
    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        assert hall.state.problems == ()
        assert hall.state.pairings == (Pairing(1, "1", "Anna", "Ben"), Pairing(1, "7", "Eve", ""))
        hall.set_pairings(format_pairings(hall.state.pairings))


def make_result(points: int, ended: float) -> Result:
    """Return a result that the director enters at the time `ended`."""
    return Result("", ("Cleo", "Dan"), (points, 410), (1,), ended)


def test_result_entered_after_the_clock_was_set_back_counts_after_a_restart(tmp_path: Path) -> None:
    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        hall.begin_event()
        for points in (300, 310):
            hall.add_result(make_result(points, ended=1.0))
        assert len({result.ended for result in hall.state.results}) == 2, "each can be deleted alone"
    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        assert [result.totals[0] for result in hall.state.results] == [300, 310]


def test_result_of_an_earlier_event_from_a_clock_that_was_ahead_does_not_count(tmp_path: Path) -> None:
    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        hall.add_result(make_result(300, ended=9e9))
        hall.begin_event()
        hall.add_result(make_result(310, ended=8e9))
    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        assert [result.totals[0] for result in hall.state.results] == [310]


def test_game_from_before_the_event_does_not_count(tmp_path: Path) -> None:
    """A table that was offline sends it after the begin of the event."""
    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        hall.begin_event()
        send_ended_game(hall, 1, ended=time.time() - 86400)
        send_ended_game(hall, 2, ended=time.time() + 1)
        assert [result.game for result in hall.state.results] == [2]
    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        assert [result.game for result in hall.state.results] == [2]
        assert [result.game for result in hall.state.late_results] == [1]


def test_game_from_before_the_event_counts_if_the_director_says_so(tmp_path: Path) -> None:
    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        hall.begin_event()
        send_ended_game(hall, 1)
        hall.count_game(1)
        assert ([result.game for result in hall.state.results], hall.state.late_results) == ([1], ())
    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        assert ([result.game for result in hall.state.results], hall.state.late_results) == ([1], ())
        hall.begin_event()
        assert hall.state.results == ()


def test_game_from_before_the_event_does_not_count_in_the_next_one(tmp_path: Path) -> None:
    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        hall.begin_event()
        send_ended_game(hall, 1)
        hall.begin_event()
        send_ended_game(hall, 1, rack="Q")
        assert (hall.state.results, hall.state.late_results) == ((), ())


def test_game_that_is_played_in_the_event_counts_though_the_clock_of_its_table_is_slow(tmp_path: Path) -> None:
    """A Raspberry Pi without a network starts with the time at which it was turned off."""
    start = {"time": 10.0, "event": to_json(GameStarted(("Anna", "Ben")))}
    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        hall.begin_event()
        log = {"table": "7", "store": "a", "game": 1, "events": [start]}
        hall.receive("tilekeeper/v2/7/log", json.dumps(log).encode(), False)
        message = make_state_message("7", samples.MIDGAME, 0.0, 11.0, store="a")
        state = msgspec.structs.replace(message.message, game=1, events=1)
        hall.receive(message.topic, msgspec.json.encode(state), False)
        send_ended_game(hall, 1)
        assert [result.game for result in hall.state.results] == [1]
    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        assert [result.game for result in hall.state.results] == [1]


def test_retained_game_does_not_count_in_a_new_hall(tmp_path: Path) -> None:
    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1), games_since=1000.0) as hall:
        send_ended_game(hall, 1)
        assert [result.game for result in hall.state.late_results] == [1]
        send_ended_game(hall, 2, ended=1001.0)
        assert [result.game for result in hall.state.results] == [2]


def send_status(hall: HallReceiver, *, is_online: bool, is_retained: bool) -> None:
    """Let table 7 or the broker send the status of table 7."""
    message = make_status_message("7", online=is_online)
    hall.receive(message.topic, message.payload, is_retained)


def test_table_is_forgotten_until_it_connects_again(tmp_path: Path) -> None:
    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        send_ended_game(hall, 1)
        send_status(hall, is_online=False, is_retained=False)
        hall.forget_table("7")
        assert not hall.state.tables
    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        send_status(hall, is_online=False, is_retained=True)
        assert not hall.state.tables and len(hall.state.results) == 1
        send_status(hall, is_online=True, is_retained=True)
        assert list(hall.state.tables) == ["7"]
    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        assert list(hall.state.tables) == ["7"]


def test_forgotten_table_that_connects_again_shows_its_game(tmp_path: Path) -> None:
    def send_running_game() -> None:
        send_status(hall, is_online=True, is_retained=False)
        log = {
            "table": "7",
            "store": "a",
            "game": 1,
            "events": [{"time": 10.0, "event": to_json(GameStarted(("Anna", "Ben")))}],
        }
        hall.receive("tilekeeper/v2/7/log", json.dumps(log).encode(), False)
        message = make_state_message("7", samples.MIDGAME, 0.0, time.time(), store="a")
        state = msgspec.structs.replace(message.message, game=1, events=1)
        hall.receive(message.topic, msgspec.json.encode(state), False)

    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        send_running_game()
        assert hall.state.tables["7"].played is not None
        send_status(hall, is_online=False, is_retained=False)
        hall.forget_table("7")
        send_running_game()
        assert hall.state.tables["7"].played is not None


def test_answer_of_the_doctor_does_not_bring_a_forgotten_table_back(tmp_path: Path) -> None:
    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        send_status(hall, is_online=False, is_retained=False)
        hall.forget_table("7")
        answer = OrderAnswer(table="7", number=0, accepted=True)
        hall.receive("tilekeeper/v2/7/answer", msgspec.json.encode(answer), False)
        assert not hall.state.tables and hall.state.forgotten == {"7"}


@pytest.mark.parametrize("is_online", [False, True])
def test_table_whose_retained_messages_are_deleted_is_forgotten_unless_it_is_online(
    tmp_path: Path, is_online: bool
) -> None:
    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        send_ended_game(hall, 1)
        send_status(hall, is_online=is_online, is_retained=False)
        for kind in ("status", "state", "log"):
            hall.receive(f"tilekeeper/v2/7/{kind}", b"", False)
        assert (list(hall.state.tables), hall.state.problems) == (["7"] if is_online else [], ())


def send_ended_game(
    hall: HallReceiver, game: int, table: str = "7", rack: str = "A", ended: float | None = None
) -> None:
    """Let a table send a game that has ended, with these letters on Anna's rack."""
    started = 10.0 * game if ended is None else ended - 3
    acts = RackRevealed(1, ()), RackRevealed(0, (rack,)), GameEnded(EndReason.AGREED)
    bodies = write_acts(GameStarted(("Anna", "Ben")), *acts)
    logged = [{"time": started + i, "event": body} for i, body in enumerate(bodies)]
    log = {"table": table, "store": "a", "game": game, "events": logged}
    hall.receive(f"tilekeeper/v2/{table}/log", json.dumps(log).encode(), False)
