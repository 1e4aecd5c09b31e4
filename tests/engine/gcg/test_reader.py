"""Reading GCG: every pragma, every kind of event, every form that programs have written, and what is wrong by line."""

from __future__ import annotations

import time

import pytest

from engine.gcg import Entry, Player, TurnKind, parse_gcg, replay

PLAYERS = "#player1 A Ann Lee\n#player2 B Bob\n"


def entry(line: str) -> Entry:
    """The event of one line, with no problem in reading it."""
    record = parse_gcg(PLAYERS + line)
    assert record.problems == ()
    return record.entries[0]


def reasons(text: str | bytes) -> list[str]:
    return [str(problem) for problem in parse_gcg(text).problems]


def test_players_have_a_nickname_and_a_name() -> None:
    assert parse_gcg(PLAYERS).players == (Player("A", "Ann Lee"), Player("B", "Bob"))


def test_nickname_and_name_may_be_separated_by_a_tab() -> None:
    record = parse_gcg("#player1\tA\tAnn Lee\n#player2 B\t Bob\n")
    assert record.players == (Player("A", "Ann Lee"), Player("B", "Bob"))


def test_a_play_has_rack_position_word_score_and_total() -> None:
    assert entry(">A: EHNORST 8H HORN +14 114") == Entry(
        0, TurnKind.PLAY, 14, 114, rack="EHNORST", position="8H", text="HORN"
    )


def test_blank_of_a_rack_may_be_an_underscore() -> None:
    assert entry(">A: EH_ - +0 0").rack == "EH?"


@pytest.mark.parametrize("line", [">A: HORN 8h HORN +14 14", ">A:HORN  8H\tHORN   +14  14  ", ">A: HORN 8H HORN 14 14"])
def test_a_play_may_be_written_loosely(line: str) -> None:
    assert entry(line) == Entry(0, TurnKind.PLAY, 14, 14, rack="HORN", position="8H", text="HORN")


@pytest.mark.parametrize(
    ("line", "kind", "score", "rack", "text"),
    [
        (">B: U - +0 380", TurnKind.PASS, 0, "U", ""),
        (">B: - +0 380", TurnKind.PASS, 0, None, ""),
        (">B: SEQSPO? -QO +0 380", TurnKind.EXCHANGE, 0, "SEQSPO?", "QO"),
        (">B: IIIU -4 +0 380", TurnKind.EXCHANGE, 0, "IIIU", "4"),
        (">B: DEIILTZ -- -24 380", TurnKind.WITHDRAWN, -24, "DEIILTZ", ""),
        (">B: ADDIPYZ (challenge) +5 380", TurnKind.CHALLENGE, 5, "ADDIPYZ", ""),
        (">B:  (challenge) +5 380", TurnKind.CHALLENGE, 5, None, ""),
        (">B: IS (time) -10 380", TurnKind.TIME, -10, "IS", ""),
        (">B:  (time) -10 380", TurnKind.TIME, -10, None, ""),
        (">B: (RELATCH) +24 380", TurnKind.ENDRACK, 24, None, "RELATCH"),
        (">B: D (D) -2 380", TurnKind.ENDRACK, -2, "D", "D"),
        (">B: D (D) +-2 380", TurnKind.ENDRACK, -2, "D", "D"),
    ],
)
def test_every_kind_of_event_is_read(line: str, kind: TurnKind, score: int, rack: str | None, text: str) -> None:
    assert entry(line) == Entry(1, kind, score, 380, rack=rack, text=text)


def test_an_end_rack_with_a_rack_before_it_is_lost() -> None:
    assert entry(">A: Q (Q) -10 0").is_penalty
    assert not entry(">A: (Q) +20 20").is_penalty
    assert entry(">A: ? (?) 0 20").is_penalty


def test_the_words_formed_that_old_files_append_are_kept() -> None:
    assert entry(">B: BEDGMNP  7e   BEDIM           +26   66  BE, ET, DO").words == "BE, ET, DO"


def test_a_line_without_rack_is_read() -> None:
    assert entry(">A: H4 FIRNS +24 24") == Entry(0, TurnKind.PLAY, 24, 24, position="H4", text="FIRNS")


def test_scrabscrap_writes_no_racks_and_letters_for_the_rows() -> None:
    record = parse_gcg(
        "#player1 Ann Ann\n#player2 Bob Bob\n> Ann: H6 HORN 14 14\n>  ✏Bob: 8H FA(R)_ 9 9\n> Ann: -  0 14\n"
        "> Bob: (challenge) 5 14\n> Bob: bank=A_ 2 16\n> Ann: (time) -10 4\n"
    )
    assert [(e.player, e.kind, e.position, e.text, e.score) for e in record.entries] == [
        (0, TurnKind.PLAY, "8F", "HORN", 14),
        (1, TurnKind.PLAY, "H8", "FA(R)?", 9),
        (0, TurnKind.PASS, "", "", 0),
        (1, TurnKind.CHALLENGE, "", "", 5),
        (1, TurnKind.ENDRACK, "", "A?", 2),
        (0, TurnKind.TIME, "", "", -10),
    ]
    assert not record.problems


