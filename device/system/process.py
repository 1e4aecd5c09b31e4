"""This process: its heap, which must stay small while large pictures come and go, its restart, and its examination."""

from __future__ import annotations

import ctypes
import logging
import os
import subprocess
import sys
from collections.abc import Sequence
from typing import NoReturn

_log = logging.getLogger(__name__)

MAX_ARENAS = 2
"""Number of heaps of glibc. Each thread would get its own, with gaps between what is left of the pictures."""
OWN_MAPPING_BYTES = 128 * 1024
"""Size from which a piece of memory has a mapping of its own, which goes back to the system as soon as it is free.

This is glibc's first value. It would grow to 32 MB with the first picture that is freed.
"""
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8
"""Numbers of the parameters (https://man7.org/linux/man-pages/man3/mallopt.3.html)."""


def limit_heap() -> None:
    """Let glibc give the memory of pictures back to the system; other C libraries are left as they are.

    A picture of 2,560 pixels needs 20 MB. With the usual parameters, the heaps of a table that gets such pictures grow
    to twice the size.
    """
    try:
        set_parameter = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError) as error:
        _log.info("this C library has no parameters for its heap: %s", error)
        return
    for parameter, value in (
        (_M_ARENA_MAX, MAX_ARENAS),
        (_M_MMAP_THRESHOLD, OWN_MAPPING_BYTES),
        (_M_TRIM_THRESHOLD, OWN_MAPPING_BYTES),
    ):
        set_parameter(parameter, value)


RESTART_DELAY_S = 1.0
"""Delay of a restart that was requested on the page, in seconds, so that the page still gets the response."""


DOCTOR_TIMEOUT_S = 120.0
"""Longest duration of `tilekeeper doctor`, in seconds. Several of its commands may need their whole time limit."""


def restart_program(words: Sequence[str]) -> NoReturn:
    """Replace the running program `tilekeeper` by a new one with the arguments `words`.

    The process keeps its number: for systemd, a container and a terminal, the program has never ended. The caller must
    have closed everything, because no `finally` block and no `atexit` function runs.
    """
    sys.stdout.flush()
    os.execv(sys.executable, _make_command(words))


def describe_machine() -> str:
    """Return the output of `tilekeeper doctor`, without a picture and speech, for a problem report.

    It runs in a process of its own: a check that hangs or crashes does not affect the table.
    """
    try:
        done = subprocess.run(
            _make_command(["doctor", "--no-picture"]),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=DOCTOR_TIMEOUT_S,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"tilekeeper doctor: {error}"
    return done.stdout


def _make_command(words: Sequence[str]) -> list[str]:
    """Return the command line that starts the running program `tilekeeper` with the arguments `words`."""
    before = sys.orig_argv[1 : len(sys.orig_argv) - len(sys.argv) + 1]  # options of Python, and the program
    return [sys.executable, *before, *words]
