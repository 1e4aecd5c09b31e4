"""What programs are told of the table, and what they tell it: the types of the API's JSON."""

from __future__ import annotations

import inspect
import time
from functools import cache
from typing import Annotated, Any, cast

import msgspec
from msgspec import Meta

from device.session import snapshot
from device.session.clock import ClockView
from device.session.snapshot import (
    BoardView,
    LookView,
    Moment,
    Phase,
    PlayerView,
    TableSnapshot,
    Trouble,
    TurnView,
)
from engine.messages import values_of

MomentText = Annotated[
    str, Meta(pattern=r"^[0-9]{1,9}-[0-9]{1,9}$", description="The moment that this is meant for: `moment` of a state.")
]


class Clock(msgspec.Struct, frozen=True):
    """The players' clocks: the seconds each has `left` now (below zero: overtime), and whose time runs (null: none).

    `limit` is the time of a player in seconds, `overtime` the points for each minute begun beyond it.
    """

    limit: float
    overtime: int
    left: tuple[float, ...]
    running: int | None
    paused: bool

    @classmethod
    def of(cls, clock: ClockView) -> Clock:
        """The clock as it stands now."""
        now = time.monotonic()
        left = tuple(round(clock.left(player, now), 2) for player in range(len(clock.used)))
        return cls(clock.limit, clock.overtime, left, clock.running, clock.paused)


class Notice(msgspec.Struct, frozen=True):
    """One sentence for the people at the table, and whose business it is: `none`, `board`, `camera` or `store`.

    Other languages say it by `key` and `values`, where it has a key.
    """

    text: str
    trouble: Trouble
    key: str
    values: tuple[str, ...]

    @classmethod
    def of(cls, notice: snapshot.Notice) -> Notice:
        """The notice for programs."""
        return cls(notice.text, notice.trouble, notice.key, values_of(notice.text))


class Question(msgspec.Struct, frozen=True):
    """Something that the people know better: what could have happened, and which answer counts until they say.

    `squares` are those that it is about (`row * 15 + column`), `symbols` what each answer says of each of them (small:
    a blank, `.`: nothing), empty where it does not ask for tiles. Other languages say it by `key` and `values`.
    """

    text: str
    answers: tuple[str, ...]
    chosen: int
    squares: tuple[int, ...]
    symbols: tuple[tuple[str, ...], ...]
    key: str
    values: tuple[str, ...]

    @classmethod
    def of(cls, asked: snapshot.Question) -> Question:
        """The question for programs."""
        told = asked.text, asked.answers, asked.chosen, asked.squares, asked.symbols
        return cls(*told, asked.key, values_of(asked.text))


class State(msgspec.Struct, frozen=True, kw_only=True):
    """The table at one moment.

    `moment` is what a change must name as `seen`. `turn_of` is the number of the player whose turn it is; `end_due`
    says that the rules would have the game end now, `winners` who won, `racks_wanted` whose unplayed letters are not
    known, `drawing` who has to draw a tile for first play. `in_bag` and `unseen` count tiles that do not lie on the
    board; `exchange_most` is how many may be exchanged now. `undo` and `redo` say whether there is a press to take
    back, or one taken back to do again. The picture of `look` is to be had under `/pictures`.
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
    clock: Clock | None
    drawing: tuple[int, ...]
    undo: bool
    redo: bool

    @classmethod
    def of(cls, now: TableSnapshot) -> State:
        """The state for programs."""
        own: dict[str, Any] = {
            "moment": str(now.moment),
            "clock": Clock.of(now.clock) if now.clock else None,
            "notices": tuple(map(Notice.of, now.notices)),
            "question": Question.of(now.question) if now.question else None,
        }
        return cls(**own, **{name: getattr(now, name) for name in cls.__struct_fields__ if name not in own})


class Turns(msgspec.Struct, frozen=True):
    """The score sheet."""

    moment: str
    turns: tuple[TurnView, ...]


class Board(msgspec.Struct, frozen=True):
    """The board as understood. `rows` has a line for each row: letters, small ones for blanks, `.` where none lies."""

    moment: str
    rows: tuple[tuple[str, ...], ...]
    premiums: tuple[str, ...]


class Order(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A command that needs to say no more than the moment it is meant for."""

    seen: MomentText

    @property
    def moment(self) -> Moment:
        """The moment that it is meant for."""
        found = Moment.parse(self.seen)
        assert found is not None, "checked when it was read"
        return found


@cache
def make_body_type(schema_name: str, arguments: type[msgspec.Struct]) -> type[Order]:
    """Return the type of a JSON body with this schema name: the moment and the fields of `arguments`."""
    fields = msgspec.structs.fields(arguments)
    if not fields:
        return Order
    made = msgspec.defstruct(
        schema_name,
        [(field.name, field.type, *_copy_default(field)) for field in fields],
        bases=(Order,),
        namespace={"__doc__": inspect.getdoc(arguments)},
        frozen=True,
        forbid_unknown_fields=True,
    )
    return cast(type[Order], made)


def _copy_default(field: msgspec.structs.FieldInfo) -> tuple[Any, ...]:
    """Return the default of a field, nothing if it is required."""
    if field.required:
        return ()
    return (field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory(),)


def extract_arguments(body: Order) -> dict[str, Any]:
    """Return the fields of a body but the moment, by name."""
    return {field: getattr(body, field) for field in body.__struct_fields__ if field != "seen"}


class PairingOrder(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The six digits that the table shows, and what people shall read of this device in the list of paired ones."""

    code: Annotated[str, Meta(max_length=20)]
    device: Annotated[str, Meta(min_length=1, max_length=40)]


class Token(msgspec.Struct, frozen=True):
    """What a paired device sends with each request; the `admin` may unpair others."""

    token: str
    id: str
    admin: bool


class PairedDevice(msgspec.Struct, frozen=True):
    """A paired device: what it says it is, since when (seconds since 1970), and whether it is the table's admin."""

    id: str
    device: str
    since: float
    admin: bool


class WordAnswer(msgspec.Struct, frozen=True):
    """Whether the word list of the table has the word; null where there is no list that could say."""

    word: str
    valid: bool | None


class Choices(msgspec.Struct, frozen=True):
    """What a new game may name as `choices`, by field."""

    choices: dict[str, tuple[str, ...]]
