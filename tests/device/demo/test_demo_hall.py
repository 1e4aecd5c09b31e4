"""The simulated tables of a hall: they play whole games, over a real broker if Mosquitto is installed."""

from __future__ import annotations

import shutil

import pytest

from device.cli import main
from device.demo.demo_hall import DemoHall, ScriptedTable, open_broker
from device.hall.receiving.event import Event, Pairing
from device.hall.receiving.receiver import HallReceiver
from device.session.commands.games import StartClock
from device.session.messages import CommandRefusedError
from device.session.snapshot import Phase
from device.storage.store import GameStore
from tests.support.broker import HAS_MOSQUITTO
from tests.support.waiting import until


def test_scripted_table_plays_a_whole_game() -> None:
    now = 0.0
    with GameStore(":memory:") as store:
        table = ScriptedTable(store, 1, lambda: now)
        table.begin_game(skipped=3)
        assert table.state.phase is Phase.TURN and len(table.state.turns) == 3
        clock = table.state.clock
        now = 10.0
        assert table.play_next() and clock is not None and clock.running is not None
        assert table.state.clock is not None
        assert table.state.clock.used[clock.running] == clock.used[clock.running] + 10.0
        while table.play_next():
            pass
        assert table.state.winners and table.state.turn_of is None
        assert table.state.events == len(store.read_events(1))


def test_scripted_table_obeys_the_director() -> None:
    now = 0.0
    with GameStore(":memory:") as store:
        table = ScriptedTable(store, 1, lambda: now)
        table.begin_game(players=("Cleo", "Dan"), is_paused=True)
        assert [player.name for player in table.state.players] == ["Cleo", "Dan"]
        assert table.state.phase is Phase.PAUSED and table.state.clock is not None and table.state.clock.running is None
        now = 60.0
        assert table.submit(StartClock(("Cleo", "Dan"))).result().phase is Phase.TURN and table.state.clock.running == 0
        with pytest.raises(CommandRefusedError):
            table.submit(StartClock(("Cleo", "Dan"))).result()
        now = 65.0
        table.play_next()
        assert table.state.clock.used == (5.0, 0.0), "a pause takes no time of a player"


@pytest.mark.skipif(not HAS_MOSQUITTO, reason="needs mosquitto: sudo apt install mosquitto")
def test_demo_obeys_the_director() -> None:
    with open_broker() as broker, HallReceiver(":memory:", broker) as hall, DemoHall(broker, 3):
        until(lambda: len(hall.state.tables) == 3 and all(table.played for table in hall.state.tables.values()))

        assert hall.name_table("Table 3", "Final")
        until(lambda: hall.state.find_title("Table 3") == "Final")
        event = Event(rounds={1: (Pairing("Final", "Cleo", "Dan"),)}, sent=1)
        hall.edit_event(lambda _: event)
        until(lambda: (state := hall.state.tables["Table 3"].state) and state.offer == hall.state.find_offer("Table 3"))


@pytest.mark.skipif(not HAS_MOSQUITTO, reason="needs mosquitto: sudo apt install mosquitto")
def test_demo_shows_ten_tables_in_a_hall() -> None:
    with open_broker() as broker, DemoHall(broker), HallReceiver(":memory:", broker) as hall:
        until(lambda: len(hall.state.tables) == 10 and all(table.played for table in hall.state.tables.values()))


def test_demo_without_mosquitto_names_the_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shutil, "which", lambda *_args, **_options: None)
    assert main(["hall", "--demo"]) == 2
    assert "sudo apt install mosquitto" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "text"), [((), "address of the broker"), (("--broker", "b", "--delay", "-1"), "0 to 1800 seconds")]
)
def test_hall_refuses_wrong_options(options: tuple[str, ...], text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hall", *options]) == 2
    assert text in capsys.readouterr().err
