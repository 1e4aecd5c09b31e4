"""What happens in a game, as values. A game is its events; everything else is computed from them.

Each event is written as plain data with a version (`to_json`) and read back for ever (`from_json`): fields
are only ever added, with a default. Kinds, field names and the values of enums stay as they are, whatever the Python
names become: stores and archives contain them, and `tests/engine/data/events.jsonl` has a sample of each. Players are
numbers from 0 in seat order; turns are counted from 0 (`Game.turns`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from types import MappingProxyType
from typing import Any, ClassVar

from engine.errors import NotationError
from engine.plays import Placement, Play
from engine.reading import BLANK
from engine.rules import STANDARD_RULES, Rules
from engine.squares import Square, parse_square, square_name
from engine.tiles import Tile

EVENT_VERSION = 1

LOG_FIELDS = frozenset({"press", "way"})
"""Fields that `device.storage.game_log` writes beside those of an event; `from_json` skips them."""


class EndReason(StrEnum):
    """Why a game ended."""

    PLAYED_OUT = "played-out"  # the bag is empty and a player used the last letter (rule 9)
    NO_PLAY_LEFT = "no-play-left"  # every player is unable to play (rule 9)
    SCORELESS = "scoreless"  # tournaments: so many turns in succession without a score
    FINISH_LINE = "finish-line"  # a player reached the agreed score
    AGREED = "agreed"  # the players stop


@dataclass(frozen=True, slots=True)
class GameStarted:
    """The players sit down, in seat order, and agree on the rules, the tiles and the word list.

    `first` begins; with `draw` that is drawn for before anything else happens (Setup).
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
    """The players drew for first play: each one's tile, in seat order (Setup). Decides who begins.

    Empty for who did not draw: after a draw that several won, these alone draw again (no sheet says so).
    """

    kind: ClassVar[str] = "drawn"
    tiles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PlayMade:
    """A player laid tiles."""

    kind: ClassVar[str] = "play"
    player: int
    play: Play


@dataclass(frozen=True, slots=True)
class Exchanged:
    """A player changed tiles; which ones, if somebody said so."""

    kind: ClassVar[str] = "exchange"
    player: int
    count: int
    tiles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Passed:
    """A player did nothing this turn."""

    kind: ClassVar[str] = "pass"
    player: int


@dataclass(frozen=True, slots=True)
class Challenged:
    """The last play was challenged. Upheld: its tiles are taken back, its points with them.

    `words` are the words challenged; none: all of the play, as the sheets have it (rule 8).
    """

    kind: ClassVar[str] = "challenge"
    by: int
    upheld: bool
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PlayWithdrawn:
    """A player took the last play back: its tiles left the board, its points with them. The turn is lost."""

    kind: ClassVar[str] = "withdrawn"
    player: int


@dataclass(frozen=True, slots=True)
class TileRecycled:
    """A player put a tile of the rack in the place of one on the board and took that (variation B of rule 5)."""

    kind: ClassVar[str] = "recycled"
    player: int
    square: Square
    tile: Tile


@dataclass(frozen=True, slots=True)
class BlankTaken:
    """A player put the letter that a blank stands for in its place and took the blank (variation of rule 6)."""

    kind: ClassVar[str] = "blank-taken"
    player: int
    square: Square


@dataclass(frozen=True, slots=True)
class BlankNamed:
    """Somebody said what the blank on this square stands for."""

    kind: ClassVar[str] = "blank-named"
    square: Square
    letter: str


@dataclass(frozen=True, slots=True)
class SquareCorrected:
    """A square was read wrong: what lay there from the beginning. None: nothing did.

    Where no play covered the square, the tile joins the play of `turn`, or else the last play. `told`: a person said
    so, and no later reading may say otherwise.
    """

    kind: ClassVar[str] = "square-corrected"
    square: Square
    tile: Tile | None
    turn: int | None = None
    told: bool = False


@dataclass(frozen=True, slots=True)
class ScoreCorrected:
    """A person put the score of a turn right."""

    kind: ClassVar[str] = "score-corrected"
    turn: int
    score: int


@dataclass(frozen=True, slots=True)
class TurnCorrected:
    """A turn was something else than what was recorded; None: it never was."""

    kind: ClassVar[str] = "turn-corrected"
    turn: int
    event: Event | None


@dataclass(frozen=True, slots=True)
class TurnInserted:
    """A turn was forgotten: it happened before the turn with this number."""

    kind: ClassVar[str] = "turn-inserted"
    turn: int
    event: Event


@dataclass(frozen=True, slots=True)
class ClockRead:
    """A player's chess clock: the seconds used so far."""

    kind: ClassVar[str] = "clock"
    player: int
    seconds: float


