"""One view of the hall: cards of all tables, rendered once for each change, and live updates for pages of one table.

A card that changes is sent to all clients. When there is a new table, all cards are sent.
"""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from jinja2 import Environment

from device.catalogue import get_text
from device.hall.receiving.event import (
    Line,
    PairingState,
    Result,
    compute_standings,
    find_uncounted,
)
from device.hall.receiving.hall_state import HallState, HallTable
from device.session.messages import Notice
from device.session.snapshot import TableSnapshot
from device.storage.database import compute_checksum
from web.i18n import Texts
from web.live import LiveUpdates, add_server_time
from web.streams import EventStreams

COLOURS_PATH = "/editions.css"
"""Path of the style sheet with the colours of the boards."""
MAX_REVISION_DIGITS = 18
"""Largest number of digits of a state's revision number in a request.

A longer number counts as unknown, because Python refuses to convert very long numbers.
"""
MAX_RESULTS = 12
"""Largest number of results that the page of the hall lists; older results are not shown."""


class HallView:
    """The hall as one group of viewers sees it, rendered for the pages.

    `name` identifies the view. If `is_director` is True, the pages also show which messages the hall has refused.
    """

    def __init__(self, templates: Environment, streams: EventStreams, name: str, *, is_director: bool) -> None:
        self.state = HallState()
        self.delay_s = 0.0
        self._templates = templates
        self.streams = streams
        self.name = name
        self.is_director = is_director
        self._run_id = secrets.token_hex(4)
        self._lock = threading.Lock()
        self._cards: dict[tuple[str, str], tuple[int, str]] = {}
        self._updates: dict[str, LiveUpdates] = {}

    @property
    def newest_id(self) -> str:
        """The id of the newest state in this view."""
        return f"{self._run_id}-{self.state.revision}"

    def show(self, state: HallState, delay_s: float) -> None:
        """Make `state`, which is `delay_s` seconds old, the newest state of the view."""
        with self._lock:
            before, self.state, self.delay_s = self.state, state, delay_s
            shown = list(self._updates.items())
        for name, updates in shown:
            table = state.tables.get(name)
            is_same = table is before.tables.get(name) and state.is_connected == before.is_connected
            if table and not is_same:
                updates.show(self._make_snapshot(table))
        self.streams.notify()

    def find_updates(self, name: str) -> LiveUpdates | None:
        """Return the live updates of the table with this name, or None if there is no such table."""
        with self._lock:  # `show` passes on each later state
            table = self.state.tables.get(name)
            if table is None:
                return None
            if name not in self._updates:
                state = self._make_snapshot(table)
                self._updates[name] = LiveUpdates(self._templates, state, self.streams, f"{self.name} {name}")
            return self._updates[name]

    def _make_snapshot(self, table: HallTable) -> TableSnapshot:
        """Return the snapshot for the page of a table, with a notice if the table cannot send anything new."""
        key = "hall-away" if table.is_online is False else ""
        key = key if self.state.is_connected else "hall-no-broker"
        notices = (Notice(get_text(key)),) if key else ()
        # A page is updated only if the revision changes; that of the table stays when the broker is lost.
        return replace(table.make_snapshot(self.delay_s), revision=self.state.revision, notices=notices)

    def render_parts(self, t: Texts, since: str = "") -> dict[str, str]:
        """Return the parts of the page, by HTML element id, that changed after the state with the id `since`.

        If `since` is not the id of a state of this run of the program, return all parts.
        """
        state = self.state
        run_id, _, number = since.partition("-")
        is_own = run_id == self._run_id and number.isdecimal() and len(number) <= MAX_REVISION_DIGITS
        known = int(number) if is_own else -1  # the revision that the page shows; -1 is older than all revisions
        parts = {"status": self.render("status", t)}
        if known < state.names_revision:
            parts["tables"] = self.render("tables", t, cards=[self._render_card(x, t) for x in state.tables.values()])
        else:
            changed = ((i, table) for i, table in enumerate(state.tables.values()) if table.revision > known)
            parts |= {f"table-{i}": self._render_card(table, t) for i, table in changed}
        if known < state.results_revision or known < 0:  # `results_revision` is 0 as long as there are no results
            waiting = [line for line in state.rounds.get(state.current_round, ()) if line.state is PairingState.OPEN]
            decided = list_decided(state)
            parts["results"] = self.render("results", t, waiting=waiting, lines=decided, results=list_newest(state))
            parts["board"] = self.render("board", t, **choose_board(state))
        if self.is_director:
            parts["problems"] = self.render("problems", t)
        return parts

    @property
    def playing_count(self) -> int:
        """The number of tables at which a game is in progress."""
        return sum(table.is_playing for table in self.state.tables.values())

    @property
    def help_count(self) -> int:
        """The number of tables that need the director."""
        return sum(table.needs_help for table in self.state.tables.values())

    def _render_card(self, table: HallTable, t: Texts) -> str:
        key = table.name, t.language
        with self._lock:
            card = self._cards.get(key)
        if card is None or card[0] != table.revision:
            html = self.render("card", t, table=table, state=table.make_snapshot(self.delay_s))
            card = table.revision, html
            with self._lock:
                self._cards[key] = card
        return card[1]

    def render(self, name: str, t: Texts, **values: object) -> str:
        """Return the part `name` of a page as HTML."""
        return self._templates.get_template(f"hall/{name}.html").render(
            t=t, hall=self.state, view=self, now=time.monotonic(), **values
        )


