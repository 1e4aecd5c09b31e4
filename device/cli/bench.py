"""Measure the speed and the reliability of Tilekeeper on this machine. You need a copy of the source code.

The benchmarks are the modules of `device.cli.benchmarks`. They use pictures from `calibration.evaluation`. Neither
package is part of the wheel.
"""

from __future__ import annotations

import argparse
import importlib
from importlib.util import find_spec

from device.cli import UserError

HELP = "measure speed, memory and robustness (in a copy of the source code)"

BENCHMARKS = ("engine", "vision", "table", "sweep")
_PACKAGE = "device.cli.benchmarks"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add a sub-command for each benchmark. If the benchmarks are not installed, accept any arguments.

    In that case, `run` explains how to install them.
    """
    if find_spec(_PACKAGE) is None:
        parser.add_argument("what", nargs=argparse.REMAINDER, metavar="WHAT", help=" | ".join(BENCHMARKS))
        return
    commands = parser.add_subparsers(dest="what", required=True, metavar="WHAT")
    for name in BENCHMARKS:
        module = importlib.import_module(f"{_PACKAGE}.{name}")
        sub = commands.add_parser(
            name,
            help=module.HELP,
            description=module.__doc__,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.configure(sub)
        sub.set_defaults(measure=module.run)


def run(args: argparse.Namespace) -> int:
    """Run one benchmark and print its figures.

    Raises:
        UserError: the program is installed without the benchmarks.
    """
    if "measure" not in args:
        raise UserError(
            "The benchmarks are not installed. Clone Tilekeeper's repository, and run pip install -e '.[dev]' in it."
        )
    return int(args.measure(args))
