"""Immutable snapshots of the session for the page, the panel and the speech output.

A `TableSnapshot` contains texts and numbers that can be displayed without knowledge of the rules.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, Protocol

from device.session.clock import ChessClock
from device.session.messages import DeferredQuestion, Notice, Question
from engine.reading import BOARD_SIZE
from engine.rules import ChallengeRule, Rules
from engine.state import TurnKind
from engine.tiles import TileSet, load_tile_set


class Phase(StrEnum):
    """Phases of the session; `device.session.phases` defines the transitions between phases."""

    LOBBY = "lobby"
    DRAWING = "drawing"  # the players draw for first play
    TURN = "turn"
    LOOKING = "looking"
    QUESTION = "question"  # a turn with an open question
    CHALLENGE = "challenge"  # a turn in which the previous play may still be challenged
    PAUSED = "paused"
    ENDED = "ended"

    @property
    def in_play(self) -> bool:
        """True in the phases in which a player has the turn."""
        return self in (Phase.TURN, Phase.QUESTION, Phase.CHALLENGE)


class Moment(NamedTuple):
    """A version of a game: the game's number in the store (0 if there is none) and the number of its events.

    >>> str(Moment(12, 34)), Moment.parse("12-34")
    ('12-34', Moment(game=12, events=34))
    """

    game: int
    events: int

    def __str__(self) -> str:
        return f"{self.game}-{self.events}"

    @classmethod
    def parse(cls, text: str) -> Moment | None:
        """Parse a text in the format of `str(moment)`; return None if the text has another format."""
        game, dash, events = text.partition("-")
        is_valid = dash and all(part.isascii() and part.isdecimal() and len(part) < 10 for part in (game, events))
        return cls(int(game), int(events)) if is_valid else None


class Sight(StrEnum):
    """The state of the board between presses, as a live camera sees it."""

    UNKNOWN = "unknown"  # no live camera, or nothing was checked yet
    READY = "ready"
    HAND_IN_VIEW = "hand-in-view"  # something moves
    BOARD_MOVED = "board-moved"
    BOARD_DIFFERS = "board-differs"  # recorded tiles are missing or look different
    TURN_OVER = "turn-over"  # a legal play has been still for some time, so that the turn may be over


@dataclass(frozen=True, slots=True)
class LetterView:
    """A tile in a word: its letter, its value before premiums, and its letter premium as a factor (1 to 4)."""

    letter: str
    value: int
    blank: bool = False
    new: bool = False
    factor: int = 1


@dataclass(frozen=True, slots=True)
class WordView:
    """A word of a play: its tiles, the product of its word premiums (`factor`), and its score.

    `valid` is True if the word list contains the word, and None if there is no list that may decide challenges.
    `unlisted` is True if an advisory list, which only gives hints, does not contain the word.
    """

    text: str
    letters: tuple[LetterView, ...]
    factor: int
    score: int
    valid: bool | None
    unlisted: bool = False


@dataclass(frozen=True, slots=True)
class TurnView:
    """One line of the score sheet: a player's turn, its score, and the player's total after the turn.

    - `kind`: `play`, `pass`, `exchange`, `withdrawn` or another kind of turn of the engine.
    - `at`, `word`: square and word in GCG notation, empty if no tile was placed. For unplayed letters, `word` contains
      the letters.
    - `tiles`: pairs of a square (`H8`) and a symbol (a lower-case letter is a blank, `?` an unnamed blank).
    - `stands`: False for a play that was withdrawn later.
    - `target`: number of the play that was challenged or withdrawn. `by`: the challenger.
    - `problems`: texts about violations of the rules; the turn counts nevertheless.
    - `provisional`: True while the turn may still change, because the players have not answered a question about it.
    - `doubtful`: squares (`H8`) of letters that the camera read without certainty, and that nothing has confirmed yet.
    - `ref`: the identity of the turn, which stays the same when the turn gets another number.
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
    target: int | None = None
    by: int | None = None
    problems: tuple[str, ...] = ()
    provisional: bool = False
    doubtful: tuple[str, ...] = ()
    ref: str = ""

    @property
    def shown_word(self) -> str:
        """The word for players, with the tiles that were already on the board; in GCG notation, these are dots."""
        return self.words[0].text if self.words else self.word.replace(".", "")

    @property
    def invalid_words(self) -> tuple[str, ...]:
        """The words of a play that are not in the word list."""
        return tuple(word.text for word in self.words if word.valid is False) if self.kind == "play" else ()

    @property
    def unlisted_words(self) -> tuple[str, ...]:
        """The words of a play that an advisory word list does not contain; they may still be valid."""
        return tuple(word.text for word in self.words if word.unlisted) if self.kind == "play" else ()


@dataclass(frozen=True, slots=True)
class PlayerView:
    """A player's name, total and colour; an empty colour means the default colour of the seat."""

    name: str
    total: int
    colour: str = ""


@dataclass(frozen=True, slots=True)
class TileView:
    """A tile on the board; `new` is True if the tile was placed by the last play."""

    letter: str
    value: int
    blank: bool = False
    new: bool = False


NO_TILES: tuple[TileView | None, ...] = (None,) * (BOARD_SIZE * BOARD_SIZE)


