"""Pairing of programs with the table, and the list of paired devices."""

from __future__ import annotations

from collections.abc import Callable

from flask import request

from web.api.operations import ApiError, Operation
from web.api.schemas import PairedDevice, PairingOrder, Token
from web.security.pairing import PairedClient, Pairing, PairingCodeError, PairingLockedError


def build_operations(pairing: Pairing, token_of: Callable[[PairedClient], str]) -> list[Operation]:
    """Return the operations to pair this device, and to list and unpair devices."""

    def pair(body: PairingOrder) -> Token:
        """Pair this device with the six-digit code that the table shows.

        After a few wrong codes this device must wait for some minutes (429).
        """
        try:
            phone = pairing.pair(body.code, request.remote_addr or "", body.device)
        except PairingCodeError as wrong:
            raise ApiError(409, f"That is not the code of the table. {wrong.tries_left} more tries.") from None
        except PairingLockedError as locked:
            why = f"Too many wrong codes: try again in {locked.minutes} minutes."
            raise ApiError(429, why, headers={"Retry-After": str(60 * locked.minutes)}) from None
        return Token(token_of(phone), phone.id, phone.admin)

    def paired_devices() -> tuple[PairedDevice, ...]:
        """Return the paired phones and programs, in the order in which they were paired."""
        return tuple(PairedDevice(one.id, one.device, one.since, one.admin) for one in pairing.clients)

    def unpair(id: str, phone: PairedClient) -> None:
        """Unpair a device: the table's admin may unpair any device, others only themselves."""
        if not (phone.admin or phone.id == id):
            raise ApiError(403, "Only the device that was paired first may unpair others.")
        if not pairing.unpair(id):
            raise ApiError(404, "That device is not paired.")

    return [
        Operation("POST", "/pairing", pair, Token, body=PairingOrder, status=201, error_statuses=(409, 429)),
        Operation("GET", "/devices", paired_devices, tuple[PairedDevice, ...], needs_pairing=True),
        Operation("DELETE", "/devices/<id>", unpair, None, status=204, needs_pairing=True, needs_client=True),
    ]
