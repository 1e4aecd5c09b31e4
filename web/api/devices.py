"""API operations for pairing a program, for listing and unpairing devices; the signed tokens of paired programs."""

from __future__ import annotations

import msgspec
from flask import request
from itsdangerous import BadSignature, URLSafeSerializer

from engine.limits import MAX_PAIRED_CLIENTS
from web.api.operations import ApiError, Operation, make_operation
from web.api.schemas import PairedDevice, PairingOrder, Token
from web.security.pairing import PairedClient, Pairing, PairingCodeError, PairingFullError, PairingLockedError


class DeviceOperations:
    """The API operations that pair the calling device, and list and unpair devices.

    A paired device sends a token with each request, which is signed with the application's secret key.
    """

    def __init__(self, pairing: Pairing, secret_key: bytes) -> None:
        self._pairing = pairing
        self._signer = URLSafeSerializer(secret_key, salt="api")

    def list_operations(self) -> list[Operation]:
        """Return the operations in the order of the OpenAPI document."""
        return [
            make_operation("POST", "/pairing", self.pair, status=201, error_statuses=(409, 429)),
            make_operation("GET", "/devices", self.paired_devices, needs_pairing=True),
            make_operation("DELETE", "/devices/<id>", self.unpair, needs_pairing=True),
        ]

    def pair(self, body: PairingOrder) -> Token:
        """Pair this device with the six-digit code that the table shows.

        After a few wrong codes this device must wait for some minutes (429).
        """
        try:
            client = self._pairing.pair(body.code, request.remote_addr or "", body.device)
        except PairingCodeError as wrong:
            raise ApiError(409, f"That is not the code of the table. {wrong.tries_left} more tries.") from None
        except PairingLockedError as locked:
            reason = f"Too many wrong codes: try again in {locked.minutes} minutes."
            raise ApiError(429, reason, headers={"Retry-After": str(60 * locked.minutes)}) from None
        except PairingFullError:
            raise ApiError(409, f"{MAX_PAIRED_CLIENTS} devices are paired, which is the limit.") from None
        return Token(self.make_token(client), client.id, client.admin)

    def paired_devices(self) -> tuple[PairedDevice, ...]:
        """Return the paired phones and programs in the order of pairing."""
        return msgspec.convert(self._pairing.clients, tuple[PairedDevice, ...], from_attributes=True)

    def unpair(self, id: str, client: PairedClient) -> None:
        """Unpair a device. Each paired device may unpair itself; only the admin may unpair others."""
        if not (client.admin or client.id == id):
            raise ApiError(403, "Only the device that was paired first may unpair others.")
        if not self._pairing.unpair(id):
            raise ApiError(404, "That device is not paired.")

    def make_token(self, client: PairedClient) -> str:
        """Return the token that a paired client sends with each request."""
        return str(self._signer.dumps(client.id))

    def find_client(self) -> PairedClient:
        """Return the paired client that made the current request. Raises `ApiError` (401) if it has no valid token."""
        kind, _, token = request.headers.get("Authorization", "").partition(" ")
        try:
            client = self._pairing.find_client(str(self._signer.loads(token))) if kind.lower() == "bearer" else None
        except BadSignature:
            client = None
        if client is None:
            raise ApiError(401, "Only paired devices may do this.", headers={"WWW-Authenticate": "Bearer"})
        return client
