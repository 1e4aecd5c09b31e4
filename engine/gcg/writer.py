"""Writer of GCG files that Quackle, Macondo and Tilekeeper can read."""

from __future__ import annotations

import re

from engine.gcg.record import Pragma, Record

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
    lines += [f"#rack{rack.player + 1} {rack.tiles}" for rack in record.racks]
    return "\n".join(_LINE_BREAK.sub(" ", line).rstrip() for line in lines) + "\n"


def make_nickname(name: str) -> str:
    """Return a nickname for event lines: the name without spaces and colons."""
    return "_".join(name.replace(":", " ").split()) or "_"


def _format_pragma(pragma: Pragma) -> str:
    return f"#{pragma.name} {pragma.text}"
