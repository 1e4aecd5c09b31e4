"""What the table looks like at one moment, as an immutable value: the one thing that page, lights and voice are told.

A `TableState` holds texts and numbers only, ready to be shown; whoever shows it needs no rule of the game.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

from engine.reading import SIZE


class Phase(StrEnum):
    """Where the evening stands."""

    LOBBY = "lobby"
    TURN = "turn"
    LOOKING = "looking"
    ENDED = "ended"


class Trouble(StrEnum):
    """Whose business a notice is: it decides the colour of the light."""

    NONE = "none"
    BOARD = "board"
    CAMERA = "camera"
    STORE = "store"


@dataclass(frozen=True, slots=True)
class Notice:
    """One sentence for the people at the table, and whose business it is."""

    text: str
    trouble: Trouble = Trouble.NONE


@dataclass(frozen=True, slots=True)
class Question:
    """Something that the people know better: what could have happened, and which of it counts until they say."""

    text: str
    answers: tuple[str, ...]
    chosen: int = 0


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


NO_TILES: tuple[TileView | None, ...] = (None,) * (SIZE * SIZE)


@dataclass(frozen=True, slots=True)
class BoardView:
    """The board as understood: 225 tiles or None, and the premium of each square (`""`, `2L`, `3L`, `2W`, `3W`)."""

    tiles: tuple[TileView | None, ...] = NO_TILES
    premiums: tuple[str, ...] = ("",) * (SIZE * SIZE)


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
class TableState:
    """The table at one moment. `revision` grows with every change; `events` is the length of the game's log.

    `turn_of` is the index of the player whose turn it is, None before and after a game; `end_due` says that the rules
    would have the game end now, `winners` who won once it has, `racks_wanted` whose unplayed letters are not known.
    `unseen` counts the tiles that do not lie on the board, in the order of the alphabet; `exchange_most` is how many
    may be exchanged now. `edition` names the board (`engine.rules.COLOURS`). `open_dictionary` is False where only a
    challenge looks words up; `lexicon_advises` is True where the word list knows too little to decide one.
    """

    revision: int = 0
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

    @property
    def words_checked(self) -> bool:
        """True when the words of plays are looked up."""
        return self.lexicon is not None

    @property
    def last_turn(self) -> TurnView | None:
        """The newest line of the game."""
        return self.turns[-1] if self.turns else None


Listener = Callable[[TableState], None]
"""Told of each new state, from the session's thread: it must be quick and must not raise."""
