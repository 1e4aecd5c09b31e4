"""Letters of the current game that the camera read without certainty, so that the page can mark them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Annotated

import msgspec
from msgspec import Meta

from device.session.snapshot import TurnView
from device.session.turns.decision import Decision
from device.storage.errors import log_store_errors
from device.storage.game_log import GameLog
from device.storage.notes import load_note
from device.storage.store import TABLE_NOTES, GameStore
from engine.board import Square, parse_square, square_name
from engine.events import filter_plays
from engine.game import Game
from engine.inference.alignment import align_reading
from engine.reading import BoardReading
from engine.validation.findings import MIN_LETTER_CONFIDENCE, find_doubtful_squares

DOUBTFUL_LETTERS_NOTE = "doubtful-letters"
"""Name of the game's note that contains its doubtful letters, as a JSON object."""

_SquareName = Annotated[str, Meta(pattern="^[A-O](1[0-5]|[1-9])$")]


class _StoredLetters(msgspec.Struct, frozen=True, omit_defaults=True):
    """Contents of the note: the faces of the doubtful letters by square (`H8`).

    `game` is the number of the game. Earlier programs wrote it, because their note was one of the table.
    """

    letters: dict[_SquareName, str]
    game: int = 0


class LetterDoubts:
    """The letters of the current game whose confidence was below `MIN_LETTER_CONFIDENCE` when they were placed.

    Such a letter counts without a question, because nearly all of these letters are right. It is marked until a later
    reading or a player confirms it. The letters are stored in a note of the game, so they survive a restart.

    Earlier programs write a note of the table. It is emptied when the note of the game is written: letters in it are
    therefore newer, because an earlier program has continued the game.
    """

    def __init__(self, store: GameStore) -> None:
        self._store = store
        self._log: GameLog | None = None
        self._faces: dict[Square, str] = {}
        self._saved: tuple[int, dict[Square, str]] | None = None
        """The number of the game and the letters that were read from, or written to, its note last."""

    def start_game(self, log: GameLog) -> None:
        """Continue with the letters of a game in the store; do nothing if it is already the current game."""
        if log is not self._log:
            self.save()  # a new game may have recorded the last play of this one, and an undo may go back to it
            self._log, self._faces = log, self._load(log.number)
            self._saved = log.number, self._faces

    def _load(self, number: int) -> dict[Square, str]:
        warning = "the doubtful letters of the game are not known"
        note = load_note(self._store, number, DOUBTFUL_LETTERS_NOTE, _StoredLetters, warning)
        table_note = load_note(self._store, TABLE_NOTES, DOUBTFUL_LETTERS_NOTE, _StoredLetters, warning)
        letters = dict(note.letters) if note is not None else {}
        if table_note is not None and table_note.game == number:
            letters |= table_note.letters
        return {parse_square(name): face for name, face in letters.items()}

    def add_turn(self, game: Game, decision: Decision, reading: BoardReading) -> None:
        """Add the doubtful letters of a turn, and remove those letters of earlier turns that `reading` confirms.

        `game` is the game after the events of `decision`. Squares about which the players are asked are not added.
        """
        aligned = align_reading(game, reading) or reading
        squares_in_question = decision.open_question.question.squares if decision.open_question else ()
        faces = {
            square: face
            for square, face in self._faces.items()
            if aligned.squares[square].probability(face) < MIN_LETTER_CONFIDENCE
        }
        for play in filter_plays(decision.events):
            doubtful = set(find_doubtful_squares(play.play, aligned)).difference(squares_in_question)
            faces |= {square: tile.face for square, tile in play.play.tiles if square in doubtful}
        self._faces = faces

    def confirm_squares(self, squares: Iterable[Square]) -> None:
        """Forget the letters on these squares."""
        confirmed = {*squares}
        self._faces = {square: face for square, face in self._faces.items() if square not in confirmed}

    def save(self) -> None:
        """Write the note of the current game, unless its letters are unchanged; errors of the store are only logged."""
        if self._log is None or self._saved == (self._log.number, self._faces):
            return
        letters = {square_name(square): face for square, face in self._faces.items()}
        with log_store_errors("the doubtful letters are not kept"):
            note = msgspec.json.encode(_StoredLetters(letters)).decode()
            self._store.save_note(self._log.number, DOUBTFUL_LETTERS_NOTE, note)
            if self._store.read_note(TABLE_NOTES, DOUBTFUL_LETTERS_NOTE):
                self._store.save_note(TABLE_NOTES, DOUBTFUL_LETTERS_NOTE, "")
            self._saved = self._log.number, self._faces

    def mark_turns(self, game: Game, views: Sequence[TurnView]) -> tuple[TurnView, ...]:
        """Return the views of the turns of `game` with the squares of their doubtful letters."""
        return tuple(replace(view, doubtful=self._find_squares(game, view)) for view in views)

    def _find_squares(self, game: Game, view: TurnView) -> tuple[str, ...]:
        turn = game.turns[view.number - 1]
        if not turn.stands:
            return ()
        return tuple(square_name(square) for square, tile in turn.placements if self._faces.get(square) == tile.face)
