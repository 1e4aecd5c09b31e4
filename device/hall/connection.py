"""One connection to an MQTT 5 broker. All its work is done in the thread that calls `wait`.

MQTT 5 is needed to detect messages that the broker does not allow this client to publish. With MQTT 3.1.1, a broker
discards a forbidden message, but acknowledges it.
"""

from __future__ import annotations

import logging
import select
import socket
import ssl
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NoReturn, cast

from paho.mqtt import client as mqtt
from paho.mqtt.enums import CallbackAPIVersion, MQTTErrorCode
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

from device.hall.messages import Publication
from device.settings import HallSettings
from device.storage.files import read_small_file
from engine.errors import TilekeeperError

_log = logging.getLogger(__name__)

KEEPALIVE_S = 20
CONNECT_TIMEOUT_S = 5.0
MAX_PASSWORD_FILE_BYTES = 10_000
QOS = 1
"""MQTT's quality of service 1: messages are delivered at least once."""


class BrokerLostError(TilekeeperError):
    """Error if the broker cannot be reached, or if the connection has ended."""


class BrokerRefusedError(TilekeeperError):
    """Error if the broker refuses the client, or if a certificate is not accepted; trying again will hardly help."""


@dataclass(frozen=True, slots=True)
class Subscription:
    """Topics that a client receives, and the function that is called with each message.

    `receive` gets the topic, the payload, and whether the broker had retained the message. A message is acknowledged
    after `receive` has returned. The broker keeps messages for an absent client for `session_s` seconds, and does not
    send messages larger than `max_bytes`. If the broker refuses the subscription, the refusal is an error if
    `is_required` is True, and otherwise only logged.
    """

    topics: tuple[str, ...]
    receive: Callable[[str, bytes, bool], None]
    session_s: int
    max_bytes: int
    is_required: bool = True


