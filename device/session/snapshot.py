"""What the table looks like at one moment, as an immutable value: the one thing that page, lights and voice are told.

A `TableSnapshot` holds texts and numbers only, ready to be shown; whoever shows it needs no rule of the game.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from device.session.clock import ClockView
from engine.messages import key_of
from engine.reading import BOARD_SIZE


class Phase(StrEnum):
    """Where the evening stands; `device.session.phases` says what leads from one to another."""

    LOBBY = "lobby"
    DRAWING = "drawing"  # the players draw for first play
    TURN = "turn"
    LOOKING = "looking"
    QUESTION = "question"  # a turn in which people are asked something
    CHALLENGE = "challenge"  # a turn in which the play before it may still be challenged
    PAUSED = "paused"
    ENDED = "ended"

    @property
    def in_play(self) -> bool:
        """True where somebody has the turn, whatever else may be done besides."""
        return self in (Phase.TURN, Phase.QUESTION, Phase.CHALLENGE)


class Moment(NamedTuple):
    """A moment of the evening: the game's number in the store (0: none), and the length of its log.

    >>> str(Moment(12, 34)), Moment.parse("12-34")
    ('12-34', Moment(game=12, events=34))
    """

    game: int
    events: int

    def __str__(self) -> str:
        return f"{self.game}-{self.events}"

    @classmethod
    def parse(cls, text: str) -> Moment | None:
        """The moment from its text; None for what is none."""
        game, dash, events = text.partition("-")
        whole = dash and all(part.isascii() and part.isdecimal() and len(part) < 10 for part in (game, events))
        return cls(int(game), int(events)) if whole else None


class Trouble(StrEnum):
    """Whose business a notice is: it decides the colour of the light."""

    NONE = "none"
    BOARD = "board"
    CAMERA = "camera"
    STORE = "store"


@dataclass(frozen=True, slots=True)
class Notice:
    """One sentence for the people at the table, and whose business it is.

    `text` is in English; other languages say it by its key where it has one (`engine.messages`).
    """

    text: str
    trouble: Trouble = Trouble.NONE

    @property
    def key(self) -> str:
        """The key of the text, empty where it has none."""
        return key_of(self.text)


PASS_OR_EXCHANGE = "pass-or-exchange"
"""The key of the question that has a button of its own on the panel."""


@dataclass(frozen=True, slots=True)
class Question:
    """Something that the people know better: what could have happened, and which of it counts until they say.

    `squares` are those that it is about (`row * 15 + column`), `symbols` what each answer says of each of them (small:
    a blank, `.`: nothing), empty where it does not ask for tiles. The texts are as in a `Notice`.
    """

    text: str
    answers: tuple[str, ...]
    chosen: int = 0
    squares: tuple[int, ...] = ()
    symbols: tuple[tuple[str, ...], ...] = ()

    @property
    def key(self) -> str:
        """The key of the text, empty where it has none."""
        return key_of(self.text)


@dataclass(frozen=True, slots=True)
class LetterView:
    """A tile in a word: its letter, what it counts before premiums, and the letter premium it got (1, 2, 3, 4)."""

    letter: str
    value: int
    blank: bool = False
    new: bool = False
    factor: int = 1


@dataclass(frozen=True, slots=True)
class WordView:
    """A word of a play: its tiles, the product of its word premiums, its score, and whether the word list has it.

    `valid` is None where nobody but people can say; `unlisted` is True where a list that only advises lacks the word.
    """

    text: str
    letters: tuple[LetterView, ...]
    factor: int
    score: int
    valid: bool | None
    unlisted: bool = False


@dataclass(frozen=True, slots=True)
class TurnView:
    """One line of the game: who did what, for how much, and the total after it.

    `kind` is `play`, `pass`, `exchange`, `withdrawn` or another of the engine's events; `at` and `word` are empty
    where nothing was placed; unplayed letters stand in `word`. `tiles` pairs a square (`H8`) with its symbol (small: a
    blank, `?`: nobody named it). `stands` is False for a play that was taken back later.
    """

    number: int
    player: int
    kind: str
    score: int
    total: int
    at: str = ""
    word: str = ""
    words: tuple[WordView, ...] = ()
    bonus: int = 0
    tiles: tuple[tuple[str, str], ...] = ()
    stands: bool = True

    @property
    def invalid_words(self) -> tuple[str, ...]:
        """The words of a play that are not in the word list."""
        return tuple(word.text for word in self.words if word.valid is False) if self.kind == "play" else ()

    @property
    def unlisted_words(self) -> tuple[str, ...]:
        """The words of a play that a list which only advises does not have: they may be good all the same."""
        return tuple(word.text for word in self.words if word.unlisted) if self.kind == "play" else ()


@dataclass(frozen=True, slots=True)
class PlayerView:
    """A player's name, total, and remembered colour (empty: the one of the seat)."""

    name: str
    total: int
    colour: str = ""


