"""Measure the speed and the reliability of Tilekeeper on this machine. You need a copy of the source code.

The benchmarks are the modules of `device.cli.benchmarks`. They use pictures from `calibration.evaluation`. Neither
package is part of the wheel.
"""

from __future__ import annotations

import argparse
from importlib.util import find_spec

from device.cli import UserError, add_command

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
        add_command(commands, name, f"{_PACKAGE}.{name}")


def run(_args: argparse.Namespace) -> int:
    """Say that the program is installed without the benchmarks. Raises `UserError`."""
    raise UserError(
        "The benchmarks are not installed. Clone Tilekeeper's repository, and run pip install -e '.[dev]' in it."
    )
