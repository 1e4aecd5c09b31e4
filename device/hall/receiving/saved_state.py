"""The state of the hall after a start, from its file."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import filterfalse

from device.hall.receiving.event_limits import read_limits
from device.hall.receiving.hall_state import HallState
from device.hall.receiving.hall_updates import apply_game, apply_pairings, apply_problem, apply_results
from device.hall.receiving.pairings import PairingsError, parse_pairings
from device.hall.receiving.received_games import ReceivedGames

PAIRINGS_NOTE = "pairings"
_FORGOTTEN_NOTE = "forgotten"


def load_state(games: ReceivedGames) -> HallState:
    """Return the state of the hall from the file, with the newest game of each table. Raises `StoreError`."""
    newest = {game.table: game for game in games.list_games()}
    limits = read_limits(games)
    earlier, counted = frozenset(limits.earlier), frozenset(limits.counted)
    forgotten = frozenset[str](json.loads(games.read_note(_FORGOTTEN_NOTE) or "[]"))
    state = HallState(earlier=earlier, games_since=limits.games_since, counted=counted, forgotten=forgotten)
    saved = games.list_results()
    entered = [one for one in saved if not one.game and one.ended > limits.begun]
    played = [one for one in saved if one.game and one.game not in earlier]
    late = tuple(filter(state.is_late, played))
    state = apply_results(replace(state, late_results=late), [*entered, *filterfalse(state.is_late, played)])
    try:
        text = games.read_note(PAIRINGS_NOTE) or ""
        state = apply_pairings(state, parse_pairings(text, allows_short_byes=True))
    except PairingsError as error:  # earlier versions accepted other texts
        state = apply_problem(state, str(error))
    for name, game in newest.items():
        if name not in forgotten:
            state = apply_game(state, game, games.read_events(game.id))
    _save_newest_results(games, state)
    return state


def save_forgotten(games: ReceivedGames, forgotten: frozenset[str]) -> None:
    """Save the names of the forgotten tables. Raises `StoreError`."""
    games.save_note(_FORGOTTEN_NOTE, json.dumps(sorted(forgotten)))


def _save_newest_results(games: ReceivedGames, state: HallState) -> None:
    """Save or delete the results of the newest games if a power cut prevented it after the last events."""
    saved = {result.game: result for result in games.list_results()}
    for table in state.tables.values():
        played = table.played
        if played is None or played.game is None or played.received.id in state.earlier:
            continue
        number = played.received.id
        computed = state.find_game_result(number)
        if computed != saved.get(number):
            games.save_result(number, computed)
