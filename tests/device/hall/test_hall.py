"""The messages of a table: the queue in the store, and a real broker if Mosquitto is installed."""

from __future__ import annotations

import fcntl
import gc
import json
import resource
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NoReturn

import msgspec
import pytest
from msgspec.structs import replace
from paho.mqtt import client as mqtt
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.subscribe import simple

from device.hall.asyncapi import format_document
from device.hall.connection import BrokerConnection
from device.hall.messages import Publication, TableEvent, TableLog, TableStatus, make_table_state
from device.hall.publishing.event_queue import NOTE_NAME, EventQueue, SentEvents
from device.hall.publishing.publisher import HallPublisher
from device.session.commands.games import StartGame, Undo
from device.session.table_session import TableSession
from device.settings import HallSettings
from device.storage.errors import StoreFullError
from device.storage.game_log import GameLog
from device.storage.store import TABLE_NOTES, GameStore
from engine.events import GameStarted, Passed
from tests.device.hall.conftest import MakeBroker
from tests.support.archives import record_acts
from tests.support.broker import PASSWORD, USER, Broker, make_certificate
from tests.support.text_table import FARM, HORN, STARTED, WORDS, TextTable, play
from tests.support.waiting import PATIENCE_S, until

ROOT = Path(__file__).parents[3]
MANY_FILES = 1100
"""A number of open files that is above the largest one for select(), 1024."""


def numbers(batch: list[Publication]) -> list[tuple[int, int]]:
    return [(one.message.game, one.message.number) for one in batch if isinstance(one.message, TableEvent)]


def acknowledge(queue: EventQueue, number: int) -> None:
    """Acknowledge the events of the next batch up to this number."""
    queue.acknowledge(
        next(e for one in queue.read_batch() if isinstance(e := one.message, TableEvent) and e.number == number)
    )


def test_queue_continues_after_a_restart(tmp_path: Path) -> None:
    with GameStore(tmp_path / "games.db") as store:
        log, _ = GameLog.begin_game(store, GameStarted(("Anna", "Ben")))
        record_acts(log, Passed(None))
        queue = EventQueue(store, "7", "broker")
        assert numbers(queue.read_batch()) == [(1, 0), (1, 1)]
        acknowledge(queue, 0)
        log.append(log.ledger.undo())
    with GameStore(tmp_path / "games.db") as store:
        assert numbers(EventQueue(store, "7", "broker").read_batch()) == [(1, 1), (1, 2)]
        assert numbers(EventQueue(store, "7", "other broker").read_batch()) == [(1, 0), (1, 1), (1, 2)]


def test_queue_of_a_store_with_other_games_begins_anew(tmp_path: Path) -> None:
    notes = []
    for name, clock in (("before.db", 1.0), ("rescued.db", 2.0)):
        with GameStore(tmp_path / name, clock=lambda time=clock: time) as store:
            if notes:
                store.save_note(TABLE_NOTES, NOTE_NAME, notes[0])
            GameLog.begin_game(store, GameStarted(("Anna", "Ben")))
            queue = EventQueue(store, "7", "broker")
            assert numbers(queue.read_batch()) == [(1, 0)]
            acknowledge(queue, 0)
            notes.append(store.read_note(TABLE_NOTES, NOTE_NAME) or "")
    first, second = (msgspec.json.decode(note, type=SentEvents) for note in notes)
    assert first.store != second.store


def test_queue_goes_on_while_the_disk_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    with GameStore(":memory:") as store:
        log, _ = GameLog.begin_game(store, GameStarted(("Anna", "Ben")))
        monkeypatch.setattr(store, "save_note", fail)
        queue = EventQueue(store, "7", "broker")
        acknowledge(queue, 0)
        record_acts(log, Passed(None))
        assert numbers(queue.read_batch()) == [(1, 1)]


def fail(*_: object) -> None:
    raise StoreFullError("the disk is full")


def test_queue_goes_on_to_the_next_game(tmp_path: Path) -> None:
    with GameStore(tmp_path / "games.db") as store:
        first, _ = GameLog.begin_game(store, GameStarted(("Anna", "Ben")))
        queue = EventQueue(store, "7", "broker")
        GameLog.begin_game(store, GameStarted(("Cleo", "Dan")), first)
        assert numbers(queue.read_batch()) == [(1, 0)]
        acknowledge(queue, 0)
        assert numbers(queue.read_batch()) == [(2, 0)]
        acknowledge(queue, 0)
        assert queue.read_batch() == []