MAX_UNCOUNTED_SHOWN = 20
"""Largest number of results without a pairing that the director's page lists; older results are not shown."""


def list_decided(state: HallState) -> list[Line]:
    """Return the pairings whose points count, of the newest round that has some."""
    decided = [[line for line in lines if line.counts] for lines in state.rounds.values()]
    return next(filter(None, decided[::-1]), [])


def list_newest(state: HallState) -> list[Result]:
    """Return the newest results if there are no rounds."""
    newest = [one for one in state.results if state.event.includes(one) and not one.needs_letters]
    return [] if state.event.rounds else newest[: -MAX_RESULTS - 1 : -1]


def choose_board(state: HallState) -> dict[str, object]:
    """Return what the foyer shows beside or instead of the tables: the pairings before a round, the standings after it.

    The pairings are shown while games of the round have to begin and none is played.
    """
    number = state.current_round
    lines = state.rounds.get(number, ())
    is_over = bool(lines) and not any(line.is_open for line in lines)
    states = {line.state for line in lines}
    is_new = PairingState.OPEN in states and PairingState.PLAYING not in states
    names = [(line.pairing.first, line.pairing.second, line.pairing.table) for line in lines]
    names += [(second, first, table) for first, second, table in names if second]
    standings = compute_standings(state.event, state.all_results) if is_over else []
    return {
        "number": number,
        "lines": lines if is_new else (),
        "names": sorted(names, key=lambda one: one[0].casefold()) if is_new else (),
        "standings": standings,
    }


def render_event(view: HallView, t: Texts, _since: str = "") -> dict[str, str]:
    """Return the parts of the page of a hall's event, by HTML element id. Running games have their current totals."""
    state, results = view.state, view.state.all_results
    parts = {"status": view.render("status", t)}
    parts["standings"] = view.render("standings", t, standings=compute_standings(state.event, results))
    for number, lines in state.rounds.items():
        parts[f"round-{number}"] = view.render("round", t, lines=lines)
        for line in lines if view.is_director else ():
            parts[make_line_id(line)] = view.render("line", t, line=line)
        if view.is_director:
            is_complete = not any(line.is_open for line in lines)
            parts[f"complete-{number}"] = t("hall.complete", number=number) if is_complete else ""
    if view.is_director:
        uncounted = find_uncounted(state.event, results)[: -MAX_UNCOUNTED_SHOWN - 1 : -1]
        parts["uncounted"] = view.render("uncounted", t, results=uncounted)
        parts["calls"] = view.render("calls", t)
    return parts


@dataclass(frozen=True)
class HallPage:
    """A page with changing parts of a view: that with all tables, or that of the event.

    `render` returns the parts that have changed after the state with an id, in the language of the texts.
    """

    name: str
    view: HallView
    render: Callable[[HallView, Texts, str], dict[str, str]]

    @property
    def kind(self) -> str:
        """The kind of this page among the live pages of the hall."""
        return f"{self.name} {self.view.name}"

    @property
    def streams(self) -> EventStreams:
        """The open streams of the hall."""
        return self.view.streams

    @property
    def newest_id(self) -> str:
        """The id of the newest state of the view."""
        return self.view.newest_id

    def make_event(self, t: Texts, since: str) -> tuple[str, str]:
        """Return the id of the newest state, and a JSON message for `page.js` with the changed parts."""
        newest = self.newest_id
        message = {"id": newest, "phase": "hall", "seen": "", "events": 0, "flags": ""}
        message |= {"colours": COLOURS_PATH, "parts": self.render(self.view, t, since)}
        return newest, add_server_time(json.dumps(message, ensure_ascii=False, separators=(",", ":")))


def make_line_id(line: Line) -> str:
    """Return the id of the HTML element of a pairing, which depends only on its round and players."""
    return f"line-{line.round}-{compute_checksum(*sorted(line.pairing.key))[:12]}"
