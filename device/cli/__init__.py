"""The command line `tilekeeper COMMAND`, with one module for each command (`COMMANDS`).

Each module has `configure(parser)` and `run(args)`, which returns the exit status. The docstring of the module is the
command's description in `--help`, and its first sentence the line in the list of commands. A `TilekeeperError` or an
`OSError` ends the program with a message of one line and exit status 2.
"""

from __future__ import annotations

import argparse
import errno
import importlib
import io
import logging
import os
import sys
from collections.abc import Sequence
from typing import Any

from engine.errors import TilekeeperError

_log = logging.getLogger(__name__)


def print_line(text: str) -> None:
    """Print a line at once.

    After an error, such as a full disk or a closed pipe, the program goes on without output.
    """
    try:
        print(text, flush=True)
    except OSError as error:
        _log.warning("standard output cannot be written (%s): the program goes on without it", error)
        discard_output()


def discard_output() -> None:
    """Discard everything that is printed from now on, and what could not be printed before."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def open_missing_output() -> None:
    """Discard what is printed if the program was started with a closed standard output (`>&-`) or error output."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8"))


os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
"""Number of BLAS threads, set before numpy is imported.

A second thread does not speed up calculations with small matrices, but uses processor time while waiting.
"""
os.environ.setdefault("OPENCV_FOR_THREADS_NUM", "2")
"""Number of threads of OpenCV: the other cores of a Raspberry Pi stay free for the page and the camera."""
COMMANDS = (
    "read", "replay", "score", "rebuild", "demo", "run", "owner", "hall", "cameras", "export", "import", "backup",
    "restore", "bench", "doctor", "replay-report",
)  # fmt: skip
_MODULES = {"import": "import_", "replay-report": "replay_report"}
"""Module of each command whose own name cannot be the name of a Python module."""


class UserError(TilekeeperError):
    """Error that the user can fix; the message gives the reason and the remedy on one line."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command in `argv` (default: `sys.argv`) and return its exit status."""
    words = list(sys.argv[1:] if argv is None else argv)
    open_missing_output()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a name with letters that the terminal does not have
    try:
        args = _make_parser(words).parse_args(words)
        return int(args.run(args))
    except TilekeeperError as error:
        print(f"tilekeeper: {error}", file=sys.stderr)
    except BrokenPipeError:  # the program that reads the output has ended: `tilekeeper score ... | head`
        discard_output()
    except OSError as error:
        print_system_error(error)
    except KeyboardInterrupt:
        return 130
    return 2


def print_system_error(error: OSError) -> None:
    """Print a message about an error of the system, with the file and what to do about it."""
    named = f"{error.filename}: " if error.filename else ""
    print(f"tilekeeper: {named}{error.strerror or error}{_find_remedy(error)}", file=sys.stderr)


def _find_remedy(error: OSError) -> str:
    """Return what to do about an error of the system, as the rest of a message; an empty string if it is not known."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return ". Delete files that you do not need."
    return ". Check the name of the file and its permissions." if error.filename else ""


def _make_parser(words: Sequence[str]) -> argparse.ArgumentParser:
    """Return a parser for the command that is the first of `words`, or for all commands.

    Only the module of this command is imported, so that the program starts quickly.
    """
    parser = argparse.ArgumentParser(
        prog="tilekeeper", description="Keep the score of a Scrabble game at a real table."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name in words[:1] if words[:1] and words[0] in COMMANDS else COMMANDS:
        add_command(commands, name, f"device.cli.{_MODULES.get(name, name)}")
    return parser


def add_command(commands: Any, name: str, module_name: str) -> None:
    """Add the command that a module implements to `commands`, the sub-parsers of a parser."""
    module = importlib.import_module(module_name)
    text = module.__doc__ or ""
    parser = commands.add_parser(
        name,
        help=text.partition(".")[0],
        description=text,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    module.configure(parser)
    parser.set_defaults(run=module.run)
