"""Writing GCG: exact, and read back as it was."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.board import SQUARES, position_name
from engine.gcg import Entry, Player, Pragma, Record, TurnKind, format_gcg, make_nickname, parse_gcg
from engine.gcg.record import Rack
from tests.support.examples import try_examples
from tests.support.local_data import GCG_DIR, needs_games

_names = st.from_regex(r"[A-ZÄÖa-zé][A-Za-zéß0-9_.-]{0,11}", fullmatch=True)
_texts = st.lists(_names, min_size=1, max_size=4).map(" ".join)
_formed = st.lists(st.from_regex(r"[A-ZÄ][A-Za-zÄé]{0,9}", fullmatch=True), min_size=1, max_size=4).map(", ".join)
_tiles = st.lists(st.sampled_from([*"AEINRST?ÄŁ", "[CH]", "[L·L]"]), min_size=1, max_size=7).map("".join)
_words = st.lists(st.sampled_from([*"AEINRST.aeinrstÄä", "[CH]", "[ch]", "(SA)"]), min_size=1, max_size=9).map("".join)
_positions = st.builds(position_name, st.sampled_from(SQUARES), st.booleans())
_notes = st.one_of(st.just(""), st.lists(_texts, min_size=1, max_size=3).map("\n".join))
GCG_KINDS = [
    TurnKind.PLAY,
    TurnKind.EXCHANGE,
    TurnKind.PASS,
    TurnKind.WITHDRAWN,
    TurnKind.CHALLENGE,
    TurnKind.TIME,
    TurnKind.ENDRACK,
]
_racks = st.none() | _tiles


@st.composite
def entries(draw: st.DrawFn, players: int) -> Entry:
    kind = draw(st.sampled_from(GCG_KINDS))
    total = draw(st.none() | st.integers(-200, 900))
    rack = None if kind is TurnKind.ENDRACK else draw(_racks)
    text = {
        TurnKind.PLAY: _words,
        TurnKind.EXCHANGE: _tiles | st.integers(1, 7).map(str),
        TurnKind.ENDRACK: _tiles,
    }.get(kind, st.just(""))
    return Entry(
        player=draw(st.integers(0, players - 1)),
        kind=kind,
        score=draw(st.integers(-99, 1800)),
        total=total,
        rack=rack,
        position=draw(_positions) if kind is TurnKind.PLAY else "",
        text=draw(text),
        words="" if total is None else draw(st.just("") | _formed),
        note=draw(_notes),
    )


@st.composite
def records(draw: st.DrawFn) -> Record:
    nicks = draw(st.lists(_names, min_size=2, max_size=4, unique=True))
    names = draw(st.lists(_texts, min_size=len(nicks), max_size=len(nicks), unique=True))
    settings = draw(st.lists(st.sampled_from(["title", "lexicon", "id", "game-type"]), unique=True))
    pragmas = [Pragma(name, draw(_texts)) for name in [*settings, "description", "description", "tile"]]
    if draw(st.booleans()):
        pragmas.append(Pragma("incomplete", ""))
    seats = draw(st.lists(st.integers(0, len(nicks) - 1), unique=True))
    return Record(
        tuple(
            Player(f"{nick}{seat}", f"{name} {seat}")
            for seat, (nick, name) in enumerate(zip(nicks, names, strict=True))
        ),
        tuple(draw(st.lists(entries(len(nicks)), min_size=1, max_size=5))),
        tuple(pragmas),
        tuple(Rack(seat, draw(_tiles)) for seat in seats),
    )


@try_examples(25)
@given(records())
def test_written_game_is_read_back_with_any_line_end(record: Record) -> None:
    text = format_gcg(record)
    again = parse_gcg(text)
    assert again.problems == ()
    assert again == record == parse_gcg(text.replace("\n", "\r\n").encode())


@pytest.mark.parametrize(
    ("entry", "line"),
    [
        (Entry(0, TurnKind.PLAY, 9, 9, "AFM", "H6", "FA.M"), ">A: AFM H6 FA.M +9 9"),
        (Entry(0, TurnKind.PLAY, 9, 9, None, "H6", "FA.M"), ">A:  H6 FA.M +9 9"),
        (Entry(0, TurnKind.PASS, 0, 9, "U"), ">A: U - +0 9"),
        (Entry(0, TurnKind.EXCHANGE, 0, 9, "IIIU", text="III"), ">A: IIIU -III +0 9"),
        (Entry(0, TurnKind.EXCHANGE, 0, 9, "IIIU", text="3"), ">A: IIIU -3 +0 9"),
        (Entry(0, TurnKind.WITHDRAWN, -9, 0, "AFM"), ">A: AFM -- -9 0"),
        (Entry(0, TurnKind.CHALLENGE, 5, 14, "EE"), ">A: EE (challenge) +5 14"),
        (Entry(0, TurnKind.CHALLENGE, 5, 14), ">A:  (challenge) +5 14"),
        (Entry(0, TurnKind.TIME, -10, 14), ">A:  (time) -10 14"),
        (Entry(0, TurnKind.TIME, -10, -1, "Q"), ">A: Q (time) -10 -1"),
        (Entry(0, TurnKind.ENDRACK, 20, 29, text="Q"), ">A: (Q) +20 29"),
        (Entry(0, TurnKind.ENDRACK, -10, -1, "Q", text="Q"), ">A: Q (Q) -10 -1"),
    ],
)
def test_each_event_is_written_as_everybody_reads_it(entry: Entry, line: str) -> None:
    assert format_gcg(Record((Player("A", "Ann"),), (entry,))).splitlines()[-1] == line
    assert Entry.from_gcg(entry.to_gcg()) == entry


def test_a_file_begins_with_its_encoding_and_players() -> None:
    text = format_gcg(Record((Player("A", "Ann"), Player("B", "Bob")), pragmas=(Pragma("lexicon", "CSW24"),)))
    assert text == "#character-encoding UTF-8\n#player1 A Ann\n#player2 B Bob\n#lexicon CSW24\n"


@pytest.mark.parametrize(("name", "nick"), [("Ann", "Ann"), (" Ann  Lee ", "Ann_Lee"), ("a:b", "a_b"), ("", "_")])
def test_a_nickname_has_no_spaces(name: str, nick: str) -> None:
    assert make_nickname(name) == nick


def test_a_name_or_a_title_stays_on_its_line() -> None:
    players = (Player("A", "Ann\n>B: Q A1 Q +99 99"), Player("B", "Bob"))
    back = parse_gcg(format_gcg(Record(players, pragmas=(Pragma("title", "one\r\ntwo"),))))
    assert back.players[0].name == "Ann >B: Q A1 Q +99 99" and back.entries == ()
    assert back.pragma_text("title") == "one two"


@pytest.mark.parametrize("line", [">A: Q A1 Q +99 99", "#title none"])
def test_line_of_a_note_is_neither_event_nor_pragma(line: str) -> None:
    entry = Entry(0, TurnKind.PASS, 0, 0, note=f"first\n{line}")
    back = parse_gcg(format_gcg(Record((Player("A", "Ann"), Player("B", "Bob")), (entry,))))
    assert back.entries == (entry,) and back.pragmas == Record(()).pragmas


@pytest.mark.slow
@needs_games
def test_recorded_games_are_read_back() -> None:
    for file in GCG_DIR.rglob("*.gcg"):
        record = parse_gcg(file.read_bytes())
        if record.players and "malformed" not in file.parts:
            assert parse_gcg(format_gcg(record)) == record, file
