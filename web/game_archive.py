"""Access to the stored games: list, replay, statistics, export, import, deletion."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import cached_property

from device.player_names import is_displayable
from device.session.commands.corrections import make_rack_act
from device.session.game_import import import_game, list_import_notices
from device.session.snapshot import BoardView, TableSnapshot
from device.session.snapshot_builder import build_snapshot, build_tile_views
from device.storage.archive import export_gcg, export_zip, find_stored_game, load_ledger, make_file_name
from device.storage.errors import GameNotFoundError
from device.storage.game_log import UNREADABLE_GAME_ERRORS, GameLog
from device.storage.statistics import (
    HeadToHead,
    PlayerRecord,
    SummaryCache,
    compute_head_to_heads,
    compute_player_records,
)
from device.storage.store import GameStore, StoredGame
from engine.errors import TilekeeperError
from engine.events import PlayerRenamed, RecordImported
from engine.game import Game
from engine.rules import UnplayedRule
from engine.state import Turn

MAX_IMPORT_BYTES = 32 * 1024 * 1024
"""Largest size of an imported file, in bytes: four times the size of a game with a picture for each turn."""

MAX_COMMENT_CHARS = 2000
COMMENT_NOTE = "comment"
"""Name of the note that stores the players' comment on a game."""


class GameInProgressError(TilekeeperError):
    """Error for deleting the game in progress: it can be deleted only after another game has started."""


class CommentChangedError(TilekeeperError):
    """Error for a comment on a game that another client has changed since the user began to write."""


class PlayersMetError(TilekeeperError):
    """Error for merging two players who have played against each other."""


@dataclass(frozen=True, slots=True)
class GameLine:
    """A row in the list of stored games.

    - `started`: start time (Unix time). `players`: names in seat order.
    - `totals`, `winners` (player indices): empty if the game cannot be read.
    - `racks_wanted`: players whose unplayed letters are not counted yet. Until all are counted, `winners` is empty.
      `skips_racks` is True if the players counted none.
    - `ended`: True if the game was played to its end. `running`: True if the game is in progress at the table.
    - `damage`: a sentence for the user about a game with lost events, otherwise empty.
    """

    number: int
    started: float
    players: tuple[str, ...]
    totals: tuple[int, ...] = ()
    winners: tuple[int, ...] = ()
    ended: bool = False
    running: bool = False
    imported: bool = False
    damage: str = ""
    racks_wanted: tuple[int, ...] = ()
    skips_racks: bool = False

    @property
    def day(self) -> date:
        """The day on which the game was started."""
        return to_local_date(self.started)


@dataclass(frozen=True)
class Replay:
    """A stored game to be viewed turn by turn, with the pictures of the board."""

    line: GameLine
    game: Game
    picture_events: tuple[int | None, ...]
    """For each turn, the number of the entry that has its picture; None if the turn has no picture (any more)."""
    notices: tuple[str, ...] = ()
    """Notices from the import about turns that the rules do not allow."""

    @property
    def turn_count(self) -> int:
        """Number of turns of the game."""
        return len(self.game.turns)

    @property
    def has_racks(self) -> bool:
        """True for a game from a GCG file, which has the racks as they are in that file."""
        return any(isinstance(event, RecordImported) for event in self.game.events)

    @cached_property
    def _final_state(self) -> TableSnapshot:
        # Words are not looked up again: the word list may be deleted, but the page still shows the name of the list.
        return replace(build_snapshot(self.game, None), lexicon=self.game.start_event.lexicon, lexicon_advises=False)

    def build_state_after(self, turn: int) -> TableSnapshot:
        """Return the state of the game after `turn` turns (0: the empty board).

        An earlier state has the rules and names of the final state, but nothing that was only known at the end.
        """
        end = self._final_state
        if turn >= self.turn_count:
            return end
        earlier_turns = self.game.turns[:turn]
        totals = dict.fromkeys(range(len(end.players)), 0) | {one.player: one.total for one in earlier_turns}
        return replace(
            end,
            phase=TableSnapshot().phase,
            players=tuple(replace(view, total=totals[seat]) for seat, view in enumerate(end.players)),
            turn_of=self.game.turns[turn].player,
            turns=end.turns[:turn],
            board=self._view_board(earlier_turns[-1] if earlier_turns else None),
            unseen=(),
            in_bag=None,
            winners=(),
            racks_wanted=(),
            end_due=False,
        )

    def find_picture_name(self, turn: int) -> str:
        """Return the name of a turn's picture, or an empty string if the turn has none."""
        event = self.picture_events[turn - 1] if turn else None
        return "" if event is None else f"{self.line.number}-{event}"

    def _view_board(self, last: Turn | None) -> BoardView:
        """Return the final board with the tiles as after the turn `last`, which placed the new ones.

        If `last` is None, the board is as before all turns.
        """
        if last is None:
            return replace(self._final_state.board, tiles=BoardView().tiles)
        new = {square for square, _ in last.placements}
        return replace(self._final_state.board, tiles=build_tile_views(last.board, self.game.tiles, new))