@pytest.mark.parametrize(("written", "position"), [("H4", "8D"), ("4H", "D8"), ("A15", "1O"), ("O1", "15A")])
def test_lettered_rows_are_turned(written: str, position: str) -> None:
    record = parse_gcg(f"#orientation lettered-rows\n{PLAYERS}> A: {written} FIRNS 24 24")
    assert record.entries[0].position == position


def test_three_and_four_players() -> None:
    text = "".join(f"#player{n} {nick} {nick}\n" for n, nick in enumerate("ABCD", start=1))
    record = parse_gcg(text + ">A: AT 8H AT +4 4\n>B: - +0 0\n>C: - +0 0\n>D: - +0 0\n")
    assert [e.player for e in record.entries] == [0, 1, 2, 3]
    assert not replay(record).problems


def test_a_note_belongs_to_the_event_before_it_and_may_go_on() -> None:
    record = parse_gcg(f"{PLAYERS}>A: AT 8H AT +4 4\n#note first\nsecond\n\nthird\n>B: - +0 0\n#note other\n")
    assert [e.note for e in record.entries] == ["first\nsecond\nthird", "other"]
    assert not record.problems


def test_pragmas_are_kept_in_order() -> None:
    record = parse_gcg(
        f"{PLAYERS}#title Final\n#lexicon CSW24\n#description one\n#description two\n#tile [CH] [ch]\n#x y z\n"
    )
    assert [p.name for p in record.pragmas] == ["title", "lexicon", "description", "description", "tile", "x"]
    assert (record.pragma_text("title"), record.pragma_text("x"), record.pragma_text("id")) == ("Final", "y z", None)


def test_a_pragma_may_go_on_in_the_next_line() -> None:
    assert parse_gcg(f"#title A long\n#- title\n{PLAYERS}").pragma_text("title") == "A long title"


def test_settings_that_old_files_hide_in_notes_are_found() -> None:
    record = parse_gcg(f"{PLAYERS}#note LetterDistribution: french\n>A: AT 8H AT +4 4\n")
    assert record.pragma_text("tile-distribution") == "french"


def test_racks_at_the_end_and_incomplete() -> None:
    record = parse_gcg(f"{PLAYERS}>A: AT 8H AT +4 4\n#rack2 EINRST?\n#incomplete\n")
    assert [(rack.player, rack.tiles) for rack in record.racks] == [(1, "EINRST?")]
    assert record.pragma_text("incomplete") == ""
    assert not record.problems


# Encodings and line ends


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_line_ends_of_every_system(ends: str) -> None:
    record = parse_gcg(f"{PLAYERS}>A: AT 8H AT +4 4\n".replace("\n", ends).encode() + b"\x1a")
    assert (len(record.players), len(record.entries), record.problems) == (2, 1, ())


@pytest.mark.parametrize(
    "data",
    [
        "#character-encoding UTF-8\n#player1 cé césar\n".encode(),
        "#character-encoding utf8\n#player1 cé césar\n".encode(),
        "#player1 cé césar\n".encode(),
        "#player1 cé césar\n".encode("utf-8-sig"),
        "#player1 cé césar\n".encode("utf-16"),
        "#player1 cé césar\n".encode("iso-8859-1"),
        "#character-encoding ISO-8859-1\n#player1 cé césar\n".encode("iso-8859-1"),
    ],
)
def test_both_encodings_with_and_without_header(data: bytes) -> None:
    record = parse_gcg(data)
    assert record.players == (Player("cé", "césar"),)
    assert not record.problems


@pytest.mark.parametrize("name", ["klingon", "hex", "undefined"])  # Python has the last two, and reads no text by them
def test_an_unknown_encoding_is_named(name: str) -> None:
    assert reasons(f"#character-encoding {name}\n{PLAYERS}".encode()) == [
        f"line 1: The character encoding {name!r} is not known. The file was read as UTF-8 or ISO-8859-1."
    ]


def test_a_wrong_encoding_is_named_by_line() -> None:
    data = b"#character-encoding UTF-8\n" + PLAYERS.encode() + "#title Nürnberg\n".encode("iso-8859-1")
    assert reasons(data) == ["line 4: The file is not in UTF-8, as line 1 says. It was read as ISO-8859-1."]
    assert parse_gcg(data).pragma_text("title") == "Nürnberg"


