"""A recorded game as one that can be played back, undone and put right."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.board import parse_square
from engine.errors import RulesError
from engine.events import (
    BlankTaken,
    Challenged,
    EndReason,
    Event,
    GameEnded,
    Passed,
    PlayMade,
    PlayWithdrawn,
    RackRevealed,
    ScoreCorrected,
    SquareCorrected,
    TileRecycled,
    TurnCorrected,
    dumps,
    loads,
)
from engine.game import Game
from engine.gcg import build_game, build_record, format_gcg, parse_gcg, replay
from engine.plays import Play
from engine.rules import ChallengeRule, FinishLineLevel, Rules, UnplayedRule
from engine.scoring import Status
from engine.state import TurnKind
from engine.tiles import Tile
from tests.support.engine_table import act_ref
from tests.support.examples import try_examples
from tests.support.local_data import GCG_DIR, needs_games
from tests.support.play_at_random import played_out, random_game

HEAD = "#player1 A Ann\n#player2 B Bob\n"
FIVE_TURNS = """\
>A: HORN 8F HORN +14 14
>B: FAM H6 FA.M +9 9
>A: PASTE 10F PASTE +25 39
>B: OB 9H .OB +16 25
>A: BIT 11E BIT +16 55
"""


def game(*lines: str) -> Game:
    """The worked example of the sheets, and further lines."""
    return build_game(parse_gcg(HEAD + FIVE_TURNS + "".join(f"{line}\n" for line in lines)))


def test_the_worked_example_is_played_back_turn_by_turn() -> None:
    played = game()
    totals = [
        Game.begin(played.start_event).push(*played.events[:count]).totals for count in range(len(played.events) + 1)
    ]
    assert totals == [(0, 0), (14, 0), (14, 9), (39, 9), (39, 25), (55, 25), (55, 25)]


def test_corrected_square_changes_later_scores() -> None:
    played = game().push(SquareCorrected(parse_square("F8"), Tile("B")))
    assert played.turns[0].words[0].word == "BORN" and played.totals == (55 - 2, 25)


def test_exchanges_passes_and_plays_taken_back() -> None:
    played = game(">B: QVX -QV +0 25", ">A: E - +0 55", ">B: X -1 +0 25", ">A: AEI L6 AI +3 58", ">A: AEI -- -3 55")
    assert [turn.kind for turn in played.turns[5:]] == [
        TurnKind.EXCHANGE, TurnKind.PASS, TurnKind.EXCHANGE, TurnKind.PLAY, TurnKind.WITHDRAWN,
    ]  # fmt: skip
    assert played.turns[5].tiles == ("Q", "V") and played.totals == (55, 25)


def test_points_for_a_challenge_in_vain_and_for_overtime() -> None:
    played = game(">A: E (challenge) +5 60", ">B: Q (Q) -10 15", ">A: Z (Z) -10 50", ">A: Z (time) -20 30")
    assert played.totals == (30, 15) and played.is_over
    assert [turn.kind for turn in played.turns[5:]] == [
        TurnKind.CHALLENGE,
        TurnKind.ENDRACK,
        TurnKind.ENDRACK,
        TurnKind.TIME,
    ]


@pytest.mark.parametrize("points", [0, 5])
def test_failed_challenge_is_that_of_the_other_player(points: int) -> None:
    turn = game(f">A: E (challenge) +{points} {55 + points}").turns[-1]
    assert (turn.kind, turn.player, turn.by, turn.score) == (TurnKind.CHALLENGE, 0, 1, points)


def test_a_challenger_who_pays_for_being_wrong() -> None:
    assert game(">B: Q (challenge) -5 20").totals == (55, 20)


def test_a_recorded_score_stands_beside_the_one_by_the_rules() -> None:
    played = game(">B: I 12D zI +7 32")
    assert (played.turns[-1].score, played.turns[-1].computed_score, played.totals) == (7, 6, (55, 32))


def test_racks_of_an_unfinished_game_are_events() -> None:
    played = game("#rack1 EE", "#rack2 Q")
    assert dict(played.state.revealed_racks) == {0: ("E", "E"), 1: ("Q",)} and not played.is_over


@pytest.mark.parametrize("line", ["#rack1", "#rack1 UNKNOWN"])
def test_unknown_rack_of_an_unfinished_game_is_no_event(line: str) -> None:
    assert not game(line).state.revealed_racks


def test_two_time_penalties_of_a_player_are_added() -> None:
    assert game(">A:  (time) -10 45", ">B:  (time) -5 20", ">A:  (time) -20 25").totals == (25, 20)


def test_players_of_one_name_get_different_names() -> None:
    assert build_game(parse_gcg("#player1 A Ann\n#player2 B Ann\n")).players == ("A", "B")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (">B: Q M7 Q. +21 46", "'Q.' at M7 runs through M8, which is empty. Enter a letter instead of the dot."),
        (">B: Q -- -16 9", "No play is withdrawn, because the play before"),
        (">B: E - +0 25\n#note then took a tile of the board for one of the rack: A1=E", "There is no tile on A1."),
        (">A: AEI -E.I +0 55", "exchange 'E.I'"),
        (">A: AEI -\u00b2 +0 55", "exchange '\u00b2'"),  # a digit, and no number
        (f">A: AEI -{'5' * 5000} +0 55", "exchange '555"),
    ],
)
def test_impossible_play_is_reported_with_its_line(line: str, reason: str) -> None:
    with pytest.raises(RulesError) as raised:
        game(line)
    assert str(raised.value).startswith("line 8: ") and reason in str(raised.value)


def test_impossible_play_is_reported_without_the_problems_of_other_lines() -> None:
    with pytest.raises(RulesError, match=r"^line 9: ") as raised:
        game(">B: ZZ - +0 25", ">A: Q M7 Q. +21 46")
    assert "ZZ" not in str(raised.value)


def test_rules_of_a_file_are_those_of_its_events() -> None:
    assert game().rules == Rules(challenge=ChallengeRule.SINGLE, unplayed=UnplayedRule.NONE)


def test_player_of_the_first_line_begins() -> None:
    assert build_game(parse_gcg(HEAD + ">B: A - +0 0\n>A: A - +0 0\n")).start_event.first == 1


def test_a_file_of_more_events_than_any_game_has_is_refused() -> None:
    with pytest.raises(RulesError, match="at most 500 events, but this file has 600"):
        build_game(parse_gcg(HEAD + ">A: A - +1 0\n>B: A - +1 0\n" * 300))


def test_notes_with_more_exchanges_of_tiles_than_any_game_has_are_refused() -> None:
    marks = " H8=O" * 300
    note = f"#note then took a tile of the board for one of the rack:{marks}"
    with pytest.raises(RulesError, match="at most 500 events, but this file has 607"):
        game(">B: E - +0 25", note, ">A: E - +0 55", note)


def test_a_file_without_players_is_no_game() -> None:
    with pytest.raises(RulesError, match="2 to 4 players, not 0"):
        build_game(parse_gcg(""))


@given(st.integers(0, 2**32), st.sampled_from(["en", "de", "es"]), st.integers(2, 4))
@try_examples(10)
def test_written_game_is_the_same_game(seed: int, tile_set: str, players: int) -> None:
    made = random_game(random.Random(seed), 8, Game.start(("Anna", "Ben", "Cleo", "Dan")[:players], tile_set=tile_set))
    again = build_game(parse_gcg(format_gcg(build_record(made))))
    assert again.events == made.events and again.players == made.players
    assert (again.board, again.totals, again.bag_count) == (made.board, made.totals, made.bag_count)


@pytest.mark.slow
@needs_games
def test_all_recorded_games_come_out_as_they_did() -> None:
    recorded = [line.split("\t") for line in (GCG_DIR / "files.tsv").read_text(encoding="utf-8").splitlines()[1:]]
    assert len(recorded) >= 962
    wrong = []
    for name, final in ((row[0], row[14]) for row in recorded):
        record = parse_gcg((GCG_DIR / name).read_bytes())
        totals = dict(zip(record.labels(), build_game(record).totals, strict=True))
        if any(totals[label] != int(total) for label, total in (part.split("=") for part in final.split())):
            wrong.append(name)
    # After six passes one player lost the letter on the rack, the other, who held the Q, did not.
    assert wrong == ["kmcelwee+scrabble/data/traditional/traditional7127.gcg"]


def test_file_with_an_event_that_cannot_be_read_is_refused() -> None:
    with pytest.raises(RulesError, match=r"line 4: '\+9b' is not a score."):
        build_game(parse_gcg(f"{HEAD}{FIVE_TURNS}".replace("+9 9", "+9b 9")))


RECORDED = [path for path in sorted(GCG_DIR.rglob("*.gcg")) if "malformed" not in path.parts]
ANNOTATED = """\
#character-encoding UTF-8
#player1 AL Ann Lee
#player2 B Bob
#title Final
#description Round 6
#id tournament 17
#lexicon CSW24
#tile-distribution english
>AL: HNORXYZ 8F HORN +14 14
#note 8D XYZ?
  and a second line
