"""Every language has every text with the same values, nothing else, and English stands in where one is missing."""

from __future__ import annotations

import logging
import re
import string
from pathlib import Path

import pytest

import device.catalogue
from device.catalogue import DEFAULT_LANGUAGE, compile_texts, list_languages, load_catalogue, report_missing_text
from device.system import voice
from engine.state import TurnKind
from engine.validation import Reason
from tests.support.catalogues import FOLDER, locate_source, make_catalogue_of, read_source, read_texts
from tests.support.modules import find_modules
from tests.support.sentences import ROOT, message_keys, sentences

ENGLISH = read_texts("en")
TRANSLATIONS = [code for code in list_languages() if code != DEFAULT_LANGUAGE]


def list_values(text: str) -> set[str]:
    """Return what a text wants filled in: `0`, `name`."""
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def select_section(section: str) -> dict[str, tuple[str, ...]]:
    """Return the English texts of one section by the rest of their keys."""
    return {key.removeprefix(section): forms for key, forms in ENGLISH.items() if key.startswith(section)}


@pytest.fixture
def log_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a missing text be logged as it is outside the tests (`tests/conftest.py` makes an error of it)."""
    report_missing_text.cache_clear()
    monkeypatch.setattr(device.catalogue, "report_missing_text", report_missing_text)


def test_languages_begin_with_english() -> None:
    assert list_languages()[0] == "en"
    assert "de" in list_languages()


@pytest.mark.parametrize("code", TRANSLATIONS)
def test_translation_has_the_same_keys(code: str) -> None:
    assert read_texts(code).keys() == ENGLISH.keys()


@pytest.mark.parametrize("code", list_languages())
def test_texts_have_the_same_values(code: str) -> None:
    for key, forms in read_texts(code).items():
        wanted = set().union(*map(list_values, ENGLISH[key]))
        for form in forms:
            optional = {"count"} if len(ENGLISH[key]) > 1 else set()  # "one word" need not name the number
            assert list_values(form) | optional == wanted | optional, key


@pytest.mark.parametrize("code", list_languages())
def test_no_text_is_empty_or_doubtful(code: str) -> None:
    assert [key for key, forms in read_texts(code).items() if not all(form.strip() for form in forms)] == []
    assert [message.id for message in read_source(code) if message.fuzzy and message.id] == []


@pytest.mark.parametrize("code", list_languages())
def test_no_key_has_two_texts(code: str) -> None:
    keys = re.findall(r'^msgid "(.+)"$', locate_source(code).read_text(encoding="utf-8"), re.M)
    assert len(keys) == len(set(keys)) == len(ENGLISH)


@pytest.mark.parametrize("code", list_languages())
def test_header_names_language_and_plurals(code: str) -> None:
    source = read_source(code)
    assert str(source.locale) == code
    assert {len(forms) for forms in read_texts(code).values()} <= {1, source.num_plurals}


def test_english_messages_are_those_of_the_code() -> None:
    texts = select_section("message.")
    assert {key: texts.get(key) for key in sentences()} == {key: (text,) for key, text in sentences().items()}
    assert message_keys() <= texts.keys()


@pytest.mark.parametrize("reason", Reason)
def test_reason_of_the_validation_has_a_text(reason: Reason) -> None:
    assert {f"asked-{reason}", f"noted-{reason}"} & select_section("message.").keys()


def test_every_message_is_used_by_the_code() -> None:
    code = "\n".join(path.read_text(encoding="utf-8") for path in find_modules(ROOT).values())
    families = ("hold-", "button-", *(f"{kind}-{reason}" for kind in ("asked", "noted") for reason in Reason))
    unused = {key for key in select_section("message.").keys() - sentences().keys() if f'"{key}"' not in code}
    assert {key for key in unused if not key.startswith(families)} == set()


def test_voice_uses_all_of_its_texts() -> None:
    code = Path(voice.__file__).read_text(encoding="utf-8")
    used = set(re.findall(r'"voice\.([\w-]+)"', code)) | set(voice._SPOKEN_KINDS)
    used |= {f"short.{kind}" for kind in TurnKind if kind != "play"}
    assert select_section("voice.").keys() == used


def test_format_fills_in_positional_and_named_values() -> None:
    german = load_catalogue("de")
    assert german.format("message.played", "Ben", "HORN", "8F", 14) == "Ben legt HORN auf 8F für 14"
    assert german.format("status.to_play", name="Ben") == "Ben ist dran"


def test_format_without_a_value_raises() -> None:
    with pytest.raises(LookupError):
        load_catalogue("en").format("status.to_play")


@pytest.mark.parametrize(("count", "verb"), [(1, "is not"), (0, "are not"), (2, "are not")])
def test_count_chooses_the_plural_form(count: int, verb: str) -> None:
    text = load_catalogue("en").format("last.invalid", count=count, words="W")
    assert text.startswith(f"W {verb} in the word list.")


def test_count_is_filled_into_text_without_plural_forms() -> None:
    assert load_catalogue("en").format("board.in_bag", count=86) == "86 in the bag"


def test_plural_forms_follow_the_rule_of_the_language() -> None:
    source = (
        'msgid ""\nmsgstr ""\n"Language: pl\\n"\n"Content-Type: text/plain; charset=UTF-8\\n"\n'
        '"Plural-Forms: nplurals=3; plural=(n==1 ? 0 : n%10>=2 && n%10<=4 && (n%100<12 || n%100>14) ? 1 : 2);\\n"\n\n'
        'msgid "points"\nmsgid_plural "points"\n'
        'msgstr[0] "{count} punkt"\nmsgstr[1] "{count} punkty"\nmsgstr[2] "{count} punktów"\n'
    )
    polish = device.catalogue.make_catalogue("pl", compile_texts(source.encode()))
    texts = [polish.format("points", count=count) for count in (1, 2, 5, 22)]
    assert texts == ["1 punkt", "2 punkty", "5 punktów", "22 punkty"]


@pytest.mark.parametrize(
    ("names", "text"), [((), ""), (("A",), "A"), (("A", "B"), "A und B"), (("A", "B", "C"), "A, B und C")]
)
def test_list_is_formatted_in_the_language(names: tuple[str, ...], text: str) -> None:
    assert load_catalogue("de").format_list(names) == text


def test_list_among_the_values_is_formatted() -> None:
    text = load_catalogue("en").format("message.draw-again", ["Ann", "Ben", "Cas"])
    assert text == "Ann, Ben and Cas drew equal tiles. Please draw again."


def test_missing_text_is_an_error_in_tests() -> None:
    with pytest.raises(AssertionError, match=r"the catalogue en has no text page\.none"):
        load_catalogue("en").format("page.none")


@pytest.mark.usefixtures("log_missing")
def test_missing_text_is_english_and_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    unfinished = make_catalogue_of("xx", {"page.close": ("Ẋ",)})
    assert [unfinished.format("status.to_play", name="Ben") for _ in range(2)] == ["Ben to play"] * 2
    assert unfinished.format("page.close") == "Ẋ"
    assert caplog.record_tuples == [
        ("device.catalogue", logging.WARNING, "the catalogue xx has no text status.to_play")
    ]


@pytest.mark.usefixtures("log_missing")
def test_text_that_english_lacks_is_its_key() -> None:
    assert load_catalogue("de").format("page.none", name="Ben") == "page.none"


def test_language_without_catalogue_is_english() -> None:
    assert load_catalogue("xx") is load_catalogue("en")


def test_compiled_file_is_read_where_there_is_no_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for code in list_languages():
        folder = tmp_path / "device" / "locale" / code / "LC_MESSAGES"
        folder.mkdir(parents=True)
        (folder / "tilekeeper.mo").write_bytes(compile_texts(locate_source(code).read_bytes()))
    monkeypatch.setattr(device.catalogue, "files", lambda package: tmp_path / package)
    assert device.catalogue.read_compiled_texts("de") == compile_texts(
        (FOLDER / "de/LC_MESSAGES/tilekeeper.po").read_bytes()
    )
