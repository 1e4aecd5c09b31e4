"""The changing parts of the page of a hall's event: standings, the games of each round, and the director's orders."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from flask import Response

from device.hall.receiving.hall_state import HallState
from device.hall.receiving.pairings import Pairing, Result
from device.hall.receiving.standings import compute_standings, find_uncounted, match_results
from web.hall.view import HallView
from web.i18n import Texts

MAX_ORDERS_SHOWN = 100
"""Largest number of orders to tables that the director's page lists; older orders are not shown."""
MAX_UNCOUNTED_SHOWN = 20
"""Largest number of results without a pairing that the director's page lists; older results are not shown."""

Round = Sequence[tuple[Pairing, Result | None]]


@dataclass(frozen=True)
class EventView:
    """Renderer of the changing parts of the page of a hall's event, for one view of the hall (live or delayed)."""

    view: HallView

    @property
    def state(self) -> HallState:
        """The state of the hall in this view."""
        return self.view.state

    def render_parts(self, t: Texts, _since: str = "") -> dict[str, str]:
        """Return the HTML of each part of the page, by element id. Running games have their current totals."""
        state = self.state
        rounds = match_rounds(state)
        running = find_running_games(state, rounds.values())
        standings = compute_standings(state.resolve_pairings(), state.results)
        parts = {"status": self.view.render("status", t)}
        parts["standings"] = self.view.render("standings", t, standings=standings)
        for number, lines in rounds.items():
            games = [(pairing, result, running.get(pairing)) for pairing, result in lines]
            parts[f"round-{number}"] = self.view.render("round", t, games=games)
        if self.view.is_director:
            uncounted = find_uncounted(state.resolve_pairings(), state.results)[: -MAX_UNCOUNTED_SHOWN - 1 : -1]
            late = state.late_results[: -MAX_UNCOUNTED_SHOWN - 1 : -1]
            parts["uncounted"] = self.view.render("uncounted", t, results=uncounted, late=late)
            parts["orders"] = self.view.render("orders", t, orders=state.orders[: -MAX_ORDERS_SHOWN - 1 : -1])
        return parts

    def build_message(self, t: Texts, since: str) -> str:
        """Return a JSON message for `page.js` with all parts of the page."""
        return self.view.build_message(t, since, self.render_parts)

    def open_stream(self, since: str, t: Texts) -> Response:
        """Return a response with a stream of updates. Raises `NoStreamError`."""
        return self.view.open_stream(since, t, "event", self.render_parts)


def match_rounds(state: HallState) -> dict[int, Round]:
    """Return, for each round in ascending order, its pairings, with the names of their tables, and their results."""
    matched = match_results(state.resolve_pairings(), state.results)
    return {number: list(lines) for number, lines in groupby(matched, key=lambda line: line[0].round)}


def find_running_games(state: HallState, rounds: Iterable[Round]) -> dict[Pairing, Result]:
    """Return the running game of each pairing without a result, as a result with the current totals.

    A game belongs to one pairing, even if its players meet several times: to the one that would get its result.
    """
    open_pairings = [pairing for lines in rounds for pairing, result in lines if result is None]
    running = [
        Result(table.name, tuple(player.name for player in players), tuple(player.total for player in players), (), 0.0)
        for table in state.tables.values()
        if table.is_playing and (players := table.players)
    ]
    return {pairing: result for pairing, result in match_results(open_pairings, running) if result}
