"""Restart of the program by itself, in the same process."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import NoReturn

RESTART_DELAY_S = 1.0
"""Delay of a restart that was requested on the page, in seconds, so that the page still gets the response."""


def restart_program(words: Sequence[str]) -> NoReturn:
    """Replace the running program `tilekeeper` by a new one with the arguments `words`.

    The process keeps its number: for systemd, a container and a terminal, the program has never ended. The caller must
    have closed everything, because no `finally` block and no `atexit` function runs.
    """
    sys.stdout.flush()
    before = sys.orig_argv[1 : len(sys.orig_argv) - len(sys.argv) + 1]  # options of Python, and the program
    os.execv(sys.executable, [sys.executable, *before, *words])
