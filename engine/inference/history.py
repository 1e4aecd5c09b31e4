"""The readings of the board since the settled board, and how likely they are if the turns were others than recorded.

The settled board is the board before the newest two recorded plays. Later readings may still show that one of these
plays was another one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import log
from typing import NamedTuple

from engine.board import EMPTY_BOARD, Board, Square
from engine.events import Event, Ref, ScoreCorrected, SquareCorrected, TurnCorrected
from engine.game import Game
from engine.inference.evidence import (
    MIN_CLEAR_PROBABILITY,
    P_FALSE_TILE_REPEATED,
    face_of,
    glare_likelihood,
    is_consistent,
    new_tile_likelihood,
)
from engine.inference.log_priors import (
    CHANGED_AFTER_PRESS_LOG_PRIOR,
    EARLY_TILE_LOG_PRIOR,
    EXCHANGED_LETTER_LOG_PRIOR,
    LIFTED_LOG_PRIOR,
    NEXT_EXCHANGED_LETTER_LOG_PRIOR,
    QUICK_TURN_LOG_PRIOR,
    REMOVED_TILE_LOG_PRIOR,
    STOPPED_PLAY_LOG_PRIOR,
    UNLISTED_LOG_PRIOR,
)
from engine.lexicon import WordList, is_word_listed
from engine.plays import Play
from engine.reading import EMPTY, HIDDEN, BoardReading, SquareReading
from engine.scoring import score_play
from engine.state import Turn, TurnKind, check_play
from engine.tiles import Tile

WINDOW = 2
"""Number of recorded plays after the settled board, which a later reading may explain in another way."""
_MAX_OBSERVATIONS = 12
"""Maximum number of observations that are kept."""
_P_FALSE_TILE = 0.0005
"""Probability that an empty square was read as a tile just where a later play needs the same tile."""
MIN_REST_S = 3.0
"""Minimum time in seconds without a change of the board for tiles to look like a complete play. Players who place the
tiles of a play one by one change the board more often."""
MIN_REST_UNKNOWN_WORDS_S = 10.0
"""The same time for tiles whose words are not known to be listed: the player may still be thinking."""


@dataclass(frozen=True, slots=True)
class Observation:
    """A reading of the board at one moment of the game.

    `next_ref` is the identity of the first act that was recorded after the reading. `rest_s` is None for a reading at
    a press. For a reading of the board at rest, between two presses, it is the time in seconds until the board changed.
    """

    reading: BoardReading
    next_ref: Ref
    rest_s: float | None = None

    @property
    def is_press(self) -> bool:
        """True if a press or a command was the reason to read the board."""
        return self.rest_s is None

    def is_recorded(self, game: Game) -> bool:
        """Return True if a turn was recorded from this observation, or after it."""
        return any(turn.ref >= self.next_ref for turn in game.turns)


class Rest(NamedTuple):
    """A reading of the board at rest between two presses, and the time in seconds until the board changed."""

    reading: BoardReading
    seconds: float


def find_next_ref(game: Game) -> Ref:
    """Return the identity that the next act of a game gets."""
    return Ref(game.entry, game.part)


@dataclass(frozen=True, slots=True)
class ReadingHistory:
    """The readings of the board since the settled board.

    - `observations`: the readings, the oldest first.
    - `removed`: the last reading of each square from which players have removed a tile by a correction: it was never
      there, although pictures show it.
    - `strange_count`: number of consecutive readings that do not match this game's board.
    """

    observations: tuple[Observation, ...] = ()
    removed: Mapping[Square, SquareReading] = field(default_factory=dict)
    strange_count: int = 0

    @property
    def last(self) -> Observation | None:
        """The last observation at a press, or None before the first one."""
        return next((one for one in reversed(self.observations) if one.is_press), None)

    def add_observation(self, observation: Observation, game: Game) -> ReadingHistory:
        """Return the history with one more observation. `game` is the game without the turn that this one shows."""
        oldest = min([turn.ref for turn in _find_window(game)], default=observation.next_ref)
        kept = [one for one in self.observations if one.next_ref >= oldest][1 - _MAX_OBSERVATIONS :]
        reading = observation.reading
        removed = {s: read for s, read in self.removed.items() if reading.squares[s].symbol != EMPTY}
        return replace(self, observations=(*kept, observation), removed=removed)

    def without(self, entries: Collection[int]) -> ReadingHistory:
        """Return the history without the presses that led to `entries`, the numbers of entries that were undone."""
        kept = tuple(one for one in self.observations if not (one.is_press and one.next_ref.entry in entries))
        return self if len(kept) == len(self.observations) else replace(self, observations=kept)

    def find_false_readings(self, game: Game) -> Mapping[Square, SquareReading]:
        """Return the readings of tiles on squares that are empty in the game: print, a stain, or tiles placed early.

        If nothing was recorded from the last reading, its tiles are not among them: they may be those of a turn.
        """
        false = {square: read for square, read in self.removed.items() if game.board[square] is None}
        if self.last is None or not self.last.is_recorded(game):
            return false
        board = _find_board(game, self.last, find_next_ref(game))
        squares = enumerate(self.last.reading.squares)
        shown = {s: read for s, read in squares if read.is_tile and board[s] is None and game.board[s] is None}
        return {**shown, **false}

    def with_entered_events(self, events: Sequence[Event], before: Game, after: Game) -> ReadingHistory:
        """Return the history after the players have entered corrections, which lead from `before` to `after`.

        A tile that the corrections remove was never on the board, even if pictures show it. There are two exceptions:

        - The tiles of a removed play may be those of another turn, so the next reading may show them.
        - The tiles of a withdrawn play are on the board until the players take them off.
        """
        corrections = (SquareCorrected, ScoreCorrected, TurnCorrected)
        if not events or not all(isinstance(event, corrections) for event in events):
            return self
        plays_before, plays_after = (sum(turn.kind is TurnKind.PLAY for turn in game.turns) for game in (before, after))
        if plays_after < plays_before:
            return replace(self, removed={})
        withdrawn = {square for turn in after.turns if turn.play and not turn.stands for square in turn.play.squares}
        removed = {square for square in before.board.occupied_squares() if after.board[square] is None} - withdrawn
        reads = {square: SquareReading(((face_of(before.board[square]), 1.0),)) for square in removed}
        return replace(self, removed={**self.removed, **reads})

    def find_doubtful_squares(self, game: Game) -> frozenset[Square]:
        """Return the squares of recorded tiles that the last reading shows as something else."""
        symbols = self.last.reading.symbols if self.last is not None else ()
        pairs = zip(symbols, game.board.squares, strict=False)
        return frozenset(s for s, (symbol, tile) in enumerate(pairs) if tile and not is_consistent(symbol, tile))

    def find_overruled(self, game: Game, told: Iterable[Square]) -> frozenset[Square]:
        """Return the squares on which an answer of the players counts more than the pictures.

        `told` are the squares about which they have answered. The answer counts more where no reading shows the
        recorded tile. Where a reading has shown it, a later picture of something else means that the board has changed.
        """

        def is_shown(square: Square) -> bool:
            reads = (one.reading.squares[square] for one in self.observations)
            clear = (read.symbol for read in reads if read.confidence > MIN_CLEAR_PROBABILITY)
            return any(is_consistent(symbol, game.board[square]) for symbol in clear)

        return frozenset(s for s in told if game.board[s] is not None and not is_shown(s))

    def find_contradictions(self, game: Game, reading: BoardReading) -> dict[Square, str]:
        """Return the tiles of the settled board that are contradicted, as symbols by square.

        On these squares, `reading` and the last reading at a press both clearly show the same other symbol.
        """
        if self.last is None:
            return {}
        before = self.last.reading.squares
        return {
            square: read.symbol
            for square in find_settled_board(game).occupied_squares()
            if (read := reading.squares[square]).confidence > MIN_CLEAR_PROBABILITY
            and read.symbol == before[square].symbol != HIDDEN
            and before[square].confidence > MIN_CLEAR_PROBABILITY
            and not is_consistent(read.symbol, game.board[square])
        }


def find_settled_board(game: Game) -> Board:
    """Return the board before the newest two recorded plays, which a later reading may explain in another way."""
    plays = _find_window(game)
    return game.state.board_before(plays[0]) if plays else game.board


def _find_window(game: Game) -> list[Turn]:
    """Return the newest recorded plays, those after the settled board."""
    return [turn for turn in game.turns if turn.kind is TurnKind.PLAY][-WINDOW:]


EMPTY_HISTORY = ReadingHistory()
"""The history before the first reading."""


@dataclass(frozen=True)
class Past:
    """The earlier observations of a game, with which the stories of the newest reading are compared.

    A story is a game after the recorded turns, which it may change, and after new plays. An observation agrees with a
    story if it shows the board that the story has at that time. If it does not, either the reading was wrong, or the
    picture was taken at another moment: the player changed the play after the press, or the next player had already
    placed a tile. The likelier of the two counts.

    - `words`: the list in which players may look words up at any time, or None.
    - `told`: the numbers of entries that players have entered or corrected. No story contradicts them.
    - `answered`: the squares whose letters players have confirmed. No story contradicts these letters.
    - `removed`: the squares from which players have removed a tile that pictures may still show, with its reading.
    - `is_quick`: True if the last turn was pressed only seconds ago.
    """

    game: Game
    observations: tuple[Observation, ...] = ()
    words: WordList | None = None
    told: Collection[int] = ()
    answered: Collection[Square] = ()
    removed: Mapping[Square, SquareReading] = field(default_factory=dict)
    is_quick: bool = False

    def compare(self, story: Game) -> float:
        """Return the log-probability (nats) of the observations if `story` is true, relative to the recorded game.

        It is the sum of the log-likelihoods of the observations, and of the log-priors of these things:

        - A part of a play looked like a complete play at a press.
        - A new turn ended only seconds after the last press.
        - A tile is back on a square from which players had removed it.
        - A play that no observation shows was changed after its press: it counts as read clearly and correctly.
        - A change replaces an unlisted word by a listed one. This makes the story likelier.
        """
        total = sum(self._compare_at(number, story) for number in range(len(self.observations)))
        if any(self._shows_stop(number, story) for number in range(len(self.observations))):
            total += STOPPED_PLAY_LOG_PRIOR
        first = min((one.next_ref for one in self.observations if one.is_press), default=find_next_ref(self.game))
        if self.is_quick and story.turns[: len(self.game.turns)] == self.game.turns:
            total += QUICK_TURN_LOG_PRIOR
        for square, read in self.removed.items():
            if self.game.board[square] is None and is_consistent(read.symbol, story.board[square]):
                total += REMOVED_TILE_LOG_PRIOR
        for old, new in zip(self.game.turns, story.turns, strict=False):
            is_position = old.kind is TurnKind.POSITION and old.number == 0  # it has one turn for each player
            if old.play == new.play and not (is_position and old.board != new.board):
                continue
            if old.ref < first or is_position:
                total += _find_change_log_prior(old, new)
            if self._is_unlisted(old) and not self._is_unlisted(new):
                total -= UNLISTED_LOG_PRIOR
        return total

    def has_shown(self, board: Board) -> bool:
        """Return True if an observation since the last turn shows exactly this board."""
        return any(
            all(map(is_consistent, one.reading.symbols, board.squares))
            for one in self.observations
            if not one.is_recorded(self.game)
        )

    def _is_unlisted(self, turn: Turn) -> bool:
        """Return True if the word list lacks at least one word of the turn.

        Return False if there is no list in which players may look words up at any time.
        """
        tiles = self.game.tiles
        return self.words is not None and any(
            is_word_listed(word.tile_letters, self.words, tiles) is False for word in turn.words
        )

    def _compare_at(self, number: int, story: Game) -> float:
        """Return how much likelier observation number `number` is if `story` is true than if the recorded game is true.

        It is a difference of log-likelihoods (nats), 0 if both are equally likely. Only some squares are compared:
        those on which both boards differ at that time, and those on which the observation shows a tile of a new play.
        """
        recorded, expected = self._recorded_boards[number], self._find_board_at(number, story)
        squares = set(recorded.differences(expected))
        reading = self.observations[number].reading
        new = [s for s in story.board.differences(self.game.board) if self.game.board[s] is None]
        squares.update(s for s in new if recorded[s] is None and reading.squares[s].is_tile)
        if not squares:
            return 0.0
        placed = {s: tile for _, tiles in self._find_placed(number, story) for s, tile in tiles.items()}
        after = self._measure(number, squares, expected.with_tiles(placed), recorded, story.board)
        return after - self._measure(number, squares, recorded, recorded, self.game.board)

    def _find_placed(self, number: int, story: Game) -> Iterator[tuple[Turn, Mapping[Square, Tile]]]:
        """Yield the new plays of a story that had begun at an observation, each with its tiles on the board by then.

        The observation must be newer than the last recorded turn; otherwise no play had begun. The tiles of a play are
        placed one by one. The next play begins after all of them.
        """
        observation = self.observations[number]
        if observation.is_recorded(self.game):
            return
        squares = observation.reading.squares
        for turn in story.turns[len(self.game.turns) :]:
            yield turn, {s: tile for s, tile in turn.placements if is_consistent(squares[s].symbol, tile)}
            if not all(is_consistent(squares[square].symbol, tile) for square, tile in turn.placements):
                return

    def _shows_stop(self, number: int, story: Game) -> bool:
        """Return True if only a part of a new play was on the board, and looked like a complete play.

        It does if it is a legal play, at a press or when the board did not change for a long time.
        """
        rest_s = self.observations[number].rest_s
        if rest_s is not None and rest_s < MIN_REST_S:
            return False
        for turn, tiles in self._find_placed(number, story):
            if tiles and len(tiles) < len(turn.placements):
                needs_listed = rest_s is not None and rest_s < MIN_REST_UNKNOWN_WORDS_S
                return self._is_play(story, turn, Play.from_tiles(tiles), needs_listed=needs_listed)
        return False

    def _is_play(self, story: Game, turn: Turn, part: Play, *, needs_listed: bool) -> bool:
        """Return True if `part`, some tiles of the play of a turn, is a legal play by itself.

        If `needs_listed` is True, its words must also be in the word list.
        """
        before = replace(self.game.state, board=story.state.board_before(turn))
        if check_play(before, part):
            return False
        score = score_play(before.board, part, story.layout, story.tiles, story.rules)
        words = self.words
        return not needs_listed or (
            words is not None and all(is_word_listed(word.tile_letters, words, story.tiles) for word in score.words)
        )

    def _measure(self, number: int, squares: Collection[Square], board: Board, recorded: Board, end: Board) -> float:
        """Return the log-likelihood (nats) of observation number `number` on `squares`, if `board` was the right board.

        `recorded` is the board that was recorded from the observation, and `end` the board now. On a square that does
        not look as it should, the reading may be right if the picture was taken at another moment. There are four ways:
        tiles of the next play were placed early, old tiles were lifted for a moment, letters were exchanged after the
        picture, or tiles were added, removed or moved after it. Each way is used where it is likelier than misreadings.
        """
        # Sums of what each way gains over misreadings: negative if misreadings are likelier.
        moved = lifted = total = 0.0
        exchanged: list[float] = []
        is_early = False
        for square in squares:
            tile, then = board[square], recorded[square]
            shown = self.observations[number].reading.squares[square].symbol
            if tile is None and then is None and end[square] is not None and is_consistent(shown, end[square]):
                is_early, tile = True, end[square]
            expected = self._log_likelihood(number, square, tile)
            total += expected
            if tile is not None and tile == then:
                lifted += self._log_likelihood(number, square, None) - expected
            elif tile is not None and then is not None:
                exchanged.append(self._log_likelihood(number, square, then) - expected)
            elif board[square] != then:
                moved += self._log_likelihood(number, square, then) - expected
        if self.observations[number].is_press:  # at rest, any moment of the change is as likely
            moved += CHANGED_AFTER_PRESS_LOG_PRIOR
        gains = [gain for gain in exchanged if gain > 0]
        total += max(0.0, sum(gains) + _find_exchange_log_prior(len(gains)))
        return total + max(0.0, moved) + max(0.0, lifted + LIFTED_LOG_PRIOR) + EARLY_TILE_LOG_PRIOR * is_early

    def _log_likelihood(self, number: int, square: Square, tile: Tile | None) -> float:
        """Return the log-likelihood (nats) that an observation shows `tile` on a square; None for an empty square."""
        read = self.observations[number].reading.squares[square]
        if tile is not None:
            likelihood = max(new_tile_likelihood(read, symbol) for symbol in {tile.face, tile.letter})
            return log(likelihood + glare_likelihood(read, tile.face))
        is_repeated = number > 0 and self.observations[number - 1].reading.squares[square].symbol == read.symbol
        occupancy = read.occupancy()
        false = P_FALSE_TILE_REPEATED if is_repeated else _P_FALSE_TILE
        return log(occupancy.empty + occupancy.hidden / 2 + false * occupancy.tile + 1e-9)

    @cached_property
    def _recorded_boards(self) -> tuple[Board, ...]:
        """The recorded board at each observation."""
        return tuple(self._find_board_at(number, self.game) for number in range(len(self.observations)))

    def _find_board_at(self, number: int, game: Game) -> Board:
        """Return the board that a game has at observation number `number`, after the turn that it shows."""
        presses = (one.next_ref for one in self.observations[number + 1 :] if one.is_press)
        return _find_board(game, self.observations[number], next(presses, find_next_ref(self.game)))


def _find_board(game: Game, observation: Observation, following: Ref) -> Board:
    """Return the board of a game after the turn that was recorded from an observation.

    `following` is the identity of the first act that was recorded after the next press. A play that is withdrawn at
    once was on the board when it was observed, so its tiles are on the returned board.
    """
    entry = observation.next_ref.entry
    # Before the play, a withdrawal may have got the first number after the observation. It happened later.
    last = {TurnKind.PLAY: entry + 1, TurnKind.WITHDRAWN: entry - 1}
    until = [turn for turn in game.turns if turn.ref < following and turn.ref.entry <= last.get(turn.kind, entry)]
    board = until[-1].board if until else EMPTY_BOARD
    taken = (placed for turn in until if turn.ref.entry >= entry and not turn.stands for placed in turn.placements)
    return board.with_tiles({square: tile for square, tile in taken if board[square] is None})


def _find_change_log_prior(old: Turn, new: Turn) -> float:
    """Return the log-prior (nats) that the play of `old` was changed to that of `new` after its press."""
    before, after = dict(old.placements), dict(new.placements)
    exchanged = sum(before[square].face != after[square].face for square in before.keys() & after.keys())
    is_moved = before.keys() != after.keys() or old.kind is TurnKind.POSITION
    return _find_exchange_log_prior(exchanged) + is_moved * CHANGED_AFTER_PRESS_LOG_PRIOR


def _find_exchange_log_prior(count: int) -> float:
    """Return the log-prior (nats) of exchanging `count` letters of one play."""
    return EXCHANGED_LETTER_LOG_PRIOR + (count - 1) * NEXT_EXCHANGED_LETTER_LOG_PRIOR if count else 0.0
