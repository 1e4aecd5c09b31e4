"""The content of a GCG file as values: players, events in the order of the file, pragmas and problems.

`format_gcg` writes it so that Quackle, Macondo and Tilekeeper can read it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from engine.errors import NotationError
from engine.messages import key_of, make_message
from engine.reading import BLANK
from engine.state import TurnKind

UNKNOWN_RACK = "UNKNOWN"
"""The text of some programs for an unknown rack. It is only read: other programs take it for seven tiles."""
_UNREAD_LINE_KEYS = frozenset({"gcg-form", "gcg-names-none", "gcg-neither"})
_POSITION = re.compile(r"[A-Za-z]\d{1,3}\Z|\d{1,3}[A-Za-z]\Z")
_SCORE = re.compile(r"([+-]*)(\d{1,6})\Z")  # at most 6 digits, because `int` raises for more than 4300 digits
_COUNT = re.compile(r"\d{1,3}\Z")
_MINUS_SIGNS = str.maketrans("\u2212\u2013", "--")
_SCORELESS_KINDS = frozenset({TurnKind.PASS, TurnKind.EXCHANGE, TurnKind.WITHDRAWN})
"""Kinds of events whose score follows from the event, so that a file need not have it."""
_BANK_PREFIX = "bank="  # the program ScrabScrap writes this before unplayed tiles
_KIND_BY_SIGN = {
    "-": TurnKind.PASS,
    "--": TurnKind.WITHDRAWN,
    "(challenge)": TurnKind.CHALLENGE,
    "(time)": TurnKind.TIME,
}


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """An error in a GCG file, with its line number (from 1) and the reason."""

    line: int
    reason: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Player:
    """A player of a recorded game. The event lines of a file name the player by `nick`, a nickname without spaces."""

    nick: str
    name: str


@dataclass(frozen=True, slots=True)
class Pragma:
    """A line of a GCG file that begins with `#`, except the lines for players, racks and notes on events."""

    name: str
    text: str
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Entry:
    """One event line of a GCG file.

    `player` is the seat, from 0. `rack` is the rack as in the file, or None if it is missing. `position` (`8H`) is
    empty except for a play. `text` depends on the kind: the word of a play, the tiles (or their number) of an exchange,
    or the tiles of an end rack. `score` and `total` (points) are those in the file. `words` are the words formed by a
    play, which some old files contain.
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
        """Parse the part of an event line after `>NICK:`. The returned entry has player 0. Raises `NotationError`.

        >>> Entry.from_gcg("AFM H6 FA.M +9 9").to_gcg()
        'AFM H6 FA.M +9 9'
        """
        parts = text.split()
        rack = parts.pop(0) if len(parts) > 1 and not _is_descriptor(parts[0]) else None
        if rack and rack.upper() == UNKNOWN_RACK:
            rack = None
        if not parts:
            raise NotationError(make_message("gcg-nothing", "There is nothing after the name of the player."))
        what = parts.pop(0)
        kind, position, written = _parse_descriptor(what, parts)
        score, total = _parse_numbers(what, kind, parts)
        rack, written = rack and rack.replace("_", BLANK), written.replace("_", BLANK)
        words, comment = _split_comment(" ".join(parts))
        return cls(0, kind, score, total, rack, position, written, words, comment)

    def to_gcg(self) -> str:
        """Return the event in GCG notation, without `>NICK:`."""
        match self.kind:
            case TurnKind.PLAY:
                what = f"{self.position} {self.text}"
            case TurnKind.EXCHANGE:
                what = f"-{self.text}"
            case TurnKind.ENDRACK:
                what = f"({self.text})"
            case _:
                what = next(sign for sign, kind in _KIND_BY_SIGN.items() if kind is self.kind)
        # Other programs expect the second space of an empty rack, but no rack before the letters that a player gains.
        rack = "" if self.rack is None and self.kind is not TurnKind.ENDRACK else self.rack
        parts = [rack, what, f"{self.score:+d}", None if self.total is None else str(self.total), self.words or None]
        return " ".join(part for part in parts if part is not None)

    @property
    def exchange_count(self) -> int | None:
        """The number of tiles in an exchange without letters (`-5`). None for any other event."""
        return int(self.text) if self.kind is TurnKind.EXCHANGE and _COUNT.match(self.text) else None

    @property
    def is_penalty(self) -> bool:
        """True if the player loses points for unplayed letters: `XY (XY) -12`. False for points gained: `(XY) +12`.

        A score of 0 (the only unplayed tile is a blank) has no sign. It is a penalty if the line begins with a rack.
        """
        return self.kind is TurnKind.ENDRACK and (self.score < 0 or (self.score == 0 and self.rack is not None))


@dataclass(frozen=True, slots=True)
class Rack:
    """A player's rack at the end of an unfinished game, with the tiles as in the file. `player` is the seat, from 0."""

    player: int
    tiles: str
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Record:
    """The content of a GCG file. `racks` are the players' racks at the end of an unfinished game."""

    players: tuple[Player, ...]
    entries: tuple[Entry, ...] = ()
    pragmas: tuple[Pragma, ...] = ()
    racks: tuple[Rack, ...] = ()
    problems: tuple[Problem, ...] = field(default=(), compare=False)

    def find_pragma(self, name: str) -> Pragma | None:
        """Return the first pragma with a name such as `title` or `lexicon`, or None if there is no such pragma."""
        return next((pragma for pragma in self.pragmas if pragma.name == name), None)

    def pragma_text(self, name: str) -> str | None:
        """Return the text of the first pragma with the given name, or None if there is no such pragma."""
        found = self.find_pragma(name)
        return found.text if found else None

    @property
    def unread_lines(self) -> tuple[Problem, ...]:
        """The unreadable lines that may be events. If there are any, events of the game may be missing."""
        return tuple(problem for problem in self.problems if key_of(problem.reason) in _UNREAD_LINE_KEYS)

    def labels(self) -> tuple[str, ...]:
        """Return a unique name for each player: the nickname, plus the seat (from 1) if two nicknames are equal."""
        nicks = [player.nick for player in self.players]
        return tuple(n if nicks.count(n) == 1 else f"{n}/{seat}" for seat, n in enumerate(nicks, start=1))


