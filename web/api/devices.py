"""Pairing for programs, and the list of paired devices."""

from __future__ import annotations

from collections.abc import Callable

from flask import request

from web.api.operations import ApiError, Operation
from web.api.schemas import PairedDevice, PairingOrder, Token
from web.security.pairing import Locked, Pairing, Phone, WrongCode


def operations(pairing: Pairing, token_of: Callable[[Phone], str]) -> list[Operation]:
    """Pair this device, and list and unpair devices."""

    def pair(body: PairingOrder) -> Token:
        """Pair this device by the six digits that the table shows.

        A few wrong codes, and this device waits for some minutes (429).
        """
        try:
            phone = pairing.pair(body.code, request.remote_addr or "", body.device)
        except WrongCode as wrong:
            raise ApiError(409, f"That is not the code of the table. {wrong.left} more tries.") from None
        except Locked as locked:
            why = f"Too many wrong codes: try again in {locked.minutes} minutes."
            raise ApiError(429, why, headers={"Retry-After": str(60 * locked.minutes)}) from None
        return Token(token_of(phone), phone.id, phone.admin)

    def paired_devices() -> tuple[PairedDevice, ...]:
        """The paired phones and programs, in the order in which they were paired."""
        return tuple(PairedDevice(one.id, one.device, one.since, one.admin) for one in pairing.phones)

    def unpair(id: str, phone: Phone) -> None:
        """Unpair a device: the table's admin may do this to any, the others to themselves."""
        if not (phone.admin or phone.id == id):
            raise ApiError(403, "Only the device that was paired first may unpair others.")
        if not pairing.unpair(id):
            raise ApiError(404, "That device is not paired.")

    return [
        Operation("POST", "/pairing", pair, Token, body=PairingOrder, status=201, refusals=(409, 429)),
        Operation("GET", "/devices", paired_devices, tuple[PairedDevice, ...], paired=True),
        Operation("DELETE", "/devices/<id>", unpair, None, status=204, paired=True, asks_who=True),
    ]
