"""What happened in a game, as values: acts and edits. The game is computed from them (`engine.game`).

An act is something that happened at the table, such as a play. An edit changes an act that was recorded before, and
names it by its identity (`Ref`), never by its position. `to_json` writes acts and edits as plain data with a version
number. Stores and archives contain this data, so new fields have a default, and the kinds and field names never change,
even if a Python class is renamed. `tests/engine/data/events.jsonl` has a sample of each act and edit.

Players are numbers from 0 in seat order.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, get_args

from engine.board import Square, parse_square, square_name
from engine.errors import NotationError
from engine.plays import Placement, Play, read_placements, read_tile, write_placements, write_tile
from engine.rules import STANDARD_RULES, Rules
from engine.tiles import Tile

EVENT_VERSION = 2


class Ref(NamedTuple):
    """The identity of an act: the number of its entry in the ledger, and its number in this entry (`part`).

    Most entries have one act, of part 0. If an entry has several alternatives, their plays on the same squares have the
    same part, because they are one play that was read differently (`engine.ledger.label_parts`).

    >>> str(Ref(7, 0)), Ref.parse("7.1")
    ('7.0', Ref(entry=7, part=1))
    """

    entry: int
    part: int

    def __str__(self) -> str:
        return f"{self.entry}.{self.part}"

    @classmethod
    def parse(cls, text: str) -> Ref:
        """Parse the format of `str(ref)`. Raises `ValueError`."""
        entry, _, part = text.partition(".")
        return cls(int(entry), int(part))


class EndReason(StrEnum):
    """The reason why a game ended."""

    PLAYED_OUT = "played-out"  # the bag is empty and a player used the last letter (rule 9)
    NO_PLAY_LEFT = "no-play-left"  # no player can make another play (rule 9)
    SCORELESS = "scoreless"  # tournaments: `Rules.scoreless_turns` turns in succession without a score
    FINISH_LINE = "finish-line"  # a player reached the agreed score
    AGREED = "agreed"  # the players stop


@dataclass(frozen=True, slots=True)
class GameStarted:
    """The start of a game: players in seat order, rules, tile set, word list and board layout.

    `first` is the player who begins. If `draw` is True, the players first draw tiles to decide who begins (Setup).
    `lexicon` is the name of a word list, or None for a game without a word list. `lost` are the tiles that were lost
    from the set, each as often as it was.
    """

    kind: ClassVar[str] = "started"
    players: tuple[str, ...]
    rules: Rules = STANDARD_RULES
    tile_set: str = "en"
    lexicon: str | None = None
    layout: str = "standard"
    first: int = 0
    draw: bool = False
    lost: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FirstDrawn:
    """The tiles that the players drew to decide who begins: the player with the tile closest to A (Setup).

    `tiles` has the tile of each player in seat order; an empty string stands for a player who did not draw. If several
    players drew the tile closest to A, only these draw again. (The rule sheets do not mention this case.)
    """

    kind: ClassVar[str] = "drawn"
    tiles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PositionEntered:
    """A position from which the game starts, before the first turn: the tiles on the board and the points so far.

    `totals` (points) has one entry for each player. `to_move` is the player whose turn is next. `racks` has the letters
    on the rack of each player. An unknown rack has no letters; if all racks are unknown, `racks` is empty. Racks are
    given only if the bag is empty: then the unplayed letters at the end of the game can be computed.
    """

    kind: ClassVar[str] = "position"
    board: tuple[Placement, ...]
    totals: tuple[int, ...]
    to_move: int
    racks: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class PlayMade:
    """A play: tiles placed on the board.

    `player` None means the player whose turn it is (`Turn.due`), here and in the other acts. `unlisted` are the words
    of the play that were not in the agreed word list when the play was recorded. They are only kept in a game in which
    a play with such a word does not count.
    """

    kind: ClassVar[str] = "play"
    player: int | None
    play: Play
    unlisted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Exchanged:
    """An exchange of `count` tiles. `tiles` are the letters put back into the bag, if the player entered them."""

    kind: ClassVar[str] = "exchange"
    player: int | None
    count: int
    tiles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Passed:
    """A pass: the player neither plays nor exchanges tiles."""

    kind: ClassVar[str] = "pass"
    player: int | None


@dataclass(frozen=True, slots=True)
class Challenged:
    """A challenge of a play by player `by`. If the challenge is upheld, the play and its points are withdrawn.

    If `by` is None, the challenger is the next player. `words` are the challenged words. If `words` is empty, all words
    of the play are challenged, as in the sheets (rule 8). `of` is the challenged play; None is the last play.
    """

    kind: ClassVar[str] = "challenge"
    by: int | None
    upheld: bool
    words: tuple[str, ...] = ()
    of: Ref | None = None


@dataclass(frozen=True, slots=True)
class PlayWithdrawn:
    """The withdrawal of a play with its points, by its player, who loses the turn.

    `of` is the withdrawn play; None is the last play of `player`.
    """

    kind: ClassVar[str] = "withdrawn"
    player: int | None
    of: Ref | None = None


@dataclass(frozen=True, slots=True)
class TileRecycled:
    """An exchange of the tile on a square for a tile of the player's rack, `tile` (rule sheet travel-case, 5 B)."""

    kind: ClassVar[str] = "recycled"
    player: int | None
    square: Square
    tile: Tile


