"""Player statistics over many games: wins, head-to-head results, highest scores of games and plays, averages.

Only games that have ended are included. Each game is summarised once (`summarise_game`); the statistics are computed
from the summaries. A summary is stored as a note of the game (`SummaryCache`), so that the page need not replay it.
"""

from __future__ import annotations

import dataclasses
import itertools
import threading
from collections.abc import Iterable
from dataclasses import dataclass

import msgspec
from msgspec.structs import replace

from device.storage.errors import log_store_errors
from device.storage.game_log import UNREADABLE_GAME_ERRORS, read_ledger
from device.storage.store import GameStore, StoredGame
from engine.events import PlayerRenamed
from engine.game import Game
from engine.state import Turn, TurnKind


@dataclass(frozen=True, slots=True)
class PlaySummary:
    """A play that counts (was not withdrawn): its score, main word, and turn number (from 1)."""

    score: int
    word: str
    turn: int


@dataclass(frozen=True, slots=True)
class SeatSummary:
    """Results of one player (seat) in one game.

    `turns` is the number of plays (withdrawn ones, too), passes and exchanges. `points` is the sum of the scores of the
    plays that were not withdrawn, and `best` is the highest of them. `phonies` is the number of withdrawn plays.
    """

    name: str
    total: int
    won: bool
    turns: int
    plays: int
    points: int
    bingos: int
    phonies: int
    best: PlaySummary | None


@dataclass(frozen=True, slots=True)
class GameSummary:
    """Summary of a finished game: number in the store, start time (seconds since 1970), and players in seat order.

    If `racks_counted` is False, the unplayed letters are not counted yet. Then the totals may still change, and there
    is no winner.
    """

    number: int
    started: float
    tile_set: str
    seats: tuple[SeatSummary, ...]
    racks_counted: bool = True

    @property
    def drawn(self) -> bool:
        """True if several players share the first place."""
        return sum(seat.won for seat in self.seats) > 1


@dataclass(frozen=True, slots=True)
class Best:
    """The highest score of a play or of a whole game: score, number of the game in the store, turn and word.

    For a whole game, the turn is 0 and the word is empty.
    """

    score: int
    game: int
    turn: int = 0
    word: str = ""


@dataclass(frozen=True, slots=True)
class PlayerRecord:
    """Statistics of one player over all games; a shared first place counts as drawn.

    `undecided` is the number of games whose unplayed letters are not counted yet. Their totals may still change, so
    they are left out of `average`, the average total of a game, and of `high_game`. If there are no other games,
    `average` is 0 and `high_game` is None. `average_turn` is the average score of a turn (passes included), without
    unplayed tiles and overtime.
    """

    name: str
    games: int
    won: int
    drawn: int
    average: float
    average_turn: float
    bingos: int
    phonies: int
    high_game: Best | None
    high_play: Best | None
    undecided: int = 0

    @property
    def lost(self) -> int:
        """Number of games that another player won."""
        return self.games - self.won - self.drawn - self.undecided


@dataclass(frozen=True, slots=True)
class HeadToHead:
    """Results of two players in the games that they played together.

    `ahead` has, for each player, the number of games in which this player had more points than the other. `points` has,
    for each player, the sum of this player's totals.
    """

    names: tuple[str, str]
    games: int
    ahead: tuple[int, int]
    points: tuple[int, int]

    @property
    def level(self) -> int:
        """Number of games in which both players had the same total."""
        return self.games - sum(self.ahead)


def summarise_game(number: int, started: float, game: Game) -> GameSummary | None:
    """Return the summary of a game, or None if the game has not ended."""
    outcome = game.outcome
    if outcome is None:
        return None
    winners = () if game.racks_wanted else outcome.winners
    seats = tuple(
        _summarise_seat(game, player, name, outcome.totals[player], player in winners)
        for player, name in enumerate(game.players)
    )
    return GameSummary(number, started, game.tiles.name, seats, not game.racks_wanted)


def compute_player_records(games: Iterable[GameSummary]) -> tuple[PlayerRecord, ...]:
    """Return the statistics of each player, most wins first."""
    played: dict[str, list[tuple[GameSummary, SeatSummary]]] = {}
    for game in games:
        for seat in game.seats:
            played.setdefault(seat.name, []).append((game, seat))
    records = itertools.starmap(_compute_player_record, played.items())
    return tuple(sorted(records, key=lambda record: (-record.won, -record.average, record.name)))


