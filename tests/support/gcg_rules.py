"""The rules by which other programs read a GCG file, written from their readers without our own.

Sources: the expressions of Macondo (gcgio/gcg.go) and the checks of MAGPIE (src/impl/gcg.c): the form of each line,
players in turn, running totals, tiles of a rack that can still be in the bag, and the sums of end racks.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

_PRAGMA = re.compile(r"#([a-z-]+[1-4]?)( .*)?\Z")
_EVENT = re.compile(r">(\S+):\s+(.*)\Z")
_FORMS = {
    "play": re.compile(r"(\S+)\s+([A-O]\d{1,2}|\d{1,2}[A-O])\s+(\S+)\s+([+-]\d+)\s+(-?\d+)\Z"),
    "withdrawn": re.compile(r"(\S+)\s+--\s+(-\d+)\s+(-?\d+)\Z"),
    "pass": re.compile(r"(\S+)\s+-\s+(\+\d+)\s+(-?\d+)\Z"),
    "exchange": re.compile(r"(\S+)\s+-(\S+)\s+(\+\d+)\s+(-?\d+)\Z"),
    "challenge": re.compile(r"(\S*)\s*\(challenge\)\s+([+-]\d+)\s+(-?\d+)\Z"),
    "time": re.compile(r"(\S*)\s*\(time\)\s+(-\d+)\s+(-?\d+)\Z"),
    "gain": re.compile(r"\(([^\s)]+)\)\s+(\+\d+)\s+(-?\d+)\Z"),
    "loss": re.compile(r"(\S+)\s+\(([^\s)]+)\)\s+([+-]\d+)\s+(-?\d+)\Z"),
}
_TURNS = frozenset({"play", "pass", "exchange"})
_ENGLISH = "EEEEEEEEEEEEAAAAAAAAAIIIIIIIIIOOOOOOOONNNNNNRRRRRRTTTTTTLLLLSSSSUUUUDDDDGGGBBCCMMPPFFHHVVWWYYKJXQZ??"
_VALUES = {
    letter: value
    for letters, value in (
        ("?", 0),
        ("EAIONRTLSU", 1),
        ("DG", 2),
        ("BCMP", 3),
        ("FHVWY", 4),
        ("K", 5),
        ("JX", 8),
        ("QZ", 10),
    )
    for letter in letters
}


def find_complaints(text: str) -> Iterator[str]:
    """Yield a sentence for each line of a GCG file with English tiles that other programs refuse."""
    nicks: list[str] = []
    totals: Counter[str] = Counter()
    bag, played = Counter(_ENGLISH), Counter[str]()
    turn, is_note = "", False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("#") and _PRAGMA.match(line):
            is_note = line.startswith("#note")
            nicks += line.split()[1:2] if line.startswith("#player") else []
        elif event := _EVENT.match(line):
            is_note = False
            nick, rest = event.groups()
            kind = next((kind for kind, form in _FORMS.items() if form.match(rest)), "")
            if not kind or nick not in nicks:
                yield f"line {number} is no event: {line}"
                continue
            *fields, score, total = _FORMS[kind].match(rest).groups()  # type: ignore[union-attr]
            totals[nick] += int(score)
            if totals[nick] != int(total):
                yield f"line {number}: total {total}, not {totals[nick]}"
            if kind in _TURNS and turn and nicks.index(nick) != (nicks.index(turn) + 1) % len(nicks):
                yield f"line {number}: {nick} is not on turn"
            turn = nick if kind in _TURNS else turn
            if kind == "withdrawn":
                bag += played
            rack = Counter(fields[0].upper() if kind != "gain" else "")
            if missing := rack - bag:
                yield f"line {number}: {''.join(missing)} cannot be in the bag"
            if kind == "play":
                played = Counter("?" if letter.islower() else letter for letter in fields[2] if letter != ".")
                if missing := played - rack:
                    yield f"line {number}: {''.join(missing)} is not on the rack"
                bag -= played
            if kind == "exchange" and Counter(fields[1]) - rack:
                yield f"line {number}: {fields[1]} is not on the rack"
            if kind in ("gain", "loss") and abs(int(score)) not in _find_end_scores(kind, fields[-1]):
                yield f"line {number}: {score} is not the value of {fields[-1]}"
        elif line.strip() and not is_note:
            yield f"line {number} is neither an event nor a pragma: {line}"


def _find_end_scores(kind: str, tiles: str) -> tuple[int, ...]:
    points = sum(_VALUES[tile] for tile in tiles)
    return (points,) if kind == "loss" else (points, 2 * points)
