"""Receive and carry out the orders of a hall's director, and store which hall may direct the table.

The number of an order is saved before the order is carried out, so that no order is carried out twice, even after
a restart.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future

import msgspec

from device.catalogue import get_text
from device.hall.director import (
    KEY_TOPIC,
    BadOrderError,
    DirectorCommand,
    SetTableName,
    decode_key,
    make_repeated_error,
    read_order_number,
    verify_order,
)
from device.hall.messages import MAX_REASON_CHARS, OfferPairing, OrderAnswer
from device.session.commands.base import TableCommand
from device.session.commands.games import StartClock
from device.session.snapshot import Phase, TableSnapshot
from device.storage.store import TABLE_NOTES, GameStore
from engine.messages import key_of

_log = logging.getLogger(__name__)

NOTE_NAME = "hall-director"
REPORT_INTERVAL_S = 60.0
"""Shortest interval between two notices about refused messages, in seconds; messages in between are only counted."""
MAX_ANSWERS = 50
"""Largest number of answers that wait for the broker. If there are more, the oldest are discarded."""

Submit = Callable[[TableCommand], "Future[TableSnapshot]"]


class Direction(msgspec.Struct, frozen=True):
    """The stored data of a directed table: the accepted key of a hall, and what its director has sent.

    `key` is empty if no hall is accepted. `numbers` maps each key that was ever accepted (hexadecimal) to the number of
    the last order from its hall. `name` is the name of the table, and `offer` has the players of the next game.
    """

    key: bytes = b""
    numbers: Mapping[str, int] = {}
    name: str = ""
    offer: OfferPairing | None = None


class DirectedTable:
    """Receiver of the director's messages for one table; thread-safe."""

    def __init__(
        self,
        table: str,
        store: GameStore,
        submit: Submit,
        report: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Load the table's `Direction` (accepted key, last orders) from the store. Raises `StoreError`.

        `submit` runs a command of the session, `report` shows a message to the players, and `clock` returns seconds.
        """
        self._table = table
        self._store = store
        self._submit = submit
        self._report = report
        self._clock = clock
        self._lock = threading.Lock()
        self._reported: float | None = None
        self.direction = self._read_direction()
        """What the director has ordered."""
        self._answers: deque[OrderAnswer] = deque(maxlen=MAX_ANSWERS)
        self.offered_key = b""
        """The public key that a hall at this broker offers, or empty bytes."""
        self.refused_count = 0
        """Number of messages from the director that were refused."""
        self.on_answer: Callable[[], None] = lambda: None
        """Function that is called, on any thread, when there is an answer to send."""

    @property
    def pairing(self) -> tuple[str, ...]:
        """The players that the director has sent for the next game."""
        return self.direction.offer.players if self.direction.offer else ()

    def must_wait(self, players: Sequence[str]) -> bool:
        """Return True if a game of these players waits until the director starts the round."""
        offer = self.direction.offer
        return offer is not None and not offer.started and set(offer.players) == set(players)

    def is_waiting(self, state: TableSnapshot) -> bool:
        """Return True if the game of the table waits for the director."""
        is_unbegun = state.phase is Phase.PAUSED and not state.turns
        return is_unbegun and self.must_wait([player.name for player in state.players])

    def receive(self, topic: str, payload: bytes, is_retained: bool, store_id: str) -> None:
        """Carry out an order, or store the key that a hall offers. `store_id` is the id of this table's store.

        An invalid message is counted and reported, and has no other effect. Raises `StoreError`.
        """
        try:
            if topic == KEY_TOPIC:
                self.offered_key = decode_key(payload)
            else:
                if is_retained:  # the hall sends no retained orders: this one is a copy
                    raise make_repeated_error()
                self._carry_out(payload, store_id)
        except BadOrderError as error:
            self._note_refusal(error)
            if (number := read_order_number(payload)) is not None:
                self._queue_answer(number, error)

    def take_answers(self) -> list[OrderAnswer]:
        """Return the waiting answers in order, and remove them from the queue."""
        return [self._answers.popleft() for _ in range(len(self._answers))]

    def accept(self, key: bytes) -> bool:
        """Allow the hall with this key to direct the table. Return False if no hall offers this key now.

        Raises `StoreError`.
        """
        with self._lock:
            if not key or key != self.offered_key:
                return False
            self._save(Direction(key, self.direction.numbers))
        self.on_answer()
        return True

    def withdraw(self) -> None:
        """Stop any hall from directing the table. The last order numbers are kept, so that old orders stay refused.

        Raises `StoreError`.
        """
        with self._lock:
            self._save(Direction(numbers=self.direction.numbers))

    def _carry_out(self, payload: bytes, store_id: str) -> None:
        """Carry out a signed order of the director, and answer it. Raises `BadOrderError` for an invalid order."""
        with self._lock:
            before = self.direction
            key = before.key.hex()
            order = verify_order(payload, before.key, self._table, store_id, before.numbers.get(key, 0))
            numbers = {**before.numbers, key: order.number}
            self._save(_apply(msgspec.structs.replace(before, numbers=numbers), order.command))
        if isinstance(order.command, OfferPairing):
            self._show_offer(order.command, before.offer)
        self._queue_answer(order.number, None)

    def _show_offer(self, offer: OfferPairing, before: OfferPairing | None) -> None:
        """Start the game of a pairing if its round is started, and tell players who do not know it yet."""
        if before is None or (before.round, before.players) != (offer.round, offer.players):
            self._report(get_text("order-pairing", offer.round, " \u2013 ".join(offer.players)))
        if offer.started:
            self._submit(StartClock(offer.players))  # refused unless such a game waits

    def _queue_answer(self, number: int, error: BaseException | None) -> None:
        """Queue the answer to the order `number`.

        If `error` is None, the order was accepted; otherwise it was refused, and the text of `error` is the reason.
        """
        reason = str(error or "")
        if error:
            _log.info("the order %d of the director is refused: %s", number, reason)
        answer = OrderAnswer(
            table=self._table,
            number=number,
            accepted=error is None,
            reason=str.__str__(reason)[:MAX_REASON_CHARS],
            key=key_of(reason),
        )
        self._answers.append(answer)
        self.on_answer()

    def _note_refusal(self, error: BadOrderError) -> None:
        self.refused_count += 1
        now = self._clock()
        if self._reported is None or now - self._reported >= REPORT_INTERVAL_S:
            self._reported = now
            _log.warning("a message of the director is refused: %s", error)
            self._report(get_text("order-refused", error))

    def _read_direction(self) -> Direction:
        try:
            return msgspec.json.decode(self._store.read_note(TABLE_NOTES, NOTE_NAME) or "{}", type=Direction)
        except msgspec.DecodeError:
            _log.exception("the accepted hall cannot be read; the admin has to accept it again")
            return Direction()

    def _save(self, direction: Direction) -> None:
        self._store.save_note(TABLE_NOTES, NOTE_NAME, msgspec.json.encode(direction).decode())
        self.direction = direction


def _apply(direction: Direction, command: DirectorCommand) -> Direction:
    match command:
        case SetTableName(name=name):
            return msgspec.structs.replace(direction, name=name)
        case OfferPairing():
            return msgspec.structs.replace(direction, offer=command)
