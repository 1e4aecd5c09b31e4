"""The languages of the page: one file of texts for each, chosen by link, by cookie or by what the browser prefers."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from flask import Response, request

from device.session.messages import format_sentence
from device.session.snapshot import Notice, Question
from engine.messages import Said

LANGUAGE_COOKIE = "language"
DEFAULT_LANGUAGE = "en"
_COOKIE_MAX_AGE_S = 365 * 24 * 3600


@dataclass(frozen=True, slots=True)
class Texts:
    """The texts of one language; called with a key of its file (`scores.to_play`) and the values to put in."""

    language: str
    texts: Mapping[str, str]

    def __call__(self, key: str, /, **values: object) -> str:
        """The text, its `{names}` filled in. Raises `KeyError` for a key that no file has."""
        text = self.texts[key]
        return text.format(**{name: self._in_words(value) for name, value in values.items()}) if values else text

    def said(self, message: Notice | Question | Exception | str) -> str:
        """What the table says, as a sentence: in this language where it has a key (`make_notice.<key>`), else as it
        came."""
        text = message.text if isinstance(message, Notice | Question) else str(message)
        return format_sentence(str(self._in_words(text))) if isinstance(text, Said) else text

    def _in_words(self, value: object) -> object:
        if not isinstance(value, Said):
            return value
        template = self.texts.get(f"notice.{value.key}", value.template)
        return template.format(*map(self._in_words, value.values))


@lru_cache
def languages() -> Mapping[str, Texts]:
    """Every language that has a file here, by its code, the default one first."""
    found = {}
    for entry in sorted(
        (files("web") / "locale").iterdir(), key=lambda entry: (entry.name != f"{DEFAULT_LANGUAGE}.toml", entry.name)
    ):
        if entry.name.endswith(".toml"):
            code = entry.name.removesuffix(".toml")
            found[code] = Texts(code, _flat(tomllib.loads(entry.read_text(encoding="utf-8"))))
    return found


def texts() -> Texts:
    """The texts for the visitor who asks now: `?lang=`, else the cookie, else what the browser prefers."""
    known = languages()
    for wish in (request.args.get("lang"), request.cookies.get(LANGUAGE_COOKIE)):
        if wish is not None and wish in known:
            return known[wish]
    wishes = (tag.partition("-")[0].lower() for tag in request.accept_languages.values())  # the best first
    return known[next((wish for wish in wishes if wish in known), DEFAULT_LANGUAGE)]


def remember_language(response: Response) -> Response:
    """Keep the language that a link chose."""
    wish = request.args.get("lang")
    if wish in languages() and request.cookies.get(LANGUAGE_COOKIE) != wish:
        response.set_cookie(LANGUAGE_COOKIE, str(wish), max_age=_COOKIE_MAX_AGE_S, httponly=True, samesite="Lax")
    return response


def _flat(tree: Mapping[str, object], above: str = "") -> dict[str, str]:
    found = {}
    for name, value in tree.items():
        key = f"{above}{name}"
        found.update(_flat(value, f"{key}.") if isinstance(value, dict) else {key: str(value)})
    return found
