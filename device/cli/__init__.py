"""The command line: `tilekeeper run`, `demo`, `export` and so on (`COMMANDS`), a module each.

Each module has `HELP` (one line), `configure(parser)` and `run(args) -> int` (the exit status). A `UserError`, or an
error of the engine's notation and rules or of the system, ends the program with its message on one line and exit
status 2.
"""

from __future__ import annotations

import argparse
import importlib
import os
import re
import sys
from collections.abc import Sequence

from engine.errors import NotationError, RulesError, TilekeeperError

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
"""Before numpy is taken in: its second thread gains nothing on small matrices, and waits for the next one spinning."""

# Shared libraries that OpenCV wants and a system without a screen may lack, and where they come from.
_DEBIAN_PACKAGES = {"libGL": "libgl1", "libgthread-2.0": "libglib2.0-0", "libglib-2.0": "libglib2.0-0"}

COMMANDS = ("read", "replay", "score", "demo", "run", "export", "import", "backup", "bench", "doctor")
_MODULES = {"import": "import_"}
"""The modules that are not called like their command: Python has taken the word."""


class UserError(TilekeeperError):
    """Something the user can put right; the message says what is wrong and what to do next, on one line."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        args = _make_parser(words).parse_args(words)
        return int(args.run(args))
    except (UserError, NotationError, RulesError) as error:
        print(f"tilekeeper: {error}", file=sys.stderr)
    except ImportError as error:
        library = re.match(r"(lib[\w+.-]+?)\.so", str(error))
        if library is None:
            raise
        package = _DEBIAN_PACKAGES.get(library[1], library[1])
        print(f"tilekeeper: {error}; on Debian and Ubuntu: sudo apt-get install {package}", file=sys.stderr)
    except BrokenPipeError:  # the reader of our output has gone: `tilekeeper score ... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        named = f"{error.filename}: " if error.filename else ""
        print(f"tilekeeper: {named}{error.strerror or error}", file=sys.stderr)
    except KeyboardInterrupt:
        return 130
    return 2


def _make_parser(words: Sequence[str]) -> argparse.ArgumentParser:
    """The arguments of the command that `words` begin with; of all commands where they name none."""
    parser = argparse.ArgumentParser(
        prog="tilekeeper", description="Keeps the score of a Scrabble game on a real table."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name in words[:1] if words[:1] and words[0] in COMMANDS else COMMANDS:
        module = importlib.import_module(f"device.cli.{_MODULES.get(name, name)}")
        sub = commands.add_parser(
            name,
            help=module.HELP,
            description=module.__doc__,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.configure(sub)
        sub.set_defaults(run=module.run)
    return parser
