"""The table that the application of the request serves, for the views of the pages and of the API."""

from __future__ import annotations

import secrets
import threading
import time
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import cast

from flask import current_app
from werkzeug.local import LocalProxy

from device.report.contents import Report, ReportChoice, ReportSources, make_report
from device.session.new_game import FindLexicon
from device.session.table_session import TableSession
from web.game_archive import GameArchive
from web.host_info import HostInfo
from web.live import LiveUpdates
from web.security.pairing import Pairing

MAX_SETUP_PICTURES = 4
"""Largest number of stored pictures of the set-up page. It is small, because a client requests a picture right after
the response that names it."""

MAX_PREPARED = 4
"""Largest number of prepared reports. Only their texts and events are in memory, not their pictures."""


class ProblemReports:
    """Prepared problem reports about stored games. The newest reports are kept, each with a random id."""

    def __init__(self, archive: GameArchive, pairing: Pairing, host: HostInfo) -> None:
        self._archive = archive
        self._lock = threading.Lock()
        self._prepared: dict[str, Report] = {}
        self._sources = ReportSources(
            host.examine, host.read_log, host.find_version, lambda: _list_secrets(pairing, host)
        )

    def prepare(self, choice: ReportChoice) -> tuple[str, Report]:
        """Collect the contents of a report; return its id and the report. Raises `GameNotFoundError`, `StoreError`."""
        report = make_report(self._archive.store, choice, self._sources, time.time())
        number = secrets.token_hex(8)
        with self._lock:
            self._prepared = dict([*self._prepared.items(), (number, report)][-MAX_PREPARED:])
        return number, report

    def find(self, number: str) -> Report | None:
        """Return the prepared report with the id `number`, or None if it is no longer kept."""
        with self._lock:
            return self._prepared.get(number)


def _list_secrets(pairing: Pairing, host: HostInfo) -> Iterable[str]:
    """Return all texts that give access to the Wi-Fi or the table, such as passwords and pairing codes."""
    passwords = (host.wifi[1] if host.wifi else "", host.hotspot.password if host.hotspot else "")
    return (*pairing.secrets, *passwords)


@dataclass(frozen=True, slots=True)
class ServedTable:
    """The parts of a table that the views use: `app.extensions["table"]`, which a hall does not have.

    `find_own` returns the owner's word list for a tile set.
    """

    session: TableSession
    live: LiveUpdates
    archive: GameArchive
    reports: ProblemReports
    host: HostInfo
    find_own: FindLexicon
    photo_lock: threading.Lock = field(default_factory=threading.Lock)
    """Held while a photograph is decoded and read: one after the other, because a small file may need much memory."""
    setup_pictures: deque[tuple[int, bytes]] = field(default_factory=lambda: deque(maxlen=MAX_SETUP_PICTURES))
    """The newest pictures of the set-up page, by number."""


table = cast(ServedTable, LocalProxy(lambda: current_app.extensions["table"]))
"""The table of the current request."""
