"""Requests: what a player, a button or a program asks of the table. One frozen class for each command.

`TableSession.submit` takes a request and runs the handler that `device.session.command_table` has for it:

    session.submit(ExchangeTiles(count=3)).result()

The limits in the annotations hold for requests that come from outside; msgspec checks them when it decodes JSON.
"""

from __future__ import annotations

from collections.abc import Callable
from types import EllipsisType
from typing import Annotated

import msgspec
from msgspec import Meta

from device.session.snapshot import TurnChange
from device.session.snapshot_builder import WordList
from engine.events import GameStarted

MAX_PLAYERS = 4

SmallNumber = Annotated[int, Meta(ge=0, le=1000)]
PlayerNumber = Annotated[int, Meta(ge=0, lt=MAX_PLAYERS)]
SquareName = Annotated[str, Meta(max_length=3, description="`H8` or `8H`.")]
Symbol = Annotated[
    str, Meta(max_length=8, description="A letter as the tile set writes it; small: a blank, `.`: no tile.")
]


class CommandRequest(msgspec.Struct, frozen=True):
    """Base class of all requests."""


class StartGame(CommandRequest, frozen=True):
    """Start a game.

    `words` is its word list (None: words are not checked; `...`: the current list), `colours` are the colours of the
    players from now on.
    """

    started: GameStarted
    words: WordList | EllipsisType | None = ...
    colours: tuple[str, ...] = ()


class PlayAgain(CommandRequest, frozen=True):
    """Start a game with the settings of the last one and the next player first; `default` if there was none.

    After a restart the last game is the newest one in the store; `words_for` finds its word list.
    """

    default: GameStarted
    words_for: Callable[[GameStarted], WordList | None] | None = None


class ResumeGame(CommandRequest, frozen=True):
    """Resume the newest game of the store if it has not ended.

    `words_for` finds the word list that the game was started with; without it the current list is kept.
    """

    words_for: Callable[[GameStarted], WordList | None] | None = None


class DrawFirst(CommandRequest, frozen=True):
    """The tile that each player drew for first play, in seat order: `?` for a blank, empty for one who did not draw."""

    letters: Annotated[tuple[Symbol, ...], Meta(max_length=MAX_PLAYERS)]


class EndTurn(CommandRequest, frozen=True):
    """The turn of the player to move."""


class PassTurn(CommandRequest, frozen=True):
    """A pass of the player to move."""


class ExchangeTiles(CommandRequest, frozen=True):
    """The number of tiles that the player to move exchanges."""

    count: Annotated[int, Meta(ge=1, le=20)]


class ChallengePlay(CommandRequest, frozen=True):
    """A challenge of the last play."""


class AnswerQuestion(CommandRequest, frozen=True):
    """The number of the chosen answer of the open question, from 0."""

    answer: SmallNumber


class ConfirmExchange(CommandRequest, frozen=True):
    """The answer \"exchange\" to the question \"pass or exchange?\", which has a button of its own on the panel."""


class CorrectSquare(CommandRequest, frozen=True):
    """The correct symbol of a square that was misread."""

    square: SquareName
    symbol: Symbol


class NameBlank(CommandRequest, frozen=True):
    """The letter that the blank on a square stands for."""

    square: SquareName
    letter: Annotated[str, Meta(max_length=8)]


class TurnRequest(CommandRequest, frozen=True):
    """A turn as it really was; what is left out does not change.

    `kind` is `play`, `pass`, `exchange`, or `none` to remove the turn. A play is written as in GCG: `at` (`8F` across,
    `F8` down) and `word` (small letters for blanks, dots or letters for tiles that were on the board already).
    """

    number: SmallNumber
    player: PlayerNumber | None = None
    kind: Annotated[str, Meta(pattern="^(|play|pass|exchange|none)$")] = ""
    at: Annotated[str, Meta(max_length=3)] = ""
    word: Annotated[str, Meta(max_length=60)] = ""
    count: Annotated[int, Meta(ge=0, le=20)] = 0
    score: Annotated[int, Meta(ge=-2000, le=4000)] | None = None

    @property
    def change(self) -> TurnChange:
        """The change of the turn with this number."""
        return TurnChange(self.player, self.kind, self.at, self.word, self.count, self.score)


class CorrectTurn(TurnRequest, frozen=True):
    """A recorded turn and what it really was; `number` is its `TurnView.number`."""


class InsertTurn(TurnRequest, frozen=True):
    """A missing turn; the `number` after the last turn enters a turn by hand."""


class RevealRack(CommandRequest, frozen=True):
    """The unplayed letters of a player, `?` for a blank."""

    player: PlayerNumber
    letters: Annotated[str, Meta(max_length=60)]


class Undo(CommandRequest, frozen=True):
    """The last press."""


class Redo(CommandRequest, frozen=True):
    """The press that was undone last."""


class Pause(CommandRequest, frozen=True):
    """A pause of the game, until `EndPause`."""


class EndPause(CommandRequest, frozen=True):
    """The end of a pause."""


class EndGame(CommandRequest, frozen=True):
    """The end of the game."""


def find_argument_type(request: type[CommandRequest]) -> type[CommandRequest]:
    """Return the class that declares the fields of a request: the same one for requests that share it.

    >>> find_argument_type(InsertTurn).__name__, find_argument_type(Undo).__name__
    ('TurnRequest', 'CommandRequest')
    """
    fields = request.__struct_fields__
    bases = (base for base in reversed(request.__mro__) if issubclass(base, CommandRequest))
    return next(base for base in bases if base.__struct_fields__ == fields)
