"""A few files with flipped bits; `python -m tests.system.flip_bits` tries any number."""

from __future__ import annotations

from tests.system.flip_bits import try_halls, try_lexicons, try_stores


def test_store_with_flipped_bits_opens_without_silent_changes() -> None:
    outcomes = try_stores(20, seed=7)
    assert not [outcome for outcome in outcomes if "!" in outcome]
    assert any("damaged" in outcome for outcome in outcomes)


def test_hall_with_a_damaged_file_starts_without_silent_changes() -> None:
    outcomes = try_halls(15, seed=7)
    assert not [outcome for outcome in outcomes if "!" in outcome]
    assert outcomes["reported"]


def test_damaged_word_list_in_the_cache_is_compiled_again() -> None:
    assert not [outcome for outcome in try_lexicons(15, seed=7) if "!" in outcome]
