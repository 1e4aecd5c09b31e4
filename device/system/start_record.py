"""Parts of the program that failed in the last starts, so that a service starts without a part that keeps it down."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import msgspec

from engine.messages import said

_log = logging.getLogger(__name__)

Built = TypeVar("Built")

MAX_FAILURES = 3
"""Starts in a row that a part may fail before the program starts without it."""


class StartRecord:
    """Counts the failed starts of each part in a file.

    A part counts as failed from the moment it is begun until it is complete: a crash leaves the count as it is. The
    file is not synced, as only crashes of the program matter, not power cuts.
    """

    def __init__(self, path: Path | None) -> None:
        """Read the counts of the last start; without a file nothing is counted and no part is left out."""
        self._path = path
        self._failures: dict[str, int] = {}
        self._left_out: list[str] = []
        self.messages: list[str] = []
        """A sentence for each part that was left out."""
        with suppress(OSError, ValueError):
            if path:
                self._failures = msgspec.json.decode(path.read_bytes(), type=dict[str, int])

    def build(self, part: str, build: Callable[[], Built], build_without: Callable[[], Built]) -> Built:
        """Return `build()`, or `build_without()` if the part failed in each of the last `MAX_FAILURES` starts.

        Parts that were left out are tried again after a start that was completed.
        """
        failures = self._failures.get(part, 0)
        if self._path and failures >= MAX_FAILURES:
            self._left_out.append(part)
            text = "the last {1} starts failed at {0}: the table has started without it. The log says why"
            self.messages.append(said("start-without", text, part, MAX_FAILURES))
            return build_without()
        self._save(part, failures + 1)
        built = build()
        self._save(part, 0)
        return built

    def complete(self) -> None:
        """Note that the program has started: the next start tries the parts again that were left out."""
        for part in self._left_out:
            self._save(part, MAX_FAILURES - 1)

    def _save(self, part: str, failures: int) -> None:
        if self._path is None or self._failures.get(part, 0) == failures:
            return
        self._failures = {**self._failures, part: failures}
        try:
            self._path.write_bytes(msgspec.json.encode({key: n for key, n in self._failures.items() if n}))
        except OSError as error:
            _log.warning("failed starts are not counted: %s", error)
