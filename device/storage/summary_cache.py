"""Cache of game summaries, so that the page need not replay finished games.

A summary is stored as a note of the game (`GameStore.save_note`); it can be computed again from the log. It is valid
only as long as the number of events and `SUMMARY_VERSION` are the same.
"""

from __future__ import annotations

import dataclasses
import threading

import msgspec
from msgspec.structs import replace

from device.storage.errors import log_store_errors
from device.storage.game_log import UNREADABLE_GAME_ERRORS, read_ledger
from device.storage.statistics import GameSummary, summarise_game
from device.storage.store import GameStore, StoredGame
from engine.events import PlayerRenamed

NOTE_NAME = "sum"
SUMMARY_VERSION = 4
"""Version of the summaries. Increase it with each change of rules, scoring or statistics that changes summaries.

`tests/device/storage/test_summary_cache.py` fails if the version was not increased.
"""


class GameStanding(msgspec.Struct, frozen=True):
    """Standing of a game: players and totals in seat order, winners (seats), and the summary if the game is over.

    `racks_wanted` are the players whose unplayed letters are not known yet. Until all are known, `winners` is empty.
    With `skips_racks`, no unplayed letters count.
    """

    players: tuple[str, ...]
    totals: tuple[int, ...]
    winners: tuple[int, ...] = ()
    summary: GameSummary | None = None
    racks_wanted: tuple[int, ...] = ()
    skips_racks: bool = False


class _Note(msgspec.Struct):
    """Contents of the note with the standing of a game; `length` is the number of events from which it was computed."""

    version: int
    length: int
    standing: GameStanding | None


class SummaryCache:
    """Cache of the standings of all games in a store; thread-safe."""

    def __init__(self, store: GameStore) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._replay_lock = threading.Lock()
        """Lock held during the replay of a game, so that several requests at once replay each game only once."""
        self._saved_notes: dict[int, str] | None = None
        self._standings: dict[int, tuple[int, GameStanding | None]] = {}
        self._unsaved: set[int] = set()
        self._lengths_unrenamed: dict[int, int] | None = None
        """The number of events of the games in which no player had been renamed when it was looked up."""

    def get_standing(self, stored: StoredGame) -> GameStanding | None:
        """Return the standing of a game, or None if the game cannot be replayed. Raises `StoreError`."""
        if stored.damage:
            return None
        length, standing = self._find_standing(stored.id)
        if length == stored.length:
            return _renumber(standing, stored.id)
        with self._replay_lock:
            length, standing = self._find_standing(stored.id)
            if length != stored.length:
                standing = _compute_standing(stored, self._store)
                with self._lock:
                    self._standings[stored.id] = stored.length, standing
                    self._unsaved.add(stored.id)
        return standing

    def _find_standing(self, number: int) -> tuple[int, GameStanding | None]:
        """Return the number of events and the standing of a game as they were computed last, (0, None) if never."""
        with self._lock:
            if self._saved_notes is None:
                self._saved_notes = self._store.read_notes_by_game(NOTE_NAME)
            return self._standings.get(number) or _decode_note(self._saved_notes.get(number, ""))

    def list_players(self, stored: StoredGame) -> tuple[str, ...]:
        """Return the current names of the players of a game in seat order. Raises `StoreError`.

        Only a game in which a player was renamed is replayed for this.
        """
        if self._find_unrenamed_length(stored.id) == stored.length:
            return stored.players
        standing = self.get_standing(stored)
        return standing.players if standing else stored.players

    def _find_unrenamed_length(self, number: int) -> int | None:
        with self._lock:
            if self._lengths_unrenamed is None:
                self._lengths_unrenamed = self._store.find_lengths_without(PlayerRenamed.kind)
            return self._lengths_unrenamed.get(number)

    def save(self) -> None:
        """Save in the store the standings that were computed since the last call."""
        with self._lock:
            fresh = {
                number: msgspec.json.encode(_Note(SUMMARY_VERSION, *self._standings[number])).decode()
                for number in self._unsaved & self._standings.keys()
            }
            self._unsaved.clear()
        with log_store_errors("summaries of games are not saved"):  # the standings can be computed again
            if fresh:
                self._store.save_notes(NOTE_NAME, fresh)

    def discard(self, number: int) -> None:
        """Remove the standing of a deleted game from the cache."""
        with self._lock:
            self._standings.pop(number, None)


def _compute_standing(stored: StoredGame, store: GameStore) -> GameStanding | None:
    try:
        game = read_ledger(event.body for event in store.read_events(stored.id)).game
    except UNREADABLE_GAME_ERRORS:
        return None
    outcome = game.outcome
    if outcome is None:
        return GameStanding(game.players, game.totals)
    summary, wanted = summarise_game(stored.id, stored.started, game), game.racks_wanted
    return GameStanding(
        game.players, outcome.totals, () if wanted else outcome.winners, summary, wanted, game.state.skips_racks
    )


def _renumber(standing: GameStanding | None, number: int) -> GameStanding | None:
    """Return a standing whose summary has the game's number; a recovered game has the note of its former number."""
    if standing is None or standing.summary is None or standing.summary.number == number:
        return standing
    return replace(standing, summary=dataclasses.replace(standing.summary, number=number))


def _decode_note(text: str) -> tuple[int, GameStanding | None]:
    """Return the number of events and the standing in a note, or (0, None) if the note is invalid or outdated."""
    try:
        note = msgspec.json.decode(text, type=_Note)
    except ValueError:
        return 0, None
    return (note.length, note.standing) if note.version == SUMMARY_VERSION else (0, None)