@dataclass(frozen=True, slots=True)
class BoardView:
    """The board: the tile (or None) and the premium (`""`, `2L`, `3L`, `2W`, `3W`) of each of the 225 squares.

    `layout` is the name of the board's layout. If `right_to_left` is True, column A is drawn on the right.
    """

    tiles: tuple[TileView | None, ...] = NO_TILES
    premiums: tuple[str, ...] = ("",) * (BOARD_SIZE * BOARD_SIZE)
    right_to_left: bool = False
    layout: str = "standard"


@dataclass(frozen=True, slots=True)
class LookView:
    """The last picture of the board: the name of the rectified picture, and its uncertain squares.

    `doubtful` are uncertain squares (`row * 15 + column`), and `hidden` are squares under a hand. `margin` is the width
    of the border around the grid in the picture, in squares.
    """

    picture: str
    doubtful: tuple[int, ...] = ()
    hidden: tuple[int, ...] = ()
    margin: float = 0.0


@dataclass(frozen=True, slots=True)
class TableSnapshot:
    """The state of the session at one moment; `revision` increases with every change.

    - The game: `game` is its number in the store (0 if there is none), `events` the number of its events. `undo` and
      `redo` are True if there is a press (recorded command) to undo or redo.
    - Turns: `turn_of` is the player whose turn it is, None before and after a game, and during the draw for first play.
      `drawing` are the players who must draw now. `exchange_most` is the number of tiles that may be exchanged now.
      `clock` is None in a game without a clock. `unseen` counts the tiles that are not on the board, in alphabetical
      order. `lost` are the tiles that the set does not have any more.
    - Questions: `question` is the one that is shown now. `open_questions` are those to answer later, the oldest first.
    - The end: `end_due` is True if the game should end by the rules. `winners` are set after the end. `racks_wanted`
      are the players whose unplayed letters are not known; with `skips_racks`, no unplayed letters count.
    - Rules: `rules` are the rules in force (None before the first game), `finish_lines` the points that each player
      needs in the Finish Line game. `open_dictionary` is False if words may be looked up only in a challenge.
      `lexicon_advises` is True if the word list is too incomplete to decide a challenge.
    - The board: `edition` is its name (`engine.rules.EDITION_COLOURS`). `board_colours` are the colours `#rrggbb` of
      the table's own board by premium (`2L`), empty until a picture has shown them. `sight` is what the camera sees
      between presses.
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
    open_questions: tuple[DeferredQuestion, ...] = ()
    tile_set: str = ""
    language: str = ""
    open_dictionary: bool = True
    lexicon: str | None = None
    lexicon_advises: bool = False
    in_bag: int | None = None
    unseen: tuple[tuple[str, int], ...] = ()
    lost: tuple[str, ...] = ()
    edition: str = ""
    exchange_most: int = 0
    end_due: bool = False
    winners: tuple[int, ...] = ()
    racks_wanted: tuple[int, ...] = ()
    skips_racks: bool = False
    clock: ChessClock | None = None
    drawing: tuple[int, ...] = ()
    rules: Rules | None = None
    finish_lines: tuple[int, ...] = ()
    undo: bool = False
    redo: bool = False
    sight: Sight = Sight.UNKNOWN
    board_colours: tuple[tuple[str, str], ...] = ()

    @property
    def moment(self) -> Moment:
        """The version of the game in this snapshot. A command with an older moment is refused."""
        return Moment(self.game, self.events)

    @property
    def tiles(self) -> TileSet:
        """The tile set of the game; the English one before the first game."""
        return load_tile_set(self.tile_set or "en")

    @property
    def words_checked(self) -> bool:
        """True if the words of plays are looked up in a word list."""
        return self.lexicon is not None

    @property
    def last_turn(self) -> TurnView | None:
        """The last line of the score sheet, or None if there is no turn."""
        return self.turns[-1] if self.turns else None

    @property
    def is_challengeable(self) -> bool:
        """True if the last line of the score sheet is a play that may still be challenged by the rules of the game."""
        is_allowed = self.rules is None or self.rules.challenge is not ChallengeRule.VOID
        return is_allowed and self.last_turn is not None and self.last_turn.kind == TurnKind.PLAY

    def find_turn(self, number: int) -> TurnView | None:
        """Return the line of the score sheet with this number (from 1), or None if there is none."""
        return self.turns[number - 1] if 1 <= number <= len(self.turns) else None


Listener = Callable[[TableSnapshot], None]
"""A function that is called with each new snapshot; it must be quick and must not raise.

A session calls it on the thread that has changed the snapshot, one call at a time. Mostly this is the session's thread,
but it may be that of `TableSession.submit`, or one of the threads `watch`, `auto` and `learning`.
"""


class SnapshotSource(Protocol):
    """Source of snapshots, such as a session or a table of a hall; it calls listeners with each new snapshot."""

    @property
    def state(self) -> TableSnapshot:
        """The newest snapshot."""

    def add_listener(self, listener: Listener, /) -> None:
        """Call `listener` with each new snapshot."""

    def remove_listener(self, listener: Listener, /) -> None:
        """Stop calling `listener`."""
