"""Find the line of a key in the text of a TOML file."""

from __future__ import annotations

import re


def find_line(text: str, path: tuple[str, ...]) -> int:
    """Return the line number of the key at `path`.

    If the key is not found, return the line number of its TOML table, or 0 if there is no such table. The text is
    searched, because TOML parsers do not return line numbers.
    """
    section, key = path[0], path[1] if len(path) > 1 else ""
    inside, found = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        if header := re.match(r"\s*\[\s*([\w-]+)\s*\]", line):
            inside = header[1]
            found = number if inside == section else found
        elif inside == section and key and re.match(rf"""\s*["']?{re.escape(key)}["']?\s*=""", line):
            return number
        elif not inside and re.match(rf"""\s*["']?{re.escape(section)}["']?\s*[.=]""", line):
            found = number
    return found
