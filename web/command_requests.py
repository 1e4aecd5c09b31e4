"""Decode commands in HTTP requests, from JSON bodies and from HTML forms.

The result is an `Order`: the version of the game that the user saw, and the validated arguments of the command
(`device.session.commands`).
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from functools import cache
from typing import Annotated, Any, TypeVar, cast

import msgspec
from msgspec import Meta
from werkzeug.datastructures import MultiDict

from device.session.commands import COMMAND_TABLE
from device.session.commands.base import TableCommand, find_argument_type
from device.session.commands.games import StartGame
from device.session.new_game import FindLexicon, NewGameRequest, make_game
from device.session.snapshot import Moment
from engine.errors import TilekeeperError

WEB_COMMANDS: Sequence[type[TableCommand]] = tuple(command for command in COMMAND_TABLE if command.name)
"""The commands that have a route in the API and the web pages, in the order of the OpenAPI document."""

T = TypeVar("T", bound=msgspec.Struct)
MomentText = Annotated[
    str,
    Meta(pattern=r"^[0-9]{1,9}-[0-9]{1,9}$", description="The moment that the command is for: `moment` of a state."),
]


class RequestError(TilekeeperError):
    """Error for an invalid body or form. The message gives the reason and the path of the field, in English."""


class Order(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Request for a command without arguments. `seen` is the version of the game that the user saw (`12-34`)."""

    seen: MomentText

    @property
    def moment(self) -> Moment:
        """The version of the game that the client displayed when the user gave the command."""
        game, events = self.seen.split("-")
        return Moment(int(game), int(events))


def make_order_type(command: type[TableCommand]) -> type[Order]:
    """Return the request type of a command. Commands with the same arguments have the same type.

    >>> from device.session.commands.turns import ExchangeTiles
    >>> make_order_type(ExchangeTiles)("12-34", 3)
    ExchangeOrder(seen='12-34', count=3)
    """
    return _define_order_type(
        command.schema_name, NewGameRequest if command is StartGame else find_argument_type(command)
    )


def make_command(command: type[TableCommand], order: Order, find_own: FindLexicon) -> TableCommand:
    """Return the command with the arguments in an order; `find_own` returns the owner's word list for a tile set.

    Raises `NewGameError`.
    """
    arguments = {name: getattr(order, name) for name in order.__struct_fields__ if name != "seen"}
    if command is StartGame:
        return make_game(NewGameRequest(**arguments), find_own)
    return command(**arguments)


def decode_json(data: bytes, kind: type[T]) -> T:
    """Decode a JSON body to the type `kind`. Raises `RequestError`."""
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RequestError(f"{error}.") from None


def decode_form(form: MultiDict[str, str], kind: type[T], **more: object) -> T:
    """Decode the fields of a form and the additional fields `more` to the type `kind`. Raises `RequestError`.

    An empty field counts as missing if it has a default. Fields that the type does not have are ignored. A field of
    `more` replaces the field with the same name in the form.
    """
    values = dict(more)
    for field in msgspec.structs.fields(kind):
        if field.name in more:
            continue
        if _is_list(field.type):
            values[field.name] = form.getlist(field.name)
        elif field.name in form and (field.required or form[field.name].strip()):
            values[field.name] = form[field.name].strip().replace("−", "-")  # a phone may write a true minus sign
    try:
        return msgspec.convert(values, kind, strict=False)
    except msgspec.ValidationError as error:
        raise RequestError(f"{error}.") from None


def _is_list(kind: object) -> bool:
    """Return True for a tuple type. A form sends the items of a tuple as several fields with the same name."""
    info = msgspec.inspect.type_info(kind)
    while isinstance(info, msgspec.inspect.Metadata):
        info = info.type
    return isinstance(info, msgspec.inspect.VarTupleType)


@cache
def _define_order_type(schema_name: str, arguments: type[msgspec.Struct]) -> type[Order]:
    """Return a subclass of `Order` with the name `schema_name` and the fields of `arguments`."""
    fields = msgspec.structs.fields(arguments)
    if not fields:
        return Order
    order_type = msgspec.defstruct(
        schema_name,
        [(field.name, field.type, *_copy_default(field)) for field in fields],
        bases=(Order,),
        namespace={"__doc__": inspect.getdoc(arguments)},
        frozen=True,
        forbid_unknown_fields=True,
    )
    return cast(type[Order], order_type)


def _copy_default(field: msgspec.structs.FieldInfo) -> tuple[Any, ...]:
    """Return a tuple with the default of a field; empty for a field without a default."""
    if field.required:
        return ()
    return (field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory(),)
