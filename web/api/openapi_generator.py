"""Generator of the OpenAPI document from the operations of the API.

`python -m web.api > web/api/openapi.json` writes the committed copy; a test compares it with the operations.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

import msgspec

from web.api.operations import JSON, PREFIX, Media, Operation, Problem

VERSION = "1.0"

_DESCRIPTION = """\
The functions of the web page, for other programs. Reading needs no authentication. To change the game, pair first: POST
the six-digit code that the table shows to `/pairing`, and send the token of the response with each request
(`Authorization: Bearer TOKEN`). It is valid until an owner of the table unpairs the device, also after a restart.

A command names the moment that it is meant for (`seen`, the `moment` of a state). If the game has moved on since, it is
refused with 409 and the current moment. Squares are numbered `row * 15 + column` from 0, players from 0 in the order of
their turns."""

_STATUS_DESCRIPTIONS = {
    400: "The parameters or the body are not valid for this operation.",
    401: "Only paired devices may do this: send a token.",
    403: "The request came from another site's page, or the device may not do this.",
    404: "Not found.",
    409: "The game has moved on, or the command is not possible now.",
    413: "The body is too large.",
    415: "The body has another media type than this operation expects.",
    429: "Too many wrong codes: try again later.",
    503: "The games cannot be read or written now, or all streams are in use.",
}
_RULE_VARIABLE = re.compile(r"<(?:(\w+):)?(\w+)>")
_CONVERTER_SCHEMAS = {"int": {"type": "integer", "minimum": 0}, "": {"type": "string", "minLength": 1}}


def build_document(operations: Sequence[Operation]) -> dict[str, Any]:
    """Return the OpenAPI 3.1 document as a dictionary (https://spec.openapis.org/oas/v3.1.1)."""
    types = [Problem]
    for one in operations:
        types += [kind for kind in (one.response, one.body) if kind is not None and not isinstance(kind, Media)]
    schemas, components = msgspec.json.schema_components(types, ref_template="#/components/schemas/{name}")
    known = dict(zip(map(repr, types), schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for one in operations:
        paths.setdefault(_convert_path(one.rule), {})[one.method.lower()] = _describe_operation(one, known)
    return dict(
        _dedent_descriptions(
            {
                "openapi": "3.1.0",
                "info": {"title": "Tilekeeper", "version": VERSION, "description": _DESCRIPTION},
                "servers": [{"url": PREFIX}],
                "paths": paths,
                "components": {
                    "schemas": dict(sorted(components.items())),
                    "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
                },
            }
        )
    )


def _convert_path(rule: str) -> str:
    return _RULE_VARIABLE.sub(r"{\2}", rule)


def _describe_operation(one: Operation, known: dict[str, Any]) -> dict[str, Any]:
    """Return the OpenAPI description of an operation; `known` has the schemas of all types by their representation."""
    summary, _, description = one.text.partition("\n")
    operation: dict[str, Any] = {"operationId": one.name, "summary": summary}
    if description:
        operation["description"] = description.strip()
    if parameters := _describe_parameters(one):
        operation["parameters"] = parameters
    if one.body is not None:
        operation["requestBody"] = {"required": True, "content": _describe_content(one.body, known)}
    operation["responses"] = {str(one.status): _describe_success(one, known)} | {
        str(status): {"description": _STATUS_DESCRIPTIONS[status], "content": _describe_content(Problem, known)}
        for status in _list_error_statuses(one)
    }
    if one.needs_pairing:
        operation["security"] = [{"token": []}]
    return operation


def _describe_success(one: Operation, known: dict[str, Any]) -> dict[str, Any]:
    if isinstance(one.response, Media):
        return {"description": one.response.description, "content": _describe_content(one.response, known)}
    response: dict[str, Any] = {"description": HTTPStatus(one.status).phrase}
    return response if one.response is None else {**response, "content": _describe_content(one.response, known)}


def _list_error_statuses(one: Operation) -> list[int]:
    """Return the error statuses of an operation: its own, and those that follow from its method, types and path."""
    found = set(one.error_statuses)
    if one.needs_pairing:
        found.add(401)
    if one.method != "GET":
        found.add(403)
    if one.body is not None:
        found |= {400, 413, 415}
    if one.query is not None:
        found.add(400)
    if "<" in one.rule:
        found.add(404)
    return sorted(found)


def _describe_parameters(one: Operation) -> list[dict[str, Any]]:
    """Return the OpenAPI descriptions of the variables in the path, and of the fields of the query."""
    found = [
        {"name": name, "in": "path", "required": True, "schema": _CONVERTER_SCHEMAS[converter or ""]}
        for converter, name in _RULE_VARIABLE.findall(one.rule)
    ]
    if one.query is not None:
        schema = msgspec.json.schema(one.query)["$defs"][one.query.__name__]
        required = schema.get("required", [])
        for name, kind in schema["properties"].items():
            text = kind.pop("description", None)
            parameter = {"name": name, "in": "query", "required": name in required, "schema": kind}
            found.append({**parameter, "description": text} if text else parameter)
    return found


def _describe_content(kind: Any, known: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(kind, Media):
        return {JSON: {"schema": known[repr(kind)]}}
    is_text = kind.type.startswith("text/")
    return {kind.type: {"schema": {"type": "string"} if is_text else {"type": "string", "format": "binary"}}}


def _dedent_descriptions(value: Any) -> Any:
    """Return the document with the indentation of docstrings removed from its descriptions."""
    if isinstance(value, dict):
        return {
            key: inspect.cleandoc(inner)
            if key == "description" and isinstance(inner, str)
            else _dedent_descriptions(inner)
            for key, inner in value.items()
        }
    return [_dedent_descriptions(inner) for inner in value] if isinstance(value, list) else value
