"""The text of pairings: what is read, what is refused, and what is written."""

from __future__ import annotations

import codecs
from pathlib import Path

import pytest

from device.hall.receiving.event import Event, Line, Pairing, PairingsError, PairingState
from device.hall.receiving.pairings import (
    format_csv,
    format_pairings,
    format_tsh,
    import_pairings,
    parse_pairings,
)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_may_end_as_in_any_system(end: str) -> None:
    assert len(parse_pairings(f"round,table{end}1,1,Anna,Ben{end}1,,Eve,{end}").rounds[1]) == 2


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
    assert parse_pairings(text).rounds == {1: (Pairing("7", "Anna", "Ben"),)}


def test_invisible_characters_in_pairings_are_left_out() -> None:
    assert parse_pairings("1,7,An\u034fna,Ben\ufe0f").rounds == {1: (Pairing("7", "Anna", "Ben"),)}


@pytest.mark.parametrize(
    "word",
    [
        "", "bye", "BYE", "-", "–", "--", "(bye)", "Bye (+50)", "[BYE]", "bye +50", "spielfrei", "Spielfrei", "Freilos",
        "exempt", "descansa", "Descanso", "riposa", "Riposo", "vrij", "wolny los", "Wolny  Los", "liber", "(liber)",
        "n/a", "N/A", "(n/a)", "N.A.", "n. a.", "NA", "#N/A", "#N/A!", "#N/D", "#NV", "NaN", "NULL", "none", "None",
        "<none>", "nobody", "no player", "niemand", "kein Spieler", "aucun", "nadie", "nessuno", "geen", "nikt", "brak",
        "nimeni",
    ],
)  # fmt: skip
def test_bye_may_be_written_as_a_word(word: str) -> None:
    assert parse_pairings(f"1,,Eve,{word}").rounds == {1: (Pairing("", "Eve", ""),)}
    assert parse_pairings(f"1,7,Eve,{word}").rounds == {1: (Pairing("7", "Eve", ""),)}


def test_bye_may_be_in_place_of_the_first_player() -> None:
    assert parse_pairings("1,7,spielfrei,Eve").rounds == {1: (Pairing("7", "Eve", ""),)}


@pytest.mark.parametrize(
    "name", ["Byelle", "Max Frei", "Exeter", "7", "Lib", "O'Bye", "Na", "Nan", "N. D.", "Nonette", "Nina Null"]
)
def test_name_that_resembles_a_word_for_a_bye_is_a_player(name: str) -> None:
    assert parse_pairings(f"1,7,Eve,{name}").rounds == {1: (Pairing("7", "Eve", name),)}


@pytest.mark.parametrize(
    "heading",
    [
        "round,table,player 1,player 2", "Runde,Tisch,Spieler 1,Spieler 2", "ronde,table,joueur 1,joueur 2",
        "Ronda,Mesa,Jugador,Jugador", "Turno,Tavolo,Giocatore 1,Giocatore 2", "Runda,Stół,Gracz 1,Gracz 2",
        "Rd,Board,White,Black", "erä,pöytä,pelaaja 1,pelaaja 2", "Club evening", "Club evening\nround,table,home,away",
        "sep=,", "Round:,Table:,Player A,Player B",
    ],
)  # fmt: skip
def test_title_and_heading_in_any_language_are_skipped(heading: str) -> None:
    assert parse_pairings(f"{heading}\n1,7,Anna,Ben\n").rounds == {1: (Pairing("7", "Anna", "Ben"),)}


@pytest.mark.parametrize("line", ["Final,1,Anna,Ben", "I,1,Anna,Ben", "eins,1,Anna,Ben", "one,,Eve,bye"])
def test_first_line_with_names_is_never_left_out_silently(line: str) -> None:
    with pytest.raises(PairingsError, match="Line 1 of the pairings must have the form"):
        parse_pairings(f"{line}\n1,2,Cleo,Dan\n")


@pytest.mark.parametrize("text", ["nonsense", "nonsense\nnonsense", "round,table,player 1,player 2", "1"])
def test_text_without_a_game_is_refused(text: str) -> None:
    with pytest.raises(PairingsError, match="Line 1 of the pairings"):
        parse_pairings(text)


@pytest.mark.parametrize("text", ['1,1,Anna,Ben\n1,2,Cleo,"Dan\n1,3,Eve,Fay\n', '1,1,Anna,Ben\n1,2,"Cleo,Dan'])
def test_quote_without_its_end_hides_no_lines(text: str) -> None:
    with pytest.raises(PairingsError, match="Line 2 of the pairings must have the form"):
        parse_pairings(text)


def test_unknown_word_for_a_bye_is_asked_about() -> None:
    with pytest.raises(PairingsError, match=r"Rast has two games in round 1\..*leave the cell empty"):
        import_pairings(Event(), "1,1,Anna,Ben\n1,,Cleo,Rast\n1,,Dan,Rast")


