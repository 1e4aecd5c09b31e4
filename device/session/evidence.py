"""What the readings of a game's board have shown so far: the evidence with which the next reading is explained."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from device.session.snapshot import LookView
from device.session.withdrawn_tiles import WithdrawnPlay, WithdrawnTile
from device.storage.notes import load_note
from device.storage.store import GameStore
from engine.board import Square
from engine.events import PlayMade, Ref
from engine.game import Game
from engine.inference.alignment import align_reading
from engine.inference.evidence import tile_confidence
from engine.inference.history import EMPTY_HISTORY, Observation, ReadingHistory
from engine.ledger import Step
from engine.reading import BoardReading, SquareReading
from engine.tiles import Tile
from engine.validation.findings import MIN_LETTER_CONFIDENCE, find_doubtful_squares

EVIDENCE_NOTE = "evidence"
"""Name of the game's note with its evidence, which is saved together with the entries of a press."""

MIN_CERTAIN_PROBABILITY = 0.9995
"""Minimum probability of a symbol that is stored as certain, so that a reading is small."""


@dataclass(frozen=True, slots=True)
class TableEvidence:
    """Evidence from the readings of the current game's board.

    - `history`: the last readings, with which the next reading is explained.
    - `doubtful`: the letters (faces) that no reading has shown with certainty, by square. They count without a
      question, because nearly all of them are right. The page marks them until a reading or a player confirms them.
    - `reading`: the last reading; None before the first one.
    - `to_clear`: the withdrawn plays whose tiles the players must remove.
    - `lost`: the squares of recorded tiles that a picture did not show, after a notice. There is no second notice.
    - `told`: the message keys of the problems of pictures about which there was a notice. There is no second notice.
    - `look`: the last picture. `board_colours`: the colours of the board, in the format of `TableSnapshot`.
    """

    history: ReadingHistory = EMPTY_HISTORY
    doubtful: Mapping[Square, str] = field(default_factory=dict)
    reading: BoardReading | None = None
    to_clear: tuple[WithdrawnPlay, ...] = ()
    look: LookView | None = None
    board_colours: tuple[tuple[str, str], ...] = ()
    lost: frozenset[Square] = frozenset()
    told: frozenset[str] = frozenset()

    def add_reading(
        self,
        reading: BoardReading,
        history: ReadingHistory,
        game: Game,
        steps: Sequence[Step],
        asked: Collection[Square],
    ) -> TableEvidence:
        """Return the evidence after a reading from which `steps` were recorded.

        `game` is the game after the steps, and `history` has the last readings, of which `reading` is the newest. A
        doubtful letter stays doubtful until a reading shows it clearly. The unclear letters of the plays in `steps` are
        added, except on the squares about which the players are asked (`asked`).
        """
        aligned = align_reading(game, reading) or reading
        doubtful = {
            square: face
            for square, face in self.doubtful.items()
            if tile_confidence(aligned.squares[square], game.board[square]) < MIN_LETTER_CONFIDENCE
        }
        for play in (step for step in steps if isinstance(step, PlayMade)):
            squares = set(find_doubtful_squares(play.play, aligned)).difference(asked)
            doubtful |= {square: tile.face for square, tile in play.play.tiles if square in squares}
        return replace(self, history=history, doubtful=doubtful, reading=reading)

    def confirm_squares(self, squares: Collection[Square]) -> TableEvidence:
        """Return the evidence after the players have said what is on `squares`."""
        confirmed = {*squares}
        if confirmed.isdisjoint(self.doubtful):
            return self
        return replace(self, doubtful={s: face for s, face in self.doubtful.items() if s not in confirmed})


_Candidates = list[tuple[str, float]]
_Square = str | _Candidates
"""The reading of a square: its symbol if this is certain (`MIN_CERTAIN_PROBABILITY`), otherwise its candidates."""


class _StoredTile(msgspec.Struct, array_like=True):
    square: int
    letter: str
    is_blank: bool
    read: _Candidates | None


class _StoredReading(msgspec.Struct, omit_defaults=True):
    squares: list[_Square]
    orientation: float = 1.0
    offset: float = 1.0


class _StoredObservation(msgspec.Struct, omit_defaults=True):
    """`number` and `part` are the identity of the next act then."""

    reading: _StoredReading
    number: int
    part: int = 0
    rest_s: float | None = None


