"""Listeners that inform one part of the appliance of events in another: the end of a game, a refused press."""

from __future__ import annotations

from collections.abc import Callable

from device.panel.outputs import PanelView
from device.session.messages import Notice
from device.session.snapshot import Phase, TableSnapshot
from device.session.table_session import TableSession


def make_game_end_listener(session: TableSession, notify_end: Callable[[], None]) -> Callable[[TableSnapshot], None]:
    """Return a listener that calls `notify_end` when a game has ended or another game has begun."""
    last = session.state

    def compare(state: TableSnapshot) -> None:
        nonlocal last
        has_ended = state.phase is Phase.ENDED and last.phase is not Phase.ENDED
        if has_ended or state.game != last.game:
            notify_end()
        last = state

    return compare


def make_refusal_listener(session: TableSession) -> Callable[[PanelView], None]:
    """Return a listener for the panel: if a press is refused, it shows the reason on the page."""
    last = ""

    def show_refusal(view: PanelView) -> None:
        nonlocal last
        if view.message and view.message != last:
            session.notify(Notice(view.message))
        last = view.message

    return show_refusal