def test_title_above_the_lines_of_a_spreadsheet_does_not_hide_their_delimiter() -> None:
    assert parse_pairings("Club evening, 28 Nov\nRunde;Tisch;A;B\n1;7;Anna;Ben").rounds == {
        1: (Pairing("7", "Anna", "Ben"),)
    }


@pytest.mark.parametrize("name", ["pairings-de.csv", "pairings-fr.csv"])
def test_byes_of_a_reported_case_are_byes(name: str) -> None:
    path = Path(__file__).parents[5] / "shared" / "findings" / "cases" / "05-bye-words" / name
    if not path.exists():
        pytest.skip("the reported cases are in ../shared/findings")
    ((first, *others),) = parse_pairings(path.read_text(encoding="utf-8")).rounds.values()
    assert (first.first, first.second) == ("Anna", "Ben") and all(one.second == "" for one in others) and others


@pytest.mark.parametrize("delimiter", [",", ";"])
def test_results_open_in_a_spreadsheet(delimiter: str) -> None:
    text = format_csv([Line(1, Pairing("7", "Jörg Müller", "Zoë Groß"), PairingState.OPEN)], delimiter)
    assert text.encode().startswith(codecs.BOM_UTF8)
    assert text.splitlines()[1] == delimiter.join(["1", "7", "Jörg Müller", "", "Zoë Groß", ""])


def test_csv_has_the_points_in_the_order_of_the_pairing() -> None:
    line = Line(1, Pairing("Table 1", "Anna", "=Ben"), PairingState.HAND, (400, 300), (0,))
    assert format_csv([line]).splitlines()[1] == "1,Table 1,Anna,400,'=Ben,300"


def test_names_with_delimiters_are_kept_when_pairings_are_saved_again() -> None:
    pairings = parse_pairings('1;"a;b";"Doe; Jane";Roe, Rick\n1;;""Ed"";').rounds[1]
    assert parse_pairings(format_pairings(pairings)).rounds == {1: pairings} and format_pairings(()) == ""


@pytest.mark.parametrize(
    "text",
    [
        "3 Anna Müller - Ben Ortega\nEve - Freilos",
        "Tisch 3: Anna Müller – Ben Ortega\nFreilos - Eve",
        "Round 2 pairings\n\n3. Anna Müller vs Ben Ortega\nEve vs. bye",
        "Board  Players\n  3  *starts* Anna Müller (#12) vs. Ben Ortega (#4).\n  Eve (#1) vs. Bye.",
        "  3  Ben Ortega (#4) vs. *first* Anna Müller (#12)\n  Eve (#1) vs. Bye.",
        "Tisch;Spieler;Spieler\n3;Anna Müller;Ben Ortega\n;Eve;spielfrei",
        "R2,3,Anna Müller,Ben Ortega\nR2,,Eve,",
    ],
)
def test_text_of_one_round_may_have_any_usual_form(text: str) -> None:
    assert parse_pairings(text, 2).rounds == {2: (Pairing("3", "Anna Müller", "Ben Ortega"), Pairing("", "Eve"))}


def test_names_with_a_comma_may_be_in_lines_with_a_dash() -> None:
    assert parse_pairings("1 Müller, Anna - Ortega, Ben").rounds[1] == (Pairing("1", "Müller, Anna", "Ortega, Ben"),)


TSH = """Müller, Anna        1500 2 3; 400 ;p12 1 2;board 1 1
Ortega, Ben         1400 1 0; 300 50;p12 2 0;board 1 0
Cleo                1300 0 1; 50 ;p12 0 1;board 0 1
"""


def test_data_file_of_tsh_gives_pairings_with_the_first_player_and_the_board() -> None:
    found = parse_pairings(TSH)
    assert found.rounds == {
        1: (Pairing("1", "Müller, Anna", "Ortega, Ben"), Pairing("", "Cleo")),
        2: (Pairing("1", "Cleo", "Müller, Anna"), Pairing("", "Ortega, Ben")),
    }
    assert found.numbered_players == ("Müller, Anna", "Ortega, Ben", "Cleo")


def test_results_go_to_tsh_by_the_numbers_of_the_players() -> None:
    event = import_pairings(Event(), TSH)
    lines = [
        Line(2, event.rounds[2][0], PairingState.TABLE, (410, 380), (0,)),
        Line(2, event.rounds[2][1], PairingState.BYE),
    ]
    assert format_tsh(lines, event.numbered_players) == "3 410 1 380\n"


@pytest.mark.parametrize(
    "text",
    [
        "1,1,Anna,Anna",
        "1,1,Anna,anna",
        "0,1,Anna,Ben",
        "1,1,Anna,Ben,Cem",
        "x\nx,1,Anna,Ben",
        "1,1,A\x07,Ben",
        '1,1,"' + "x" * 200_000,
    ],
)
def test_pairings_that_cannot_be_are_refused_with_their_line(text: str) -> None:
    with pytest.raises(PairingsError, match=r"Line \d"):
        parse_pairings(text)