def compute_head_to_heads(games: Iterable[GameSummary]) -> tuple[HeadToHead, ...]:
    """Return the results of each pair of players who met, the pair with the most games first.

    Games whose unplayed letters are not counted yet are left out.
    """
    totals_by_pair: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for game in games:
        if not game.racks_counted:
            continue
        for first, second in itertools.combinations(sorted(game.seats, key=lambda seat: seat.name), 2):
            totals_by_pair.setdefault((first.name, second.name), []).append((first.total, second.total))
    pairs = itertools.starmap(_compute_head_to_head, totals_by_pair.items())
    return tuple(sorted(pairs, key=lambda pair: (-pair.games, pair.names)))


def _compute_head_to_head(names: tuple[str, str], totals: list[tuple[int, int]]) -> HeadToHead:
    return HeadToHead(
        names,
        games=len(totals),
        ahead=(sum(first > second for first, second in totals), sum(second > first for first, second in totals)),
        points=(sum(first for first, _ in totals), sum(second for _, second in totals)),
    )


def _summarise_seat(game: Game, player: int, name: str, total: int, won: bool) -> SeatSummary:
    """Return the results of one player in a game."""
    own_turns = [turn for turn in game.turns if turn.player == player]
    plays = [turn for turn in own_turns if turn.kind is TurnKind.PLAY and turn.stands]
    withdrawn = sum(turn.kind is TurnKind.PLAY and not turn.stands for turn in own_turns)
    without_play = sum(turn.kind in (TurnKind.PASS, TurnKind.EXCHANGE) for turn in own_turns)
    best = max(plays, key=lambda turn: (turn.score, -turn.number), default=None)
    return SeatSummary(
        name=name,
        total=total,
        won=won,
        turns=len(plays) + withdrawn + without_play,
        plays=len(plays),
        points=sum(turn.score for turn in plays),
        bingos=sum(len(turn.placements) >= game.rules.bingo_tiles for turn in plays),
        phonies=withdrawn,
        best=_summarise_play(best) if best is not None else None,
    )


def _summarise_play(turn: Turn) -> PlaySummary:
    return PlaySummary(turn.score, turn.words[0].word if turn.words else "", turn.number + 1)


def _compute_player_record(name: str, played: list[tuple[GameSummary, SeatSummary]]) -> PlayerRecord:
    """Return the statistics of a player over the games `played`."""
    turns = sum(seat.turns for _, seat in played)
    totals = [Best(seat.total, game.number) for game, seat in played if game.racks_counted]
    plays = [Best(seat.best.score, game.number, seat.best.turn, seat.best.word) for game, seat in played if seat.best]
    return PlayerRecord(
        name=name,
        games=len(played),
        won=sum(seat.won and not game.drawn for game, seat in played),
        drawn=sum(seat.won and game.drawn for game, seat in played),
        average=sum(total.score for total in totals) / len(totals) if totals else 0.0,
        average_turn=sum(seat.points for _, seat in played) / turns if turns else 0.0,
        bingos=sum(seat.bingos for _, seat in played),
        phonies=sum(seat.phonies for _, seat in played),
        high_game=max(totals, key=_rank_high_score, default=None),
        high_play=max(plays, key=_rank_high_score, default=None),
        undecided=len(played) - len(totals),
    )


def _rank_high_score(best: Best) -> tuple[int, int]:
    return best.score, -best.game  # of two equal scores, the earlier score is the record


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
        """Lock of the caches below; it is never held during a replay."""
        self._replay_lock = threading.Lock()
        """Lock held during the replay of a game, so that several requests at once replay each game only once."""
        self._saved_notes: dict[int, str] | None = None
        """The notes with standings by game, as they were in the store when first needed; None before."""
        self._standings: dict[int, tuple[int, GameStanding | None]] = {}
        """The standings that were computed here, by game, each with the number of events that it was computed from."""
        self._unsaved: set[int] = set()
        """The games whose standing was computed since the last `save`."""
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
    """Return the totals of a stored game and, if it has ended, its outcome; None if the game cannot be read."""
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
    """Return a standing whose summary has the number `number` of its game.

    A note has the number that the game had when it was written. The recovery of a damaged store copies the note, but
    may give the game another number.
    """
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
