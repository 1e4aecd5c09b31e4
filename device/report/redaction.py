"""Remove secrets and players' names from the texts and events of a problem report."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from device.storage.stored_game import EventBody
from engine.events import GameStarted, PlayerRenamed, QuestionDeferred, RecordImported

REMOVED = "[removed]"
MIN_SECRET_LENGTH = 4
"""Smallest length of a secret that is removed, in characters. Shorter secrets also occur in many harmless words."""

_SECRET_PATTERNS = (
    re.compile(r"(?<=/pair/)[\w-]+"),
    re.compile(r"(?<=/enter/)[\w-]+"),
    re.compile(r"(?im)(?<=cookie: ).+$"),
    re.compile(r"(?i)(?<=bearer )\S+"),
    re.compile(r"""(?i)(?:(?<=password=)|(?<=password = )|(?<=psk=)|(?<=session=)|(?<=csrf=)|(?<=token=))[^\s;&]+"""),
)
"""Patterns of texts that look like a secret: links for pairing, cookies, tokens and passwords."""


def remove_secrets(text: str, secrets: Iterable[str]) -> str:
    """Replace all `secrets`, and everything that looks like a secret, by `[removed]`.

    >>> remove_secrets("GET /pair/abc-DEF with the code 123456", ["123456"])
    'GET /pair/[removed] with the code [removed]'
    """
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= MIN_SECRET_LENGTH:
            text = text.replace(secret, REMOVED)
    for pattern in _SECRET_PATTERNS:
        text = pattern.sub(REMOVED, text)
    return text


class Pseudonyms:
    """Pseudonyms for players' names: `Player 1` for the first player of the game, and so on.

    `bodies` are the events of the game, and `others` are further names, for example from earlier games. Names that are
    only in `others` get the numbers after those of the game's players.
    """

    def __init__(self, bodies: Sequence[EventBody], others: Iterable[str] = ()) -> None:
        seats: dict[str, int] = {}
        for body in bodies:
            for seat, name in _find_names(body):
                seats.setdefault(name, seat)
        free = max(seats.values(), default=-1) + 1
        for name in others:
            if name not in seats:
                seats[name], free = free, free + 1
        self.by_name: Mapping[str, str] = {name: _make_pseudonym(seat) for name, seat in seats.items() if name}
        """The pseudonym of each player, by name."""
        names = "|".join(map(re.escape, sorted(self.by_name, key=len, reverse=True)))
        self._pattern = re.compile(rf"(?<!\w)(?:{names})(?!\w)", re.IGNORECASE) if names else None
        self._by_lower_name = {name.lower(): pseudonym for name, pseudonym in self.by_name.items()}

    def replace_in_text(self, text: str) -> str:
        """Return a text with pseudonyms in place of names; only whole words are replaced, in upper or lower case."""
        if self._pattern is None:
            return text
        return self._pattern.sub(lambda match: self._by_lower_name.get(match[0].lower(), REMOVED), text)

    def replace_in_event(self, body: EventBody) -> dict[str, Any]:
        """Replace the names in an event. Lines of an imported GCG file are removed, because they may contain notes."""
        changed = dict(body)
        if body.get("kind") == GameStarted.kind:
            changed["players"] = [_make_pseudonym(seat) for seat in range(len(body["players"]))]
        elif body.get("kind") == PlayerRenamed.kind:
            changed["name"] = _make_pseudonym(body["player"])
        elif body.get("kind") == RecordImported.kind:
            changed["lines"] = []
        elif body.get("kind") == QuestionDeferred.kind:
            changed["text"] = self._replace_in_message(body["text"])
            changed["texts"] = [self._replace_in_message(text) for text in body["texts"]]
        return changed

    def _replace_in_message(self, data: Any) -> Any:
        """Replace the names in the data of `engine.messages.write_message`, but keep the key and the template."""
        if not isinstance(data, list):
            return self.replace_in_text(data)
        text, key, template, *values = data
        return [self.replace_in_text(text), key, template, *map(self._replace_in_message, values)]


def _find_names(body: EventBody) -> list[tuple[int, str]]:
    """Return the players' names in an event as (seat, name)."""
    if body.get("kind") == GameStarted.kind:
        return list(enumerate(body["players"]))
    return [(body["player"], body["name"])] if body.get("kind") == PlayerRenamed.kind else []


def _make_pseudonym(seat: int) -> str:
    return f"Player {seat + 1}"
