"""Signed tokens that authenticate paired programs in the API."""

from __future__ import annotations

from flask import request
from itsdangerous import BadSignature, URLSafeSerializer

from web.api.operations import ApiError
from web.security.pairing import Pairing
from web.security.pairing_file import PairedClient


class Tokens:
    """Maker and verifier of the tokens of paired programs, which are signed with the application's secret key."""

    def __init__(self, pairing: Pairing, secret_key: str | bytes) -> None:
        self.pairing = pairing
        self._signer = URLSafeSerializer(secret_key, salt="api")

    def make_token(self, client: PairedClient) -> str:
        """Return the token that a paired client sends with each request."""
        return str(self._signer.dumps(client.id))

    def find_client(self) -> PairedClient:
        """Return the paired client that made the current request. Raises `ApiError` (401) if it has no valid token."""
        kind, _, token = request.headers.get("Authorization", "").partition(" ")
        try:
            client = self.pairing.find_client(str(self._signer.loads(token))) if kind.lower() == "bearer" else None
        except BadSignature:
            client = None
        if client is None:
            raise ApiError(401, "Only paired devices may do this.", headers={"WWW-Authenticate": "Bearer"})
        return client
