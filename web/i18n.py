"""Choose the language of the page, by a link, a cookie, the settings or the `Accept-Language` header."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from flask import Response, current_app, request

from device.catalogue import DEFAULT_LANGUAGE, Catalogue, list_languages, load_catalogue
from device.session.messages import Notice, Question, format_sentence
from engine.messages import Message

LANGUAGE_COOKIE = "language"
LANGUAGE_KEY = "TILEKEEPER_LANGUAGE"
"""Configuration key for the language of the pages on devices without a chosen language. If the value is empty, the
browser's language is used."""
_COOKIE_MAX_AGE_S = 365 * 24 * 3600
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]")
"""A letter of a script that is written from right to left, such as Hebrew and Arabic."""


@dataclass(frozen=True, slots=True)
class Texts:
    """The texts of one language. `t("scores.to_play", name=...)` formats the text with this key."""

    catalogue: Catalogue

    @property
    def language(self) -> str:
        """Code of the language, such as `en` or `de`."""
        return self.catalogue.language

    def __call__(self, key: str, /, **values: object) -> str:
        """Return the text with the key `key` in this language, with `values` in place of its placeholders."""
        return self.catalogue.format(key, **{name: self._translate(value) for name, value in values.items()})

    def translate(self, message: Notice | Question | Exception | str) -> str:
        """Return a message of the table in this language; a plain string is returned unchanged."""
        text = message.text if isinstance(message, Notice | Question) else str(message)
        return format_sentence(str(self._translate(text))) if isinstance(text, Message) else text

    def _translate(self, value: object) -> object:
        if not isinstance(value, Message):
            return _isolate_value(value)
        key, values = f"message.{value.key}", map(self._translate, value.values)
        if value.key and self.catalogue.find_text(key) != key:
            return self.catalogue.format(key, *values)
        return value.template.format(*values)  # no key, or a key of the earlier version that has stored the message


def isolate(text: str) -> str:
    """Return a name or word with marks that keep its letters from reordering the text around it.

    Without the marks (FSI and PDI of Unicode), a browser shows the square `8G` after a Hebrew word as `G8`. A text
    without letters that are written from right to left is returned unchanged.
    """
    return f"\u2068{text}\u2069" if _RIGHT_TO_LEFT.search(text) else text


def _isolate_value(value: object) -> object:
    if isinstance(value, tuple):
        return tuple(map(_isolate_value, value))
    return isolate(value) if isinstance(value, str) else value


@cache
def languages() -> Mapping[str, Texts]:
    """Return the texts of every language by its code, English first."""
    return {code: Texts(load_catalogue(code)) for code in list_languages()}


def texts() -> Texts:
    """Return the texts for the current request.

    The language is the first of these that is set: `?lang=`, the cookie, the settings, the `Accept-Language` header.
    """
    known = languages()
    for wish in (request.args.get("lang"), request.cookies.get(LANGUAGE_COOKIE), current_app.config.get(LANGUAGE_KEY)):
        if wish is not None and wish in known:
            return known[wish]
    wishes = (tag.partition("-")[0].lower() for tag in request.accept_languages.values())  # preferred first
    return known[next((wish for wish in wishes if wish in known), DEFAULT_LANGUAGE)]


def remember_language(response: Response) -> Response:
    """Store the language of `?lang=` in a cookie of the response, if the request has one."""
    wish = request.args.get("lang")
    if wish in languages() and request.cookies.get(LANGUAGE_COOKIE) != wish:
        response.set_cookie(LANGUAGE_COOKIE, str(wish), max_age=_COOKIE_MAX_AGE_S, httponly=True, samesite="Lax")
    return response
