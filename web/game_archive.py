"""The games that were played at this table: found, shown turn by turn, counted, taken away and brought back."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import cached_property
from itertools import takewhile

from device.session.messages import format_sentence
from device.session.snapshot import BoardView, PlayerView, TableSnapshot, TileView
from device.session.snapshot_builder import build_snapshot
from device.storage.archive import ArchiveError, export_gcg, export_zip, import_gcg, import_zip, make_file_name
from device.storage.errors import describe_missing_game, describe_unreadable_game
from device.storage.game_log import REDO
from device.storage.statistics import HeadToHead, PlayerRecord, compute_head_to_heads, compute_player_records
from device.storage.store import EventBody, GameStore, StoredGame
from device.storage.summary_cache import SummaryCache
from engine.corrections import Ledger
from engine.errors import NotationError, RulesError, TilekeeperError
from engine.events import Redone, from_json
from engine.game import Game
from engine.squares import SQUARES
from engine.turns import Turn

MAX_IMPORT_BYTES = 32 * 1024 * 1024
"""The largest file of a game that the page takes in; one with a picture for each turn has a quarter of that."""


class GameNotFoundError(TilekeeperError):
    """There is no such game, or this version cannot read it; the message says which, on one line."""


class GameInProgressError(TilekeeperError):
    """The game is the one at the table: it can be deleted when it has ended and another one has begun."""


@dataclass(frozen=True, slots=True)
class GameLine:
    """A game in the list: its number, when it began (seconds since 1970), its players in seat order.

    `totals` and `winners` (players by number) stand where the game can be read, `ended` says whether it was played to
    its end, `running` that it is the one at the table now.
    """

    number: int
    started: float
    players: tuple[str, ...]
    totals: tuple[int, ...] = ()
    winners: tuple[int, ...] = ()
    ended: bool = False
    running: bool = False
    imported: bool = False


@dataclass(frozen=True)
class Replay:
    """A game to be looked at turn by turn: the state after each, and the name of the picture that it was read from."""

    line: GameLine
    game: Game
    picture_events: tuple[int | None, ...]
    """For each turn the event whose picture it was read from; None without one, as those of old games make room."""

    @property
    def turn_count(self) -> int:
        """How many turns there are to look at."""
        return len(self.game.turns)

    @cached_property
    def _final_state(self) -> TableSnapshot:
        # Its list may not be here any more: words are not looked up again, and nobody is told that they never were.
        return replace(build_snapshot(self.game, None), lexicon=self.game.start_event.lexicon, lexicon_advises=False)

    def state_after(self, turn: int) -> TableSnapshot:
        """The table after so many turns (0: the empty board)."""
        end, made = self._final_state, self.game.turns[:turn]
        if turn >= self.turn_count:
            return end
        totals = [0] * len(end.players)
        for one in made:
            totals[one.player] = one.total
        players = tuple(PlayerView(seat.name, totals[i], seat.colour) for i, seat in enumerate(end.players))
        last = made[-1] if made else None
        mover = self.game.turns[turn].player
        return replace(
            end,
            phase=TableSnapshot().phase,
            players=players,
            turn_of=mover,
            turns=end.turns[:turn],
            board=self._view_board(last),
            unseen=(),
            in_bag=None,
            winners=(),
            racks_wanted=(),
            end_due=False,
        )

    def picture_name(self, turn: int) -> str:
        """The name of the picture from which a turn was read; empty where there is none."""
        event = self.picture_events[turn - 1] if turn else None
        return "" if event is None else f"{self.line.number}-{event}"

    def _view_board(self, last: Turn | None) -> BoardView:
        premiums = self._final_state.board.premiums
        if last is None:
            return BoardView(premiums=premiums)
        new = {square for square, _ in last.placements}
        value = self.game.tiles.value
        tiles = tuple(
            None if (tile := last.board[at]) is None else TileView(tile.letter, value(tile), tile.is_blank, at in new)
            for at in SQUARES
        )
        return BoardView(tiles, premiums)


class GameArchive:
    """The games of a store. `at_table` gives the number of the game at the table now, which is not to be deleted."""

    def __init__(self, store: GameStore, at_table: Callable[[], int]) -> None:
        self._store = store
        self._get_current_game = at_table
        self._summary_cache = SummaryCache(store)

    def find_games(
        self, player: str = "", since: date | None = None, until: date | None = None
    ) -> tuple[StoredGame, ...]:
        """The games of a player (empty: of anybody) between two days, the newest first. Raises `StoreError`."""
        return tuple(
            stored
            for stored in self._store.games()
            if (not player or player in _list_player_names(stored))
            and (since is None or _local_date(stored) >= since)
            and (until is None or _local_date(stored) <= until)
        )

    def make_line(self, stored: StoredGame) -> GameLine:
        """A game as a line of the list. Raises `StoreError`."""
        line = GameLine(
            stored.id,
            stored.started,
            _list_player_names(stored),
            running=stored.id == self._get_current_game(),
            imported=stored.imported,
        )
        stands = self._summary_cache.get_standing(stored)
        if stands is None:
            return line
        return replace(line, totals=stands.totals, winners=stands.winners, ended=stands.sum is not None)

    def make_lines(self, games: Sequence[StoredGame]) -> tuple[GameLine, ...]:
        """Games as lines of the list. Raises `StoreError`."""
        found = tuple(map(self.make_line, games))
        self._summary_cache.save()
        return found

    def list_players(self) -> tuple[tuple[str, str], ...]:
        """Everybody who played here and their colour, who played last first. Raises `StoreError`."""
        return self._store.players()

    def compute_records(self, games: Sequence[StoredGame]) -> tuple[tuple[PlayerRecord, ...], tuple[HeadToHead, ...]]:
        """What these games say of each player, and of each pair. Raises `StoreError`."""
        standings = [stands for stored in games if (stands := self._summary_cache.get_standing(stored)) is not None]
        self._summary_cache.save()
        sums = [stands.sum for stands in standings if stands.sum is not None]
        return compute_player_records(sums), compute_head_to_heads(sums)

    def load_replay(self, number: int) -> Replay:
        """A game turn by turn. Raises `GameNotFoundError`, `StoreError`."""
        stored = self.find_game(number)
        try:
            bodies = [event.body for event in self._store.events(number)]
            game, events = _replay_events(bodies)
        except (NotationError, RulesError) as error:
            raise GameNotFoundError(format_sentence(describe_unreadable_game(number, error))) from None
        presses = [body.get("press", event) for event, body in enumerate(bodies)]
        taken = {presses[event]: event for event, kind in self._store.pictures(number) if kind == "board"}
        return Replay(self.make_line(stored), game, tuple(taken.get(presses[event]) for event in events))

    def find_game(self, number: int) -> StoredGame:
        """A game by its number. Raises `GameNotFoundError`, `StoreError`."""
        found = next((stored for stored in self._store.games() if stored.id == number), None)
        if found is None:
            raise GameNotFoundError(format_sentence(describe_missing_game(number)))
        return found

    def load_picture(self, number: int, event: int) -> bytes | None:
        """The rectified board that went with an event of a game, as JPEG, or None."""
        return self._store.picture(number, event, "board")

    def export_gcg(self, number: int) -> tuple[str, str]:
        """A game as GCG, and the name of the file. Raises `GameNotFoundError`, `StoreError`."""
        stored = self.find_game(number)
        try:
            return export_gcg(self._store, number), make_file_name(stored, ".gcg")
        except ArchiveError as error:
            raise GameNotFoundError(format_sentence(str(error))) from None

    def export_zip(self, number: int) -> tuple[Iterator[bytes], str]:
        """A game whole, as the parts of a ZIP, and the name of the file. Raises `GameNotFoundError`, `StoreError`."""
        stored = self.find_game(number)
        try:
            return export_zip(self._store, number), make_file_name(stored, ".zip")
        except ArchiveError as error:
            raise GameNotFoundError(format_sentence(str(error))) from None

    def import_game(self, data: bytes) -> int:
        """Take in a ZIP that was exported, or a GCG file, and give the game's number. Raises `ImportFileError`,
        `StoreError`.

        Nothing is written but the store; what the file says of paths and sizes is not believed
        (`device.storage.archive`).
        """
        try:
            return (
                import_zip(self._store, io.BytesIO(data)) if data.startswith(b"PK") else import_gcg(self._store, data)
            )
        except ArchiveError as error:
            raise ImportFileError(format_sentence(str(error))) from None

    def delete_game(self, number: int) -> None:
        """Delete a game for good. Raises `GameNotFoundError`, `GameInProgressError`, `StoreError`."""
        self.find_game(number)
        if number == self._get_current_game():
            raise GameInProgressError
        self._store.delete_game(number)
        self._summary_cache.discard(number)


class ImportFileError(TilekeeperError):
    """A file that is no game; the message says why, on one line."""


def _replay_events(bodies: Sequence[EventBody]) -> tuple[Game, tuple[int, ...]]:
    """The game that a log makes, and for each of its turns the number of the event that made it.

    A turn that was put right, or came back after it was taken back, is still of the event that made it first.
    """
    game = Game.from_events(from_json(body) for body in bodies[:1])
    made: list[tuple[int, ...]] = [()]  # at each number of standing events: which event made each entry of the ledger
    for number, body in enumerate(bodies[1:], 1):
        event, before = from_json(body), game
        game = game.push(event)
        at = len(game.events) - 1
        redone = isinstance(event, Redone) or body.get("way") == REDO
        comes_back = redone and at < len(made) and len(made[at]) == len(game.ledger)
        if at >= len(before.events) and not comes_back:
            made[at:] = [_map_entries_to_events(made[at - 1], before.ledger, game.ledger, number)]
    return game, tuple(made[len(game.events) - 1][turn.ledger_index] for turn in game.turns)


def _map_entries_to_events(known: tuple[int, ...], before: Ledger, after: Ledger, number: int) -> tuple[int, ...]:
    """Which event made each entry of the ledger `after` this one, where it is `known` of the ledger `before`."""
    same = sum(1 for _ in takewhile(lambda pair: pair[0] is pair[1], zip(before, after, strict=False)))
    grown = len(after) - len(before)
    return (*known[:same], *[number] * max(0, grown), *known[same + max(0, -grown) :])


def _list_player_names(stored: StoredGame) -> tuple[str, ...]:
    return tuple(str(name) for name in stored.first.get("players", ()))


def _local_date(stored: StoredGame) -> date:
    return datetime.fromtimestamp(stored.started).date()
