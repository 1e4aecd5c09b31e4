"""What the API consists of: operations, each a route of Flask and a paragraph of the OpenAPI document at once.

An operation says what it takes and gives as types; requests are checked against them (msgspec), and the document is
made from them, so that the two cannot differ.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from flask import Blueprint, Response, request
from flask.typing import ResponseReturnValue

from engine.errors import TilekeeperError
from web.security.pairing import PairedClient

JSON = "application/json"


class ApiError(TilekeeperError):
    """An answer that is no success: its status, why (one line, for people), and what else the answer says."""

    def __init__(self, status: int, why: str, *, moment: str = "", headers: Mapping[str, str] | None = None) -> None:
        super().__init__(why)
        self.status, self.reason, self.moment, self.headers = status, why, moment, dict(headers or {})


class Problem(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why a request was not carried out, in one line; `moment` is the game's present one where it has moved on."""

    error: str
    moment: str = ""


@dataclass(frozen=True, slots=True)
class Media:
    """An answer or a body that is no JSON: its media type, and what it is, in words."""

    type: str
    description: str


@dataclass(frozen=True, slots=True)
class Operation:
    """One thing that programs can do.

    `rule` is a rule of Flask under the API's prefix. `view` is called with the parts of the rule, with `query` and
    `body` where these have a type, and with `phone` where it `asks_who`; it gives a value of the type `answer`, or a
    `Response`. Only a `paired` device may have it carried out. `refusals` are the statuses it may answer with besides.
    """

    method: str
    rule: str
    view: Callable[..., Any]
    response: Any
    body: Any = None
    query: Any = None
    status: int = 200
    needs_pairing: bool = False
    needs_client: bool = False
    error_statuses: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        """The operation's name in the document."""
        return self.view.__name__

    @property
    def summary(self) -> str:
        """What it does, in one line."""
        return (inspect.getdoc(self.view) or "").partition("\n")[0]

    @property
    def description(self) -> str:
        """What else there is to say of it."""
        return (inspect.getdoc(self.view) or "").partition("\n")[2].strip()


def register_routes(routes: Blueprint, operations: Sequence[Operation], phone: Callable[[], PairedClient]) -> None:
    """Make a route of each operation. `phone` gives the paired device that asks, or raises `ApiError`."""
    for operation in operations:
        routes.add_url_rule(operation.rule, operation.name, _make_view(operation, phone), methods=[operation.method])


def _make_view(operation: Operation, phone: Callable[[], PairedClient]) -> Callable[..., ResponseReturnValue]:
    def carry_out(**given: Any) -> ResponseReturnValue:
        who = phone() if operation.needs_pairing else None
        if operation.needs_client:
            given["phone"] = who
        if operation.query is not None:
            given["query"] = _parse_query(operation.query)
        if operation.body is not None:
            given["body"] = _parse_body(operation.body)
        answer = operation.view(**given)
        return answer if isinstance(answer, Response) else make_json_response(answer, operation.status)

    return carry_out


def make_json_response(value: object, status: int = 200) -> Response:
    """A value as the body of an answer, for now only."""
    body = b"" if value is None else encode_json(value)
    return Response(body, status, mimetype=JSON, headers={"Cache-Control": "no-store"})


def encode_json(value: object) -> bytes:
    """A value as JSON, its texts in English."""
    return msgspec.json.encode(value, enc_hook=_encode_text)


def _encode_text(value: object) -> str:
    """A text that other languages could say (`engine.messages`) as a text like any other."""
    if isinstance(value, str):
        return "".join(value)
    raise NotImplementedError(f"{type(value).__name__} has no form in JSON here")


def _parse_query(kind: Any) -> Any:
    if strange := set(request.args) - {field.name for field in msgspec.structs.fields(kind)}:
        raise ApiError(400, f"There is no parameter {min(strange)[:40]!r} here.")
    try:
        return msgspec.convert(request.args.to_dict(), kind, strict=False)
    except msgspec.ValidationError as error:
        raise ApiError(400, f"The parameters are wrong: {error}.") from None


def _parse_body(kind: Any) -> Any:
    if isinstance(kind, Media):
        if request.mimetype != kind.type:
            raise ApiError(415, f"Send {kind.description} as {kind.type}.")
        return request.get_data(cache=False)
    if request.mimetype != JSON:  # a form of another site's page cannot say so (Fetch standard, CORS-safelisted)
        raise ApiError(415, f"Send the body as {JSON}.")
    try:
        return msgspec.json.decode(request.get_data(cache=False), type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ApiError(400, f"The body is wrong: {error}.") from None
