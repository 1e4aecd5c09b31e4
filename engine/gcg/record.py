"""A recorded game as GCG has it, in values: players, events in the order of the file, and what else it says."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from engine.errors import NotationError
from engine.messages import said
from engine.reading import BLANK
from engine.turns import TurnKind

UNKNOWN_RACK = "UNKNOWN"
"""How files write a rack that nobody knows."""

TURN_KINDS = frozenset({TurnKind.PLAY, TurnKind.EXCHANGE, TurnKind.PASS})
"""The events after which the next player is to move."""

_POSITION = re.compile(r"[A-Za-z]\d{1,3}\Z|\d{1,3}[A-Za-z]\Z")
_SCORE = re.compile(r"([+-]*)(\d{1,6})\Z")  # Python itself refuses a number of 5000 digits
_COUNT = re.compile(r"\d{1,3}\Z")
_MINUS_SIGNS = str.maketrans("\u2212\u2013", "--")
_BANK_PREFIX = "bank="  # how ScrabScrap marks the tiles on the rack at the end
_KIND_BY_SIGN = {
    "-": TurnKind.PASS,
    "--": TurnKind.WITHDRAWN,
    "(challenge)": TurnKind.CHALLENGE,
    "(time)": TurnKind.TIME,
}


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
    kind: TurnKind
    score: int
    total: int | None = None
    rack: str | None = None
    position: str = ""
    text: str = ""
    words: str = ""
    note: str = ""
    line: int = field(default=0, compare=False)

    @classmethod
    def from_gcg(cls, text: str) -> Entry:
        """The event of a line, as far as it follows `>NICK:`; whose it is the caller knows. Raises `NotationError`.

        >>> Entry.from_gcg("AFM H6 FA.M +9 9").to_gcg()
        'AFM H6 FA.M +9 9'
        """
        parts = text.split()
        rack = parts.pop(0) if len(parts) > 1 and not _is_descriptor(parts[0]) else None
        if rack and rack.upper() == UNKNOWN_RACK:
            rack = None
        if not parts:
            raise NotationError(said("gcg-nothing", "nothing follows the name of the player"))
        what = parts.pop(0)
        kind, position, written = _parse_descriptor(what, parts)
        if not parts:
            raise NotationError(said("gcg-no-score", "no score follows {0}", quote_text(what)))
        score = _parse_score(parts.pop(0))
        total = _parse_score(parts.pop(0)) if parts and _SCORE.match(parts[0]) else None
        rack, written = rack and rack.replace("_", BLANK), written.replace("_", BLANK)
        return cls(0, kind, score, total, rack, position, written, " ".join(parts))

    def to_gcg(self) -> str:
        """The event exactly as GCG writes it after `>NICK:`."""
        what = {
            TurnKind.PLAY: f"{self.position} {self.text}",
            TurnKind.EXCHANGE: f"-{self.text}",
            TurnKind.ENDRACK: f"({self.text})",
        }.get(self.kind) or next(sign for sign, kind in _KIND_BY_SIGN.items() if kind is self.kind)
        # Quackle takes the first word for the rack, Macondo wants one too; Quackle itself writes UNKNOWN.
        rack = (
            {TurnKind.ENDRACK: None, TurnKind.TIME: ""}.get(self.kind, UNKNOWN_RACK) if self.rack is None else self.rack
        )
        parts = [rack, what, f"{self.score:+d}", None if self.total is None else str(self.total), self.words or None]
        return " ".join(part for part in parts if part is not None)

    @property
    def exchange_count(self) -> int | None:
        """How many tiles an exchange has where only their number is written (`-5`)."""
        return int(self.text) if self.kind is TurnKind.EXCHANGE and _COUNT.match(self.text) else None

    @property
    def is_penalty(self) -> bool:
        """True for an end rack that its own player loses; where it counts 0, the rack before it tells."""
        return self.kind is TurnKind.ENDRACK and (self.score < 0 or (self.score == 0 and self.rack is not None))


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

    def find_pragma(self, name: str) -> Pragma | None:
        """The first pragma of this name (`title`, `lexicon`, ...)."""
        return next((pragma for pragma in self.pragmas if pragma.name == name), None)

    def pragma_text(self, name: str) -> str | None:
        """The text of the first pragma of this name."""
        found = self.find_pragma(name)
        return found.text if found else None

    def labels(self) -> tuple[str, ...]:
        """A different name for each player: the nickname, with the number of the seat where two share it."""
        nicks = [player.nick for player in self.players]
        return tuple(n if nicks.count(n) == 1 else f"{n}/{seat}" for seat, n in enumerate(nicks, start=1))


def quote_text(text: str) -> str:
    """The text in quotes, cut where it is long."""
    return repr(text if len(text) <= 40 else f"{text[:37]}...")


def _is_descriptor(text: str) -> bool:
    """True for what can follow the rack: a position, or what begins with - or (."""
    return text[0] in "-(" or text.startswith(_BANK_PREFIX) or _POSITION.match(text) is not None


def _parse_descriptor(what: str, rest: list[str]) -> tuple[TurnKind, str, str]:
    """The kind, position and text that a word after the rack tells. Raises `NotationError`."""
    if kind := _KIND_BY_SIGN.get(what):
        return kind, "", ""
    if what.startswith("-"):
        return TurnKind.EXCHANGE, "", what[1:]
    if what.startswith(("(", _BANK_PREFIX)):
        return TurnKind.ENDRACK, "", what.removeprefix(_BANK_PREFIX).strip("()")
    if not _POSITION.match(what):
        text = "{0} is no square of the board, and no -, --, (TILES) or (time)"
        raise NotationError(said("gcg-no-square", text, quote_text(what)))
    if not rest or _SCORE.match(rest[0]):
        raise NotationError(said("gcg-no-word", "no word follows {0}", what))
    return TurnKind.PLAY, what.upper(), rest.pop(0)


def _parse_score(text: str) -> int:
    """A score. `+-6` occurs, for minus six. Raises `NotationError`."""
    match = _SCORE.match(text.translate(_MINUS_SIGNS))
    if not match:
        raise NotationError(said("gcg-score", "{0} is no score", quote_text(text)))
    return -int(match[2]) if "-" in match[1] else int(match[2])
