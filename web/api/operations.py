"""Operations of the API. Each operation defines a Flask route and its entry in the OpenAPI document.

An operation declares the types of its input and output. Both the validation of requests (msgspec) and the
OpenAPI document use these types, so that the document always agrees with the program.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, get_type_hints

import msgspec
from flask import Blueprint, Response, current_app, request
from itsdangerous import BadSignature, URLSafeSerializer

from engine.errors import TilekeeperError
from web.api.schemas import Question
from web.command_requests import RequestError, decode_json
from web.security.pairing import PairedClient, current_pairing

PREFIX = "/api/v1"
"""Common prefix of the paths of all operations."""
JSON = "application/json"


class ApiError(TilekeeperError):
    """Error that becomes an error response: HTTP status, reason (one line for the user), and headers.

    `moment` is the current moment of the game, if the request was about an earlier moment. `question` is the open
    question, if the request was about another question.
    """

    def __init__(
        self,
        status: int,
        reason: str,
        *,
        moment: str = "",
        question: Question | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(reason)
        self.status, self.headers = status, dict(headers or {})
        self.problem = Problem(reason, moment, question)


class Problem(msgspec.Struct, frozen=True, omit_defaults=True):
    """The reason why a request failed, in one line.

    `moment` is the current moment of the game, if the request was about an earlier moment. `question` is the open
    question, if the request was about another question.
    """

    error: str
    moment: str = ""
    question: Question | None = None


@dataclass(frozen=True, slots=True)
class Media:
    """Media type and description of a request or response body that is not JSON."""

    type: str
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """An operation of the API. `name` is the `operationId`, and `text` its summary and description.

    - `rule`: a Flask rule below the API's prefix.
    - `view`: the function that handles requests. Its arguments are the variables of the rule, `query` and `body` if
      these have a type, and the paired device as `client` if `needs_client` is True. It returns a value of the type
      `response`, or a `Response`.
    - `needs_pairing`: True if the client must be paired.
    - `error_statuses`: error statuses in addition to those that follow from the other fields.
    """

    method: str
    rule: str
    view: Callable[..., Any]
    name: str
    text: str
    response: Any
    body: Any = None
    query: Any = None
    status: int = 200
    needs_pairing: bool = False
    needs_client: bool = False
    error_statuses: tuple[int, ...] = ()


def make_operation(method: str, rule: str, view: Callable[..., Any], **fields: Any) -> Operation:
    """Return an operation whose name, texts and types are those of the view function; `fields` replace or add others.

    A request or response body that is not JSON is annotated as `Annotated[bytes, Media(...)]` or `Annotated[Response,
    Media(...)]`.
    """
    types = {name: _unwrap_media(kind) for name, kind in get_type_hints(view, include_extras=True).items()}
    response = None if types["return"] is type(None) else types["return"]
    described: dict[str, Any] = {
        "name": view.__name__,
        "text": inspect.getdoc(view) or "",
        "response": response,
        "body": types.get("body"),
        "query": types.get("query"),
        "status": 200 if response else 204,
        "needs_client": "client" in types,
    }
    return Operation(method=method, rule=rule, view=view, **described | fields)


def _unwrap_media(kind: Any) -> Any:
    """Return the `Media` in the metadata of an annotated type, otherwise the type itself."""
    return next((extra for extra in getattr(kind, "__metadata__", ()) if isinstance(extra, Media)), kind)


def register_routes(routes: Blueprint, operations: Iterable[Operation]) -> None:
    """Add a route for each operation."""
    for operation in operations:
        routes.add_url_rule(operation.rule, operation.name, partial(_carry_out, operation), methods=[operation.method])


def make_signer() -> URLSafeSerializer:
    """Return the signer of the tokens that paired programs send with each request."""
    return URLSafeSerializer(current_app.config["SECRET_KEY"], salt="api")


def _find_client() -> PairedClient:
    """Return the paired client that made the current request. Raises `ApiError` (401) if it has no valid token."""
    kind, _, token = request.headers.get("Authorization", "").partition(" ")
    try:
        client = current_pairing.find_client(str(make_signer().loads(token))) if kind.lower() == "bearer" else None
    except BadSignature:
        client = None
    if client is None:
        raise ApiError(401, "Only paired devices may do this.", headers={"WWW-Authenticate": "Bearer"})
    return client


def _carry_out(operation: Operation, **arguments: Any) -> Response:
    client = _find_client() if operation.needs_pairing else None
    if operation.needs_client:
        arguments["client"] = client
    if operation.query is not None:
        arguments["query"] = _parse_query(operation.query)
    if operation.body is not None:
        arguments["body"] = _parse_body(operation.body)
    answer = operation.view(**arguments)
    return answer if isinstance(answer, Response) else make_json_response(answer, operation.status)


def make_json_response(value: object, status: int = 200) -> Response:
    """Return a value as a JSON response with `Cache-Control: no-store`. The value None gives an empty body."""
    body = b"" if value is None else encode_json(value)
    return Response(body, status, mimetype=JSON, headers={"Cache-Control": "no-store"})


def encode_json(value: object) -> bytes:
    """Encode a value as JSON with all messages in English."""
    return msgspec.json.encode(value, enc_hook=_encode_text)


def _encode_text(value: object) -> str:
    """Convert a message (`engine.messages`, a subclass of `str`) to a plain string."""
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
    """Return the body of the request as the type `kind`. Raises `ApiError` for another media type or a wrong value."""
    if isinstance(kind, Media):
        if request.mimetype != kind.type:
            raise ApiError(415, f"Send the body as {kind.type}.")
        return request.get_data(cache=False)
    if request.mimetype != JSON:  # a form on another site's page cannot send this type (Fetch: CORS-safelisted)
        raise ApiError(415, f"Send the body as {JSON}.")
    try:
        return decode_json(request.get_data(cache=False), kind)
    except RequestError as error:
        raise ApiError(400, f"The body is wrong: {error}") from None