>B: AFM H6 FA.M +9 9
>AL: AEPSTUV -UV +0 14
#rack1 AEPSTQQ
#rack2 EEEEEEE
"""


def test_racks_notes_and_headers_survive_import_and_export() -> None:
    game = build_game(parse_gcg(ANNOTATED))
    assert format_gcg(build_record(game)) == ANNOTATED.replace("  and", "and")
    events = [loads(dumps(event)) for event in game.events]
    assert format_gcg(build_record(Game.begin(game.start_event).push(*events))) == ANNOTATED.replace("  and", "and")


def test_corrected_turn_keeps_the_details_of_the_others() -> None:
    game = build_game(parse_gcg(ANNOTATED)).push(TurnCorrected(act_ref(1), None))
    record = build_record(game)
    notes = [(entry.rack, entry.note) for entry in record.entries]
    assert notes == [("HNORXYZ", "8D XYZ?\nand a second line"), ("AEPSTUV", "")]
    assert record.pragma_text("id") == "tournament 17" and record.racks == ()


def test_turn_with_a_corrected_score_keeps_its_rack() -> None:
    assert build_record(game(">B: EIXZ 12D zI +5 30").push(ScoreCorrected(act_ref(5), 6))).entries[-1].rack == "EIXZ"


def test_export_of_an_import_is_imported_without_its_lines() -> None:
    game = Game.start(("Anna", "Ben")).push(PlayMade(0, Play.from_tiles({112: Tile("A"), 113: Tile("T")})))
    again = build_game(parse_gcg(format_gcg(build_record(game))))
    assert again.events == game.events


def write_and_read(played: Game) -> Game:
    """Return the game that the exported game is read back as."""
    return build_game(parse_gcg(format_gcg(build_record(played))))


@pytest.mark.parametrize("players", [("Ann", "Bob"), ("Ann", "Bob", "Cem")])
def test_end_of_a_game_with_nine_tiles_survives_export_and_import(players: tuple[str, ...]) -> None:
    start = Game.start(players, Rules(rack_size=9, unplayed=UnplayedRule.TWICE))
    played = random_game(random.Random(2), 200, start).push(GameEnded(EndReason.PLAYED_OUT))
    assert played.turns[-1].kind is TurnKind.ENDRACK
    again = write_and_read(played)
    assert (again.totals, again.state.rack_counts) == (played.totals, played.state.rack_counts)
    assert not replay(parse_gcg(format_gcg(build_record(played)))).problems


@pytest.mark.parametrize("unplayed", [UnplayedRule.NONE, UnplayedRule.BOTH])
def test_end_of_a_game_without_unplayed_letters_survives_export_and_import(unplayed: UnplayedRule) -> None:
    played = Game.start(("Ann", "Bob"), Rules(unplayed=unplayed)).push(Passed(0), Passed(1), GameEnded())
    again = write_and_read(played)
    assert again.is_over and again.outcome == played.outcome
    assert format_gcg(build_record(again)) == format_gcg(build_record(played))


def test_game_that_goes_on_after_its_import_is_not_written_as_ended() -> None:
    ended = Game.start(("Ann", "Bob")).push(Passed(0), Passed(1), GameEnded())
    record = parse_gcg(f"#title Final\n{format_gcg(build_record(ended))}")
    imported = build_game(record)
    events = [event for event in imported.events if not isinstance(event, GameEnded)]
    assert not write_and_read(Game.begin(imported.start_event).push(*events)).is_over


BEGINNERS = (FinishLineLevel.BEGINNER,)
EXPERT_AND_BEGINNER = (FinishLineLevel.EXPERT, FinishLineLevel.BEGINNER)


@pytest.mark.parametrize(
    ("rules", "scores", "winner"),
    [
        (Rules(finish_line=EXPERT_AND_BEGINNER), (120, 72), 1),
        (Rules(finish_line=BEGINNERS, finish_round=True), (72, 90), 1),
        (Rules(finish_line=BEGINNERS, finish_unplayed=True), (20, 72), 1),
    ],
    ids=["levels", "round", "unplayed"],
)
def test_winner_of_a_finish_line_game_survives_export_and_import(
    rules: Rules, scores: tuple[int, int], winner: int
) -> None:
    played = Game.start(("Ann", "Bob"), rules)
    for number, at, word in ((0, "8F", "HORN"), (1, "H6", "FA.M")):
        played = played.push(PlayMade(number, Play.from_gcg(played.board, at, word, played.tiles)))
        played = played.push(ScoreCorrected(played.turns[-1].ref, scores[number]))
    played = played.push(RackRevealed(0, ("Q",))).push(GameEnded(EndReason.FINISH_LINE))
    assert played.outcome is not None and played.outcome.winners == (winner,)
    again = write_and_read(played)
    assert again.outcome == played.outcome


def test_letters_of_a_rack_stay_single_tiles_after_import_and_export() -> None:
    text = "#player1 A A\n#player2 B B\n#tile-distribution spanish\n#tile [RR] [rr]\n>A: ELNORRS - +0 0\n"
    assert ">A: ELNORRS - +0 0\n" in format_gcg(build_record(build_game(parse_gcg(text))))
    assert build_game(parse_gcg(text + "#rack1 RR\n")).state.revealed_racks[0] == ("R", "R")


def test_rearranged_and_recycled_tiles_survive_export_and_import() -> None:
    rules = Rules(rearrange=True, recycle=True, retake_blanks=True)
    game = Game.start(("Anna", "Ben"), rules)
    game = game.push(PlayMade(0, Play.from_gcg(game.board, "8F", "TeAM", game.tiles)))
    game = game.push(TileRecycled(1, parse_square("I8"), Tile("R"))).push(BlankTaken(1, parse_square("G8")))
    moved = {parse_square(at): Tile(letter) for at, letter in (("F8", "R"), ("I8", "T"))}
    game = game.push(PlayMade(1, Play.from_tiles({parse_square("J8"): Tile("S")}, moved)))
    assert "".join(map(str, game.board.squares[110:115])) == "REATS"
    text = format_gcg(build_record(game))
    played = replay(parse_gcg(text))
    assert (played.problems, played.board) == ((), game.board)
    again = build_game(parse_gcg(text))
    assert (again.board, again.totals, again.turns[-1].status) == (game.board, game.totals, Status.VALID)
    assert format_gcg(build_record(again)) == text


def recycle_tile(*corrections: Event) -> Game:
    """HORN, on which Ben takes the H for a B and plays FA.M; then corrections."""
    game = Game.start(("Ann", "Bob"), Rules(recycle=True))
    game = game.push(PlayMade(0, Play.from_gcg(game.board, "8F", "HORN", game.tiles)))
    game = game.push(TileRecycled(1, parse_square("F8"), Tile("B")))
    return game.push(PlayMade(1, Play.from_gcg(game.board, "H6", "FA.M", game.tiles)), *corrections)


@pytest.mark.parametrize(
    ("events", "points", "total"),
    [
        ([ScoreCorrected(act_ref(1), 12)], "(challenge) +12 21", 21),
        ([Passed(0), TileRecycled(1, parse_square("G8"), Tile("E")), ScoreCorrected(act_ref(4), -5)], "(time) -5 4", 4),
        ([TurnCorrected(act_ref(2), None), ScoreCorrected(act_ref(1), 5)], "(challenge) +5 5", 5),
    ],
)
def test_points_entered_for_a_recycled_tile_are_a_line_of_their_own(
    events: list[Event], points: str, total: int
) -> None:
    game = recycle_tile().push(*events)
    text = format_gcg(build_record(game))
    assert f">Bob:  {points}" in text.splitlines() and replay(parse_gcg(text)).problems == ()
    assert write_and_read(game).totals == game.totals == (14, total)


def test_points_entered_for_a_recycled_tile_are_not_added_to_unplayed_letters() -> None:
    game = recycle_tile(Passed(0)).push(TileRecycled(1, parse_square("G8"), Tile("E")), ScoreCorrected(act_ref(4), 5))
    game = game.push(RackRevealed(0, ("Q",)), RackRevealed(1, ("Z",)), GameEnded(EndReason.AGREED))
    assert write_and_read(game).totals == game.totals == (4, 4)


@pytest.mark.parametrize("kept", [6, 16])
def test_points_kept_after_a_withdrawal_survive_export_and_import(kept: int) -> None:
    played = game().push(PlayWithdrawn(0))
    played = played.push(ScoreCorrected(played.turns[-1].ref, kept - 16))
    assert write_and_read(played).totals == played.totals == (39 + kept, 25)


def test_play_withdrawn_after_a_pass_of_its_player_survives_export_and_import() -> None:
    played = game().push(Passed(1), Passed(0), PlayWithdrawn(0))
    assert write_and_read(played).totals == played.totals == (39, 25)


def test_turn_lost_by_a_challenge_in_an_unfinished_game_survives_export_and_import() -> None:
    played = recycle_tile(Challenged(0, upheld=False))
    assert write_and_read(played).to_move == played.to_move == 1


def test_challenge_points_of_another_player_than_that_of_the_last_play_are_not_exchanged() -> None:
    played = game(">B:  (challenge) +5 30")
    assert [turn.score for turn in played.turns] == [14, 9, 25, 16 + 5, 16]


def test_letters_gained_once_by_one_of_three_players_are_not_doubled() -> None:
    played = played_out(Game.start(("Ann", "Bob", "Cem"))).push(GameEnded(EndReason.PLAYED_OUT))
    assert len(played.racks_wanted) == 2
    again = write_and_read(played)
    assert (again.totals, again.racks_wanted) == (played.totals, played.racks_wanted)


def test_recycled_tile_that_is_corrected_to_the_tile_before_is_written() -> None:
    game = recycle_tile(SquareCorrected(parse_square("F8"), Tile("H")))
    assert write_and_read(game).board == game.board


def import_with_title(exported: Game) -> Game:
    """Return a game after its export and import with a title, so that it keeps the lines of the file."""
    return build_game(parse_gcg("#title Club\n" + format_gcg(build_record(exported))))


def test_recycled_tile_that_is_deleted_after_an_import_is_not_written() -> None:
    imported = import_with_title(recycle_tile())
    assert imported.board[parse_square("F8")] == Tile("B")
    game = imported.push(TurnCorrected(act_ref(1), None))
    assert write_and_read(game).board == game.board


def test_recycled_tile_in_an_imported_file_is_written_once_with_the_other_notes() -> None:
    imported = import_with_title(recycle_tile(ScoreCorrected(act_ref(0), 15)))
    assert build_record(imported).entries[0].note.splitlines() == [
        "by the rules +14",
        "then took a tile of the board for one of the rack: F8=B",
    ]


@needs_games
@pytest.mark.parametrize("path", RECORDED[::12], ids=lambda path: path.stem)
def test_recorded_games_keep_racks_and_notes(path: Path) -> None:
    record = parse_gcg(path.read_bytes())
    game = build_game(record)
    exported = parse_gcg(format_gcg(build_record(game)))
    assert [sorted(e.rack or "") for e in exported.entries] == [
        sorted(e.rack or (own.rack or "")) for e, own in zip(record.entries, exported.entries, strict=True)
    ]
    assert all(e.note in own.note for e, own in zip(record.entries, exported.entries, strict=True))
    assert {p.name for p in record.pragmas} <= {p.name for p in exported.pragmas} | {"tile-set", "board-layout"}
