"""Types of the JSON values in requests and responses of the API."""

from __future__ import annotations

import time
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from device.session import messages
from device.session.clock import ChessClock
from device.session.messages import Trouble
from device.session.snapshot import BoardView, LookView, Phase, PlayerView, Sight, TableSnapshot, TurnView
from engine.messages import values_of
from engine.rules import Rules


class Clock(msgspec.Struct, frozen=True):
    """The players' clocks: seconds `left` for each player (negative: overtime), and the player whose clock runs.

    `limit` is the time of each player in seconds. `overtime` is the number of points lost for each started minute of
    overtime. `running` is the number of the player whose clock runs, null if no clock runs.
    """

    limit: float
    overtime: int
    left: tuple[float, ...]
    running: int | None
    paused: bool

    @classmethod
    def of(cls, clock: ChessClock) -> Clock:
        """Return the clocks with the remaining times at the moment of the call."""
        now = time.monotonic()
        left = tuple(round(clock.compute_left(player, now), 2) for player in range(len(clock.used)))
        return cls(clock.limit, clock.overtime, left, clock.running, clock.paused)


class Notice(msgspec.Struct, frozen=True):
    """A message to the players, and the part of the table with a problem: `none`, `board`, `camera` or `store`.

    `text` is in English. For translations, `key` identifies the message (empty: none), and `values` are the values of
    the placeholders in the message.
    """

    text: str
    trouble: Trouble
    key: str
    values: tuple[str, ...]

    @classmethod
    def of(cls, notice: messages.Notice) -> Notice:
        """Convert a notice of the session to the API type."""
        return cls(notice.text, notice.trouble, notice.key, values_of(notice.text))


class Question(msgspec.Struct, frozen=True):
    """A question to the players with the possible answers.

    - `chosen`: index of the answer that is in effect until the players answer.
    - `squares`: the squares in question (`row * 15 + column`). `symbols`: for each answer, the tile on each of these
      squares (lower case: a blank, `.`: no tile); empty if the question is not about tiles.
    - `picture`: name under `/pictures` of a part of the photograph with these squares (empty: none).
    - `key` and `values`, for translations: the key of the question, and the values of its placeholders.
    - `can_defer`: true if the players may answer later. `can_look_again`: true if they may have the board read again,
      and none of the answers does this.
    - `id`: to be sent as `question_id` with the answer, which is refused if another question is open. A question that
      is answered later has the id 0.
    """

    text: str
    answers: tuple[str, ...]
    chosen: int
    squares: tuple[int, ...]
    symbols: tuple[tuple[str, ...], ...]
    picture: str
    key: str
    values: tuple[str, ...]
    can_defer: bool
    can_look_again: bool
    id: int

    @classmethod
    def of(cls, question: messages.Question) -> Question:
        """Convert a question of the session to the API type."""
        own: dict[str, Any] = {"values": values_of(question.text)}
        return cls(**own, **{name: getattr(question, name) for name in cls.__struct_fields__ if name not in own})


class DeferredQuestion(msgspec.Struct, frozen=True):
    """A question that the players answer later, with its number for the command `answer-later`."""

    number: int
    question: Question


class State(msgspec.Struct, frozen=True, kw_only=True):
    """The state of the table at one moment.

    - `moment`: version of the game, to be sent in the field `seen` of a command.
    - `open_questions`: questions that the players answer later. Turns with an open question are `provisional`.
    - `turn_of`: number of the player to move (null before and after a game, and while players draw for first play).
      `drawing`: numbers of the players who must draw now.
    - `winners`: numbers of the players who have won. `racks_wanted`: numbers of the players whose unplayed letters are
      missing. `skips_racks`: true if no unplayed letters count.
    - `end_due`: true if the game should end now by the rules.
    - `in_bag`: number of tiles in the bag. `unseen`: counts of the tiles in the bag and on the racks. `exchange_most`:
      largest number of tiles that may be exchanged now.
    - `rules`: the rules in force (null before the first game). `finish_lines`: points that each player needs in the
      Finish Line game.
    - `undo`, `redo`: true if there is a command to undo or redo.
    - `sight`: what a live camera sees between presses of the button. `look`: names a picture under `/pictures`.
    """

    moment: str
    phase: Phase
    players: tuple[PlayerView, ...]
    turn_of: int | None
    turns: tuple[TurnView, ...]
    board: BoardView
    look: LookView | None
    notices: tuple[Notice, ...]
    question: Question | None
    open_questions: tuple[DeferredQuestion, ...]
    tile_set: str
    language: str
    edition: str
    open_dictionary: bool
    lexicon: str | None
    lexicon_advises: bool
    in_bag: int | None
    unseen: tuple[tuple[str, int], ...]
    exchange_most: int
    end_due: bool
    winners: tuple[int, ...]
    racks_wanted: tuple[int, ...]
    skips_racks: bool
    clock: Clock | None
    drawing: tuple[int, ...]
    rules: Rules | None
    finish_lines: tuple[int, ...]
    undo: bool
    redo: bool
    sight: Sight

    @classmethod
    def of(cls, now: TableSnapshot) -> State:
        """Convert a snapshot of the table to the API type."""
        own: dict[str, Any] = {
            "moment": str(now.moment),
            "clock": Clock.of(now.clock) if now.clock else None,
            "notices": tuple(map(Notice.of, now.notices)),
            "question": Question.of(now.question) if now.question else None,
            "open_questions": tuple(
                DeferredQuestion(deferred.number, Question.of(deferred.question)) for deferred in now.open_questions
            ),
        }
        return cls(**own, **{name: getattr(now, name) for name in cls.__struct_fields__ if name not in own})


class Turns(msgspec.Struct, frozen=True):
    """The score sheet: all turns of the current game."""

    moment: str
    turns: tuple[TurnView, ...]


class Board(msgspec.Struct, frozen=True):
    """The board. `rows` has a symbol for each square: a letter, in lower case for a blank, or `.` for no tile."""

    moment: str
    rows: tuple[tuple[str, ...], ...]
    premiums: tuple[str, ...]


class PairingOrder(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The six-digit code that the table shows, and a name of this device for the list of paired devices."""

    code: Annotated[str, Meta(max_length=20)]
    device: Annotated[str, Meta(min_length=1, max_length=40)]


class Token(msgspec.Struct, frozen=True):
    """The token that a paired device sends with each request. A device with `admin` may unpair other devices."""

    token: str
    id: str
    admin: bool


class PairedDevice(msgspec.Struct, frozen=True):
    """A paired device. `since` is the time of pairing (Unix time), `admin` is true for the admin of the table."""

    id: str
    device: str
    since: float
    admin: bool


class WordAnswer(msgspec.Struct, frozen=True):
    """Result of a look-up. `valid` is true for a word in the word list, false for others, null without a word list."""

    word: str
    valid: bool | None


class Choices(msgspec.Struct, frozen=True):
    """The allowed values of each field of `choices` in the command `new-game`."""

    choices: dict[str, tuple[str, ...]]