@dataclass(frozen=True, slots=True)
class RackRevealed:
    """The letters a player holds, unplayed."""

    kind: ClassVar[str] = "rack"
    player: int
    tiles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GameEnded:
    """The game is over; unplayed letters and overtime are counted now, by the rules in force."""

    kind: ClassVar[str] = "ended"
    reason: EndReason = EndReason.AGREED


@dataclass(frozen=True, slots=True)
class Undone:
    """The last event that still stands is taken back."""

    kind: ClassVar[str] = "undone"


@dataclass(frozen=True, slots=True)
class Redone:
    """The event taken back last stands again."""

    kind: ClassVar[str] = "redone"


TurnEvent = PlayMade | Exchanged | Passed | Challenged | PlayWithdrawn | TileRecycled | BlankTaken | GameEnded
Correction = BlankNamed | SquareCorrected | ScoreCorrected | TurnCorrected | TurnInserted
Event = GameStarted | FirstDrawn | TurnEvent | Correction | ClockRead | RackRevealed | Undone | Redone

_EVENT_TYPES: Mapping[str, type[Any]] = MappingProxyType(
    {
        event.kind: event
        for event in (
            GameStarted, FirstDrawn, PlayMade, Exchanged, Passed, Challenged, PlayWithdrawn, TileRecycled, BlankTaken,
            BlankNamed, SquareCorrected, ScoreCorrected, TurnCorrected, TurnInserted, ClockRead, RackRevealed,
            GameEnded, Undone, Redone,
        )
    }
)  # fmt: skip


def to_json(event: Event) -> dict[str, Any]:
    """An event as plain data.

    >>> to_json(Passed(1))
    {'v': 1, 'kind': 'pass', 'player': 1}
    """
    data: dict[str, Any] = {"v": EVENT_VERSION, "kind": event.kind}
    for field in fields(event):
        value = getattr(event, field.name)
        data[field.name] = _ENCODERS[field.name](value) if field.name in _ENCODERS and value is not None else value
    return data


def from_json(data: Mapping[str, Any]) -> Event:
    """Return the event from plain data; `LOG_FIELDS` are skipped.

    Raises `NotationError` for data that no version of this program has written. A field name that is not known is an
    error too: without it the event could mean something else, and it would be lost when the event is written again.

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
            name: _DECODERS[name](value) if name in _DECODERS and value is not None else value
            for name, value in data.items()
            if name in names
        }
        event: Event = kind(**values)
    except (TypeError, ValueError, KeyError, AttributeError, IndexError) as error:
        raise NotationError(f"broken event {data['kind']!r}: {error}") from error
    return event


def dumps(event: Event) -> str:
    """An event as one line of JSON."""
    return json.dumps(to_json(event), ensure_ascii=False, separators=(",", ":"))


def loads(line: str) -> Event:
    """The event from one line of JSON. Raises `NotationError`."""
    try:
        return from_json(json.loads(line))
    except json.JSONDecodeError as error:
        raise NotationError(f"{line[:40]!r} is no event: {error}") from None


def _write_tile(tile: Tile) -> str:
    """A tile in one string: its letter, and `?` before it for a blank (`?` alone: not named)."""
    return tile.letter if not tile.is_blank or tile.is_unnamed else BLANK + tile.letter


def _read_tile(text: str) -> Tile:
    if text == BLANK:
        return Tile.unnamed()
    return Tile(text.removeprefix(BLANK), is_blank=text.startswith(BLANK))


def _write_placements(placements: tuple[Placement, ...]) -> list[list[str]]:
    return [[square_name(square), _write_tile(tile)] for square, tile in placements]


def _read_placements(data: list[list[str]]) -> dict[Square, Tile]:
    return {parse_square(name): _read_tile(text) for name, text in data}


def _write_play(play: Play) -> dict[str, Any]:
    data = {"tiles": _write_placements(play.tiles)}
    if play.rearranged:
        data["rearranged"] = _write_placements(play.rearranged)
    return data


def _read_play(data: Mapping[str, Any]) -> Play:
    return Play.from_tiles(_read_placements(data["tiles"]), _read_placements(data.get("rearranged", [])))


_ENCODERS: Mapping[str, Callable[[Any], Any]] = {
    "rules": Rules.to_json,
    "play": _write_play,
    "square": square_name,
    "tile": _write_tile,
    "event": to_json,
    "players": list,
    "tiles": list,
    "words": list,
    "reason": str,
}
_DECODERS: Mapping[str, Callable[[Any], Any]] = {
    "rules": Rules.from_json,
    "play": _read_play,
    "square": parse_square,
    "tile": _read_tile,
    "event": from_json,
    "players": tuple,
    "tiles": tuple,
    "words": tuple,
    "reason": EndReason,
}
