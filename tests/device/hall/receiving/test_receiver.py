"""The hall over a real broker: the games of tables arrive whole, whatever is killed meanwhile."""

from __future__ import annotations

import multiprocessing
import random
import socket
import threading
import time
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pytest
from paho.mqtt.publish import single

from device.hall.connection import BrokerConnection, BrokerRefusedError
from device.hall.messages import TableStatus
from device.hall.publishing.directed_table import DirectedTable
from device.hall.publishing.publisher import HallPublisher
from device.hall.receiving.hall_state import HallTable
from device.hall.receiving.receiver import HallReceiver
from device.session.commands.games import StartGame, Undo
from device.session.commands.turns import ExchangeTiles
from device.session.table_session import TableSession
from device.settings import HallSettings
from device.storage.store import GameStore
from tests.device.hall.conftest import MakeBroker
from tests.support.broker import PASSWORD, USER, Broker, make_certificate
from tests.support.text_table import FARM, HORN, STARTED, TextTable, play
from tests.support.waiting import PATIENCE_S, until


@pytest.fixture(autouse=True)
def short_delays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("device.hall.broker_task.RECONNECT_DELAYS_S", (0.05,))


def agrees(hall: HallReceiver, session: TableSession, name: str = "7") -> bool:
    """Return True if the hall has the game of the table to the last event, with the same totals and turn."""
    table = hall.state.tables.get(name, HallTable(name))
    shown, state = table.snapshot, session.state
    return (
        table.played is not None
        and table.played.event_count == state.events
        and shown.players == state.players
        and (shown.phase, shown.turn_of, shown.in_bag) == (state.phase, state.turn_of, state.in_bag)
        and shown.board == state.board
    )


def test_hall_has_the_game_of_a_table(session: TableSession, table: TextTable, broker: Broker, path: Path) -> None:
    session.submit(StartGame(STARTED)).result(PATIENCE_S)
    play(session, table, HORN)
    with (
        GameStore(path, is_owner=False) as store,
        HallPublisher(session, store, broker.settings(), print),
        HallReceiver(":memory:", broker.settings()) as hall,
    ):
        until(lambda: agrees(hall, session))
        play(session, table, HORN, FARM)
        until(lambda: agrees(hall, session))
        session.submit(Undo()).result(PATIENCE_S)
        until(lambda: agrees(hall, session))
        assert hall.state.tables["7"].is_online
        assert [turn.words[0].valid for turn in hall.state.tables["7"].snapshot.turns] == [None]
    assert not hall.state.problems


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # paho leaves the socket to Python
def test_table_whose_power_fails_is_shown_as_away(broker: Broker) -> None:
    will = TableStatus(table="8", online=False).publication
    with HallReceiver(":memory:", broker.settings()) as hall:
        table = BrokerConnection(broker.settings(), "8", will=will)
        table.publish([TableStatus(table="8", online=True).publication])
        while not table.is_acknowledged:
            table.wait(1.0)
        until(lambda: "8" in hall.state.tables and hall.state.tables["8"].is_online is True)
        sock = table._client.socket()
        assert sock is not None
        sock.shutdown(socket.SHUT_RDWR)
        until(lambda: hall.state.tables["8"].is_online is False)


def test_call_of_the_director_reaches_the_hall(playing: TableSession, broker: Broker, path: Path) -> None:
    with (
        GameStore(path, is_owner=False) as store,
        HallPublisher(playing, store, broker.settings(), print) as table,
        HallReceiver(":memory:", broker.settings()) as hall,
    ):
        until(lambda: agrees(hall, playing))
        table.call_director(is_on=True)
        until(lambda: hall.state.tables["7"].needs_help)
        table.call_director(is_on=False)
        until(lambda: not hall.state.tables["7"].needs_help)


def test_clock_is_right_in_a_hall_that_comes_later_though_the_table_has_a_wrong_time(
    playing: TableSession, broker: Broker, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hours_ago = SimpleNamespace(monotonic=time.monotonic, time=lambda: time.time() - 3 * 3600)
    monkeypatch.setattr("device.hall.publishing.publisher.time", hours_ago)
    with GameStore(path, is_owner=False) as store:
        directed = DirectedTable("7", store, playing.submit, print)
        with HallPublisher(playing, store, broker.settings(), print, directed):
            for _ in range(2):
                with HallReceiver(":memory:", broker.settings()) as hall:
                    until(lambda: agrees(hall, playing))
                    until(lambda: time.monotonic() - hall.state.tables["7"].arrived < 60)


def test_hall_that_comes_later_has_the_whole_game(
    session: TableSession, table: TextTable, broker: Broker, path: Path, tmp_path: Path
) -> None:
    session.submit(StartGame(STARTED)).result(PATIENCE_S)
    with GameStore(path, is_owner=False) as store, HallPublisher(session, store, broker.settings(), print):
        play(session, table, HORN)
        play(session, table, HORN, FARM)
        with HallReceiver(":memory:", broker.settings()) as first:
            until(lambda: agrees(first, session))
        with HallReceiver(tmp_path / "hall.db", broker.settings()) as hall:
            until(lambda: agrees(hall, session))
    with HallReceiver(tmp_path / "hall.db", broker.settings()) as hall:
        until(lambda: hall.state.is_connected and hall.state.tables["7"].is_online is False)
        until(lambda: hall.state.tables["7"].state is not None)  # a retained message of its own, in any order
        assert agrees(hall, session)
        assert hall.state.tables["7"].needs_help, "a game is going on"


SLOW = pytest.mark.slow


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=SLOW), pytest.param(3, marks=SLOW)])
def test_hall_and_table_agree_after_everything_was_killed(
    session: TableSession, broker: Broker, path: Path, tmp_path: Path, seed: int
) -> None:
    rng = random.Random(seed)
    session.submit(StartGame(STARTED)).result(PATIENCE_S)
    with GameStore(path, is_owner=False) as store:
        publisher = HallPublisher(session, store, broker.settings(), print)
        hall = HallReceiver(tmp_path / "hall.db", broker.settings())
        for _ in range(10):
            for _ in range(rng.randrange(4)):
                session.submit(ExchangeTiles(1)).result(PATIENCE_S)
            what = rng.choice(["broker", "hall", "table"])
            broker.kill()
            if what == "hall":
                hall.close()
                hall = HallReceiver(tmp_path / "hall.db", broker.settings())
            if what == "table":
                publisher.close()
                publisher = HallPublisher(session, store, broker.settings(), print)
            session.submit(ExchangeTiles(1)).result(PATIENCE_S)
            broker.start()
            if rng.random() < 0.5:
                until(lambda receiver=hall: receiver.state.is_connected)  # type: ignore[misc]
        until(lambda: agrees(hall, session))
        (game,) = hall.games.list_games()
        assert hall.games.read_events(game.id) == list(store.read_events(1))
        publisher.close()
        hall.close()