@pytest.mark.parametrize("data", [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", b"\0" * 1000])
def test_a_file_that_is_no_text(data: bytes) -> None:
    assert reasons(data) == ["line 1: This is not a GCG file, because it is not text."]


@pytest.mark.parametrize("data", [b"", b"\n\n  \r\n"])
def test_an_empty_file(data: bytes) -> None:
    assert reasons(data) == ["line 1: The file is empty. It needs #player lines and events."]


def test_another_text_is_no_gcg() -> None:
    assert reasons("Dear Ann,\n\nthank you for the game.\n") == [
        "line 1: This is not a GCG file: it has neither a #player line nor an event."
    ]


def test_a_total_with_a_typographic_minus_is_read() -> None:
    [entry] = parse_gcg(f"{PLAYERS}>A:  (time) -20 \u22126\n").entries
    assert (entry.total, entry.words) == (-6, "")


# Broken lines


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (">A: ADEIINR DAIN.IER +86 108", "'DAIN.IER' is neither a square of the board nor -, --, (TILES) or (time)."),
        (">A: AT 8H +4 4", "There is no word after 8H."),
        (">A: AT 8H AT", "There is no score after '8H'."),
        (">A: AT 8H AT four 4", "'four' is not a score."),
        (f">A: AT 8H AT +{'9' * 5000} 4", f"'+{'9' * 36}...' is not a score."),
        (">A:", "There is nothing after the name of the player."),
        (">: AT 8H AT +4 4", "'>: AT 8H AT +4 4' does not name a player."),
        (">A AT 8H AT +4 4", "'>A AT 8H AT +4 4' does not name a player."),
        ("> ✏: 8F HORN +14 14", "'> ✏: 8F HORN +14 14' does not name a player."),
    ],
)
def test_a_broken_event_is_named_by_line_and_left_out(line: str, reason: str) -> None:
    record = parse_gcg(f"{PLAYERS}{line}\n>B: - +0 0\n")
    assert [str(p) for p in record.problems] == [f"line 3: {reason} Write >NICK: RACK 8H WORD +12 34."]
    assert [e.line for e in record.entries] == [4]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"{PLAYERS}8H HORN +14\n", "line 3: '8H HORN +14' is neither an event (>) nor a pragma (#)."),
        (
            f"{PLAYERS}#character-encoding UTF-8\n",
            "line 3: #character-encoding must be the first line. It has no effect here.",
        ),
        (f"{PLAYERS}#title a\n#title b\n", "line 4: #title is given twice. The first one counts."),
        (f"{PLAYERS}>A: - +0 0\n#title a\n", "line 4: #title belongs before the first event."),
        (f"{PLAYERS}#note hello\n", "line 3: A note before the first event belongs to no event."),
        (f"{PLAYERS}>A: - +0 0\n#player3 C C\n", "line 4: #player3 belongs before the first event (line 3)."),
        (f"{PLAYERS}#player2 C C\n", "line 3: #player2 is given twice, for B and for C."),
        (f"{PLAYERS}#player3 A C\n", "line 3: Players 1 and 3 share the nickname A. Their turns alternate."),
        (f"{PLAYERS}#player3 C Bob\n", "line 3: Players 2 and 3 share the name Bob."),
        (f"{PLAYERS}#player3\n", "line 3: #player3 has no nickname. Write #player3 NICK Full Name."),
        (f"{PLAYERS}#rack3 AEI\n", "line 3: There is a line #rack3, but no line #player3."),
        (
            f"{PLAYERS}>C: - +0 0\n",
            "line 3: There is no #player line for 'C'. Add this line, or correct the name. "
            "There are #player lines only for A, B.",
        ),
        (
            f"{PLAYERS}#rack1 AEI\n>A: - +0 0\n",
            "line 4: This event comes after the racks at the end of the game (line 3).",
        ),
    ],
)
def test_misplaced_event_is_reported_with_its_line(text: str, reason: str) -> None:
    assert reasons(text) == [reason]


def test_nickname_that_is_the_name_of_another_player_means_the_first() -> None:
    text = "#player1 A_B A B\n#player2 A_B_2 A_B\n>A_B_2: - +0 0\n>A_B: EI (EI) -2 -2\n"
    assert [entry.player for entry in parse_gcg(text).entries] == [1, 0]


def test_players_who_share_a_nickname_alternate() -> None:
    record = parse_gcg("#player1 N Ann\n#player2 N Bob\n>N: AT 8H AT +4 4\n>N: E - +0 0\n>N: E -E +0 4\n")
    assert [e.player for e in record.entries] == [0, 1, 0]
    assert record.labels() == ("N/1", "N/2")


