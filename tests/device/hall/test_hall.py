"""What a table publishes: the queue in the store, and a real broker if Mosquitto is installed."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from paho.mqtt import client as mqtt
from paho.mqtt.enums import CallbackAPIVersion

from device.hall.asyncapi import format_document
from device.hall.event_queue import EventQueue
from device.hall.messages import Publication, TableEvent, publish_state
from device.hall.publisher import HallPublisher
from device.session.commands.games import StartGame, Undo
from device.session.table_session import TableSession
from device.settings import HallSettings
from device.storage.game_log import GameLog
from device.storage.store import GameStore
from engine.events import GameStarted, Passed
from tests.support.sessions import until
from tests.support.text_table import FARM, HORN, STARTED, WORDS, TextTable, play

ROOT = Path(__file__).parents[3]


def numbers(batch: list[Publication]) -> list[tuple[int, int]]:
    return [(one.message.game, one.message.number) for one in batch if isinstance(one.message, TableEvent)]


def test_queue_continues_after_a_restart(tmp_path: Path) -> None:
    with GameStore(tmp_path / "games.db") as store:
        log, _ = GameLog.begin_game(store, GameStarted(("Anna", "Ben")))
        log.append([Passed(0)])
        queue = EventQueue(store, "7", "broker")
        assert numbers(queue.read_batch()) == [(1, 0), (1, 1)]
        queue.acknowledge(1, 0)
        log.undo()
    with GameStore(tmp_path / "games.db") as store:
        assert numbers(EventQueue(store, "7", "broker").read_batch()) == [(1, 1), (1, 2)]
        assert numbers(EventQueue(store, "7", "other broker").read_batch()) == [(1, 0), (1, 1), (1, 2)]


def test_queue_goes_on_to_the_next_game(tmp_path: Path) -> None:
    with GameStore(tmp_path / "games.db") as store:
        first, _ = GameLog.begin_game(store, GameStarted(("Anna", "Ben")))
        queue = EventQueue(store, "7", "broker")
        GameLog.begin_game(store, GameStarted(("Cleo", "Dan")), first)
        assert numbers(queue.read_batch()) == [(1, 0)]
        queue.acknowledge(1, 0)
        assert numbers(queue.read_batch()) == [(2, 0)]
        queue.acknowledge(2, 0)
        assert queue.read_batch() == []


def test_state_does_not_depend_on_the_validity_of_words(playing: TableSession, table: TextTable) -> None:
    state = play(playing, table, ("HRON", 7, 5, True))
    assert state.turns[0].invalid_words == ("HRON",)
    assert b"valid" not in publish_state("7", state, 0.0, 0.0).payload


def test_document_is_that_of_the_messages() -> None:
    assert (ROOT / "docs" / "hall.asyncapi.json").read_text(encoding="utf-8") == format_document()


class Broker:
    """Mosquitto on a free port, with the user `table` and the password `secret`."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = int(free.getsockname()[1])
        passwords = folder / "passwords"
        subprocess.run(["mosquitto_passwd", "-b", "-c", passwords, "table", "secret"], check=True, capture_output=True)
        self._file = folder / "mosquitto.conf"
        self._file.write_text(
            f"listener {self.port} 127.0.0.1\nallow_anonymous false\npassword_file {passwords}\nuser root\n"
        )  # no effect without root
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self._process = subprocess.Popen(["mosquitto", "-c", self._file], stderr=subprocess.DEVNULL)
        until(self.is_up)

    def is_up(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def stop(self) -> None:
        if self._process:
            self._process.kill()
            self._process.wait()
            self._process = None


@pytest.fixture
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    if not shutil.which("mosquitto") or not shutil.which("mosquitto_passwd"):
        pytest.skip("needs mosquitto: sudo apt install mosquitto")
    broker = Broker(tmp_path_factory.mktemp("broker"))
    broker.start()
    yield broker
    broker.stop()


@pytest.fixture
def subscribe(broker: Broker) -> Iterator[Callable[[], list[tuple[str, dict[str, object]]]]]:
    clients = []

    def start() -> list[tuple[str, dict[str, object]]]:
        received: list[tuple[str, dict[str, object]]] = []
        client = mqtt.Client(CallbackAPIVersion.VERSION2)
        client.username_pw_set("table", "secret")
        client.on_connect = lambda *_: client.subscribe("tilekeeper/#", 1)
        client.on_message = lambda _c, _d, one: received.append((one.topic, json.loads(one.payload)))
        client.connect("127.0.0.1", broker.port)
        client.loop_start()
        clients.append(client)
        return received

    yield start
    for client in clients:
        client.disconnect()
        client.loop_stop()


def make_settings(broker: Broker, folder: Path, password: str = "secret") -> HallSettings:
    (folder / "password").write_text(f"{password}\n", encoding="utf-8")
    return HallSettings("127.0.0.1", broker.port, None, "table", folder / "password", "7")


def test_events_of_an_outage_are_sent_after_it(
    table: TextTable, broker: Broker, tmp_path: Path, subscribe: Callable[[], list[tuple[str, dict[str, object]]]]
) -> None:
    reports: list[str] = []
    with GameStore(tmp_path / "games.db") as store, TableSession(table, table, store, WORDS) as session:
        session.submit(StartGame(STARTED)).result(5)
        received = subscribe()
        with HallPublisher(session, store, make_settings(broker, tmp_path), reports.append):
            until(lambda: any(topic.endswith("/events") for topic, _ in received))
            broker.stop()
            play(session, table, HORN)
            play(session, table, HORN, FARM)
            state = session.submit(Undo()).result(5)
            broker.start()
            until(lambda: {one.get("number") for _, one in received} >= set(range(state.events)))
            until(lambda: any(one.get("events") == state.events for _, one in received))
        until(lambda: received[-1][1].get("online") is False)
        first_seen = list(dict.fromkeys(one["number"] for topic, one in received if topic.endswith("/events")))
        assert first_seen == list(range(len(store.events(1))))
        assert {one["number"]: one["event"] for t, one in received if t.endswith("/events")} == {
            event.number: event.body for event in store.events(1)
        }
    assert reports == []


def test_wrong_password_is_reported_once(playing: TableSession, broker: Broker, tmp_path: Path) -> None:
    reports: list[str] = []
    with (
        GameStore(tmp_path / "other.db") as store,
        HallPublisher(playing, store, make_settings(broker, tmp_path, "wrong"), reports.append),
    ):
        until(lambda: bool(reports))
    assert len(reports) == 1 and "refuses" in reports[0]
