"""The command table is complete, and its names are unique."""

from __future__ import annotations

from device.session.commands import COMMAND_TABLE
from device.session.commands.base import TableCommand, find_argument_type
from device.session.commands.turn_corrections import TurnCommand
from device.session.phases import Transition


def list_command_classes(base: type[TableCommand] = TableCommand) -> set[type[TableCommand]]:
    """Return all classes that derive from `base` and have no subclass of their own."""
    found = set()
    for one in base.__subclasses__():
        found |= list_command_classes(one) or {one}
    return found


def test_every_command_is_in_the_table_once() -> None:
    assert len(set(COMMAND_TABLE)) == len(COMMAND_TABLE)
    assert set(COMMAND_TABLE) == list_command_classes()


def test_every_transition_has_a_command() -> None:
    assert {command.transition for command in COMMAND_TABLE} == set(Transition)


def test_names_and_operation_ids_are_unique() -> None:
    public = [command for command in COMMAND_TABLE if command.name]
    assert len({command.name for command in public}) == len(public)
    assert len({command.operation_id for command in public} - {""}) == len(public)


def test_commands_of_one_schema_share_their_arguments() -> None:
    types: dict[str, set[type[TableCommand]]] = {}
    for command in COMMAND_TABLE:
        if command.name:
            types.setdefault(command.schema_name, set()).add(find_argument_type(command))
    assert all(len(shared) == 1 for shared in types.values())
    assert types["TurnOrder"] == {TurnCommand}


def test_command_without_schema_name_has_no_arguments() -> None:
    plain = [command for command in COMMAND_TABLE if command.name and command.schema_name == "Order"]
    assert plain
    assert all(command.__struct_fields__ == () for command in plain)