def quote_text(text: str) -> str:
    """Return a text in quotes. A text of more than 40 characters is cut after 37 characters."""
    return repr(text if len(text) <= 40 else f"{text[:37]}...")


def _is_descriptor(text: str) -> bool:
    """Return True if a field of an event line describes the event, and False if the field is a rack.

    The description of an event is a position such as `8H`, or text that begins with `-`, `(` or `bank=`.
    """
    return text[0] in "-(" or text.startswith(_BANK_PREFIX) or _POSITION.match(text) is not None


def _parse_descriptor(what: str, rest: list[str]) -> tuple[TurnKind, str, str]:
    """Return the kind, position and text of an event from `what`, the field after the rack in an event line.

    `rest` are the fields after `what`. If `what` is the position of a play, its word is removed from `rest`. Raises
    `NotationError`.
    """
    if kind := _KIND_BY_SIGN.get(what):
        return kind, "", ""
    if what.startswith("-"):
        return TurnKind.EXCHANGE, "", what[1:]
    if what.startswith(("(", _BANK_PREFIX)):
        return TurnKind.ENDRACK, "", what.removeprefix(_BANK_PREFIX).strip("()")
    if not _POSITION.match(what):
        text = "{0} is neither a square of the board nor -, --, (TILES) or (time)."
        raise NotationError(make_message("gcg-no-square", text, quote_text(what)))
    if not rest or _SCORE.match(rest[0]):
        raise NotationError(make_message("gcg-no-word", "There is no word after {0}.", what))
    return TurnKind.PLAY, what.upper(), rest.pop(0)


def _parse_numbers(what: str, kind: TurnKind, parts: list[str]) -> tuple[int, int | None]:
    """Return the score and the total of an event, and remove them from `parts`. Raises `NotationError`.

    Some files have no score for an event of `_SCORELESS_KINDS`. A single number without a sign is then the total.
    """
    numbers: list[str] = []
    while parts and len(numbers) < 2 and _SCORE.match(parts[0].translate(_MINUS_SIGNS)):
        numbers.append(parts.pop(0))
    is_total = len(numbers) == 1 and numbers[0].isdecimal() and int(numbers[0]) > 0
    if kind in _SCORELESS_KINDS and (not numbers or is_total):
        numbers.insert(0, "0")
    if not numbers and parts:
        _parse_score(parts[0])  # raises the error
    if not numbers:
        raise NotationError(make_message("gcg-no-score", "There is no score after {0}.", quote_text(what)))
    score, *total = map(_parse_score, numbers)
    return score, total[0] if total else None


def _split_comment(text: str) -> tuple[str, str]:
    """Return the words formed and the comment in the text after the numbers of an event line; one of them is empty."""
    if all(any(letter.isupper() or letter.isdigit() for letter in word) for word in text.split()):
        return text, ""
    return "", text.lstrip("#; ").removeprefix("note ")


def _parse_score(text: str) -> int:
    """Parse a score in points. Some files write `+-6` for minus six. Raises `NotationError`."""
    match = _SCORE.match(text.translate(_MINUS_SIGNS))
    if not match:
        raise NotationError(make_message("gcg-score", "{0} is not a score.", quote_text(text)))
    return -int(match[2]) if "-" in match[1] else int(match[2])


_LINE_BREAK = re.compile(r"[\r\n]+")  # in a name or a title


def format_gcg(record: Record) -> str:
    """Return the text of the GCG file for a record. Save the text as UTF-8, the encoding declared in its first line.

    >>> from engine.gcg.reader import parse_gcg
    >>> print(format_gcg(parse_gcg("#player1 A Ann\\n#player2 B Bob\\n>A: HORN 8F HORN +14 14")), end="")
    #character-encoding UTF-8
    #player1 A Ann
    #player2 B Bob
    >A: HORN 8F HORN +14 14
    """
    lines = ["#character-encoding UTF-8"]
    for number, player in enumerate(record.players, start=1):
        lines.append(f"#player{number} {make_nickname(player.nick)} {player.name}")
    late = [pragma for pragma in record.pragmas if pragma.name == "incomplete"]
    lines += [_format_pragma(pragma) for pragma in record.pragmas if pragma not in late]
    for entry in record.entries:
        lines.append(f">{make_nickname(record.players[entry.player].nick)}: {entry.to_gcg()}")
        if entry.note:
            first, *rest = entry.note.split("\n")
            lines += [f"#note {first}", *(f"#note {line}" if line.startswith(("#", ">")) else line for line in rest)]
    lines += [_format_pragma(pragma) for pragma in late]
    lines += [f"#rack{rack.player + 1} {rack.tiles}" for rack in record.racks if rack.tiles]
    return "\n".join(_LINE_BREAK.sub(" ", line).rstrip() for line in lines) + "\n"


def make_nickname(name: str) -> str:
    """Return a nickname for event lines: the name without spaces and colons."""
    return "_".join(name.replace(":", " ").split()) or "_"


def _format_pragma(pragma: Pragma) -> str:
    return f"#{pragma.name} {pragma.text}"
