"""The texts for users in all languages: gettext catalogues `locale/LANGUAGE/LC_MESSAGES/tilekeeper.po`.

A msgid is a key: `message.*` for messages of the session and the engine, `voice.*` for speech output and the small
displays, all other keys for the page. The English texts are in a catalogue, too. The wheel contains compiled `.mo`
files (`setup.py`). In a checkout there are only the `.po` files, which are compiled in memory at the start; a changed
`.po` file has no effect before a restart.
"""

from __future__ import annotations

import io
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from gettext import GNUTranslations
from importlib.resources import files
from importlib.resources.abc import Traversable

from engine.messages import Message, make_message

_log = logging.getLogger(__name__)

DEFAULT_LANGUAGE = "en"
"""Language of the texts if a language has no catalogue, or if its catalogue lacks a text."""


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The texts of one language; missing texts are taken from `default`, the English catalogue.

    >>> load_catalogue("de").format("status.to_play", name="Ben")
    'Ben ist dran'
    """

    language: str
    translations: GNUTranslations
    default: Catalogue | None = None

    def format(self, key: str, /, *values: object, **params: object) -> str:
        """Return the text of a key with the values inserted for its placeholders (`{0}`, `{name}`).

        `count` also selects the plural form. Lists and tuples are formatted with `format_list`. If the key is missing
        in this catalogue, this is logged and the English text is used; if there is no English text, the key itself is
        returned. Raises `LookupError` if a value for a placeholder is missing.
        """
        text = self.find_text(key, params.get("count"))
        return text.format(
            *map(self._format_value, values),
            **{name: self._format_value(value) for name, value in params.items()},
        )

    def format_list(self, names: Sequence[object]) -> str:
        """Return names as an enumeration for a sentence, with "and" before the last name.

        >>> load_catalogue("de").format_list(["A1", "A2", "A3"])
        'A1, A2 und A3'
        """
        *first, last = map(str, names) if names else ("",)
        return self.format("message.and", ", ".join(first), last) if first else last

    def find_text(self, key: str, count: object = None) -> str:
        """Return the text of a key, with unfilled placeholders; `count` (an int) selects the plural form."""
        text = self.translations.ngettext(key, key, count) if isinstance(count, int) else key
        if text == key:  # no count, or a text without plural forms; gettext returns an unknown msgid unchanged
            text = self.translations.gettext(key)
        if text != key:
            return text
        report_missing_text(self.language, key)
        return self.default.find_text(key, count) if self.default else key

    def _format_value(self, value: object) -> object:
        return self.format_list(value) if isinstance(value, list | tuple) else value


@cache
def report_missing_text(language: str, key: str) -> None:
    """Log that a catalogue lacks a text, once for each key. In the tests, a missing text is an error."""
    _log.warning("the catalogue %s has no text %s", language, key)


@cache
def list_languages() -> tuple[str, ...]:
    """Return the codes of all languages that have a catalogue, English first."""
    found = (folder.name for folder in _locate_catalogues().iterdir() if (folder / "LC_MESSAGES").is_dir())
    return tuple(sorted(found, key=lambda code: (code != DEFAULT_LANGUAGE, code)))


@cache
def load_catalogue(language: str) -> Catalogue:
    """Return the catalogue of a language, or the English catalogue if the language has none."""
    if language not in list_languages():
        return load_catalogue(DEFAULT_LANGUAGE)
    default = load_catalogue(DEFAULT_LANGUAGE) if language != DEFAULT_LANGUAGE else None
    return make_catalogue(language, read_compiled_texts(language), default)


def get_text(key: str, *values: object) -> Message:
    """Return the message with this key in English; `values` replace its placeholders `{0}`, `{1}` and so on.

    >>> get_text("answer-exchange", "Anna", "3")
    'Anna exchanged 3.'
    """
    return make_message(key, load_catalogue(DEFAULT_LANGUAGE).find_text(f"message.{key}"), *values)


def make_catalogue(language: str, compiled: bytes, default: Catalogue | None = None) -> Catalogue:
    """Return a catalogue for `compiled`, the contents of a `.mo` file; missing texts are taken from `default`."""
    return Catalogue(language, GNUTranslations(io.BytesIO(compiled)), default)


def read_compiled_texts(language: str) -> bytes:
    """Return the contents of the `.mo` file of a language; in a checkout, compile the `.po` file instead."""
    folder = _locate_catalogues() / language / "LC_MESSAGES"
    source = folder / "tilekeeper.po"
    return compile_texts(source.read_bytes()) if source.is_file() else (folder / "tilekeeper.mo").read_bytes()


def compile_texts(source: bytes) -> bytes:
    """Compile the contents of a `.po` file to the contents of a `.mo` file. Raises `PoFileError` for invalid input."""
    from babel.messages.mofile import write_mo  # only a checkout needs Babel, an installed table does not
    from babel.messages.pofile import read_po

    compiled = io.BytesIO()
    write_mo(compiled, read_po(io.BytesIO(source), abort_invalid=True))
    return compiled.getvalue()


def _locate_catalogues() -> Traversable:
    return files("device") / "locale"
