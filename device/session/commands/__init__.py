"""The commands of the table: one class for each command, with its name, arguments, transition and action.

The session, the JSON API, the routes of the page and the panel use these classes:

    session.submit(ExchangeTiles(count=3)).result()

To add a command, add its class to the tuple in one of these modules. The limits in the annotations of its fields are
checked only for commands in requests, when msgspec decodes the JSON.
"""

from __future__ import annotations

from device.session.commands.answers import ANSWER_COMMANDS
from device.session.commands.base import TableCommand
from device.session.commands.challenges import CHALLENGE_COMMANDS
from device.session.commands.corrections import CORRECTION_COMMANDS
from device.session.commands.games import GAME_COMMANDS
from device.session.commands.turns import TURN_COMMANDS

COMMAND_TABLE: tuple[type[TableCommand], ...] = (
    *TURN_COMMANDS,
    *CHALLENGE_COMMANDS,
    *ANSWER_COMMANDS,
    *CORRECTION_COMMANDS,
    *GAME_COMMANDS,
)
"""All commands, in the order of the OpenAPI document."""