class GameArchive:
    """The stored games of a table. `at_table` returns the number of the current game, which cannot be deleted."""

    def __init__(self, store: GameStore, at_table: Callable[[], int]) -> None:
        self.store = store
        """The store with the games; its methods raise `StoreError`."""
        self._get_current_game = at_table
        self._summary_cache = SummaryCache(store)

    def find_games(
        self, player: str = "", since: date | None = None, until: date | None = None
    ) -> tuple[StoredGame, ...]:
        """Return the games of a player (empty: of all players) between two days, newest first. Raises `StoreError`."""
        return tuple(
            stored
            for stored in self.store.list_games()
            if (not player or player in self._summary_cache.list_players(stored))
            and (since is None or to_local_date(stored.started) >= since)
            and (until is None or to_local_date(stored.started) <= until)
        )

    def make_line(self, stored: StoredGame) -> GameLine:
        """Return the row of a game in the list of games. Raises `StoreError`."""
        line = GameLine(
            stored.id,
            stored.started,
            self._summary_cache.list_players(stored),
            running=stored.id == self._get_current_game(),
            imported=stored.imported,
            damage=stored.damage,
        )
        standing = self._summary_cache.get_standing(stored)
        if standing is None:
            return line
        return replace(
            line,
            totals=standing.totals,
            winners=standing.winners,
            ended=standing.summary is not None,
            racks_wanted=standing.racks_wanted,
            skips_racks=standing.skips_racks,
        )

    def make_lines(self, games: Sequence[StoredGame]) -> tuple[GameLine, ...]:
        """Return the rows of several games in the list of games. Raises `StoreError`."""
        lines = tuple(map(self.make_line, games))
        self._summary_cache.save()
        return lines

    def list_players_with_games(self) -> tuple[str, ...]:
        """Return the names of the players of all stored games, most recent first. Raises `StoreError`."""
        playing = {name for stored in self.store.list_games() for name in self._summary_cache.list_players(stored)}
        return tuple(name for name, _ in self.store.list_players() if name in playing)

    def compute_records(self, games: Sequence[StoredGame]) -> tuple[tuple[PlayerRecord, ...], tuple[HeadToHead, ...]]:
        """Return the statistics of each player and of each pair of players in these games. Raises `StoreError`."""
        standings = list(map(self._summary_cache.get_standing, games))
        self._summary_cache.save()
        summaries = [
            standing.summary for standing in standings if standing is not None and standing.summary is not None
        ]
        return compute_player_records(summaries), compute_head_to_heads(summaries)

    def load_replay(self, number: int) -> Replay:
        """Load a game for viewing turn by turn. Raises `GameNotFoundError`, `StoreError`."""
        stored = self.find_game(number)
        if stored.damage and not stored.length:
            raise GameNotFoundError(stored.damage)
        ledger = load_ledger(self.store, number)
        game = ledger.game
        pictured = {entry for entry, kind in self.store.list_pictures(number) if kind == "board"}
        # A command with several turns writes several entries of one group, and only one of them has the picture.
        by_group = {entry.group: entry.number for entry in ledger.entries if entry.number in pictured}
        groups = {entry.number: entry.group for entry in ledger.entries}
        picture_events = tuple(by_group.get(groups.get(turn.ref.entry, 0)) for turn in game.turns)
        return Replay(self.make_line(stored), game, picture_events, list_import_notices(self.store, number))

    def find_game(self, number: int) -> StoredGame:
        """Return a game by its number. Raises `GameNotFoundError`, `StoreError`."""
        return find_stored_game(self.store, number)

    def export_gcg(self, number: int, unplayed: UnplayedRule | None = None) -> tuple[str, str]:
        """Return a game in GCG format, and a file name for the download.

        `unplayed` is a rule by which the unplayed letters count in the file; with None, they count as in the game.
        Raises `GameNotFoundError`, `StoreError`.
        """
        return export_gcg(self.store, number, unplayed), self._make_file_name(number, ".gcg")

    def export_zip(self, number: int) -> tuple[Iterator[bytes], str]:
        """Return the chunks of a ZIP file with a game and its pictures, and a file name for the download.

        Raises `GameNotFoundError`, `StoreError`.
        """
        return export_zip(self.store, number), self._make_file_name(number, ".zip")

    def import_game(self, data: bytes) -> int:
        """Import a ZIP or GCG file and return the number of the new game.

        A file from a stranger can do no harm: the import checks the paths and sizes in the file, and writes only to the
        store. Raises `ArchiveError`, `StoreError`.
        """
        return import_game(self.store, io.BytesIO(data))

    def delete_game(self, number: int) -> None:
        """Delete a game permanently. Raises `GameNotFoundError`, `GameInProgressError`, `StoreError`."""
        self.find_game(number)
        if number == self._get_current_game():
            raise GameInProgressError("This game is at the table now: begin another one first.")
        self.store.delete_game(number)
        self._summary_cache.discard(number)

    def check_never_met(self, before: str, after: str) -> None:
        """Raise `PlayersMetError` if there is a game with both players. Raises `StoreError`."""
        if any(after in self._summary_cache.list_players(stored) for stored in self.find_games(before)):
            raise PlayersMetError(f"{before} and {after} played against each other.")

    def rename_player(self, before: str, after: str) -> None:
        """Rename a player in the list of players and in all stored games except the game at the table.

        If there is a player with the name `after`, the two become one player. In games that cannot be read, the name
        stays. Raises `StoreError`. If both names are in one game, raises `PlayersMetError` and renames nothing.
        """
        self.check_never_met(before, after)
        for stored in self.find_games(before):
            if stored.damage or stored.id == self._get_current_game():
                continue
            with suppress(*UNREADABLE_GAME_ERRORS):
                if log := GameLog.load(self.store, stored.id):
                    renamed = PlayerRenamed(log.game.players.index(before), after)
                    log.append_saved(log.ledger.record([((renamed,),)]))
        self.store.rename_player(before, after)

    def enter_racks(self, number: int, racks: Iterable[tuple[int, str]]) -> None:
        """Enter the unplayed letters of players, by seat, in a game that is not at the table any more.

        Raises `GameNotFoundError`, `GameInProgressError`, `CommandRefusedError`, `StoreError`.
        """
        if number == self._get_current_game():
            raise GameInProgressError("This game is at the table now: enter the letters there.")
        self.find_game(number)
        log = GameLog.load(self.store, number)
        for player, letters in racks:
            if log and log.game.is_over:
                log.append_saved(log.ledger.record([((make_rack_act(log.game, player, letters),),)]))

    def read_comment(self, number: int) -> str:
        """Return the players' comment on a game, or an empty string. Raises `StoreError`."""
        return self.store.read_note(number, COMMENT_NOTE) or ""

    def save_comment(self, number: int, text: str, before: str) -> None:
        """Save the players' comment on a game, without control characters; an empty text deletes the comment.

        `before` is the comment that the user saw. Raises `CommentChangedError`, `GameNotFoundError`, `StoreError`.
        """
        self.find_game(number)
        comment = _clean_comment(text)
        if _clean_comment(self.read_comment(number)) not in (_clean_comment(before), comment):
            raise CommentChangedError(number)
        self.store.save_note(number, COMMENT_NOTE, comment)

    def _make_file_name(self, number: int, ending: str) -> str:
        stored = self.find_game(number)
        return make_file_name(stored, self._summary_cache.list_players(stored), ending)


def _clean_comment(text: str) -> str:
    lines = ("".join(filter(is_displayable, line)).rstrip() for line in text.splitlines())
    return "\n".join(lines).strip()[:MAX_COMMENT_CHARS].rstrip()  # browsers send each line break as two characters


def to_local_date(time_s: float) -> date:
    """Return the day of a Unix time, in local time."""
    return datetime.fromtimestamp(time_s).date()