class _StoredHistory(msgspec.Struct, omit_defaults=True):
    observations: list[_StoredObservation] = []
    removed: dict[int, _Candidates] = {}
    strange_count: int = 0


class _StoredEvidence(msgspec.Struct, omit_defaults=True):
    """Contents of the note. `length` is the number of rows that the game had in the store."""

    length: int
    history: _StoredHistory = msgspec.field(default_factory=_StoredHistory)
    doubtful: dict[int, str] = {}
    reading: _StoredReading | None = None
    to_clear: list[list[_StoredTile]] = []
    look: LookView | None = None
    board_colours: tuple[tuple[str, str], ...] = ()
    lost: list[int] = []
    told: list[str] = []


def write_evidence(evidence: TableEvidence, length: int) -> str:
    """Return the evidence as the text of a note. `length` is the number of rows that the game has in the store."""
    history, reading = evidence.history, evidence.reading
    stored = _StoredEvidence(
        length,
        _StoredHistory(
            [
                _StoredObservation(_store_reading(one.reading), *one.next_ref, one.rest_s)
                for one in history.observations
            ],
            {square: list(read.candidates) for square, read in history.removed.items()},
            history.strange_count,
        ),
        dict(evidence.doubtful),
        None if reading is None else _store_reading(reading),
        [[_store_tile(tile) for tile in play] for play in evidence.to_clear],
        evidence.look,
        evidence.board_colours,
        sorted(evidence.lost),
        sorted(evidence.told),
    )
    return msgspec.json.encode(_round(msgspec.to_builtins(stored, str_keys=True))).decode()


def load_evidence(store: GameStore, game: int, length: int) -> TableEvidence:
    """Return the evidence of a game from its note.

    Return empty evidence if there is no note, or if the game has not `length` rows in the note: the note was saved
    before the last change of the game.
    """
    warning = "the evidence of earlier readings is not known"
    stored = load_note(store, game, EVIDENCE_NOTE, _StoredEvidence, warning)
    if stored is None or stored.length != length:
        return TableEvidence()
    history = stored.history
    return TableEvidence(
        ReadingHistory(
            tuple(
                Observation(_read_reading(one.reading), Ref(one.number, one.part), one.rest_s)
                for one in history.observations
            ),
            {square: _read_square(read) for square, read in history.removed.items()},
            history.strange_count,
        ),
        stored.doubtful,
        None if stored.reading is None else _read_reading(stored.reading),
        tuple(tuple(map(_read_tile, play)) for play in stored.to_clear),
        stored.look if stored.look is not None and stored.look.picture.startswith(f"{game}-") else None,
        stored.board_colours,
        frozenset(stored.lost),
        frozenset(stored.told),
    )


def _round(data: Any) -> Any:
    """Return data with its numbers rounded to six digits, which is more than a reading needs."""
    if isinstance(data, float):
        return round(data, 6)
    if isinstance(data, dict):
        return {key: _round(value) for key, value in data.items()}
    return [_round(value) for value in data] if isinstance(data, list | tuple) else data


def _store_reading(reading: BoardReading) -> _StoredReading:
    squares = [s.symbol if s.confidence >= MIN_CERTAIN_PROBABILITY else list(s.candidates) for s in reading.squares]
    return _StoredReading(squares, reading.orientation_confidence, reading.offset_confidence)


def _read_reading(stored: _StoredReading) -> BoardReading:
    squares = tuple(map(_read_square, stored.squares))
    return BoardReading(squares, orientation_confidence=stored.orientation, offset_confidence=stored.offset)


def _read_square(stored: _Square) -> SquareReading:
    candidates = [(stored, 1.0)] if isinstance(stored, str) else stored
    return SquareReading(tuple((symbol, probability) for symbol, probability in candidates))


def _store_tile(tile: WithdrawnTile) -> _StoredTile:
    read = None if tile.read is None else list(tile.read.candidates)
    return _StoredTile(tile.square, tile.tile.letter, tile.tile.is_blank, read)


def _read_tile(stored: _StoredTile) -> WithdrawnTile:
    read = None if stored.read is None else _read_square(stored.read)
    return WithdrawnTile(stored.square, Tile(stored.letter, stored.is_blank), read)
