"""Print the output of a program that runs for hours. If a line cannot be printed, the program goes on."""

from __future__ import annotations

import logging
import os
import sys

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