def send_two_games(store: GameStore, players: tuple[str, str]) -> tuple[GameLog, EventQueue]:
    """Begin a game, and the next one with these players, and send the starts of both; return the first game."""
    first, _ = GameLog.begin_game(store, GameStarted(("Anna", "Ben")))
    queue = EventQueue(store, "7", "broker")
    acknowledge(queue, 0)
    GameLog.begin_game(store, GameStarted(players), first)
    acknowledge(queue, 0)
    return first, queue


def test_queue_sends_letters_that_were_entered_after_the_next_game_had_begun(tmp_path: Path) -> None:
    with GameStore(tmp_path / "games.db") as store:
        first, _ = send_two_games(store, ("Cleo", "Dan"))
        first.append_saved(first.ledger.record([((Passed(None),),)]))
        queue = EventQueue(store, "7", "broker")  # after a restart
        assert numbers(queue.read_batch()) == [(1, 1)]
        assert not any(one.retain for one in queue.read_batch()), "the broker keeps the newest game"
        acknowledge(queue, 1)
        assert queue.read_batch() == [] and EventQueue(store, "7", "broker").read_batch() == []


def test_queue_goes_back_to_the_game_before_if_the_next_one_is_deleted(tmp_path: Path) -> None:
    with GameStore(tmp_path / "games.db") as store:
        first, queue = send_two_games(store, ("Anna", "Ben"))
        store.delete_game(2)
        record_acts(first, Passed(None))
        assert numbers(queue.read_batch()) == [(1, 1)]
        acknowledge(queue, 1)
        assert queue.read_batch() == []


def test_log_of_a_game_is_whole_if_the_next_one_is_deleted_before_it_was_sent(tmp_path: Path) -> None:
    with GameStore(tmp_path / "games.db") as store:
        first, _ = GameLog.begin_game(store, GameStarted(("Anna", "Ben")))
        GameLog.begin_game(store, GameStarted(("Anna", "Ben")), first)
        queue = EventQueue(store, "7", "a new broker")
        store.delete_game(2)
        record_acts(first, Passed(None))
        *_, log = queue.read_batch()
        assert isinstance(log.message, TableLog) and (log.message.game, len(log.message.events)) == (1, 2)
        assert log.retain


def test_queue_sends_the_rest_of_a_game_to_which_an_undo_went_back_during_an_outage() -> None:
    with GameStore(":memory:") as store:
        first, queue = send_two_games(store, ("Anna", "Ben"))
        store.delete_game(2)
        record_acts(first, Passed(None))
        GameLog.begin_game(store, GameStarted(("Cleo", "Dan")), first)
        assert numbers(queue.read_batch()) == [(1, 1)]
        acknowledge(queue, 1)
        assert numbers(queue.read_batch()) == [(3, 0)]


def test_queue_sends_all_games_of_an_outage_though_the_last_one_that_was_sent_is_deleted(tmp_path: Path) -> None:
    with GameStore(tmp_path / "games.db") as store:
        first, _ = GameLog.begin_game(store, GameStarted(("Anna", "Ben")))
        GameLog.begin_game(store, GameStarted(("Anna", "Ben")), first)
        acknowledge(EventQueue(store, "7", "broker"), 0)
        store.delete_game(2)
        record_acts(first, Passed(None))
        second, _ = GameLog.begin_game(store, GameStarted(("Cleo", "Dan")), first)
        record_acts(second, Passed(None))
        GameLog.begin_game(store, GameStarted(("Eve", "Finn")), second)
    with GameStore(tmp_path / "games.db") as store:
        queue = EventQueue(store, "7", "broker")
        sent = []
        while batch := queue.read_batch():
            sent += numbers(batch)
            acknowledge(queue, sent[-1][1])
        assert sent == [(1, 1), (3, 0), (3, 1), (4, 0)]
        assert EventQueue(store, "7", "other broker").read_batch()[0].message.game == 4


def test_state_does_not_depend_on_the_validity_of_words(playing: TableSession, table: TextTable) -> None:
    state = play(playing, table, ("HRON", 7, 5, True))
    assert state.turns[0].invalid_words == ("HRON",)
    assert b"valid" not in make_table_state("7", "a", state, 0.0, 0.0).publication.payload


def test_document_is_that_of_the_messages() -> None:
    assert (ROOT / "docs" / "hall.asyncapi.json").read_text(encoding="utf-8") == format_document()


