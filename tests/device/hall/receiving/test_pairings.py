"""The text of pairings: what is read, what is refused, and what is written."""

from __future__ import annotations

import pytest

from device.hall.receiving.pairings import Pairing, PairingsError, check_pairings, format_pairings, parse_pairings
from engine.messages import key_of


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_may_end_as_in_any_system(end: str) -> None:
    assert len(parse_pairings(f"round,table{end}1,1,Anna,Ben{end}1,,Eve,{end}")) == 2


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff\n\nRound;Table;Player;Player\n1;7;Anna;Ben\n",  # saved by a spreadsheet
        "1,7,Anna,Ben,,,",
        "Round\tTable\tPlayer\tPlayer\n1\t7\tAnna\tBen",  # copied from the cells of a spreadsheet
        "1, 7 , Anna ,  Ben",
    ],
)
def test_pairings_of_a_spreadsheet_are_read(text: str) -> None:
    assert parse_pairings(text) == (Pairing(1, "7", "Anna", "Ben"),)


def test_invisible_characters_in_pairings_are_left_out() -> None:
    assert parse_pairings("1,7,An\u034fna,Ben\ufe0f") == (Pairing(1, "7", "Anna", "Ben"),)


@pytest.mark.parametrize("word", ["", "bye", "BYE", "-"])
def test_bye_may_be_written_as_a_word(word: str) -> None:
    assert parse_pairings(f"1,,Eve,{word}") == (Pairing(1, "", "Eve", ""),)
    assert parse_pairings(f"1,7,Eve,{word}") == (Pairing(1, "7", "Eve", ""),)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("1,1,Anna,Ben\n1,2,anna,Cleo", "pairings-player-twice"),
        ("1,1,Anna,Ben\n1,,Ben,", "pairings-player-twice"),
        ("1,Table 1,Anna,Ben\n1,table 1,Cleo,Dan", "pairings-table-twice"),
    ],
)
def test_player_or_table_with_two_games_in_a_round_is_refused(text: str, key: str) -> None:
    with pytest.raises(PairingsError) as caught:
        check_pairings(parse_pairings(text))
    assert key_of(str(caught.value)) == key


def test_two_rounds_and_games_without_a_table_are_sound() -> None:
    check_pairings(parse_pairings("1,1,Anna,Ben\n1,,Cleo,Dan\n1,,Eve,Finn\n2,1,Anna,Ben\n2,2,Cleo,Dan"))


def test_names_with_delimiters_are_kept_when_pairings_are_saved_again() -> None:
    pairings = parse_pairings('1;"a;b";"Doe; Jane";Roe, Rick\n2;;""Ed"";')
    assert parse_pairings(format_pairings(pairings)) == pairings and format_pairings(()) == ""


@pytest.mark.parametrize(
    "text",
    [
        "1,1,Anna,Anna",
        "1,1,Anna,anna",
        "1,1",
        "1,Anna,Ben",
        "0,1,Anna,Ben",
        "1,1,Anna,Ben,Cem",
        "x\nx,1,Anna,Ben",
        "Round 1,1,Anna,Ben",
        "1,1,A\x07,Ben",
        '1,1,"' + "x" * 200_000,
    ],
)
def test_pairings_that_cannot_be_are_refused_with_their_line(text: str) -> None:
    with pytest.raises(PairingsError, match=r"Line \d"):
        parse_pairings(text)