class BrokerConnection:
    """Connection of one client to the broker. If the connection ends unexpectedly, the broker sends the message `will`.

    Each attempt to connect makes a new `BrokerConnection`, so unsent messages are kept only in the store.
    """

    def __init__(
        self,
        settings: HallSettings,
        client: str,
        wake_up: socket.socket | None = None,
        will: Publication | None = None,
        subscription: Subscription | None = None,
    ) -> None:
        """Connect and log in as `client`. Raises `BrokerLostError`, `BrokerRefusedError`.

        `wait` returns early if data arrive at the socket `wake_up`, with which other threads wake the waiting thread.
        """
        self._wake_up = wake_up
        self._unacknowledged: dict[int, Callable[[str], None] | None] = {}
        """For each message without an acknowledgement, by its id, the function that is called if it is refused."""
        self._refusal = ""
        self._is_ready = False
        self._client = mqtt.Client(
            CallbackAPIVersion.VERSION2,
            f"tilekeeper-{client}",
            protocol=mqtt.MQTTv5,
            reconnect_on_failure=False,
        )
        self._client.connect_timeout = CONNECT_TIMEOUT_S
        self._client.on_connect = lambda _client, _data, _flags, reason, _properties: self._handle_reply(reason)
        self._client.on_publish = lambda _client, _data, mid, reason, _properties: self._handle_ack(mid, reason)
        if will:
            self._client.will_set(will.topic, will.payload, QOS, will.retain)
        self._set_credentials(settings)
        properties = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]
        if subscription:
            properties.SessionExpiryInterval = subscription.session_s
            properties.MaximumPacketSize = subscription.max_bytes
            self._client.on_message = lambda _client, _data, one: subscription.receive(
                one.topic, bytes(one.payload), one.retain
            )
            self._client.on_subscribe = lambda _client, _data, _mid, reasons, _properties: self._handle_subscribed(
                reasons, is_required=subscription.is_required
            )
        self._open(settings, properties, is_new=subscription is None or not subscription.session_s)
        if subscription:
            self._client.subscribe([(topic, QOS) for topic in subscription.topics])

    def _set_credentials(self, settings: HallSettings) -> None:
        """Set the certificate, user and password of the settings, if any. Raises `BrokerRefusedError`."""
        file = settings.ca
        try:
            if file:
                self._client.tls_set(str(file))
            if settings.user:
                file = settings.password_file
                password = read_small_file(file, MAX_PASSWORD_FILE_BYTES).decode().strip() if file else None
                self._client.username_pw_set(settings.user, password)
        except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
            raise BrokerRefusedError(f"{file}: {getattr(error, 'strerror', None) or error}") from error

    def _open(self, settings: HallSettings, properties: Properties, *, is_new: bool) -> None:
        """Connect to the broker, and wait until it accepts. Raises `BrokerRefusedError`, `BrokerLostError`."""
        try:
            self._client.connect(settings.host, settings.port, KEEPALIVE_S, clean_start=is_new, properties=properties)
        except ssl.SSLCertVerificationError as error:
            raise BrokerRefusedError(error.verify_message) from error
        except (OSError, ValueError) as error:
            raise BrokerLostError(str(error)) from error
        try:
            self._wait_for_reply()
        except TilekeeperError:
            self.close()
            raise

    @property
    def is_acknowledged(self) -> bool:
        """True if the broker has acknowledged all messages that were sent."""
        return not self._unacknowledged

    def publish(self, publications: Sequence[Publication], on_refused: Callable[[str], None] | None = None) -> None:
        """Send messages in order. Raises `BrokerLostError`.

        If the broker does not allow a message, `on_refused` is called with the reason; without `on_refused`, `wait`
        raises `BrokerRefusedError`.
        """
        for one in publications:
            info = self._client.publish(one.topic, one.payload, QOS, one.retain)
            if info.rc != MQTTErrorCode.MQTT_ERR_SUCCESS:
                raise BrokerLostError(mqtt.error_string(info.rc))
            self._unacknowledged[info.mid] = on_refused

    def wait(self, timeout_s: float) -> None:
        """Wait for the network or for `wake_up`, and handle what has arrived.

        Raises `BrokerLostError`, `BrokerRefusedError`.
        """
        sock = cast("socket.socket | None", self._client.socket())
        if sock is None:
            self._raise_end("the connection is closed")
        poll = select.poll()  # select.select() takes no descriptor above 1023, which many open pages can use up
        poll.register(sock, select.POLLIN | (select.POLLOUT if self._client.want_write() else 0))
        if self._wake_up:
            poll.register(self._wake_up, select.POLLIN)
        ready = dict(poll.poll(timeout_s * 1000))
        if self._wake_up and self._wake_up.fileno() in ready:
            self._wake_up.recv(4096)
        events = ready.get(sock.fileno(), 0)
        if events & ~select.POLLOUT:  # data, or the end of the connection
            self._client.loop_read()
            while isinstance(sock, ssl.SSLSocket) and sock.pending():
                self._client.loop_read()  # decrypted data that poll does not report
        if events & select.POLLOUT:
            self._client.loop_write()
        self._client.loop_misc()
        if self._refusal or self._client.socket() is None:
            self._raise_end("the connection is lost")

    def _wait_for_reply(self) -> None:
        """Wait until the broker has accepted the client. Raises `BrokerLostError` after `CONNECT_TIMEOUT_S`."""
        due = time.monotonic() + CONNECT_TIMEOUT_S
        while not self._is_ready:
            if time.monotonic() >= due:
                raise BrokerLostError("the broker does not answer")
            self.wait(0.5)

    def close(self) -> None:
        """End the connection."""
        self._client.disconnect()

    def _raise_end(self, text: str) -> NoReturn:
        if self._refusal:
            raise BrokerRefusedError(self._refusal)
        raise BrokerLostError(text)

    def _handle_reply(self, reason: ReasonCode) -> None:
        self._is_ready = not reason.is_failure
        if reason.is_failure:
            self._refusal = str(reason)

    def _handle_subscribed(self, reasons: Sequence[ReasonCode], *, is_required: bool) -> None:
        refused = ", ".join(str(reason) for reason in reasons if reason.is_failure)
        if is_required:
            self._refusal = self._refusal or refused
        elif refused:
            _log.warning("the broker lets this client receive nothing: %s", refused)

    def _handle_ack(self, mid: int, reason: ReasonCode) -> None:
        """Handle the broker's answer to a message. A refusal ends the connection, unless the sender handles it."""
        on_refused = self._unacknowledged.pop(mid, None)
        if reason.is_failure and on_refused:
            on_refused(str(reason))
        elif reason.is_failure:
            self._refusal = str(reason)