@dataclass(frozen=True, slots=True)
class TileView:
    """A tile on the board as understood; `new` when the last play laid it."""

    letter: str
    value: int
    blank: bool = False
    new: bool = False


NO_TILES: tuple[TileView | None, ...] = (None,) * (BOARD_SIZE * BOARD_SIZE)


@dataclass(frozen=True, slots=True)
class BoardView:
    """The board as understood: 225 tiles or None, and the premium of each square (`""`, `2L`, `3L`, `2W`, `3W`)."""

    tiles: tuple[TileView | None, ...] = NO_TILES
    premiums: tuple[str, ...] = ("",) * (BOARD_SIZE * BOARD_SIZE)


@dataclass(frozen=True, slots=True)
class LookView:
    """What the camera saw last: the name of the rectified picture, and the squares that it was in doubt about.

    `doubtful` holds squares (`row * 15 + column`), `hidden` those that could not be seen at all; `margin` is how much
    more than the grid the picture shows on each side, in squares.
    """

    picture: str
    doubtful: tuple[int, ...] = ()
    hidden: tuple[int, ...] = ()
    margin: float = 0.0


@dataclass(frozen=True, slots=True)
class TableSnapshot:
    """The table at one moment. `revision` grows with every change.

    `game` is the number of the game in the store (0: none), `events` the length of its log; `clock` is None in a game
    without one; `drawing` are the players who have to draw for first play now. `undo` and `redo` say whether there is
    a press to take back, or one taken back to do again.

    `turn_of` is the index of the player whose turn it is, None before and after a game; `end_due` says that the rules
    would have the game end now, `winners` who won once it has, `racks_wanted` whose unplayed letters are not known.
    `unseen` counts the tiles that do not lie on the board, in the order of the alphabet; `exchange_most` is how many
    may be exchanged now. `edition` names the board (`engine.rules.EDITION_COLOURS`). `open_dictionary` is False where
    only a challenge looks words up; `lexicon_advises` is True where the word list knows too little to decide one.
    """

    revision: int = 0
    game: int = 0
    events: int = 0
    phase: Phase = Phase.LOBBY
    players: tuple[PlayerView, ...] = ()
    turn_of: int | None = None
    turns: tuple[TurnView, ...] = ()
    board: BoardView = field(default_factory=BoardView)
    look: LookView | None = None
    notices: tuple[Notice, ...] = ()
    question: Question | None = None
    tile_set: str = ""
    language: str = ""
    open_dictionary: bool = True
    lexicon: str | None = None
    lexicon_advises: bool = False
    in_bag: int | None = None
    unseen: tuple[tuple[str, int], ...] = ()
    edition: str = ""
    exchange_most: int = 0
    end_due: bool = False
    winners: tuple[int, ...] = ()
    racks_wanted: tuple[int, ...] = ()
    clock: ClockView | None = None
    drawing: tuple[int, ...] = ()
    undo: bool = False
    redo: bool = False

    @property
    def moment(self) -> Moment:
        """The moment that a command given now is meant for."""
        return Moment(self.game, self.events)

    @property
    def words_checked(self) -> bool:
        """True when the words of plays are looked up."""
        return self.lexicon is not None

    @property
    def last_turn(self) -> TurnView | None:
        """The newest line of the game."""
        return self.turns[-1] if self.turns else None


@dataclass(frozen=True, slots=True)
class TurnChange:
    """What a turn really was, in the words of people; what is None or empty stays as it was.

    `kind` is `play`, `pass` or `exchange`, or `none`: the turn never was. A play is written as in GCG: `at` (`8F`
    across, `F8` down) and `word` (small letters for blanks, dots or the letters themselves for tiles that lay there).
    `count` is the number of tiles exchanged.
    """

    player: int | None = None
    kind: str = ""
    at: str = ""
    word: str = ""
    count: int = 0
    score: int | None = None


@dataclass(frozen=True, slots=True)
class SetupView:
    """The camera's whole picture for setting a table up: a JPEG of `size` (width, height).

    `corners` are the four corners (x, y) of the playing grid in its pixels, clockwise from the top left as the tiles
    read upright, or None where none were found; `placed` says that people put them there.
    """

    jpeg: bytes
    size: tuple[int, int]
    corners: tuple[tuple[float, float], ...] | None
    confidence: float
    problems: tuple[str, ...] = ()
    placed: bool = False


Listener = Callable[[TableSnapshot], None]
"""Told of each new state, from the session's thread: it must be quick and must not raise."""
