"""A record of the parts of the program, such as the camera or the panel, that failed at start-up.

If a part fails in several starts in a row, the next start skips this part. Otherwise one defective part would prevent
every start of the service.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import msgspec

from engine.messages import make_message

_log = logging.getLogger(__name__)

Built = TypeVar("Built")

MAX_FAILURES = 3
"""Failed starts in a row after which the program starts without the part."""


class StartRecord:
    """File with the number of failed starts in a row of each part of the program.

    The count of a part is increased before the part is built, and reset afterwards; so a crash counts as a failure. The
    file is not synced, because only crashes of the program need to be recorded, not power cuts.
    """

    def __init__(self, path: Path | None) -> None:
        """Read the number of failed starts of each part from `path`.

        If `path` is None, failures are not counted and no part is skipped.
        """
        self._path = path
        self._failures: dict[str, int] = {}
        self._left_out: list[str] = []
        self.messages: list[str] = []
        """Messages for the user: one sentence for each part that was skipped."""
        with suppress(OSError, ValueError):
            if path:
                self._failures = msgspec.json.decode(path.read_bytes(), type=dict[str, int])

    def build(self, part: str, build: Callable[[], Built], build_without: Callable[[], Built]) -> Built:
        """Return `build()`, or `build_without()` if the part failed in each of the last `MAX_FAILURES` starts.

        After a start that is completed, the next start tries the skipped parts again (see `complete`).
        """
        failures = self._failures.get(part, 0)
        if self._path and failures >= MAX_FAILURES:
            self._left_out.append(part)
            text = "the last {1} starts failed at {0}: the table has started without it. The log says why"
            self.messages.append(make_message("start-without", text, part, MAX_FAILURES))
            return build_without()
        self._save(part, failures + 1)
        built = build()
        self._save(part, 0)
        return built

    def complete(self) -> None:
        """Record that the program has started, so that the next start tries the skipped parts again."""
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
