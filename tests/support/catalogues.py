"""The catalogues of texts as translators see them, and catalogues made of other texts."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

import device.catalogue
from device.catalogue import DEFAULT_LANGUAGE, Catalogue, load_catalogue

FOLDER = Path(__file__).parents[2] / "device" / "locale"


def locate_source(language: str) -> Path:
    """Return the `.po` file of a language."""
    return FOLDER / language / "LC_MESSAGES" / "tilekeeper.po"


def read_source(language: str) -> Catalog:
    """Return the `.po` file of a language as Babel reads it."""
    with locate_source(language).open("rb") as source:
        return read_po(source, abort_invalid=True)


def read_texts(language: str) -> dict[str, tuple[str, ...]]:
    """Return each text of a language by its key: its plural forms, or the one form that it has."""
    texts = {}
    for message in read_source(language):
        forms = message.string if isinstance(message.string, tuple) else (message.string,)
        key = message.id[0] if isinstance(message.id, tuple) else message.id
        if key:  # the header has none
            texts[key] = forms
    return texts


def make_catalogue_of(language: str, texts: Mapping[str, tuple[str, ...]]) -> Catalogue:
    """Return a catalogue of these texts with the plurals of English, which is its default."""
    source = Catalog(locale=DEFAULT_LANGUAGE)
    for key, forms in texts.items():
        source.add((key, key) if len(forms) > 1 else key, forms if len(forms) > 1 else forms[0])
    compiled = io.BytesIO()
    write_mo(compiled, source)
    return device.catalogue.make_catalogue(language, compiled.getvalue(), load_catalogue(DEFAULT_LANGUAGE))