@pytest.fixture
def subscribe(broker: Broker) -> Iterator[Callable[[], list[tuple[str, dict[str, object]]]]]:
    clients = []

    def start() -> list[tuple[str, dict[str, object]]]:
        received: list[tuple[str, dict[str, object]]] = []
        has_subscribed = threading.Event()
        client = mqtt.Client(CallbackAPIVersion.VERSION2, "subscriber", clean_session=False)
        client.username_pw_set("table", "secret")
        client.reconnect_delay_set(1, 1)
        client.on_connect = lambda *_: client.subscribe("tilekeeper/#", 1)
        client.on_message = lambda _c, _d, one: received.append((one.topic, json.loads(one.payload)))
        client.on_subscribe = lambda *_: has_subscribed.set()
        client.connect("127.0.0.1", broker.port)
        client.loop_start()
        clients.append(client)
        assert has_subscribed.wait(PATIENCE_S)  # what is published before is not received
        return received

    yield start
    for client in clients:
        client.disconnect()
        client.loop_stop()


def test_events_of_an_outage_are_sent_after_it(
    table: TextTable,
    broker: Broker,
    tmp_path: Path,
    subscribe: Callable[[], list[tuple[str, dict[str, object]]]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("device.hall.broker_task.RECONNECT_DELAYS_S", (0.3,))
    reports: list[str] = []
    with GameStore(tmp_path / "games.db") as store, TableSession(table, table, store, WORDS) as session:
        session.submit(StartGame(STARTED)).result(PATIENCE_S)
        received = subscribe()
        with HallPublisher(session, store, broker.settings(), reports.append):
            until(lambda: any(topic.endswith("/events") for topic, _ in received))
            broker.stop()
            play(session, table, HORN)
            play(session, table, HORN, FARM)
            state = session.submit(Undo()).result(PATIENCE_S)
            broker.start()
            until(lambda: {one.get("number") for _, one in received} >= set(range(state.events)))
            until(lambda: any(one.get("events") == state.events for _, one in received))
        until(lambda: [one["online"] for _, one in received if "online" in one][-1] is False)
        first_seen = list(dict.fromkeys(one["number"] for topic, one in received if topic.endswith("/events")))
        assert first_seen == list(range(len(store.read_events(1))))
        assert {one["number"]: one["event"] for t, one in received if t.endswith("/events")} == {
            event.number: event.body for event in store.read_events(1)
        }
    assert reports == []


def test_two_tables_with_one_name_say_so_once_each(
    playing: TableSession, broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("device.hall.broker_task.RECONNECT_DELAYS_S", (0.1,))
    reports: list[list[str]] = [[], []]
    with ExitStack() as stack:
        for report in reports:
            store = stack.enter_context(GameStore(":memory:"))
            stack.enter_context(HallPublisher(playing, store, broker.settings(), report.append))
        until(lambda: all(reports))
    for report in reports:
        assert len(report) == 1 and "have this name" in report[0].replace("has", "have")


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # paho leaves the socket to Python
def test_connection_works_beside_a_thousand_open_files(broker: Broker) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, MANY_FILES + 1), hard))
    bell, low = socket.socketpair()
    with bell, low, socket.socket(fileno=fcntl.fcntl(low.fileno(), fcntl.F_DUPFD_CLOEXEC, MANY_FILES)) as wake_up:
        connection = BrokerConnection(broker.settings(), "7", wake_up)
        connection.publish([TableStatus(table="7", online=True).publication])
        while not connection.is_acknowledged:
            connection.wait(5.0)
        bell.send(b"\0")
        connection.wait(5.0)
        connection.close()
        wake_up.setblocking(False)
        with pytest.raises(BlockingIOError):
            wake_up.recv(1)


def test_wrong_password_is_reported_once(playing: TableSession, broker: Broker, tmp_path: Path) -> None:
    reports: list[str] = []
    with (
        GameStore(tmp_path / "other.db") as store,
        HallPublisher(playing, store, broker.settings(password="wrong"), reports.append),
    ):
        until(lambda: bool(reports))
    assert len(reports) == 1 and "refuses" in reports[0]


def test_table_reaches_a_broker_with_its_own_certificate(
    playing: TableSession, make_broker: MakeBroker, tmp_path: Path
) -> None:
    broker, reports = make_broker(with_tls=True), list[str]()
    with GameStore(tmp_path / "other.db") as store:
        GameLog.begin_game(store, GameStarted(("Anna", "Ben")))
        with HallPublisher(playing, store, broker.settings(), reports.append):
            until(lambda: EventQueue(store, "7", f"127.0.0.1:{broker.port}/7").read_batch() == [])
    assert reports == []


