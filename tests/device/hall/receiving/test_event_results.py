"""Results of a table's games, or that the director enters: each counts once, and is kept over a power cut."""

from __future__ import annotations

import json
import time
from pathlib import Path

import msgspec
import pytest

from device.hall.messages import OrderAnswer, TableStatus, make_table_state
from device.hall.receiving.event import decide
from device.hall.receiving.pairings import import_pairings
from device.hall.receiving.receiver import HallReceiver
from device.settings import HallSettings
from device.storage.errors import StoreFullError
from engine.events import EndReason, GameEnded, GameStarted, Passed, RackRevealed, to_json
from engine.rules import Rules, UnplayedRule
from tests.support import samples
from tests.support.archives import write_acts


def test_result_counts_after_the_disk_was_full_at_the_end_of_the_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Events and result are saved together, and the broker sends the events again."""

    def fail(*_: object) -> None:
        raise StoreFullError("the disk is full")

    with HallReceiver(tmp_path / "hall.db", HallSettings("127.0.0.1", 1)) as hall:
        with monkeypatch.context() as full, pytest.raises(StoreFullError):
            full.setattr(hall.games, "save_result", fail)
            send_ended_game(hall, 1)
        send_ended_game(hall, 1)
        assert [result.game for result in hall.state.results] == [1]
        assert [result.game for result in hall.games.list_results()] == [1]


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


def test_game_of_a_table_that_is_online_stays_when_another_table_sends_it(tmp_path: Path) -> None:
    def send_status(*, is_online: bool) -> None:
        message = TableStatus(table="7", online=is_online).publication
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


SETTINGS = HallSettings("127.0.0.1", 1)


def test_event_is_the_same_after_a_restart(tmp_path: Path) -> None:
    with HallReceiver(tmp_path / "hall.db", SETTINGS) as hall:
        hall.edit_event(lambda event: import_pairings(event, "1,7,Anna,Ben\n1,8,Cleo,Dan"))
        hall.edit_event(lambda event: decide(event, 1, "Cleo", points=(400, 300)))
        send_ended_game(hall, 1)
        hall.edit_event(lambda event: import_pairings(event, "2,7,Ben,Cleo"))
        rounds, undo = hall.state.rounds, hall.state.undo
    with HallReceiver(tmp_path / "hall.db", SETTINGS) as hall:
        assert hall.state.rounds == rounds and hall.state.undo == undo
        assert [line.points for line in rounds[1]] == [(-1, 0), (400, 300)]
        hall.undo_edit()
        assert list(hall.state.event.rounds) == [1]


def test_game_from_before_the_event_does_not_count_unless_the_director_says_so(tmp_path: Path) -> None:
    """A table that was offline sends it after the begin of the event."""
    with HallReceiver(tmp_path / "hall.db", SETTINGS) as hall:
        send_ended_game(hall, 1)
        hall.begin_event()
        hall.edit_event(lambda event: import_pairings(event, "1,7,Anna,Ben"))
        send_ended_game(hall, 2, ended=time.time() - 86400)
        assert not hall.state.rounds[1][0].games
        hall.edit_event(lambda event: decide(event, 1, "Anna", game=2))
    with HallReceiver(tmp_path / "hall.db", SETTINGS) as hall:
        assert [game.game for game in hall.state.rounds[1][0].games] == [2]


def test_game_that_is_played_in_the_event_counts_though_the_clock_of_its_table_is_slow(tmp_path: Path) -> None:
    """A Raspberry Pi without a network starts with the time at which it was turned off."""
    start = {"time": 10.0, "event": to_json(GameStarted(("Anna", "Ben")))}
    with HallReceiver(tmp_path / "hall.db", SETTINGS) as hall:
        hall.begin_event()
        hall.edit_event(lambda event: import_pairings(event, "1,7,Anna,Ben"))
        log = {"table": "7", "store": "a", "game": 1, "events": [start]}
        hall.receive("tilekeeper/v2/7/log", json.dumps(log).encode(), False)
        message = make_table_state("7", "a", samples.MIDGAME, 0.0, 11.0)
        state = msgspec.structs.replace(message, game=1, events=1).publication
        hall.receive(state.topic, state.payload, False)
        send_ended_game(hall, 1)
    with HallReceiver(tmp_path / "hall.db", SETTINGS) as hall:
        assert [line.points for line in hall.state.rounds[1]] == [(-1, 0)]


def test_retained_game_does_not_count_in_a_new_hall(tmp_path: Path) -> None:
    with HallReceiver(tmp_path / "hall.db", SETTINGS, games_since=1000.0) as hall:
        hall.edit_event(lambda event: import_pairings(event, "1,7,Anna,Ben"))
        send_ended_game(hall, 1)
        assert not hall.state.rounds[1][0].games
        send_ended_game(hall, 2, ended=1001.0)
        assert [game.game for game in hall.state.rounds[1][0].games] == [2]


def send_status(hall: HallReceiver, *, is_online: bool, is_retained: bool) -> None:
    """Let table 7 or the broker send the status of table 7."""
    message = TableStatus(table="7", online=is_online).publication
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
        message = make_table_state("7", "a", samples.MIDGAME, 0.0, time.time())
        state = msgspec.structs.replace(message, game=1, events=1).publication
        hall.receive(state.topic, state.payload, False)

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
    acts = Passed(0), RackRevealed(1, ()), RackRevealed(0, (rack,)), GameEnded(EndReason.AGREED)
    bodies = write_acts(GameStarted(("Anna", "Ben")), *acts)
    logged = [{"time": started + i, "event": body} for i, body in enumerate(bodies)]
    log = {"table": table, "store": "a", "game": game, "events": logged}
    hall.receive(f"tilekeeper/v2/{table}/log", json.dumps(log).encode(), False)