@dataclass(frozen=True, slots=True)
class BlankTaken:
    """An exchange of a blank on the board for a tile of the rack with the blank's letter (travel-case, rule 6)."""

    kind: ClassVar[str] = "blank-taken"
    player: int | None
    square: Square


@dataclass(frozen=True, slots=True)
class BlankNamed:
    """The naming of a blank: the letter that the blank on a square stands for."""

    kind: ClassVar[str] = "blank-named"
    square: Square
    letter: str


@dataclass(frozen=True, slots=True)
class SquareCorrected:
    """A correction of a misread square: `tile` is the correct tile, or None if the square was empty.

    The correction changes the act that put a tile on the square. If no act did, the tile is added to the play `of`;
    None is the last play. `told` is True for a correction by a player: later readings do not change the square again.
    """

    kind: ClassVar[str] = "square-corrected"
    square: Square
    tile: Tile | None
    of: Ref | None = None
    told: bool = False


@dataclass(frozen=True, slots=True)
class ScoreCorrected:
    """A correction of the score of the act `of`, in points.

    A position has points of each player: then `score` replaces those of the player on seat `player`. For all other
    acts, `player` is not used.
    """

    kind: ClassVar[str] = "score-corrected"
    of: Ref
    score: int
    player: int | None = None


@dataclass(frozen=True, slots=True)
class TurnCorrected:
    """A correction of an act: `event` replaces it. If `event` is None, the act did not happen.

    The player remains the same if `event.player` is None.
    """

    kind: ClassVar[str] = "turn-corrected"
    of: Ref
    event: Act | None


@dataclass(frozen=True, slots=True)
class TurnGiven:
    """A correction of the player of an act: it was the turn of `player`. The players in between have not passed."""

    kind: ClassVar[str] = "turn-given"
    of: Ref
    player: int


@dataclass(frozen=True, slots=True)
class TurnInserted:
    """The insertion of the act `event`, which was forgotten: it happened before the act `before`; None means last."""

    kind: ClassVar[str] = "turn-inserted"
    before: Ref | None
    event: Act


@dataclass(frozen=True, slots=True)
class PlayCounted:
    """The decision of the players that a play counts, although the agreed word list does not have its words."""

    kind: ClassVar[str] = "play-counted"
    of: Ref


@dataclass(frozen=True, slots=True)
class PlayJudged:
    """The words of a corrected play that are not in the agreed word list (`PlayMade.unlisted`)."""

    kind: ClassVar[str] = "play-judged"
    of: Ref
    unlisted: tuple[str, ...]


class PointsReason(StrEnum):
    """The reason why a player gets or loses points that no other act explains."""

    PENALTY = "penalty"  # of a club or tournament, for example for overtime on the players' own clock
    BONUS = "bonus"


@dataclass(frozen=True, slots=True)
class PointsGiven:
    """Points that a player gets, or loses if they are negative, by a rule of the club."""

    kind: ClassVar[str] = "points"
    player: int
    points: int
    why: PointsReason = PointsReason.PENALTY


@dataclass(frozen=True, slots=True)
class ClockRead:
    """A reading of a player's chess clock: the time used so far, in seconds."""

    kind: ClassVar[str] = "clock"
    player: int
    seconds: float


@dataclass(frozen=True, slots=True)
class RackRevealed:
    """The unplayed letters on a player's rack, entered by a player."""

    kind: ClassVar[str] = "rack"
    player: int
    tiles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RacksSkipped:
    """The players count no unplayed letters, for example because the tiles are already in the bag."""

    kind: ClassVar[str] = "racks-skipped"


@dataclass(frozen=True, slots=True)
class PlayerRenamed:
    """A new name for a player. The name applies to the whole game, including earlier turns."""

    kind: ClassVar[str] = "renamed"
    player: int
    name: str


@dataclass(frozen=True, slots=True)
class GameEnded:
    """The end of the game. Unplayed letters and overtime are now scored by the rules in force."""

    kind: ClassVar[str] = "ended"
    reason: EndReason = EndReason.AGREED


@dataclass(frozen=True, slots=True)
class RecordImported:
    """The lines of an imported GCG file. They have the racks, notes and headers that no other event contains."""

    kind: ClassVar[str] = "imported"
    lines: tuple[str, ...]


