"""Names of players: visible characters are kept, and names without any are refused."""

from __future__ import annotations

import unicodedata
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from device.player_names import MAX_MARKS, clean_name, is_player_name, parse_player_name

CARON = "\u030c"
"""A mark that Unicode does not compose with b."""


@pytest.mark.parametrize("name", ["\u200d", "\u2800", "\u3164 \u115f", "\u202e\u2066", "\ufeff", "\udcff", ""])
def test_name_without_a_visible_character_is_none(name: str) -> None:
    assert not clean_name(name) and not is_player_name(name)


INVISIBLE = ["\ufe0f", "\u034f", "\u180b", "\u17b5", "\u200d", "\U0001d159", "\U000e0100"]


@pytest.mark.parametrize("letter", INVISIBLE, ids=ascii)
def test_invisible_character_makes_no_other_name(letter: str) -> None:
    for name in (letter, f"An{letter}na", f"Anna{letter}", f"{letter}Anna"):
        assert clean_name(name) == ("" if name == letter else "Anna") and not is_player_name(name)


@pytest.mark.parametrize("name", ["\u200d\u094d", "Anna \u200d\u094d", "Anna\u034f \u200d\u200d\u094d"], ids=ascii)
def test_joiner_before_a_stray_mark_makes_no_other_name(name: str) -> None:
    assert clean_name(name) == name.partition(" ")[0].strip("\u034f\u200d\u094d") and not is_player_name(name)


@given(
    st.text(
        "Ana \u200c\u200d\u0301\u034f\u094d\u0915\u0627\u064e葛\u180b\u1820\ufe00\ufe0f\U000e0101👩🚀🏽\n'", max_size=12
    )
)
def test_cleaned_name_is_accepted_and_stays_as_it_is(name: str) -> None:
    cleaned = clean_name(name)
    assert clean_name(cleaned) == cleaned and (not cleaned or is_player_name(cleaned))


@pytest.mark.parametrize("name", ["葛\U000e0101城", "渡邉\U000e0102", "神\ufe00", "ᠠ\u180b", "ᠮᠣᠩ\u180fᠭᠣᠯ"], ids=ascii)
def test_variation_selector_after_its_letter_is_kept(name: str) -> None:
    assert clean_name(name) == name and is_player_name(name)


@pytest.mark.parametrize("selector", ["\U000e0102", "\u180b", "\u200d\U000e0102"], ids=ascii)
def test_variation_selector_that_changes_no_letter_is_left_out(selector: str) -> None:
    assert clean_name(f"葛\U000e0101{selector}") == "葛\U000e0101"


def test_name_on_the_command_line_loses_its_invisible_characters() -> None:
    assert parse_player_name(" An\u034fna\ufe0f ") == "Anna"


@pytest.mark.parametrize("name", ["\u0301", "Anna \u0301", "'\u0301"])
def test_mark_without_a_letter_is_not_in_a_name(name: str) -> None:
    assert not is_player_name(name) and "\u0301" not in clean_name(name)


def test_letter_has_few_marks() -> None:
    assert is_player_name(f"b{MAX_MARKS * CARON}") and not is_player_name(f"b{(MAX_MARKS + 1) * CARON}")
    assert clean_name(f"b{39 * CARON}c") == f"b{MAX_MARKS * CARON}c"


@pytest.mark.parametrize("between", ["\u200d", "\u034f"], ids=ascii)
def test_accent_after_an_invisible_character_is_composed_with_its_letter(between: str) -> None:
    assert clean_name(f"Rene{between}\u0301") == "René"


REAL_NAMES = [
    "Nguyễn Thị Hồng Nhung",
    "Ọ̀ṣun",
    "Ọlátúnjí",
    "Ζωή Παπαδοπούλου",
    "Ёлка",
    "Կարեն",
    "ქეთევან",
    "አበበ",
    "น้ำฝน",
    "กิ่งแก้ว ณัฐวุฒิ",
    "ປ້ອນ",
    "မြို့သူ",
    "ស្រីនាង ស្ត្រី",
    "བསྟན་འཛིན་རྒྱ་མཚོ",
    "דָּוִד בֶּן־גּוּרְיוֹן",
    "שָׂרָה",
    "مُحَمَّد",
    "عبد اللّٰه",
    "علی\u200cرضا",
    "श्री कृष्ण",
    "प्रियंका चौधरी",
    "র\u200d্যাফেল",
    "සුනිල් ශ්\u200dරී",
    "സുകുമാരന്\u200d",
    "தமிழ்ச்செல்வி",
    "ರ\u200d್ಯಾಲಿ",
    "한지민",
    "葛城 みどり",
    "李小龍",
    "ᠮᠣᠩᠭᠣᠯ",
    "❤️ Ada",
    "👩🏽\u200d🚀",
    "🏳️\u200d🌈",
]


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("name", REAL_NAMES, ids=ascii)
def test_name_of_real_people_is_kept(name: str, form: Literal["NFC", "NFD"]) -> None:
    typed = unicodedata.normalize(form, name)
    assert is_player_name(typed) and clean_name(typed) == unicodedata.normalize("NFC", name)


@pytest.mark.parametrize("name", ["Łucja", "नेहा क्\u200dष", "👩\u200d🚀 Ada", "Jean-Luc d’Or"])
def test_name_of_any_script_is_kept(name: str) -> None:
    assert clean_name(name) == name and is_player_name(name)


def test_bidirectional_controls_do_not_reach_the_page() -> None:
    assert clean_name("\u202eAnna\u2066 \u200fBen") == "Anna Ben"


@pytest.mark.parametrize(("name", "composed"), [("Rene\u0301e", "Renée"), ("\u1112\u1161\u11ab", "한")])
def test_accents_are_composed_with_their_letters(name: str, composed: str) -> None:
    assert clean_name(name) == composed
