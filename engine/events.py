"""Events of a game, as values. The board, the turns and the totals of a game are computed from these events.

`to_json` writes an event as plain data with a version number. Every later version of the program must read this data
(`from_json`), because stores and archives contain it. Therefore new fields have a default, and the kinds, field names
and enum values never change, even if a Python class is renamed. `tests/engine/data/events.jsonl` has a sample of each
event. Players are numbers from 0 in seat order. Turns are counted from 0 (`Game.turns`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from types import MappingProxyType
from typing import Any, ClassVar, get_args

from engine.board import Square, parse_square, square_name
from engine.errors import NotationError
from engine.messages import read_message, write_message
from engine.plays import Placement, Play, read_placements, read_tile, write_placements, write_tile
from engine.rules import STANDARD_RULES, Rules
from engine.tiles import Tile

EVENT_VERSION = 1

LOG_FIELDS = frozenset({"press", "way"})
"""Additional fields that `device.storage.game_log` writes with an event. `from_json` skips these fields."""


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
    `lexicon` is the name of a word list, or None for a game without a word list.
    """

    kind: ClassVar[str] = "started"
    players: tuple[str, ...]
    rules: Rules = STANDARD_RULES
    tile_set: str = "en"
    lexicon: str | None = None
    layout: str = "standard"
    first: int = 0
    draw: bool = False


@dataclass(frozen=True, slots=True)
class FirstDrawn:
    """A draw for first play: the tile of each player, in seat order. The player with the tile closest to A begins.

    A player who did not draw has an empty string. In a tie, only the tied players draw again. (Setup describes the
    draw. The sheets do not mention a tie.)
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
    """A play: tiles placed by a player."""

    kind: ClassVar[str] = "play"
    player: int
    play: Play


@dataclass(frozen=True, slots=True)
class Exchanged:
    """An exchange of `count` tiles. `tiles` are the letters put back into the bag, if the player entered them."""

    kind: ClassVar[str] = "exchange"
    player: int
    count: int
    tiles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Passed:
    """A pass: the player neither plays nor exchanges tiles."""

    kind: ClassVar[str] = "pass"
    player: int


@dataclass(frozen=True, slots=True)
class Challenged:
    """A challenge of the last play by player `by`. If the challenge is upheld, the play and its points are withdrawn.

    `words` are the challenged words. If `words` is empty, all words of the play are challenged, as in the sheets
    (rule 8).
    """

    kind: ClassVar[str] = "challenge"
    by: int
    upheld: bool
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PlayWithdrawn:
    """The withdrawal of a player's last play with its points. The player loses the turn."""

    kind: ClassVar[str] = "withdrawn"
    player: int


@dataclass(frozen=True, slots=True)
class TileRecycled:
    """An exchange of the tile on a square for a tile of the player's rack, `tile` (rule sheet travel-case, 5 B)."""

    kind: ClassVar[str] = "recycled"
    player: int
    square: Square
    tile: Tile


@dataclass(frozen=True, slots=True)
class BlankTaken:
    """An exchange of a blank on the board for a tile of the rack with the blank's letter (travel-case, rule 6)."""

    kind: ClassVar[str] = "blank-taken"
    player: int
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

    The correction changes the play that covered the square. If no play covered it, the tile is added to the play of
    turn number `turn`, or to the last play if `turn` is None. `told` is True for a correction by a player; later
    readings do not change the square again.
    """

    kind: ClassVar[str] = "square-corrected"
    square: Square
    tile: Tile | None
    turn: int | None = None
    told: bool = False


@dataclass(frozen=True, slots=True)
class ScoreCorrected:
    """A correction of a turn's score, in points."""

    kind: ClassVar[str] = "score-corrected"
    turn: int
    score: int


@dataclass(frozen=True, slots=True)
class TurnCorrected:
    """A correction of a turn: `event` replaces the recorded event of the turn. If `event` is None, delete the turn."""

    kind: ClassVar[str] = "turn-corrected"
    turn: int
    event: Event | None


@dataclass(frozen=True, slots=True)
class TurnInserted:
    """The insertion of a turn that was not recorded: `event` happened before the turn with the number `turn`."""

    kind: ClassVar[str] = "turn-inserted"
    turn: int
    event: Event


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


