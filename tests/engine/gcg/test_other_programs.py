"""What other programs write is read, and what we write is read by the rules of other programs."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from engine.events import Challenged, EndReason, Event, Exchanged, GameEnded, Passed, PlayMade, PlayWithdrawn
from engine.game import Game
from engine.gcg import build_game, build_record, format_gcg, parse_gcg, replay
from engine.rules import ChallengeRule, Rules, UnplayedRule
from engine.state import TurnKind
from tests.support.gcg_rules import find_complaints
from tests.support.local_data import GCG_DIR, needs_games
from tests.support.play_at_random import drawn_out, play_of

PLAYERS = "#player1 anna Anna Berg\n#player2 ben Ben Stone\n"
TWO_PLAYS = f"{PLAYERS}>anna: AEHORNT 8F HORN +14 14\n>ben: AEFMRUX F6 FA.M +20 20\n"
CASES = Path(__file__).parents[4] / "shared" / "findings" / "cases"


def read_case(name: str) -> bytes:
    """Return the game of a reported case; skip if there are no reported cases."""
    path = CASES / name / "game.gcg"
    if not path.exists():
        pytest.skip("the reported cases are in ../shared/findings")
    return path.read_bytes()


def export(data: str | bytes, unplayed: UnplayedRule | None = None) -> list[str]:
    """Import a file, and return the lines of its export."""
    return format_gcg(build_record(build_game(parse_gcg(data)), unplayed=unplayed)).splitlines()


# Racks


@pytest.mark.slow
@needs_games
def test_exports_of_recorded_games_are_read_by_other_programs() -> None:
    folders = ("domino14+macondo", "jvc56+MAGPIE-DATA", "jvc56+MAGPIE", "woogles-io+liwords", "olaugh+cgpbot")
    checked = 0
    for path in sorted(path for folder in folders for path in (GCG_DIR / folder).rglob("*.gcg")):
        record = parse_gcg(path.read_bytes())
        if not replay(record).problems and len(record.players) == 2:
            exported = "\n".join(export(path.read_bytes()))
            if "distribution english" in exported:
                assert not list(find_complaints(exported)), path
                checked += 1
    assert checked >= 50


@pytest.mark.parametrize("seed", range(8))
def test_export_of_a_game_of_ours_is_read_by_other_programs(seed: int) -> None:
    rng = random.Random(seed)
    rules = Rules(challenge=ChallengeRule.POINTS, challenge_points=5, unplayed=UnplayedRule.TWICE)
    game = Game.start(("Anna", "Ben"), rules)
    for _ in range(10):
        game = game.push(PlayMade(game.to_move, play_of(game, rng.randint(2, 4), rng)))
        choices: list[tuple[Event, ...]] = [
            (), (Challenged(game.to_move, upheld=False),), (PlayWithdrawn(1 - game.to_move),), (Passed(game.to_move),),
            (Exchanged(game.to_move, rng.randint(1, 7)),),
        ]  # fmt: skip
        game = game.push(*rng.choice(choices))
    assert not list(find_complaints(format_gcg(build_record(game))))


def test_challenge_in_vain_of_the_last_play_has_an_empty_rack() -> None:
    assert ">Anna:  (challenge) +5 543" in export(read_case("01-outplay-challenge"))
    assert not list(find_complaints("\n".join(export(read_case("01-outplay-challenge")))))


@pytest.mark.parametrize("event", ["UNKNOWN (challenge) +5 25", "(challenge) +5 25", "unknown (challenge) +5 25"])
def test_unknown_rack_of_a_file_is_written_as_an_empty_one(event: str) -> None:
    assert export(f"{TWO_PLAYS}>ben: {event}\n")[-1] == ">ben:  (challenge) +5 25"


# Scores


@pytest.mark.parametrize(
    ("event", "kind", "total"),
    [
        ("IIUUVVW -IUVV", TurnKind.EXCHANGE, None), ("IIUUVVW -4", TurnKind.EXCHANGE, None),
        ("IIUUVVW -IUVV 14", TurnKind.EXCHANGE, 14), ("IIUUVVW -IUVV 0 14", TurnKind.EXCHANGE, 14),
        ("IIUUVVW -IUVV +0", TurnKind.EXCHANGE, None), ("IIUUVVW -", TurnKind.PASS, None), ("-", TurnKind.PASS, None),
        ("IIUUVVW - 14", TurnKind.PASS, 14), ("IIUUVVW - 0", TurnKind.PASS, None),
    ],
)  # fmt: skip
def test_exchange_or_pass_without_a_score_is_read(event: str, kind: TurnKind, total: int | None) -> None:
    [_, _, entry] = parse_gcg(f"{TWO_PLAYS}>anna: {event}\n").entries
    assert (entry.kind, entry.score, entry.total) == (kind, 0, total)
    assert not replay(parse_gcg(f"{TWO_PLAYS}>anna: {event}\n")).problems


def test_file_without_scores_of_exchanges_has_the_same_totals_in_score_and_import() -> None:
    record = parse_gcg(read_case("03-exchange-without-score"))
    assert replay(record).totals == build_game(record).totals == (27, 0) and not replay(record).problems


def test_play_taken_back_without_a_score_gives_its_points_back() -> None:
    record = parse_gcg(f"{TWO_PLAYS}>ben: AEFMRUX --\n>anna: AETLLNO - \n")
    assert replay(record).totals == build_game(record).totals == (14, 0) and not replay(record).problems


def test_points_for_a_challenge_may_be_in_two_lines() -> None:
    record = parse_gcg(
        f"{TWO_PLAYS}>ben: ERUX (challenge) +5 25\n>ben: ERUX (challenge) +5 30\n>anna: ET I7 T.O +5 19\n"
    )
    assert replay(record).totals == build_game(record).totals == (19, 30)
    assert ">ben: ERUX (challenge) +10 30" in export(format_gcg(record))


def test_end_without_the_gain_of_the_player_who_went_out_is_named() -> None:
    text = read_case("01-outplay-challenge").decode().replace(">Anna:  (I) +2 545", ">Ben: I (I) -1 306")
    [problem] = replay(parse_gcg(text)).problems
    assert problem.reason.startswith(
        "Anna went out, but there is no line with the points for the letters of the others"
    )


# Squares, texts, comments


@pytest.mark.parametrize("position", ["7F", "G7"])
def test_play_of_one_tile_has_one_square_and_word(position: str) -> None:
    word = ".T" if position == "7F" else "T."
    [*_, event] = replay(parse_gcg(f"{TWO_PLAYS}>anna: AETLLNO {position} {word} +6 20\n")).events
    assert (event.position, event.word) == ("7F", "AT")


@pytest.mark.parametrize("header", ["", "#character-encoding ISO-8859-1\n", "#character-encoding latin1\n"])
def test_windows_encoding_is_read_where_latin_1_is_meant(header: str) -> None:
    names = "#player1 dambra Rosa D’Ambra\n#player2 zoe Zoë Šimek\n"
    text = f"{header}{names}>dambra: AEHORNT 8F HORN +14 14\n#note “good” – œuf\n"
    record = parse_gcg(text.encode("cp1252"))
    assert [player.name for player in record.players] == ["Rosa D’Ambra", "Zoë Šimek"]
    assert (record.entries[0].note, record.problems) == ("“good” – œuf", ())
    assert "#player1 dambra Rosa D’Ambra" in export(text.encode("cp1252"))


def test_all_bytes_of_latin_1_are_read() -> None:
    data = b"#player1 A \x81\x8d\x8f\x90\x9d\xa0\xff\n"
    assert parse_gcg(data).players[0].name == "\x81\x8d\x8f\x90\x9d\xa0\xff"


@pytest.mark.parametrize(
    "line", ["#>ben: AEFMRUX F6 FA.M +20 20", "# >ben: X - +0 0", ";>ben: X - +0 0", "//>ben: X - +0"]
)
def test_event_in_a_comment_does_not_count_and_is_not_exported(line: str) -> None:
    record = parse_gcg(f"{PLAYERS}>anna: AEHORNT 8F HORN +14 14\n{line}\n>ben: AEFMRUX F6 FA.M +20 20\n")
    assert [problem.reason for problem in record.problems] == ["This event is in a comment. It does not count."]
    assert build_game(record).totals == (14, 20) and line not in export(format_gcg(record))


@pytest.mark.parametrize("comment", ["# a fine start", "; a fine start", "a fine start"])
def test_comment_after_the_total_becomes_a_note(comment: str) -> None:
    record = parse_gcg(f"{PLAYERS}>anna: AEHORNT 8F HORN +14 14 {comment}\n")
    assert record.entries[0].note == "a fine start" and not replay(record).problems


@pytest.mark.parametrize("line", ["; a comment", "// a comment", "% a comment"])
def test_line_of_a_comment_becomes_a_note(line: str) -> None:
    record = parse_gcg(f"{PLAYERS}>anna: AEHORNT 8F HORN +14 14\n{line}\n")
    assert record.entries[0].note == "a comment" and build_game(record).totals == (14, 0)


# The choice at the end


def end_game(unplayed: UnplayedRule) -> Game:
    """Return a game that Anna or Ben has ended by going out."""
    game, rng = drawn_out(Game.start(("Anna", "Ben"), Rules(unplayed=unplayed))), random.Random(3)
    while all(game.state.rack_counts):
        game = game.push(PlayMade(game.to_move, play_of(game, min(2, game.state.rack_counts[game.to_move]), rng)))
    return game.push(GameEnded(EndReason.PLAYED_OUT))


def test_unplayed_letters_may_be_written_twice_for_the_player_who_went_out() -> None:
    game = end_game(UnplayedRule.BOTH)
    gain, loss = build_record(game).entries[-2:]
    twice = build_record(game, unplayed=UnplayedRule.TWICE).entries[-1]
    assert (twice.player, twice.text, twice.score) == (gain.player, gain.text, 2 * gain.score) and loss.is_penalty
    assert not list(find_complaints(format_gcg(build_record(game, unplayed=UnplayedRule.TWICE))))


def test_unplayed_letters_may_be_written_for_both_players() -> None:
    game = end_game(UnplayedRule.TWICE)
    twice = build_record(game).entries[-1]
    gain, loss = build_record(game, unplayed=UnplayedRule.BOTH).entries[-2:]
    assert (gain.score, loss.score) == (twice.score // 2, -twice.score // 2)


def test_imported_game_may_be_written_with_another_end() -> None:
    lines = export(read_case("01-outplay-challenge"), UnplayedRule.BOTH)
    assert lines[-2:] == [">Anna: (I) +1 544", ">Ben: I (I) -1 306"]
