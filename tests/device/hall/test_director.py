"""Signed messages of the director: what a table accepts, and what it refuses without harm."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from paho.mqtt.publish import single

from device.cli.hall_setup import format_rights
from device.hall.director import (
    KEY_TOPIC,
    MAX_ORDER_BYTES,
    BadOrderError,
    DirectorCommand,
    DirectorOrder,
    SetTableName,
    SignedOrder,
    make_director_topic,
    make_key_message,
    make_order_message,
    verify_order,
)
from device.hall.messages import OfferPairing
from device.hall.publishing.directed_table import NOTE_NAME, DirectedTable
from device.hall.publishing.publisher import HallPublisher
from device.hall.receiving.event import Event, Pairing
from device.hall.receiving.receiver import HallReceiver
from device.session.commands.base import TableCommand
from device.session.commands.games import Pause, StartClock, StartGame
from device.session.snapshot import Phase, TableSnapshot
from device.session.table_session import TableSession
from device.storage.store import TABLE_NOTES, GameStore
from engine.messages import key_of, values_of
from tests.device.hall.conftest import MakeBroker
from tests.support.broker import PASSWORD, USER, Broker
from tests.support.text_table import HORN, STARTED, TextTable, play
from tests.support.waiting import PATIENCE_S, until

KEY = Ed25519PrivateKey.from_private_bytes(bytes(32))
OTHER_KEY = Ed25519PrivateKey.from_private_bytes(bytes([1] * 32))
PUBLIC = KEY.public_key().public_bytes_raw()
TOPIC = make_director_topic("7")
START = StartClock(("Anna", "Ben"))


def make_order(
    number: int = 1,
    command: DirectorCommand | None = None,
    *,
    key: Ed25519PrivateKey = KEY,
    table: str = "7",
    store: str = "a",
) -> bytes:
    """Return a signed message for a lone."""
    order = DirectorOrder(table=table, store=store, number=number, command=command or SetTableName("Final"))
    return make_order_message(key, order).payload


def sign_text(text: str) -> bytes:
    """Return any text with the signature of the hall."""
    return msgspec.json.encode(SignedOrder(text, KEY.sign(text.encode())))


def alter(payload: bytes) -> bytes:
    """Return the message with another name under the same signature."""
    return payload.replace(b"Final", b"Finel")


FORGED = {
    "other key": (make_order(key=OTHER_KEY), "order-forged"),
    "altered": (alter(make_order()), "order-forged"),
    "no signature": (msgspec.json.encode(SignedOrder("{}", b"")), "order-forged"),
    "other table": (make_order(table="8"), "order-other-table"),
    "other store": (make_order(store="b"), "order-other-table"),
    "repeated": (make_order(number=0), "order-repeated"),
    "huge number": (make_order(number=2**53), "order-repeated"),
    "large": (make_order() + b" " * MAX_ORDER_BYTES, "order-large"),
    "no JSON": (b"\xff\x00", "order-unreadable"),
    "half": (make_order()[:-9], "order-unreadable"),
    "deep": (b"[" * MAX_ORDER_BYTES, "order-unreadable"),
    "surrogate": (b'{"order":"\\ud800","signature":""}', "order-unreadable"),
    "no order": (sign_text("{}"), "order-unreadable"),
    "another command": (
        sign_text('{"table":"7","store":"a","number":1,"command":{"kind":"undo"}}'),
        "order-unreadable",
    ),
    "another version": (
        sign_text('{"table":"7","v":3,"store":"a","number":1,"command":{"kind":"name","name":"A"}}'),
        "order-unreadable",
    ),
    "name with markup": (make_order(command=SetTableName("<b>")), "order-unreadable"),
    "invisible name": (make_order(command=SetTableName("\u3164")), "order-unreadable"),
    "no name": (make_order(command=SetTableName("")), "order-unreadable"),
    "one player": (make_order(command=OfferPairing(("Anna",))), "order-unreadable"),
    "same player": (make_order(command=OfferPairing(("Anna", "anna"))), "order-unreadable"),
    "long player": (make_order(command=OfferPairing(("Anna", "B" * 500))), "order-unreadable"),
}


class LoneTable:
    """A table without a broker: what it submits and reports, in a time that the test sets."""

    def __init__(self, store: GameStore) -> None:
        self.submitted: list[TableCommand] = []
        self.reports: list[str] = []
        self.now = 0.0
        self.directed = DirectedTable("7", store, self.submit, self.reports.append, lambda: self.now)

    def submit(self, command: TableCommand) -> Future[TableSnapshot]:
        self.submitted.append(command)
        return Future()

    def receive(self, payload: bytes, topic: str = TOPIC, *, is_retained: bool = False) -> None:
        self.directed.receive(topic, payload, is_retained, "a")

    def accept(self, key: Ed25519PrivateKey = KEY) -> None:
        """Let a hall ask, and the admin accept it."""
        self.receive(make_key_message(key).payload, KEY_TOPIC, is_retained=True)
        assert self.directed.accept(key.public_key().public_bytes_raw())


@pytest.fixture
def store() -> Iterator[GameStore]:
    with GameStore(":memory:") as store:
        yield store


@pytest.fixture
def lone(store: GameStore) -> LoneTable:
    lone = LoneTable(store)
    lone.accept()
    return lone


def test_verified_order_is_the_one_that_was_signed() -> None:
    order = verify_order(make_order(4, OfferPairing(("Anna", "Ben"))), PUBLIC, "7", "a", 3)
    assert order == DirectorOrder(table="7", store="a", number=4, command=OfferPairing(("Anna", "Ben")))


@pytest.mark.parametrize(("payload", "key"), FORGED.values(), ids=FORGED)
def test_forged_order_is_refused(payload: bytes, key: str) -> None:
    with pytest.raises(BadOrderError) as caught:
        verify_order(payload, PUBLIC, "7", "a", 0)
    assert key_of(str(caught.value)) == key


@pytest.mark.parametrize("payload", [payload for payload, _ in FORGED.values()], ids=FORGED)
def test_refused_order_changes_nothing_and_is_reported(lone: LoneTable, store: GameStore, payload: bytes) -> None:
    before = store.read_note(TABLE_NOTES, NOTE_NAME)
    lone.receive(payload)
    assert lone.submitted == [] and store.read_note(TABLE_NOTES, NOTE_NAME) == before
    assert [key_of(report) for report in lone.reports] == ["order-refused"] and lone.directed.refused_count == 1


def test_orders_are_carried_out(lone: LoneTable) -> None:
    lone.receive(make_order(1, SetTableName("Final")))
    lone.receive(make_order(2, OfferPairing(("Anna", "Ben"), 1, started=False)))
    assert (lone.directed.direction.name, lone.directed.pairing) == ("Final", ("Anna", "Ben"))
    assert lone.submitted == [] and lone.reports == ["Round 1: Anna – Ben"]
    lone.receive(make_order(3, OfferPairing(("Anna", "Ben"), 1)))
    assert lone.submitted == [START] and len(lone.reports) == 1


def test_order_is_refused_before_the_hall_is_accepted(store: GameStore) -> None:
    lone = LoneTable(store)
    lone.receive(make_key_message(KEY).payload, KEY_TOPIC)
    lone.receive(make_order())
    assert lone.directed.direction.name == "" and key_of(values_of(lone.reports[0])[0]) == "order-no-hall"


def test_every_order_is_answered(lone: LoneTable) -> None:
    rung: list[int] = []
    lone.directed.on_answer = lambda: rung.append(1)
    lone.receive(make_order(1, SetTableName("Final")))
    lone.receive(make_order(1, SetTableName("Other")))
    lone.receive(make_order(2, OfferPairing(("Anna", "Ben")), key=OTHER_KEY))
    assert [(one.number, one.accepted, one.key) for one in lone.directed.take_answers()] == [
        (1, True, ""), (1, False, "order-repeated"), (2, False, "order-forged"),
    ]  # fmt: skip
    assert len(rung) == 3 and lone.directed.take_answers() == []


def test_pairing_of_a_round_that_is_not_started_lets_its_game_wait(lone: LoneTable) -> None:
    lone.receive(make_order(1, OfferPairing(("Anna", "Ben"), 3, False)))
    assert lone.submitted == [] and lone.directed.must_wait(["Ben", "Anna"]) and not lone.directed.must_wait(["X", "Y"])
    lone.receive(make_order(2, OfferPairing(("Anna", "Ben"), 3, True)))
    assert lone.submitted == [START] and not lone.directed.must_wait(["Anna", "Ben"])


@pytest.mark.parametrize("number", ["-1", "9" * 30, "null", '"1"'])
def test_invented_number_gets_no_answer(lone: LoneTable, number: str) -> None:
    lone.receive(sign_text(f'{{"number":{number}}}'))
    assert lone.directed.take_answers() == []


def test_order_is_refused_after_a_restart(lone: LoneTable, store: GameStore) -> None:
    lone.receive(make_order(1, OfferPairing(("Anna", "Ben"))))
    restarted = LoneTable(store)
    restarted.receive(make_order(1, OfferPairing(("Anna", "Ben"))))
    assert restarted.submitted == [] and restarted.directed.refused_count == 1
    restarted.receive(make_order(2, OfferPairing(("Anna", "Ben"))))
    assert restarted.submitted == [START]


def test_order_is_refused_after_the_hall_was_accepted_again(lone: LoneTable) -> None:
    lone.receive(make_order(5, OfferPairing(("Anna", "Ben"))))
    lone.directed.withdraw()
    lone.accept(OTHER_KEY)
    lone.accept()
    lone.receive(make_order(5, OfferPairing(("Anna", "Ben"))))
    assert len(lone.submitted) == 1 and lone.directed.refused_count == 1


def test_retained_order_is_refused(lone: LoneTable) -> None:
    lone.receive(make_order(), is_retained=True)
    assert lone.directed.direction.name == "" and lone.directed.refused_count == 1


def test_number_is_saved_before_the_order_is_carried_out(lone: LoneTable, store: GameStore) -> None:
    numbers: list[str] = []
    lone.directed._submit = lambda command: (  # type: ignore[assignment]
        numbers.append(store.read_note(TABLE_NOTES, NOTE_NAME) or "") or lone.submit(command)
    )
    lone.receive(make_order(9, OfferPairing(("Anna", "Ben"))))
    assert json.loads(numbers[0])["numbers"] == {PUBLIC.hex(): 9}


def test_refused_orders_are_reported_once_a_minute(lone: LoneTable, caplog: pytest.LogCaptureFixture) -> None:
    for lone.now in (0.0, 30.0, 59.0, 60.0, 61.0):
        lone.receive(b"forged")
    assert len(lone.reports) == 2 and lone.directed.refused_count == 5
    assert len(caplog.records) == 2, "a flood must not fill the log"


@pytest.mark.parametrize("payload", [b"", b"{}", b'{"key":"AAAA"}', b"[" * 9000])
def test_broken_key_is_no_offer(store: GameStore, payload: bytes) -> None:
    lone = LoneTable(store)
    lone.receive(payload, KEY_TOPIC)
    assert lone.directed.offered_key == b"" and not lone.directed.accept(b"")


def test_accepted_hall_stays_while_another_asks(lone: LoneTable) -> None:
    lone.receive(make_key_message(OTHER_KEY).payload, KEY_TOPIC)
    assert lone.directed.direction.key == PUBLIC and not lone.directed.accept(PUBLIC)
    lone.receive(make_order())
    assert lone.directed.direction.name == "Final"


def test_withdrawn_hall_directs_nothing(lone: LoneTable) -> None:
    lone.receive(make_order())
    lone.directed.withdraw()
    lone.receive(make_order(2, OfferPairing(("Anna", "Ben"))))
    assert (lone.directed.direction.name, lone.submitted) == ("", [])


def send(broker: Broker, payload: bytes) -> None:
    """Publish as any client of the broker."""
    auth = {"username": USER, "password": PASSWORD}
    single(TOPIC, payload, 1, hostname="127.0.0.1", port=broker.port, auth=auth)  # type: ignore[arg-type]


def is_playing(hall: HallReceiver, name: str) -> bool:
    """Return True if the hall has a game of a table that is connected."""
    table = hall.state.tables.get(name)
    return table is not None and table.is_online is True and table.played is not None


def send_round(hall: HallReceiver, *, is_started: bool) -> None:
    def edit(event: Event) -> Event:
        return msgspec.structs.replace(event, rounds={1: (PAIRING,)}, sent=1, is_started=is_started)

    hall.edit_event(edit)


PAIRING = Pairing("7", "Anna", "Ben")


def test_round_starts_the_waiting_game_and_no_game_that_players_have_paused(
    session: TableSession, table: TextTable, make_broker: MakeBroker, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broker, reports, sent = make_broker(), list[str](), list[bytes]()
    monkeypatch.setattr("device.hall.receiving.receiver.make_order_message", record(sent))
    with GameStore(path, is_owner=False) as store:
        directed = DirectedTable("7", store, session.submit, reports.append)
        session.director = directed
        with (
            HallReceiver(":memory:", broker.settings(), key=KEY) as hall,
            HallPublisher(session, store, broker.settings(), print, directed),
        ):
            until(lambda: bool(directed.offered_key) and "7" in hall.state.tables)
            send_round(hall, is_started=False)
            until(lambda: "7" in hall.state.refusals)
            assert directed.accept(PUBLIC), "what the table has refused is sent again"
            until(lambda: directed.pairing == ("Anna", "Ben"))
            session.submit(StartGame(STARTED)).result(PATIENCE_S)
            assert session.state.phase is Phase.PAUSED and directed.is_waiting(session.state)
            until(lambda: hall.state.tables["7"].is_waiting)
            send_round(hall, is_started=True)
            until(lambda: session.state.phase is Phase.TURN)
            play(session, table, HORN)
            session.submit(Pause()).result(PATIENCE_S)
            send_round(hall, is_started=False)
            until(lambda: directed.must_wait(["Anna", "Ben"]))
            send_round(hall, is_started=True)
            until(lambda: not directed.must_wait(["Anna", "Ben"]))
            for payload in (sent[-1], make_order(2**50, key=OTHER_KEY, store=hall.games.list_games()[0].store)):
                send(broker, payload)
            until(lambda: directed.refused_count == 3)
            until(lambda: not hall.state.refusals)
    assert session.state.phase is Phase.PAUSED


def test_table_that_was_away_gets_the_pairing_when_it_connects(
    session: TableSession, make_broker: MakeBroker, path: Path
) -> None:
    broker = make_broker()
    with HallReceiver(":memory:", broker.settings(), key=KEY) as hall:
        until(lambda: hall.state.is_connected)
        send_round(hall, is_started=False)
        with GameStore(path, is_owner=False) as store:
            directed = DirectedTable("7", store, session.submit, print)
            with HallPublisher(session, store, broker.settings(), print, directed):
                until(lambda: bool(directed.offered_key))
                directed.accept(PUBLIC)
                until(lambda: directed.pairing == ("Anna", "Ben"))


def test_table_survives_what_any_client_may_send(playing: TableSession, make_broker: MakeBroker, path: Path) -> None:
    broker, reports = make_broker(), list[str]()
    with GameStore(path, is_owner=False) as store:
        directed = DirectedTable("7", store, playing.submit, reports.append)
        with (
            HallReceiver(":memory:", broker.settings(), key=KEY) as hall,
            HallPublisher(playing, store, broker.settings(), print, directed),
        ):
            until(lambda: bool(directed.offered_key) and is_playing(hall, "7"))
            assert directed.accept(PUBLIC)
            harmful = [payload for payload, _ in FORGED.values()]
            for payload in (*harmful, b"[" * 2_000_000):  # the broker keeps the last one from the table
                send(broker, payload)
            until(lambda: hall.name_table("7", "Final"))
            until(lambda: directed.direction.name == "Final")
            assert directed.refused_count == len(harmful) and len(reports) == 1
            assert hall.state.tables["7"].is_online


def test_written_rights_let_only_the_hall_direct(
    playing: TableSession, make_broker: MakeBroker, path: Path, tmp_path: Path
) -> None:
    rights = tmp_path / "acl"
    rights.write_text(format_rights([USER]), encoding="utf-8")
    rights.chmod(0o600)
    broker = make_broker(f"acl_file {rights}\n")
    settings = broker.settings(table=USER)
    broker.add_user("hall", PASSWORD)
    with GameStore(path, is_owner=False) as store:
        directed = DirectedTable(USER, store, playing.submit, print)
        with (
            HallReceiver(":memory:", msgspec.structs.replace(settings, user="hall"), key=KEY) as hall,
            HallPublisher(playing, store, settings, print, directed),
            HallReceiver(":memory:", settings, key=OTHER_KEY) as other,
        ):
            until(lambda: bool(directed.offered_key) and is_playing(hall, USER))
            until(lambda: bool(other.state.problems))
            assert "hall/key" in other.state.problems[0] and directed.accept(PUBLIC)
            until(lambda: hall.name_table(USER, "Final"))
            until(lambda: directed.direction.name == "Final")
            until(lambda: hall.state.find_title(USER) == "Final")
            directed.withdraw()
            until(lambda: hall.state.find_title(USER) == USER)
    assert directed.refused_count == 0 and not hall.state.problems


def record(sent: list[bytes]) -> Callable[..., object]:
    """Return `make_order_message`, noting what it signs."""

    def publish(key: Ed25519PrivateKey, order: DirectorOrder) -> object:
        message = make_order_message(key, order)
        sent.append(message.payload)
        return message

    return publish
