"""A form and a JSON body become the same typed value, with the same limits."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest
from werkzeug.datastructures import MultiDict

from device.session.commands.base import TableCommand
from device.session.commands.corrections import RevealRack
from device.session.commands.games import DrawFirst, StartGame
from device.session.commands.turn_corrections import CorrectTurn
from device.session.commands.turns import ExchangeTiles
from device.session.snapshot import Moment
from web.command_requests import WEB_COMMANDS, Order, RequestError, decode_form, decode_json, make_order_type

SAME: Sequence[tuple[type[TableCommand], dict[str, object], dict[str, object]]] = [
    (ExchangeTiles, {"count": "3"}, {"count": 3}),
    (CorrectTurn, {"number": "2", "score": " −12 ", "player": ""}, {"number": 2, "score": -12}),
    (RevealRack, {"player": "0", "letters": ""}, {"player": 0, "letters": ""}),
    (DrawFirst, {"letters": ["A", ""]}, {"letters": ["A", ""]}),
    (StartGame, {"players": ["Anna", "Ben"], "first": "null"}, {"players": ["Anna", "Ben"], "first": None}),
]  # fmt: skip
WRONG: Sequence[tuple[type[TableCommand], dict[str, object], dict[str, object]]] = [
    (ExchangeTiles, {}, {}),
    (ExchangeTiles, {"count": "99"}, {"count": 99}),
    (ExchangeTiles, {"count": "three"}, {"count": "three"}),
    (CorrectTurn, {"number": "1", "kind": "play?"}, {"number": 1, "kind": "play?"}),
    (StartGame, {"players": ["Anna"]}, {"players": ["Anna"]}),
    (StartGame, {"players": ["Anna", "Ben"], "first": "9"}, {"players": ["Anna", "Ben"], "first": 9}),
]


def form(fields: dict[str, object]) -> MultiDict[str, str]:
    return MultiDict({"csrf": "x", "seen": "1-4", **fields})  # type: ignore[arg-type]


def body(fields: dict[str, object]) -> bytes:
    return msgspec.json.encode({"seen": "1-4", **fields})


@pytest.mark.parametrize(("command", "fields", "members"), SAME)
def test_form_is_decoded_like_json(
    command: type[TableCommand], fields: dict[str, object], members: dict[str, object]
) -> None:
    kind = make_order_type(command)
    assert decode_form(form(fields), kind) == decode_json(body(members), kind)


@pytest.mark.parametrize(("command", "fields", "members"), WRONG)
def test_form_is_refused_for_the_same_reason_as_json(
    command: type[TableCommand], fields: dict[str, object], members: dict[str, object]
) -> None:
    kind = make_order_type(command)
    with pytest.raises(RequestError) as of_form:
        decode_form(form(fields), kind)
    with pytest.raises(RequestError) as of_json:
        decode_json(body(members), kind)
    assert str(of_form.value) == str(of_json.value)


def test_order_names_its_moment() -> None:
    assert decode_json(b'{"seen": "12-34"}', Order).moment == Moment(12, 34)


def test_commands_with_the_same_arguments_share_a_type() -> None:
    types = {make_order_type(command) for command in WEB_COMMANDS}
    assert len({kind.__name__ for kind in types}) == len(types)
