"""The command table is complete and has one entry for each request."""

from __future__ import annotations

import pytest

from device.session.command_table import COMMAND_TABLE, CommandSpec
from device.session.phases import TRANSITIONS, Command
from device.session.requests import CommandRequest, TurnRequest, find_argument_type


def list_request_classes(base: type[CommandRequest] = CommandRequest) -> set[type[CommandRequest]]:
    """Return all classes that derive from `base` and have no subclass of their own."""
    found = set()
    for one in base.__subclasses__():
        found |= list_request_classes(one) or {one}
    return found


def test_every_request_has_one_entry() -> None:
    requests = [spec.request for spec in COMMAND_TABLE]
    assert len(set(requests)) == len(requests)
    assert set(requests) == list_request_classes()


def test_every_transition_by_command_has_an_entry() -> None:
    commands = {command for row in TRANSITIONS.values() for command in row} - {Command.CAPTURE_DONE}
    assert {spec.command for spec in COMMAND_TABLE} == commands


def test_names_and_operation_ids_are_unique() -> None:
    public = [spec for spec in COMMAND_TABLE if spec.name]
    assert len({spec.name for spec in public}) == len({spec.operation_id for spec in public}) == len(public)


@pytest.mark.parametrize("spec", [spec for spec in COMMAND_TABLE if spec.name], ids=lambda spec: spec.name)
def test_handler_has_a_description_for_the_api(spec: CommandSpec) -> None:
    assert spec.handler.__doc__
    assert spec.operation_id


def test_requests_with_the_same_arguments_share_their_type() -> None:
    with_same_schema = {
        name: {find_argument_type(spec.request) for spec in COMMAND_TABLE if spec.schema_name == name}
        for name in {spec.schema_name for spec in COMMAND_TABLE if spec.name and spec.request.__struct_fields__}
    }
    assert all(len(types) == 1 for types in with_same_schema.values())
    assert with_same_schema["TurnOrder"] == {TurnRequest}
