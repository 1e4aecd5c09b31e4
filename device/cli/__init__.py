"""The command line: `tilekeeper read | replay | score | demo | run`, a module each.

Each module has `HELP` (one line), `configure(parser)` and `run(args) -> int` (the exit status). A `UserError` raised
anywhere below ends the program with its message on one line and exit status 2.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence

COMMANDS = ("read", "replay", "score", "demo", "run")


class UserError(Exception):
    """Something the user can put right; the message says what is wrong and what to do next, on one line."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    parser = argparse.ArgumentParser(prog="tilekeeper", description="Keeps the score of a Scrabble game on a real table.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    words = list(sys.argv[1:] if argv is None else argv)
    for name in COMMANDS:
        module = importlib.import_module(f"device.cli.{name}")
        sub = commands.add_parser(name, help=module.HELP, description=module.__doc__)
        module.configure(sub)
        sub.set_defaults(run=module.run)
    args = parser.parse_args(words)
    try:
        return int(args.run(args))
    except UserError as error:
        print(f"tilekeeper: {error}", file=sys.stderr)
        return 2
