"""The content of a GCG file as values, and its reader and writer.

`parse_gcg` accepts the notations of all common programs, and reports each error with its line number. The notation is
described at http://www.poslfit.com/scrabble/gcg/; the extensions of the programs Quackle, Macondo and MAGPIE are read,
too. `format_gcg` writes files that Quackle, Macondo and Tilekeeper can read.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from engine.board import parse_position, position_name, transpose
from engine.errors import NotationError
from engine.limits import MAX_GCG_EVENT_CHARS, MAX_GCG_LINE_CHARS, MAX_GCG_LINES, MAX_GCG_PRAGMAS
from engine.messages import key_of, make_message
from engine.reading import BLANK
from engine.state import TURN_KINDS, TurnKind

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

    - `player`: the seat, from 0.
    - `score`, `total`: points as in the file, whether right or wrong.
    - `rack`: the rack as in the file, or None if it is missing.
    - `position`: the position of a play (`8H`), otherwise empty.
    - `text`: the word of a play, the tiles (or their number) of an exchange, or the unplayed tiles at the end.
    - `words`: the words formed by a play, which some old files contain.
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
        parts = text.split()  # the fields that are not read yet; each step below takes some of them away
        rack = parts.pop(0) if len(parts) > 1 and not _is_descriptor(parts[0]) else None
        if rack:
            rack = None if rack.upper() == UNKNOWN_RACK else rack.replace("_", BLANK)
        if not parts:
            raise NotationError(make_message("gcg-nothing", "There is nothing after the name of the player."))
        what = parts.pop(0)
        kind, position, written = _parse_descriptor(what, parts)
        score, total = _parse_numbers(what, kind, parts)
        words, comment = _split_comment(" ".join(parts))
        return cls(0, kind, score, total, rack, position, written.replace("_", BLANK), words, comment)

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
        """The number of exchanged tiles, if the file has only their number (`-5`) and not their letters; else None."""
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


_LINE_END = re.compile(r"\r\n|\n|\r")
_ENCODING = re.compile(rb"#character-encoding[ \t]+(\S+)")
# Some systems write Á as A and an accent, which is not a tile. Long runs of accents would take minutes to normalise.
_LETTER_WITH_ACCENTS = re.compile(r"[^\W\d_][\u0300-\u036f]{1,3}")
_LATIN_1_NAMES = frozenset({"iso-8859-1", "iso8859-1", "iso_8859-1", "latin1", "latin-1"})
_LATIN_1 = [bytes([byte]).decode("cp1252", "replace").replace("\ufffd", chr(byte)) for byte in range(256)]
_COMMENT_SIGNS = (";", "//", "%")
"""Beginnings of lines that are comments in other formats, which some files have."""
_PLAYER = re.compile(r"player([1-9])\Z")
_RACK = re.compile(r"rack([1-9])\Z")
_PRAGMA_BY_OLD_SETTING = {
    "Variant": "game-type",
    "BoardLayout": "board-layout",
    "LetterDistribution": "tile-distribution",
}

_REPEATABLE_PRAGMAS = frozenset({"description", "tile", ""})
_TRAILING_PRAGMAS = frozenset({"incomplete"})

_EDITED_MARK = "✏ "  # the program ScrabScrap marks edited events with this prefix

EVENT_FORM = ">NICK: RACK 8H WORD +12 34"


def parse_gcg(data: bytes | str) -> Record:
    """Parse the text of a GCG file. Never raises an exception: errors are in the `problems` of the returned record.

    >>> record = parse_gcg(">A: HORN 8F HORN +14 14")
    >>> record.entries[0].kind, record.entries[0].text, record.problems[0].reason
    (<TurnKind.PLAY: 'play'>, 'HORN', "There is no #player line for 'A'. Add this line, or correct the name.")
    """
    if isinstance(data, bytes) and _is_binary(data):
        return _build_empty_record(make_message("gcg-not-text", "This is not a GCG file, because it is not text."))
    reader = _Reader()
    text = data if isinstance(data, str) else _decode_text(data, reader.problems)
    text = _LETTER_WITH_ACCENTS.sub(lambda match: unicodedata.normalize("NFC", match[0]), text)
    lines = [line.strip() for line in _LINE_END.split(text.removeprefix("\ufeff").rstrip("\x1a"))]
    if not any(lines):
        return _build_empty_record(make_message("gcg-empty", "The file is empty. It needs #player lines and events."))
    if not any(line.startswith((">", "#")) for line in lines):
        return _build_empty_record(
            make_message("gcg-none", "This is not a GCG file: it has neither a #player line nor an event.")
        )
    if excess := _find_excess(lines):
        return _build_empty_record(excess)
    reader.read_lines(lines)
    return reader.to_record()


def _build_empty_record(reason: str) -> Record:
    return Record((), problems=(Problem(1, reason),))


def _find_excess(lines: list[str]) -> str:
    """Return a message about the limit that a file exceeds, or an empty string if it exceeds none.

    No real game exceeds a limit. A file that exceeds a limit would take minutes to read.
    """
    counts = {
        "lines": (len(lines), MAX_GCG_LINES),
        "characters in a line": (max(map(len, lines)), MAX_GCG_LINE_CHARS),
        "characters in events": (sum(len(line) for line in lines if line.startswith(">")), MAX_GCG_EVENT_CHARS),
        "lines that begin with #": (sum(line.startswith("#") for line in lines), MAX_GCG_PRAGMAS),
    }
    for what, (count, limit) in counts.items():
        if count > limit:
            return make_message(
                "gcg-excess", "{0} {1} are too many for a GCG file. At most {2} are allowed.", count, what, limit
            )
    return ""


def _is_binary(data: bytes) -> bool:
    return b"\0" in data and not data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))


def _decode_text(data: bytes, problems: list[Problem]) -> str:
    """Decode a file in the encoding of its `#character-encoding` line, in UTF-8, or in ISO-8859-1 as Windows has it.

    The first of the three that decodes without an error is used. ISO-8859-1 never fails. Windows programs mean their
    own encoding by this name, which has letters and quotes in place of some control characters.
    """
    named = _ENCODING.match(data.removeprefix(codecs.BOM_UTF8))
    name = named[1].decode("ascii", "replace") if named else "utf-8"
    if name.lower() in _LATIN_1_NAMES:
        return _decode_latin_1(data)
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        name = "utf-16"
    try:
        return data.decode(name)
    except UnicodeDecodeError as error:
        if named:
            line = data.count(b"\n", 0, error.start) + 1
            problems.append(Problem(line, f"The file is not in {name}, as line 1 says. It was read as ISO-8859-1."))
    except (LookupError, UnicodeError):  # some of Python's encodings, such as `undefined`, always raise
        problems.append(
            Problem(1, f"The character encoding {name!r} is not known. The file was read as UTF-8 or ISO-8859-1.")
        )
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return _decode_latin_1(data)


def _decode_latin_1(data: bytes) -> str:
    """Decode ISO-8859-1, with the characters of Windows-1252 in place of control characters."""
    return "".join(map(_LATIN_1.__getitem__, data))


class _Reader:
    """The state of the parser: the content of the lines that were read so far."""

    def __init__(self) -> None:
        self.seats: dict[int, Player] = {}  # key: number of the #player line, or the next if repeated
        self.entries: list[tuple[str, Entry]] = []  # nickname in the file, and the event without its seat
        self.pragmas: list[Pragma] = []
        self.pragma_names: set[str] = set()
        self.racks: list[Rack] = []  # here `Rack.player` is the number of the #rack line minus 1
        self.problems: list[Problem] = []
        self.first_event_line = self.first_rack_line = 0
        self.has_lettered_rows = False
        self.is_in_note = False

    def add_problem(self, line: int, reason: str) -> None:
        self.problems.append(Problem(line, reason))

    def read_lines(self, lines: list[str]) -> None:
        """Read the lines of a file. Each is a pragma (`#`), an event (`>`), the rest of a note, or a comment."""
        for number, line in enumerate(lines, start=1):
            if line.startswith("#"):
                name, _, text = line[1:].partition(" ")
                if "\t" in name:
                    name, _, text = line[1:].partition("\t")
                self._read_pragma(number, name.strip(), text.strip())
                self.is_in_note = name.strip() == "note"
            elif line.startswith(">"):
                self.is_in_note = False
                self._read_event(number, line)
            elif line and self.is_in_note:
                self._extend_note(line)
            elif line.startswith(_COMMENT_SIGNS):
                self._read_comment(number, line)
            elif line:
                text = "{0} is neither an event (>) nor a pragma (#)."
                self.add_problem(number, make_message("gcg-neither", text, quote_text(line)))

    # Pragmas

    def _read_pragma(self, number: int, name: str, text: str) -> None:
        """Read the pragma `#name text` on a line."""
        if match := _PLAYER.match(name):
            self._read_player(number, int(match[1]), text)
        elif match := _RACK.match(name):
            tiles = "" if text.upper() == UNKNOWN_RACK else text.replace("_", BLANK)
            self.racks.append(Rack(int(match[1]) - 1, tiles, number))
            self.first_rack_line = self.first_rack_line or number
        elif name == "note" and self.entries:
            self._extend_note(text)
        elif name == "note":
            self._read_early_note(number, text)
        elif name == "character-encoding":
            if number > 1:
                self.add_problem(number, "#character-encoding must be the first line. It has no effect here.")
        elif name == "orientation":
            self.has_lettered_rows = text == "lettered-rows"
        elif name.startswith(">") or (not name and text.startswith(">")):
            self._read_comment(number, name + text)
        elif name == "-" and self.pragmas:  # `#-` continues the text of the previous pragma
            self.pragmas[-1] = replace(self.pragmas[-1], text=f"{self.pragmas[-1].text} {text}")
        else:
            self._add_setting(number, name, text)

    def _read_comment(self, number: int, text: str) -> None:
        """Keep a comment as a note, but leave out an event in a comment: other programs would read it as an event."""
        text = text.lstrip("".join(_COMMENT_SIGNS) + " ")
        if text.startswith(">"):
            self.add_problem(number, make_message("gcg-comment", "This event is in a comment. It does not count."))
        else:
            self._extend_note(text)

    def _read_early_note(self, number: int, text: str) -> None:
        key, _, value = text.partition(":")
        if setting := _PRAGMA_BY_OLD_SETTING.get(key.strip()):  # old versions of Macondo write settings as notes
            self._add_setting(number, setting, value.strip())
        else:
            self.add_problem(number, "A note before the first event belongs to no event.")
            self.pragmas.append(Pragma("note", text, number))

    def _add_setting(self, number: int, name: str, text: str) -> None:
        if name not in _REPEATABLE_PRAGMAS and name in self.pragma_names:
            self.add_problem(number, f"#{name} is given twice. The first one counts.")
        elif self.first_event_line and name not in _TRAILING_PRAGMAS:
            self.add_problem(number, f"#{name} belongs before the first event.")
        self.pragmas.append(Pragma(name, text, number))
        self.pragma_names.add(name)

    def _read_player(self, number: int, seat: int, text: str) -> None:
        """Read the pragma `#playerN NICK Full Name`. Event lines name players by nickname, so it must be unique."""
        nick, name, *_ = *text.split(maxsplit=1), "", ""
        if not nick:
            self.add_problem(number, f"#player{seat} has no nickname. Write #player{seat} NICK Full Name.")
            return
        if self.first_event_line:
            self.add_problem(number, f"#player{seat} belongs before the first event (line {self.first_event_line}).")
        player = Player(nick, name or nick)
        if seat in self.seats:
            self.add_problem(number, f"#player{seat} is given twice, for {self.seats[seat].nick} and for {nick}.")
            seat = max(self.seats) + 1
        for other, earlier in self.seats.items():
            if earlier.nick == nick:
                self.add_problem(
                    number, f"Players {other} and {seat} share the nickname {nick}. Their turns alternate."
                )
            elif earlier.name == player.name:
                self.add_problem(number, f"Players {other} and {seat} share the name {player.name}.")
        self.seats[seat] = player

    def _extend_note(self, text: str) -> None:
        if not self.entries:
            self.pragmas.append(Pragma("note", text))
            return
        nick, entry = self.entries[-1]
        self.entries[-1] = nick, replace(entry, note=f"{entry.note}\n{text}".strip())

    # Events

    def _read_event(self, number: int, line: str) -> None:
        """Read an event line.

        The program ScrabScrap writes a space after `>` and omits the racks. Its positions have letters for rows.
        """
        self.first_event_line = self.first_event_line or number
        nick, colon, event = (part.strip() for part in line[1:].partition(":"))
        nick = nick.lstrip(_EDITED_MARK) if line.startswith("> ") else nick
        if not colon or not nick:
            self.add_problem(
                number,
                make_message("gcg-names-none", "{0} does not name a player. Write {1}.", quote_text(line), EVENT_FORM),
            )
            return
        try:
            entry = Entry.from_gcg(event)
            scrabscrap = line.startswith("> ") and entry.rack is None
            if entry.position and (self.has_lettered_rows or scrabscrap):
                entry = replace(entry, position=_transpose_position(entry.position))
        except NotationError as error:
            self.add_problem(number, make_message("gcg-form", "{0} Write {1}.", error, EVENT_FORM))
            return
        if self.first_rack_line:
            self.add_problem(
                number, f"This event comes after the racks at the end of the game (line {self.first_rack_line})."
            )
        self.entries.append((nick, replace(entry, line=number)))

    # Result

    def to_record(self) -> Record:
        """Return the record of the whole file. Each event has the seat of its player."""
        players = [self.seats[number] for number in sorted(self.seats)]
        seat_of_number = {number - 1: seat for seat, number in enumerate(sorted(self.seats))}
        entries = self._assign_seats(players)
        racks = []
        for rack in self.racks:
            if rack.player in seat_of_number:
                racks.append(replace(rack, player=seat_of_number[rack.player]))
            else:
                self.add_problem(
                    rack.line, f"There is a line #rack{rack.player + 1}, but no line #player{rack.player + 1}."
                )
        problems = tuple(sorted(self.problems))
        return Record(tuple(players), entries, tuple(self.pragmas), tuple(racks), problems)

    def _assign_seats(self, players: list[Player]) -> tuple[Entry, ...]:
        """Return the events with the seats of their players, and add players without a `#player` line."""
        entries: list[Entry] = []
        for written, entry in self.entries:
            seats = _find_seats(players, written)
            if not seats:
                known = ", ".join(player.nick for player in players)
                text = "There is no #player line for {0}. Add this line, or correct the name."
                reason = make_message("gcg-no-player", text, repr(written))
                only = make_message("gcg-only", "{0} There are #player lines only for {1}.", reason, known)
                self.add_problem(entry.line, only if known else reason)
                seats = [len(players)]
                players.append(Player(written.replace(" ", "_"), written))
            if len(seats) > 1 and written not in (player.nick for player in players):
                text = "{0} may be {1}, so their turns alternate. Correct the name."
                names = " or ".join(players[seat].nick for seat in seats)
                self.add_problem(entry.line, make_message("gcg-either-player", text, repr(written), names))
            # The turns of players with the same nickname alternate; any other line belongs to the last turn.
            last = entries[-1].player if entries else -1
            if entry.kind in TURN_KINDS:
                seat = next((seat for seat in seats if seat > last), seats[0])
            else:
                seat = last if last in seats else seats[0]
            entries.append(replace(entry, player=seat))
        return tuple(entries)


def _find_seats(players: Sequence[Player], written: str) -> list[int]:
    """Return the seats of the players whom an event line with the nickname `written` may mean.

    Files that were edited by hand may have the nickname in another case, the name, or its first word. There are several
    seats if the nicknames of players differ only by the case of their letters.
    """
    nicks, names = [player.nick for player in players], [player.name for player in players]
    similar: list[int] = []
    for texts in (nicks, names, [name.split()[0] for name in names]):
        if seats := [seat for seat, text in enumerate(texts) if text == written]:
            return seats
        seats = [seat for seat, text in enumerate(texts) if text.casefold() == written.casefold()]
        if len(seats) == 1:
            return seats
        similar = similar or seats
    return similar


def _transpose_position(position: str) -> str:
    """Convert a position with letters for rows to the usual notation with numbers for rows: `H4` becomes `8D`.

    Raises `NotationError`.
    """
    square, across = parse_position(position)
    return position_name(transpose(square), not across)