def test_hall_reports_a_wrong_password_once(broker: Broker) -> None:
    reports: list[str] = []
    with HallReceiver(":memory:", broker.settings(password="wrong"), reports.append):
        until(lambda: bool(reports))
    assert len(reports) == 1 and "refused the connection" in reports[0]


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # paho leaves the socket to Python
def test_hall_reports_a_foreign_certificate(make_broker: MakeBroker, tmp_path: Path) -> None:
    broker, reports = make_broker(with_tls=True), list[str]()
    with HallReceiver(":memory:", broker.settings(ca=make_certificate(tmp_path, "foreign")), reports.append):
        until(lambda: bool(reports))
    assert "self-signed certificate" in reports[0]


def test_user_of_a_table_cannot_publish_for_another_table(make_broker: MakeBroker, tmp_path: Path) -> None:
    rights = tmp_path / "acl"
    rights.write_text("pattern write tilekeeper/v2/%u/#\nuser table\ntopic read tilekeeper/v2/#\n", encoding="utf-8")
    rights.chmod(0o600)
    broker = make_broker(f"acl_file {rights}\n")
    with HallReceiver(":memory:", broker.settings()) as hall:
        until(lambda: hall.state.is_connected)
        for name in ("7", "table"):
            connection = BrokerConnection(broker.settings(), f"user-{name}")
            connection.publish([TableStatus(table=name, online=True).publication])
            with suppress(BrokerRefusedError):
                while not connection.is_acknowledged:
                    connection.wait(1.0)
            connection.close()
        until(lambda: "table" in hall.state.tables)
        assert list(hall.state.tables) == ["table"]


def test_hall_that_is_killed_loses_no_event(session: TableSession, broker: Broker, path: Path, tmp_path: Path) -> None:
    session.submit(StartGame(STARTED)).result(PATIENCE_S)
    context = multiprocessing.get_context("spawn")
    with GameStore(path, is_owner=False) as store, HallPublisher(session, store, broker.settings(), print):
        for _ in range(3):
            process = context.Process(target=receive_for_ever, args=(tmp_path / "hall.db", broker.settings()))
            process.start()
            until(lambda: (tmp_path / "hall.db-wal").exists())
            session.submit(ExchangeTiles(1)).result(PATIENCE_S)
            process.kill()
            process.join()
            session.submit(ExchangeTiles(1)).result(PATIENCE_S)
        with HallReceiver(tmp_path / "hall.db", broker.settings()) as hall:
            until(lambda: agrees(hall, session))
            (game,) = hall.games.list_games()
            assert hall.games.read_events(game.id) == list(store.read_events(1))


def receive_for_ever(path: Path, settings: HallSettings) -> None:
    """Be a hall until the process is killed."""
    with HallReceiver(path, settings):
        threading.Event().wait()


@pytest.mark.parametrize("payload", [b" ", b"\xff\xfe", b"{", b"[" * 200_000, b'{"table":"8","online":"yes"}', b"null"])
def test_malformed_payload_is_reported_and_harmless(
    playing: TableSession, broker: Broker, path: Path, payload: bytes
) -> None:
    auth = {"username": USER, "password": PASSWORD}
    with HallReceiver(":memory:", broker.settings()) as hall:
        until(lambda: hall.state.is_connected)
        for kind in ("status", "state", "log", "answer"):
            single(f"tilekeeper/v2/8/{kind}", payload, 1, port=broker.port, auth=auth)  # type: ignore[arg-type]
        until(lambda: len(hall.state.problems) == 4)
        with GameStore(path, is_owner=False) as store, HallPublisher(playing, store, broker.settings(), print):
            until(lambda: agrees(hall, playing))
        assert list(hall.state.tables) == ["7"]


def test_huge_payload_is_reported_and_harmless(playing: TableSession, broker: Broker, path: Path) -> None:
    with HallReceiver(":memory:", broker.settings()) as hall:
        until(lambda: hall.state.is_connected)
        single(
            "tilekeeper/v2/8/log", b"[" * 2_000_000, 1, port=broker.port, auth={"username": USER, "password": PASSWORD}
        )
        until(lambda: bool(hall.state.problems))
        with GameStore(path, is_owner=False) as store, HallPublisher(playing, store, broker.settings(), print):
            until(lambda: agrees(hall, playing))
    assert hall.state.problems == ("tilekeeper/v2/8/log: 2000000 bytes",)
