"""Measure this machine and this program: `tilekeeper bench engine | vision | table | sweep`, a module each."""

from __future__ import annotations

import argparse
import importlib

HELP = "measure speed, memory and robustness"

BENCHMARKS = ("engine", "vision", "table", "sweep")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add a command for each thing that can be measured."""
    commands = parser.add_subparsers(dest="what", required=True, metavar="WHAT")
    for name in BENCHMARKS:
        module = importlib.import_module(f"device.cli.bench.{name}")
        sub = commands.add_parser(
            name,
            help=module.HELP,
            description=module.__doc__,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.configure(sub)
        sub.set_defaults(measure=module.run)


def run(args: argparse.Namespace) -> int:
    """Measure and print the figures."""
    return int(args.measure(args))