PlayerTurn = PlayMade | Exchanged | Passed
"""The acts with which the player to move ends the turn."""
SwapEvent = TileRecycled | BlankTaken
"""The acts that exchange a tile of the board for one of the rack; the turn goes on."""
TurnEvent = PlayerTurn | Challenged | PlayWithdrawn | TileRecycled | BlankTaken | GameEnded
Act = (
    FirstDrawn | PositionEntered | TurnEvent | PointsGiven | ClockRead | RackRevealed | RacksSkipped | PlayerRenamed
    | RecordImported
)  # fmt: skip
"""What happens at the table. `engine.transitions` applies acts to the state of a game."""
Edit = (
    BlankNamed | SquareCorrected | ScoreCorrected | TurnCorrected | TurnGiven | TurnInserted | PlayCounted | PlayJudged
)
"""Changes of earlier acts. `engine.items` applies them."""
Event = Act | Edit


def filter_plays(events: Iterable[Event]) -> tuple[PlayMade, ...]:
    """Return the plays among the events, in their order."""
    return tuple(event for event in events if isinstance(event, PlayMade))


_EVENT_TYPES: Mapping[str, type[Any]] = MappingProxyType(
    {event.kind: event for event in (GameStarted, *get_args(Event))}
)


def to_json(event: GameStarted | Event) -> dict[str, Any]:
    """Return the event as plain data, ready for JSON.

    >>> to_json(Passed(1))
    {'v': 2, 'kind': 'pass', 'player': 1}
    """
    data: dict[str, Any] = {"v": EVENT_VERSION, "kind": event.kind}
    for field in fields(event):
        value = getattr(event, field.name)
        data[field.name] = _CODECS[field.name][0](value) if field.name in _CODECS and value is not None else value
    return data


def from_json(data: Mapping[str, Any]) -> Event:
    """Return the act or edit from plain data; see `read_start` for the start of a game.

    Raises `NotationError` for data that no version of this program has written. An unknown field name is also an
    error: the event could have another meaning without this field, and the field would be lost when the event is
    written again.

    >>> from_json({"v": 2, "kind": "pass", "player": 1})
    Passed(player=1)
    """
    event = _read(data)
    if isinstance(event, GameStarted):
        raise NotationError("a game starts only once")
    return event


def read_start(data: Mapping[str, Any]) -> GameStarted:
    """Return the start of a game from plain data. Raises `NotationError`."""
    event = _read(data)
    if not isinstance(event, GameStarted):
        raise NotationError(f"a game does not begin with {event.kind!r}")
    return event


def read_kind(data: object) -> str:
    """Return the kind of an event or entry from its data, or an empty text if the data has no kind."""
    kind = data.get("kind") if isinstance(data, Mapping) else None
    return kind if isinstance(kind, str) else ""


def _read(data: Mapping[str, Any]) -> GameStarted | Event:
    """Return the event in plain data. Raises `NotationError` for an unknown kind, version or field or a wrong value."""
    if (name := read_kind(data)) not in _EVENT_TYPES:
        raise NotationError(f"an event of the unknown kind {name!r}")
    if data.get("v") != EVENT_VERSION:
        raise NotationError(f"an event of version {data.get('v')!r}; this program reads version {EVENT_VERSION}")
    kind = _EVENT_TYPES[name]
    names = {field.name for field in fields(kind)}
    if unknown := data.keys() - names - {"v", "kind"}:
        raise NotationError(f"event {data['kind']!r} has unknown fields: {', '.join(sorted(map(str, unknown)))}")
    try:
        values = {
            name: _CODECS[name][1](value) if name in _CODECS and value is not None else value
            for name, value in data.items()
            if name in names
        }
        event: GameStarted | Event = kind(**values)
    except (TypeError, ValueError, KeyError, AttributeError, IndexError) as error:
        raise NotationError(f"broken event {data['kind']!r}: {error}") from error
    return event


def dumps(event: GameStarted | Event) -> str:
    """Return the event as one line of JSON."""
    return json.dumps(to_json(event), ensure_ascii=False, separators=(",", ":"))


def loads(line: str) -> Event:
    """Return the event from one line of JSON. Raises `NotationError`."""
    try:
        return from_json(json.loads(line))
    except json.JSONDecodeError as error:
        raise NotationError(f"{line[:40]!r} is no event: {error}") from None


_CODECS: Mapping[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "rules": (Rules.to_json, Rules.from_json),
    "play": (Play.to_json, Play.from_json),
    "board": (write_placements, lambda data: tuple(read_placements(data).items())),
    "square": (square_name, parse_square),
    "tile": (write_tile, read_tile),
    "event": (to_json, from_json),
    "of": (str, Ref.parse),
    "before": (str, Ref.parse),
    **dict.fromkeys(("players", "tiles", "words", "lines", "totals", "unlisted", "lost"), (list, tuple)),
    "racks": (lambda racks: list(map(list, racks)), lambda racks: tuple(map(tuple, racks))),
    "reason": (str, EndReason),
    "why": (str, PointsReason),
}
"""For each field that is not plain data, the functions that write and read it."""
