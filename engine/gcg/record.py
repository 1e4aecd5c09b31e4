"""A recorded game as GCG has it, in values: players, events in the order of the file, and what else it says."""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.turns import Kind

UNKNOWN = "UNKNOWN"
"""How files write a rack that nobody knows."""

TURNS = frozenset({Kind.PLAY, Kind.EXCHANGE, Kind.PASS})
"""The events after which the next player is to move."""


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """Something in a file that cannot be taken as it stands: the line (from 1) and the reason."""

    line: int
    reason: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Player:
    """`nick` has no spaces; the events use it."""

    nick: str
    name: str


@dataclass(frozen=True, slots=True)
class Pragma:
    """A line that begins with `#`, as far as it has no place of its own in `Record`."""

    name: str
    text: str
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Entry:
    """One event line.

    `player` counts the seats from 0. `rack` is as written, None where it is not. `position` (`8H`) is given for a
    play only. `text` is the word of a play, the tiles (or their number) of an exchange, the tiles of an end rack.
    `score` and `total` are the numbers of the file. `words` is what old files append: the words formed.
    """

    player: int
    kind: Kind
    score: int
    total: int | None = None
    rack: str | None = None
    position: str = ""
    text: str = ""
    words: str = ""
    note: str = ""
    line: int = field(default=0, compare=False)

    @property
    def is_penalty(self) -> bool:
        """True for an end rack that its own player loses; where it counts 0, the rack before it tells."""
        return self.kind is Kind.ENDRACK and (self.score < 0 or (self.score == 0 and self.rack is not None))


@dataclass(frozen=True, slots=True)
class Rack:
    """The tiles a player holds at the end of an unfinished game, as written; `player` counts the seats from 0."""

    player: int
    tiles: str
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Record:
    """A whole file. `racks` are those at the end of an unfinished game."""

    players: tuple[Player, ...]
    entries: tuple[Entry, ...] = ()
    pragmas: tuple[Pragma, ...] = ()
    racks: tuple[Rack, ...] = ()
    problems: tuple[Problem, ...] = field(default=(), compare=False)

    def find(self, name: str) -> Pragma | None:
        """The first pragma of this name (`title`, `lexicon`, ...)."""
        return next((pragma for pragma in self.pragmas if pragma.name == name), None)

    def pragma(self, name: str) -> str | None:
        """The text of the first pragma of this name."""
        found = self.find(name)
        return found.text if found else None

    def labels(self) -> tuple[str, ...]:
        """A different name for each player: the nickname, with the number of the seat where two share it."""
        nicks = [player.nick for player in self.players]
        return tuple(n if nicks.count(n) == 1 else f"{n}/{seat}" for seat, n in enumerate(nicks, start=1))
