"""The texts for people in every language: `locale/LANGUAGE/LC_MESSAGES/tilekeeper.po`, read with gettext.

A msgid is a key: `message.*` for messages of the session and the engine, `voice.*` for the voice and the small
displays, all others for the page. English is a catalogue like any other. The wheel holds compiled `.mo` files
(`setup.py`). A checkout has only the `.po` files, compiled in memory: an edited text needs a restart and nothing else.
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

_log = logging.getLogger(__name__)

DEFAULT_LANGUAGE = "en"
"""Language for visitors and tile sets whose own language has no catalogue, and for texts that a catalogue lacks."""


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The texts of one language; those it lacks come from `default`, the English catalogue.

    >>> load_catalogue("de").format("status.to_play", name="Ben")
    'Ben ist dran'
    """

    language: str
    translations: GNUTranslations
    default: Catalogue | None = None

    def format(self, key: str, /, *values: object, **params: object) -> str:
        """Return the text of a key with its `{0}` and `{name}` filled in.

        `count` also chooses the plural form. Lists and tuples are formatted with `format_list`. A key that this
        catalogue lacks is logged and looked up in English; a key that English lacks is returned itself. Raises
        `LookupError` if a value is missing.
        """
        text = self.find_text(key, params.get("count"))
        return text.format(
            *map(self._format_value, values),
            **{name: self._format_value(value) for name, value in params.items()},
        )

    def format_list(self, names: Sequence[object]) -> str:
        """Return names as a list within a sentence.

        >>> load_catalogue("de").format_list(["A1", "A2", "A3"])
        'A1, A2 und A3'
        """
        *first, last = map(str, names) if names else ("",)
        return self.format("message.and", ", ".join(first), last) if first else last

    def find_text(self, key: str, count: object = None) -> str:
        """Return the text of a key without its values filled in; `count` (an int) chooses the plural form."""
        text = self.translations.ngettext(key, key, count) if isinstance(count, int) else key
        if text == key:  # no count, or a text without plural forms; gettext returns the msgid that it does not know
            text = self.translations.gettext(key)
        if text != key:
            return text
        report_missing_text(self.language, key)
        return self.default.find_text(key, count) if self.default else key

    def _format_value(self, value: object) -> object:
        return self.format_list(value) if isinstance(value, list | tuple) else value


@cache
def report_missing_text(language: str, key: str) -> None:
    """Log once that a catalogue lacks a text. The tests make an error of it."""
    _log.warning("the catalogue %s has no text %s", language, key)


@cache
def list_languages() -> tuple[str, ...]:
    """Return the codes of all languages that have a catalogue, English first."""
    found = (folder.name for folder in _locate_catalogues().iterdir() if (folder / "LC_MESSAGES").is_dir())
    return tuple(sorted(found, key=lambda code: (code != DEFAULT_LANGUAGE, code)))


@cache
def load_catalogue(language: str) -> Catalogue:
    """Return the catalogue of a language, or the English one if it has none."""
    if language not in list_languages():
        return load_catalogue(DEFAULT_LANGUAGE)
    default = load_catalogue(DEFAULT_LANGUAGE) if language != DEFAULT_LANGUAGE else None
    return make_catalogue(language, read_compiled_texts(language), default)


def make_catalogue(language: str, compiled: bytes, default: Catalogue | None = None) -> Catalogue:
    """Return a catalogue of the contents of a `.mo` file."""
    return Catalogue(language, GNUTranslations(io.BytesIO(compiled)), default)


def read_compiled_texts(language: str) -> bytes:
    """Return the contents of the `.mo` file of a language, in a checkout compiled from the `.po` file."""
    folder = _locate_catalogues() / language / "LC_MESSAGES"
    source = folder / "tilekeeper.po"
    return compile_texts(source.read_bytes()) if source.is_file() else (folder / "tilekeeper.mo").read_bytes()


def compile_texts(source: bytes) -> bytes:
    """Compile the contents of a `.po` file to those of a `.mo` file. Raises `PoFileError` for one that is damaged."""
    from babel.messages.mofile import write_mo  # a checkout needs it, an installed table does not
    from babel.messages.pofile import read_po

    compiled = io.BytesIO()
    write_mo(compiled, read_po(io.BytesIO(source), abort_invalid=True))
    return compiled.getvalue()


def _locate_catalogues() -> Traversable:
    return files("device") / "locale"