def test_nickname_of_two_players_leaves_the_other_to_the_first_word_of_the_name() -> None:
    record = parse_gcg(
        "#player1 Tim Tim Weiss\n#player2 Tim Josh Castellano\n>Tim: HORN 8F HORN +14 14\n>Josh: FAM H6 FA.M +9 9\n"
        ">Tim: AEPST 10F PASTE +25 39\n>Josh: BO 9H .OB +16 25\n"
    )
    assert [player.name for player in record.players] == ["Tim Weiss", "Josh Castellano"]
    assert [entry.player for entry in record.entries] == [0, 1, 0, 1]


@pytest.mark.parametrize("written", ["al", "ANN LEE", "ann"])
def test_nickname_in_another_case_is_that_of_the_player(written: str) -> None:
    record = parse_gcg(f"#player1 AL Ann Lee\n#player2 B Bob\n>B: - +0 0\n>{written}: - +0 0\n")
    assert [entry.player for entry in record.entries] == [1, 0] and not record.problems


def test_accents_may_be_characters_of_their_own() -> None:
    record = parse_gcg("#player1 A Zoe\u0308\n#player2 B Bob\n>A: A\u0308RA 8G A\u0308RA +16 16\n")
    assert (record.players[0].name, record.entries[0].text) == ("Zoë", "ÄRA")


def test_nickname_of_two_players_but_for_the_case_is_that_of_the_player_to_move() -> None:
    record = parse_gcg("#player1 Al Ann\n#player2 aL Bob\n>AL: - +0 0\n>aL: - +0 0\n>AL: - +0 0\n>al: - +0 0\n")
    assert [entry.player for entry in record.entries] == [0, 1, 0, 1] and len(record.players) == 2
    assert [str(problem) for problem in record.problems] == [
        "line 3: 'AL' may be Al or aL, so their turns alternate. Correct the name.",
        "line 5: 'AL' may be Al or aL, so their turns alternate. Correct the name.",
        "line 6: 'al' may be Al or aL, so their turns alternate. Correct the name.",
    ]


def test_nickname_in_another_case_comes_before_the_name_of_another_player() -> None:
    record = parse_gcg("#player1 anna Ben Ames\n#player2 ben Anna Berg\n>Anna: - +0 0\n>Ben: - +0 0\n")
    assert [entry.player for entry in record.entries] == [0, 1] and not record.problems


def test_unknown_tiles_of_a_last_rack_are_read_as_in_an_event() -> None:
    record = parse_gcg(f"{PLAYERS}#rack1 unknown\n#rack2 AB_\n")
    assert [rack.tiles for rack in record.racks] == ["", "AB?"]


@pytest.mark.parametrize(
    "line", [">A: HORN 8F HORN +4b 14", ">A: HORN 8F HORN", ">: HORN 8F HORN +14", "A: AT 9G AT +3"]
)
def test_lines_that_cannot_be_read_are_named(line: str) -> None:
    record = parse_gcg(f"{PLAYERS}>B: HORN 8F HORN +14 14\n{line}\n")
    assert [problem.line for problem in record.unread_lines] == [PLAYERS.count("\n") + 2]
    assert parse_gcg(f"{PLAYERS}#title x\n#title y\n>B: HORN 8F HORN +14 14\n").unread_lines == ()


@pytest.mark.parametrize(
    "line",
    [
        f">{' ' * 2000}x",
        f"#lexicon A{' ' * 18_000}x",
        f"#tile-set es\n>A: {'[' * 19_900} 8H HORN +14 14\n" * 2,
        "a" + "\u0301" * 200_000 + "\u0323" * 200_000,
        "#player3 C C\n#tile-set en\n" + f">A: ({'A' * 100}) +1 0\n" * 400,
    ],
    ids=["spaces", "lexicon", "brackets", "accents", "end racks"],
)
def test_line_made_to_be_slow_is_read_at_once(line: str) -> None:
    began = time.process_time()
    replay(parse_gcg(f"{PLAYERS}{line}\n>A: HORN 8F HORN +14 14\n"))
    assert time.process_time() - began < 2.0  # seconds; with backtracking, they take more, up to hours


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("#player1 a A\n" * 1000, "1001 lines are too many for a GCG file. At most 1000 are allowed."),
        (
            f"{PLAYERS}>A: - +0 0\n#note {'x' * 20_000}",
            "20006 characters in a line are too many for a GCG file. At most 20000 are allowed.",
        ),
        (
            f"{PLAYERS}>A: {'A' * 16_990} - +0\n>B: {'A' * 16_990} - +0\n>A: {'A' * 16_990} - +0\n",
            "50997 characters in events are too many for a GCG file. At most 50000 are allowed.",
        ),
        ("#title x\n" * 201, "201 lines that begin with # are too many for a GCG file. At most 200 are allowed."),
    ],
)
def test_file_larger_than_any_game_is_refused_with_the_limit(text: str, reason: str) -> None:
    record = parse_gcg(text)
    assert record.entries == () and [problem.reason for problem in record.problems] == [reason]
