"""Writing GCG, so that Quackle, Macondo and Tilekeeper itself read it back."""

from __future__ import annotations

from engine.gcg.record import UNKNOWN, Entry, Pragma, Record
from engine.turns import Kind


def write(record: Record) -> str:
    """The file, in UTF-8 once encoded, with its header and a newline at the end of each line.

    >>> from engine.gcg.reader import parse
    >>> print(write(parse("#player1 A Ann\\n#player2 B Bob\\n>A: HORN 8F HORN +14 14")), end="")
    #character-encoding UTF-8
    #player1 A Ann
    #player2 B Bob
    >A: HORN 8F HORN +14 14
    """
    lines = ["#character-encoding UTF-8"]
    for number, player in enumerate(record.players, start=1):
        lines.append(f"#player{number} {nickname(player.nick)} {player.name}")
    late = [pragma for pragma in record.pragmas if pragma.name == "incomplete"]
    lines += [_pragma(pragma) for pragma in record.pragmas if pragma not in late]
    for entry in record.entries:
        lines.append(_event(nickname(record.players[entry.player].nick), entry))
        if entry.note:
            first, *rest = entry.note.split("\n")
            lines += [f"#note {first}", *(f"#note {line}" if line.startswith(("#", ">")) else line for line in rest)]
    lines += [_pragma(pragma) for pragma in late]
    lines += [f"#rack{rack.player + 1} {rack.tiles}" for rack in record.racks]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def nickname(name: str) -> str:
    """A name as the events can use it: without spaces and colons."""
    return "_".join(name.replace(":", " ").split()) or "_"


def _pragma(pragma: Pragma) -> str:
    return f"#{pragma.name} {pragma.text}"


def _event(nick: str, entry: Entry) -> str:
    what = {
        Kind.PLAY: f"{entry.position} {entry.text}",
        Kind.EXCHANGE: f"-{entry.text}",
        Kind.PASS: "-",
        Kind.WITHDRAWN: "--",
        Kind.CHALLENGE: "(challenge)",
        Kind.TIME: "(time)",
        Kind.ENDRACK: f"({entry.text})",
    }[entry.kind]
    # Quackle takes the first word for the rack, Macondo wants one too; Quackle itself writes UNKNOWN.
    rack = {Kind.ENDRACK: None, Kind.TIME: ""}.get(entry.kind, UNKNOWN) if entry.rack is None else entry.rack
    parts = [f">{nick}:", rack, what, f"{entry.score:+d}", None if entry.total is None else str(entry.total)]
    return " ".join(part for part in (*parts, entry.words or None) if part is not None)