@pytest.mark.parametrize("is_on", [True, False])
def test_home_assistant_finds_the_table_if_the_settings_say_so(
    playing: TableSession, broker: Broker, tmp_path: Path, is_on: bool
) -> None:
    settings = replace(broker.settings(), home_assistant=is_on)
    with GameStore(tmp_path / "other.db") as store, HallPublisher(playing, store, settings, print):
        until(lambda: f"tilekeeper/v2/{settings.table}/state" in read_kept(broker))
        assert ("homeassistant/device/tilekeeper_7/config" in read_kept(broker)) == is_on


@pytest.mark.parametrize("name", ["7", "8"])
@pytest.mark.parametrize("is_on", [True, False])
def test_broker_keeps_nothing_for_home_assistant_of_a_renamed_or_hidden_table(
    playing: TableSession, broker: Broker, tmp_path: Path, name: str, is_on: bool
) -> None:
    before = replace(broker.settings(), home_assistant=True)
    with GameStore(tmp_path / "other.db") as store:
        GameLog.begin_game(store, GameStarted(("Anna", "Ben")))
        for settings in (before, replace(before, table=name, home_assistant=is_on)):
            with HallPublisher(playing, store, settings, print):
                until(lambda table=settings.table: f"tilekeeper/v2/{table}/state" in read_kept(broker))
    kept = read_kept(broker).keys() - {"end"}
    assert {topic for topic in kept if not topic.startswith(f"tilekeeper/v2/{name}/")} == (
        {f"homeassistant/device/tilekeeper_{name}/config"} if is_on else set()
    )


def read_kept(broker: Broker) -> dict[str, str]:
    """Return the payloads of the messages that the broker keeps, by topic."""
    kept: dict[str, str] = {}
    client = mqtt.Client(CallbackAPIVersion.VERSION2)
    client.on_message = lambda _client, _data, one: kept.update({one.topic: one.payload.decode()})
    client.username_pw_set(USER, PASSWORD)
    client.connect("127.0.0.1", broker.port)
    client.subscribe([("#", 1)])
    done = threading.Event()
    client.on_publish = lambda *_: done.set()
    client.loop_start()
    client.publish("end", b"", 1)
    assert done.wait(PATIENCE_S)
    client.disconnect()
    client.loop_stop()
    return kept


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # paho leaves the socket to Python
def test_foreign_certificate_is_reported_once(
    playing: TableSession, make_broker: MakeBroker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("device.hall.broker_task.RECONNECT_DELAYS_S", (0.05,))
    broker, reports = make_broker(with_tls=True), list[str]()
    foreign = make_certificate(tmp_path, "foreign")
    with GameStore(tmp_path / "other.db") as store:
        publisher = HallPublisher(playing, store, broker.settings(ca=foreign), reports.append)
        until(lambda: bool(reports))
        time.sleep(0.2)  # further attempts
        publisher.close()
    gc.collect()
    assert len(reports) == 1 and "self-signed certificate" in reports[0]


def test_delay_of_the_next_attempt_is_reset_without_events(
    session: TableSession, broker: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("device.hall.broker_task.RECONNECT_DELAYS_S", (0.3, 0.3, 2 * PATIENCE_S))
    begun = time.monotonic()
    with GameStore(tmp_path / "other.db") as store, HallPublisher(session, store, broker.settings(), print):
        for _ in range(3):
            wait_until_delivered(broker)
            broker.kill()
            broker.start()
        wait_until_delivered(broker)
    assert time.monotonic() - begun < 2 * PATIENCE_S


def test_table_stops_while_the_name_of_the_broker_is_looked_up(
    session: TableSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("device.hall.broker_task.CLOSE_TIMEOUT_S", 0.05)
    begun, answer, ended = threading.Event(), threading.Event(), threading.Event()

    def look_up(*_: object, **__: object) -> NoReturn:
        begun.set()
        answer.wait(PATIENCE_S)
        ended.set()
        raise socket.gaierror(-3, "Temporary failure in name resolution")

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    with GameStore(tmp_path / "other.db") as store:
        publisher = HallPublisher(session, store, HallSettings("broker.club.example", table="7"), print)
        try:
            assert begun.wait(PATIENCE_S)
            publisher.close()
            assert not ended.is_set()
        finally:
            answer.set()
            until(lambda: publisher._bell.fileno() < 0)


def wait_until_delivered(broker: Broker) -> None:
    """Wait for the state, which follows the first acknowledgement; the broker keeps nothing over a restart."""
    simple("tilekeeper/v2/7/state", port=broker.port, auth={"username": USER, "password": PASSWORD})
