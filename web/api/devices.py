"""API operations for pairing a program, for listing and unpairing devices."""

from __future__ import annotations

import msgspec
from flask import request

from engine.limits import MAX_PAIRED_CLIENTS
from web.api.operations import ApiError, make_operation, make_signer
from web.api.schemas import PairedDevice, PairingOrder, Token
from web.security.pairing import (
    PairedClient,
    PairingCodeError,
    PairingFullError,
    PairingLockedError,
    current_pairing,
)


def pair(body: PairingOrder) -> Token:
    """Pair this device with the six-digit code that the table shows.

    After a few wrong codes this device must wait for some minutes (429).
    """
    try:
        client = current_pairing.pair(body.code, request.remote_addr or "", body.device)
    except PairingCodeError as wrong:
        raise ApiError(409, f"That is not the code of the table. {wrong.tries_left} more tries.") from None
    except PairingLockedError as locked:
        reason = f"Too many wrong codes: try again in {locked.minutes} minutes."
        raise ApiError(429, reason, headers={"Retry-After": str(60 * locked.minutes)}) from None
    except PairingFullError:
        raise ApiError(409, f"{MAX_PAIRED_CLIENTS} devices are paired, which is the limit.") from None
    return Token(str(make_signer().dumps(client.id)), client.id, client.admin)


def paired_devices() -> tuple[PairedDevice, ...]:
    """Return the paired phones and programs in the order of pairing."""
    return msgspec.convert(current_pairing.clients, tuple[PairedDevice, ...], from_attributes=True)


def unpair(id: str, client: PairedClient) -> None:
    """Unpair a device. Each paired device may unpair itself; only the admin may unpair others."""
    if not (client.admin or client.id == id):
        raise ApiError(403, "Only the device that was paired first may unpair others.")
    if not current_pairing.unpair(id):
        raise ApiError(404, "That device is not paired.")


OPERATIONS = (
    make_operation("POST", "/pairing", pair, status=201, error_statuses=(409, 429)),
    make_operation("GET", "/devices", paired_devices, needs_pairing=True),
    make_operation("DELETE", "/devices/<id>", unpair, needs_pairing=True),
)
"""The operations in the order of the OpenAPI document."""