@dataclass(frozen=True, slots=True)
class QuestionDeferred:
    """A question that the players answer later. The `count` events before this event are provisional.

    `answers` are the possible answers, `texts` their descriptions, and `chosen` is the index of the answer in effect.
    The events of an answer replace the provisional events. `squares` are the squares in question. `seen` are the
    symbols that were read on the squares where the answers differ, and `confidence` is the lowest probability of these
    symbols.
    """

    kind: ClassVar[str] = "question-deferred"
    number: int
    text: str
    texts: tuple[str, ...]
    answers: tuple[tuple[Event, ...], ...]
    count: int
    chosen: int = 0
    squares: tuple[Square, ...] = ()
    seen: tuple[str, ...] = ()
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class QuestionClosed:
    """The end of the deferred question `number`. Its provisional events are now final."""

    kind: ClassVar[str] = "question-closed"
    number: int


@dataclass(frozen=True, slots=True)
class Undone:
    """An undo of the last event in effect. It occurs only in the log of a game, never in a `Game`."""

    kind: ClassVar[str] = "undone"


@dataclass(frozen=True, slots=True)
class Redone:
    """A redo of the event that was undone last. It occurs only in the log of a game, never in a `Game`."""

    kind: ClassVar[str] = "redone"


PlayerTurn = PlayMade | Exchanged | Passed
"""The events with which the player to move ends the turn."""
TurnEvent = PlayerTurn | Challenged | PlayWithdrawn | TileRecycled | BlankTaken | GameEnded
Correction = BlankNamed | SquareCorrected | ScoreCorrected | TurnCorrected | TurnInserted
Annotation = RecordImported | QuestionDeferred | QuestionClosed
"""The events that do not change the state of a game."""
StateEvent = FirstDrawn | PositionEntered | TurnEvent | ClockRead | RackRevealed | PlayerRenamed | Annotation
"""The events that `engine.transitions` applies to the state of a game."""
Event = GameStarted | StateEvent | Correction | Undone | Redone


def filter_plays(events: Iterable[Event]) -> tuple[PlayMade, ...]:
    """Return the plays among the events, in their order."""
    return tuple(event for event in events if isinstance(event, PlayMade))


_EVENT_TYPES: Mapping[str, type[Any]] = MappingProxyType({event.kind: event for event in get_args(Event)})


def to_json(event: Event) -> dict[str, Any]:
    """Return the event as plain data, ready for JSON.

    >>> to_json(Passed(1))
    {'v': 1, 'kind': 'pass', 'player': 1}
    """
    data: dict[str, Any] = {"v": EVENT_VERSION, "kind": event.kind}
    for field in fields(event):
        value = getattr(event, field.name)
        data[field.name] = _CODECS[field.name][0](value) if field.name in _CODECS and value is not None else value
    return data


def from_json(data: Mapping[str, Any]) -> Event:
    """Return the event from plain data. The additional fields in `LOG_FIELDS` are skipped.

    Raises `NotationError` for data that no version of this program has written. An unknown field name is also an
    error: the event could have another meaning without this field, and the field would be lost when the event is
    written again.

    >>> from_json({"v": 1, "kind": "pass", "player": 1, "press": 4})
    Passed(player=1)
    """
    if not isinstance(data, Mapping) or str(data.get("kind")) not in _EVENT_TYPES:
        raise NotationError(f"{data!r} is no event: its kind is not known")
    if data.get("v") != EVENT_VERSION:
        raise NotationError(f"an event of version {data.get('v')!r}; this program reads version {EVENT_VERSION}")
    kind = _EVENT_TYPES[data["kind"]]
    names = {field.name for field in fields(kind)}
    if unknown := data.keys() - names - {"v", "kind"} - LOG_FIELDS:
        raise NotationError(f"event {data['kind']!r} has unknown fields: {', '.join(sorted(map(str, unknown)))}")
    try:
        values = {
            name: _CODECS[name][1](value) if name in _CODECS and value is not None else value
            for name, value in data.items()
            if name in names
        }
        event: Event = kind(**values)
    except (TypeError, ValueError, KeyError, AttributeError, IndexError) as error:
        raise NotationError(f"broken event {data['kind']!r}: {error}") from error
    return event


def dumps(event: Event) -> str:
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
    **dict.fromkeys(("players", "tiles", "words", "lines", "seen", "totals"), (list, tuple)),
    "racks": (lambda racks: list(map(list, racks)), lambda racks: tuple(map(tuple, racks))),
    "reason": (str, EndReason),
    "text": (write_message, read_message),
    "texts": (lambda texts: list(map(write_message, texts)), lambda texts: tuple(map(read_message, texts))),
    "answers": (
        lambda answers: [list(map(to_json, events)) for events in answers],
        lambda answers: tuple(tuple(map(from_json, events)) for events in answers),
    ),
    "squares": (lambda squares: list(map(square_name, squares)), lambda names: tuple(map(parse_square, names))),
}
"""For each field that is not plain data, the functions that write and read it."""
