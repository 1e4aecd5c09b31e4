"""Signed orders of the director: the messages that the hall may send to a table, and how the table checks them.

A table carries out only the commands of `DirectorCommand`. Nothing here depends on the network. The
key pair of a hall is in a file that only its owner can read.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key

from device.catalogue import get_text
from device.hall.messages import SCHEMA_VERSION, TOPIC_ROOT, HallMessage, OfferPairing, Publication
from device.player_names import is_player_name
from device.settings import TABLE_PATTERN
from device.storage.files import may_exist, read_small_file, write_file
from engine.errors import TilekeeperError
from engine.rules import MAX_PLAYERS, MIN_PLAYERS

KEY_TOPIC = f"{TOPIC_ROOT}/hall/key"
MAX_ORDER_BYTES = 4000
"""Size of the largest message that a table reads, in bytes; a message with the longest names needs 1000."""
MAX_PACKET_BYTES = 4 * MAX_ORDER_BYTES
"""Size of the largest packet that the broker sends to a table, in bytes. It is above `MAX_ORDER_BYTES`, so that
messages that are slightly too long still arrive, and the table reports them."""
KEY_BYTES = 32
ORDER_REASONS = ("order-no-hall", "order-forged", "order-unreadable", "order-other-table", "order-repeated")
"""Keys of messages that say why a table refuses an order. The hall translates these messages for its pages, which is
possible because they have no placeholders."""
_MAX_NUMBER = 2**53
_FINGERPRINT_DIGITS = 20


class SetTableName(msgspec.Struct, frozen=True, tag_field="kind", tag="name"):
    """Set the name that the pages of the table show."""

    name: str


DirectorCommand = SetTableName | OfferPairing


class DirectorOrder(HallMessage, frozen=True, kw_only=True):
    """A command for the table `table`, whose store has the id `store`; `number` increases with each order of a hall."""

    store: str
    number: int
    command: DirectorCommand


class SignedOrder(msgspec.Struct, frozen=True):
    """A `DirectorOrder` as JSON text, and the Ed25519 signature (Base64) of exactly this text in UTF-8."""

    order: str
    signature: bytes


class _NumberedOrder(msgspec.Struct, frozen=True):
    number: int


class HallKey(msgspec.Struct, frozen=True):
    """The public key of the hall: the 32 bytes of an Ed25519 key in Base64."""

    key: bytes
    v: int = SCHEMA_VERSION


class BadOrderError(TilekeeperError):
    """Error for a message that a table refuses; the text gives the reason."""


def make_director_topic(table: str) -> str:
    """Return the topic on which a table receives orders.

    >>> make_director_topic("7")
    'tilekeeper/v2/7/director'
    """
    return f"{TOPIC_ROOT}/{table}/director"


def format_fingerprint(key: bytes) -> str:
    """Return the first 80 bits of the key's SHA-256 as text that people can compare.

    >>> format_fingerprint(bytes(32))
    '6668 7aad f862 bd77 6c8f'
    """
    digits = hashlib.sha256(key).hexdigest()[:_FINGERPRINT_DIGITS]
    return " ".join(digits[i : i + 4] for i in range(0, _FINGERPRINT_DIGITS, 4))


def make_key_message(key: Ed25519PrivateKey) -> Publication:
    """Return the message with the public key of the hall; the broker keeps it for new clients."""
    return Publication(KEY_TOPIC, HallKey(key.public_key().public_bytes_raw()), retain=True)


def make_order_message(key: Ed25519PrivateKey, order: DirectorOrder) -> Publication:
    """Return the signed message of an order; the broker does not keep it for new clients."""
    text = msgspec.json.encode(order)
    return Publication(make_director_topic(order.table), SignedOrder(text.decode(), key.sign(text)), retain=False)


def decode_key(payload: bytes) -> bytes:
    """Return the public key in the message `payload` of a hall. Raises `BadOrderError`."""
    try:
        key = msgspec.json.decode(payload[: MAX_ORDER_BYTES + 1], type=HallKey).key
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        key = b""
    if len(key) != KEY_BYTES:
        raise make_unreadable_error()
    return key


def read_order_number(payload: bytes) -> int | None:
    """Return the number of an order without verifying anything; None if there is no valid number."""
    try:
        text = msgspec.json.decode(payload[: MAX_ORDER_BYTES + 1], type=SignedOrder).order
        number = msgspec.json.decode(text, type=_NumberedOrder).number
        return number if 0 <= number < _MAX_NUMBER else None
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None


def verify_order(payload: bytes, key: bytes, table: str, store: str, last_number: int) -> DirectorOrder:
    """Verify an order in the message `payload`: signature, table, store, number and command. Return the order.

    The signature must match `key`, the accepted public key (empty if there is none). The number of the order must be
    larger than `last_number`. Raises `BadOrderError`.
    """
    if len(payload) > MAX_ORDER_BYTES:
        raise BadOrderError(get_text("order-large", len(payload)))
    if not key:
        raise BadOrderError(get_text("order-no-hall"))
    try:
        signed = msgspec.json.decode(payload, type=SignedOrder)
        Ed25519PublicKey.from_public_bytes(key).verify(signed.signature, signed.order.encode())
        order = msgspec.json.decode(signed.order, type=DirectorOrder)
    except InvalidSignature:
        raise BadOrderError(get_text("order-forged")) from None
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        raise make_unreadable_error() from None
    if (order.table, order.store) != (table, store):
        raise BadOrderError(get_text("order-other-table"))
    if not last_number < order.number < _MAX_NUMBER:
        raise make_repeated_error()
    if order.v != SCHEMA_VERSION or not is_sound_command(order.command):
        raise make_unreadable_error()
    return order


def is_sound_command(command: DirectorCommand) -> bool:
    """Return True if the names in a command are valid, so that a table can carry it out."""
    match command:
        case SetTableName(name=name):
            return bool(TABLE_PATTERN.fullmatch(name)) and is_player_name(name)
        case OfferPairing(players=players):
            distinct = len({player.casefold() for player in players}) == len(players)
            return MIN_PLAYERS <= len(players) <= MAX_PLAYERS and distinct and all(map(is_player_name, players))


def make_unreadable_error() -> BadOrderError:
    """Return the error for a message that is not in a known format."""
    return BadOrderError(get_text("order-unreadable"))


def make_repeated_error() -> BadOrderError:
    """Return the error for an order that was sent before."""
    return BadOrderError(get_text("order-repeated"))


FILE_NAME = "hall-key.pem"
_MAX_FILE_BYTES = 10_000


class KeyFileError(TilekeeperError):
    """Error for a key file that cannot be read or written."""


def open_key(path: Path) -> Ed25519PrivateKey:
    """Return the key in the file; if there is no file, create a key and write it. Raises `KeyFileError`.

    An unreadable file is not replaced: with another key, the admin of each table would have to accept the hall again.
    """
    try:
        if not may_exist(path):
            new = Ed25519PrivateKey.generate()
            write_file(path, new.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        key = load_pem_private_key(read_small_file(path, _MAX_FILE_BYTES), None)
    except (OSError, ValueError, TypeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is damaged"
        raise _make_error(path, reason) from error
    if not isinstance(key, Ed25519PrivateKey):
        raise _make_error(path, "it is no Ed25519 key")
    return key


def _make_error(path: Path, reason: object) -> KeyFileError:
    return KeyFileError(
        f"The key of the hall in {path} cannot be used ({reason}). Copy it back from a backup, or delete it: then the "
        "admin of each table has to accept the hall again."
    )
