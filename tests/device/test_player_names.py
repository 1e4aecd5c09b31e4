"""Names of players: visible characters are kept, and names without any are refused."""

from __future__ import annotations

import pytest

from device.player_names import clean_name, is_player_name


@pytest.mark.parametrize("name", ["\u200d", "\u2800", "\u3164 \u115f", "\u202e\u2066", "\ufeff", "\udcff", ""])
def test_name_without_a_visible_character_is_none(name: str) -> None:
    assert not clean_name(name) and not is_player_name(name)


@pytest.mark.parametrize("name", ["Łucja", "नेहा क्\u200dष", "👩\u200d🚀 Ada", "Jean-Luc d’Or"])
def test_name_of_any_script_is_kept(name: str) -> None:
    assert clean_name(name) == name and is_player_name(name)


def test_bidirectional_controls_do_not_reach_the_page() -> None:
    assert clean_name("\u202eAnna\u2066 \u200fBen") == "Anna Ben"


@pytest.mark.parametrize(("name", "composed"), [("Rene\u0301e", "Renée"), ("\u1112\u1161\u11ab", "한")])
def test_accents_are_composed_with_their_letters(name: str, composed: str) -> None:
    assert clean_name(name) == composed
