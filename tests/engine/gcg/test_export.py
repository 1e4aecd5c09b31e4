"""A game of ours as GCG: what is written plays the same game again."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.board import parse_square
from engine.errors import RulesError
from engine.events import (
    Challenged,
    ClockRead,
    EndReason,
    Event,
    Exchanged,
    GameEnded,
    Passed,
    PlayMade,
    PlayWithdrawn,
    PointsGiven,
    PointsReason,
    RackRevealed,
    ScoreCorrected,
    SquareCorrected,
    TurnCorrected,
)
from engine.game import Game
from engine.gcg import build_game, build_record, format_gcg, parse_gcg, replay
from engine.gcg.edition import find_named_tile_set
from engine.lexicon import Lexicon
from engine.plays import Play
from engine.rules import ChallengeRule, FinishLineLevel, Rules, rules_preset
from engine.state import POINTS_KINDS, TurnKind
from engine.tiles import Tile
from tests.support.engine_table import act_ref, new_game, play
from tests.support.examples import try_examples
from tests.support.play_at_random import drawn_out, play_of, random_game

FIVE_TURNS = [("8F", "HORN"), ("H6", "FA.M"), ("10F", "PASTE"), ("9H", ".OB"), ("11E", "BIT")]


def five_turns(*events: Event, players: tuple[str, ...] = ("Anna", "Ben"), **choices: object) -> Game:
    """The worked example of the sheets, and more events."""
    game = Game.start(players, **choices)  # type: ignore[arg-type]
    for position, word in FIVE_TURNS:
        game = game.push(PlayMade(game.to_move, Play.from_gcg(game.board, position, word, game.tiles)))
    for event in events:
        game = game.push(event)
    return game


def lines(game: Game, **options: bool) -> list[str]:
    """The events written after the five turns."""
    return [
        line for line in format_gcg(build_record(game, **options)).splitlines() if line[0] == ">" or "#note" in line
    ][5:]


def test_the_worked_example_is_written_as_everybody_reads_it() -> None:
    assert format_gcg(build_record(five_turns())).splitlines() == [
        "#character-encoding UTF-8",
        "#player1 Anna Anna",
        "#player2 Ben Ben",
        "#tile-distribution english",
        ">Anna: HNOR 8F HORN +14 14",
        ">Ben: AFM H6 FA.M +9 9",
        ">Anna: AEPST 10F PASTE +25 39",
        ">Ben: BO 9H .OB +16 25",
        ">Anna: BIT 11E BIT +16 55",
    ]


def test_exchanges_and_passes() -> None:
    game = five_turns(Exchanged(1, 2, ("Q", "V")), Exchanged(0, 3), Passed(1))
    assert lines(game) == [
        ">Ben: QV -QV +0 25",
        ">Anna: EIA -EIA +0 55",
        "#note the exchanged tiles are not known: EIA are assumed",
        ">Ben: E - +0 25",
        "#note the rack is not known: E is assumed",
    ]


def test_exchange_by_number_after_a_play_taken_back_has_the_tiles_of_the_play() -> None:
    game = five_turns(PlayWithdrawn(0), Passed(1), Exchanged(0, 2))
    assert lines(game)[-2:] == [
        ">Anna: BIT -BI +0 39",
        "#note the exchanged tiles are not known: BI are assumed",
    ]


@pytest.mark.parametrize("events", [(Exchanged(1, 7), Passed(0)), (Passed(1), PlayWithdrawn(0), Exchanged(0, 5))])
def test_exchange_by_number_has_as_many_tiles_as_were_exchanged(events: tuple[Event, ...]) -> None:
    game = five_turns(*events)
    [entry] = [entry for entry in build_record(game).entries if entry.kind is TurnKind.EXCHANGE]
    [turn] = [turn for turn in game.turns if turn.kind is TurnKind.EXCHANGE]
    assert entry.rack == entry.text and len(entry.text) == turn.count
    assert not Counter(entry.text) - game.unseen


def test_exported_exchange_by_number_is_imported_as_it_was() -> None:
    game = five_turns(Exchanged(1, 5), Passed(0))
    again = build_game(parse_gcg(format_gcg(build_record(game))))
    assert again.events[1:] == game.events[1:]


def test_exchange_by_number_is_written_again_as_it_was() -> None:
    text = format_gcg(build_record(five_turns(Exchanged(1, 5), Passed(0)))).replace("#tile-", "#title Club\n#tile-")
    assert format_gcg(build_record(build_game(parse_gcg(text)))) == text


def test_who_passes_holds_what_they_play_next() -> None:
    game = five_turns(Passed(1), Passed(0))
    game = game.push(PlayMade(1, Play.from_gcg(game.board, "12D", "zI", game.tiles)))
    assert lines(game) == [
        ">Ben: ?I - +0 25",
        ">Anna: E - +0 55",
        "#note the rack is not known: E is assumed",
        ">Ben: ?I 12D zI +6 31",
    ]


def test_racks_are_whole_once_nothing_is_drawn_any_more() -> None:
    game = drawn_out(Game.start(("Anna", "Ben")))
    last = len(game.turns)
    rng = random.Random(3)
    while any(game.state.rack_counts):
        game = game.push(PlayMade(game.to_move, play_of(game, min(2, game.state.rack_counts[game.to_move]), rng)))
        if not game.state.rack_counts[game.turns[-1].player]:
            break
    ended = game.push(GameEnded(EndReason.PLAYED_OUT))
    record = build_record(ended)
    left = [entry.rack for entry in record.entries if entry.kind is TurnKind.PLAY][last:]
    assert [len(rack or "") for rack in left] == [7 - 2 * (n // 2) for n in range(len(left))]
    assert replay(record).problems == ()


def test_last_rack_with_only_a_blank_is_that_of_its_player() -> None:
    game = five_turns(RackRevealed(0, ("?",)), RackRevealed(1, ("Q",)), GameEnded(EndReason.AGREED))
    assert lines(game) == [">Anna: ? (?) +0 55", ">Ben: Q (Q) -10 15"]
    assert build_game(parse_gcg(format_gcg(build_record(game)))).outcome == game.outcome


def test_rack_of_a_play_taken_back_has_no_more_tiles_than_a_rack_holds() -> None:
    game = five_turns(PlayWithdrawn(0), Passed(1))
    game = game.push(PlayMade(0, play_of(game, 7, random.Random(1))))
    assert [entry.rack for entry in build_record(game).entries if entry.player == 0][-3:-1] == ["BIT", "BIT"]


def test_a_rearranged_word_is_noted() -> None:
    game = Game.start(("Anna", "Ben"), rules=Rules(rearrange=True))
    game = game.push(PlayMade(0, Play.from_gcg(game.board, "8F", "EAT", game.tiles)))
    late = Play.from_tiles({113: Tile("E")}, {110: Tile("T"), 112: Tile("L")})
    record = build_record(game.push(PlayMade(1, late)))
    assert record.entries[-1].note == ("the letters of a word on the board were rearranged before: F8=T H8=L")


@pytest.mark.parametrize("back", [Challenged(1, upheld=True), PlayWithdrawn(0)])
def test_a_play_taken_back(back: Event) -> None:
    assert lines(five_turns(back)) == [">Anna: BIT -- -16 39"]


def test_a_play_taken_back_after_a_pass_is_read_back() -> None:
    game = five_turns(Passed(1), PlayWithdrawn(0))
    assert lines(game)[:2] == [">Anna: BIT -- -16 39", ">Ben: E - +0 25"]
    assert build_game(parse_gcg(format_gcg(build_record(game)))).totals == game.totals == (39, 25)


def test_play_of_one_tile_keeps_its_rack_if_it_is_written_in_the_other_direction() -> None:
    entry = build_record(
        build_game(parse_gcg("#player1 A A\n#player2 B B\n>A: HORN 8F HORN +14 14\n>B: QS J8 S +8 8\n"))
    ).entries[1]
    assert (entry.position, entry.rack) == ("8F", "QS")


BONUS = PointsGiven(0, 10, PointsReason.BONUS)


def test_penalty_of_a_game_that_goes_on_is_a_line_of_overtime_at_its_end() -> None:
    game = five_turns(PointsGiven(0, -20), Passed(1), PointsGiven(0, -1))
    assert lines(game) == [
        ">Ben: E - +0 25",
        "#note the rack is not known: E is assumed",
        ">Anna:  (time) -21 34",
        "#note penalty of Anna -20",
    ]
    assert build_record(game).entries[-1].note == "penalty of Anna -20\npenalty of Anna -1"


def test_penalty_of_a_game_that_is_over_is_a_line_of_overtime() -> None:
    game = five_turns(PointsGiven(0, -20), RackRevealed(1, ("Q",)), RackRevealed(0, ()), GameEnded(EndReason.AGREED))
    assert lines(game) == [">Ben: Q (Q) -10 15", ">Anna:  (time) -20 35", "#note penalty of Anna -20"]


def test_penalty_and_overtime_of_a_player_are_one_line() -> None:
    game = five_turns(
        PointsGiven(0, -5), ClockRead(0, 1561.0), GameEnded(EndReason.AGREED), rules=rules_preset("tournament")
    )
    assert lines(game)[-2:] == [">Anna:  (time) -25 30", "#note penalty of Anna -5"]


@pytest.mark.parametrize("events", [(BONUS,), (Passed(1), BONUS), (BONUS, Passed(1))])
def test_bonus_is_a_line_after_the_last_play_of_its_player(events: tuple[Event, ...]) -> None:
    assert lines(five_turns(*events))[:2] == [">Anna:  (challenge) +10 65", "#note bonus of Anna +10"]


@pytest.mark.parametrize("events", [(BONUS, PlayWithdrawn(0)), (PlayWithdrawn(0), BONUS)])
def test_bonus_after_a_play_taken_back_is_a_line_after_the_play_before(events: tuple[Event, ...]) -> None:
    written = format_gcg(build_record(five_turns(*events))).splitlines()
    at = written.index(">Anna:  (challenge) +10 49")
    assert written[at - 1].startswith(">Anna: AEPST 10F PASTE") and written[-1] == ">Anna: BIT -- -16 49"


def test_bonus_before_any_play_is_a_line_after_the_first_play() -> None:
    game = play(Game.start(("Anna", "Ben")).push(BONUS), "8F HORN", "H6 FA.M")
    assert [(entry.player, entry.kind, entry.total) for entry in build_record(game).entries] == [
        (0, TurnKind.PLAY, 14), (0, TurnKind.CHALLENGE, 24), (1, TurnKind.PLAY, 9),
    ]  # fmt: skip


@pytest.mark.parametrize("events", [(BONUS, Challenged(1, upheld=False)), (Challenged(1, upheld=False), BONUS)])
def test_bonus_and_points_for_a_challenge_in_vain_are_one_line(events: tuple[Event, ...]) -> None:
    game = five_turns(*events, rules=Rules(challenge=ChallengeRule.POINTS, challenge_points=5))
    assert lines(game) == [">Anna:  (challenge) +15 70", "#note bonus of Anna +10"]


@pytest.mark.parametrize(
    "events",
    [
        (PointsGiven(0, -20),), (BONUS,), (PointsGiven(1, -700), PointsGiven(1, 500, PointsReason.BONUS), Passed(1)),
        (BONUS, Passed(1), PointsGiven(0, -3), BONUS), (BONUS, PlayWithdrawn(0)),
        (PointsGiven(0, 7), PointsGiven(1, -7, PointsReason.BONUS)),
        (PointsGiven(0, -20), GameEnded(EndReason.AGREED)), (BONUS, GameEnded(EndReason.AGREED)),
        (RackRevealed(0, ("Q",)), RackRevealed(1, ("Z",)), GameEnded(EndReason.AGREED), PointsGiven(1, -10), BONUS),
        (BONUS, Challenged(1, upheld=False), PointsGiven(1, -5)),
        (Challenged(1, upheld=False), BONUS, PointsGiven(0, -5), ClockRead(0, 1561.0), GameEnded(EndReason.AGREED)),
    ],
)  # fmt: skip
def test_points_without_a_turn_survive_export_and_import(events: tuple[Event, ...]) -> None:
    rules = Rules(challenge=ChallengeRule.POINTS, challenge_points=5, clock_seconds=1500)
    game = five_turns(*events, rules=rules)
    text = format_gcg(build_record(game))
    played, again = replay(parse_gcg(text)), build_game(parse_gcg(text))
    assert (played.problems, played.totals) == ((), game.totals) == ((), again.totals)
    assert (again.is_over, again.to_move, again.board) == (game.is_over, game.to_move, game.board)
    points, kept = ([t.score for t in one.turns if t.kind in POINTS_KINDS] for one in (game, again))
    assert sorted(points) == sorted(kept) and format_gcg(build_record(again)) == text


def test_bonus_of_a_player_without_a_play_is_a_line_at_the_end() -> None:
    game = play(Game.start(("Anna", "Ben")), "8F HORN").push(Passed(1), PointsGiven(1, 5))
    text = format_gcg(build_record(game))
    assert text.splitlines()[-2:] == [">Ben:  (challenge) +5 5", "#note penalty of Ben +5"]
    assert replay(parse_gcg(text)).problems == () and build_game(parse_gcg(text)).totals == (14, 5)


def test_points_that_are_removed_after_an_import_are_not_written() -> None:
    text = "#title Club\n" + format_gcg(build_record(five_turns(BONUS, PointsGiven(1, -5))))
    game = build_game(parse_gcg(text))
    for turn in [turn for turn in game.turns if turn.kind in POINTS_KINDS]:
        game = game.push(TurnCorrected(turn.ref, None))
    assert game.totals == (55, 25) and lines(game) == []


@pytest.mark.parametrize("line", [">Anna:  (time) -10 45", ">Anna:  (time) -10 45\n#note penalty of Anna -20"])
def test_overtime_that_no_note_explains_is_overtime(line: str) -> None:
    game = build_game(parse_gcg(f"{format_gcg(build_record(five_turns()))}{line}\n"))
    assert game.is_over and game.totals == (45, 25) and game.turns[-1].kind is TurnKind.TIME


def test_points_for_a_challenge_in_vain() -> None:
    game = five_turns(Challenged(1, upheld=False), rules=Rules(challenge=ChallengeRule.POINTS, challenge_points=5))
    assert lines(game) == [">Anna:  (challenge) +5 60"]


def test_a_turn_lost_by_a_challenge_in_vain_is_a_pass() -> None:
    game = five_turns(Challenged(1, upheld=False), Passed(0))
    assert lines(game) == [
        "#note unsuccessful challenge by Ben",
        ">Ben: E - +0 25",
        "#note #unsuccessful-challenge",
        ">Anna: E - +0 55",
        "#note the rack is not known: E is assumed",
    ]


def test_turns_that_two_players_lost_are_passes_in_their_order() -> None:
    game = play(new_game(players=3), "8F HORN").push(Challenged(2, upheld=False))
    game = play(game, "H6 FA.M").push(Challenged(0, upheld=False), Passed(1))
    assert [entry.player for entry in build_record(game).entries] == [0, 1, 2, 0, 1]


def test_unplayed_letters_as_the_sheets_have_them() -> None:
    game = five_turns(RackRevealed(0, ("Q",)), RackRevealed(1, ("E", "Z")), GameEnded(EndReason.AGREED))
    assert lines(game) == [">Anna: Q (Q) -10 45", ">Ben: EZ (EZ) -11 14"]


def test_a_correction_is_written_as_the_players_count() -> None:
    assert lines(five_turns(ScoreCorrected(act_ref(4), 17))) == ["#note by the rules +16"]
    assert (
        format_gcg(build_record(five_turns(ScoreCorrected(act_ref(4), 17)))).splitlines()[-2]
        == ">Anna: BIT 11E BIT +17 56"
    )


def test_scores_that_players_entered_do_not_change_the_layout() -> None:
    """The entered scores are those of another layout."""
    plays = "8F HORN", "F8 .ARMONY", "13F .ET"
    game = play(new_game(), *plays)
    other = play(Game.start(game.players, layout="exchanged"), *plays)
    one, both = (
        game.push(*(ScoreCorrected(act_ref(n), other.turns[n].score) for n in numbers)) for numbers in ([2], [1, 2])
    )
    assert "#board-layout" not in format_gcg(build_record(one))
    text = format_gcg(build_record(both))
    assert "#board-layout CrosswordGame\n" in text and build_game(parse_gcg(text)).layout.name == "standard"


def test_overtime_comes_last() -> None:
    game = five_turns(
        ClockRead(0, 1561.0),
        RackRevealed(0, ("Q",)),
        GameEnded(EndReason.AGREED),
        rules=Rules(clock_seconds=1500),
    )
    assert lines(game)[-1] == ">Anna: Q (time) -20 25"


@pytest.mark.parametrize(("tile_set", "pragma"), [("de", "german"), ("pl", "polish"), ("ro", "romanian")])
def test_the_tiles_are_named(tile_set: str, pragma: str) -> None:
    text = format_gcg(build_record(five_turns(tile_set=tile_set, layout="exchanged", lexicon="club")))
    assert f"#lexicon club\n#tile-distribution {pragma}\n#board-layout exchanged\n" in text
    played = replay(parse_gcg(text))
    assert (played.tiles.name, played.layout.name, played.problems, played.notes) == (tile_set, "exchanged", (), ())


def test_nicknames_of_similar_names_differ() -> None:
    record = build_record(five_turns(players=("Ann Lee", "Ann_Lee")))
    assert [(player.nick, player.name) for player in record.players] == [
        ("Ann_Lee", "Ann Lee"),
        ("Ann_Lee_2", "Ann_Lee"),
    ]
    record = build_record(five_turns(players=("Ann 3", "Ann", "Ann:")))
    assert [player.nick for player in record.players] == ["Ann_3", "Ann", "Ann_3_3"]


def test_name_that_begins_with_a_pencil_is_read_back() -> None:
    game = five_turns(players=("✏ Ann", "Ben"))
    assert build_game(parse_gcg(format_gcg(build_record(game)))).totals == game.totals


@try_examples(15)
@given(
    st.integers(0, 10_000),
    st.sampled_from(["en", "de", "es", "ca", "tr", "ru"]),
    st.sampled_from([("Anna", "Ben"), ("Anna", "Ben", "Cleo", "Dan")]),
)
def test_exported_game_replays_as_the_same_game(seed: int, tile_set: str, players: tuple[str, ...]) -> None:
    game = random_game(random.Random(seed), 8, Game.start(players, tile_set=tile_set))
    record = parse_gcg(format_gcg(build_record(game)))
    played = replay(record)
    assert (played.problems, played.notes) == ((), ())
    assert [event.score for event in played.events] == [turn.score for turn in game.turns]
    assert (played.board, played.totals) == (game.board, game.totals)


def played_out(seed: int, preset: str) -> Game | None:
    """A game played to its last tile, None where the tiles do not fit any more."""
    game = random_game(random.Random(seed), 80, Game.start(("Anna", "Ben"), rules=rules_preset(preset)))
    return game.push(GameEnded(EndReason.PLAYED_OUT)) if game.end_due is EndReason.PLAYED_OUT else None


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["classic-2008", "tournament"])
def test_the_end_is_written_as_the_rules_have_it(preset: str) -> None:
    games = [game for seed in range(12) if (game := played_out(seed, preset))]
    assert games
    for game in games:
        played = replay(parse_gcg(format_gcg(build_record(game))))
        assert played.problems == () and played.totals == game.totals


def test_english_tiles_are_named_whatever_the_word_list_is_called() -> None:
    text = format_gcg(build_record(five_turns(lexicon="local")))
    assert "#lexicon local\n#tile-distribution english\n" in text
    played = replay(parse_gcg(text))
    assert (played.tiles.name, played.totals) == ("en", (55, 25))


@pytest.mark.parametrize("name", ["local", "file.txt", "discs", "rdlist", "swl.txt"])
def test_word_lists_of_other_names_are_of_no_language(name: str) -> None:
    record = parse_gcg(f"#player1 A A\n#player2 B B\n#lexicon {name}\n>A: AT 8H AT +4 4\n")
    assert find_named_tile_set(record) is None


def test_built_in_word_list_is_not_written_as_a_lexicon_of_other_programs() -> None:
    assert "#lexicon" not in format_gcg(build_record(five_turns(lexicon="en")))


def test_blank_without_a_name_gets_the_letter_that_the_list_allows() -> None:
    game = Game.start(("Anna", "Ben"))
    game = game.push(PlayMade(0, Play.from_gcg(game.board, "8F", "H?RN", game.tiles)))
    record = build_record(game, lexicon=Lexicon.from_words("club", ["horn", "hern"]))
    assert (record.entries[0].text, record.entries[0].rack) == ("HeRN", "?HNR")
    assert record.entries[0].note == "the blank on G8 was not named: E is assumed"
    assert build_record(game).entries[0].text == "HaRN"


def test_variants_are_described() -> None:
    rules = Rules(rack_size=9, finish_line=(FinishLineLevel.BEGINNER, FinishLineLevel.EXPERT))
    assert "#description 9 tiles on a rack; Finish Line game (beginner, expert)\n" in format_gcg(
        build_record(five_turns(rules=rules))
    )


def test_points_that_the_challenger_paid_are_read_back() -> None:
    rules = Rules(challenge=ChallengeRule.POINTS, challenge_points=5, challenger_pays=True)
    game = five_turns(Challenged(1, upheld=False), rules=rules)
    assert lines(game) == [">Ben:  (challenge) -5 20"]
    again = build_game(parse_gcg(format_gcg(build_record(game))))
    assert (again.totals, again.rules.challenger_pays) == (game.totals, True)
    assert again.events[-1] == Challenged(1, upheld=False, of=again.turns[4].ref)


def test_gap_that_a_correction_left_in_a_play_is_not_written() -> None:
    game = five_turns(SquareCorrected(parse_square("G8"), None))
    with pytest.raises(RulesError, match="GCG cannot describe the gap in 8F H"):
        build_record(game)
    assert build_record(game.push(SquareCorrected(parse_square("G8"), Tile("O"), act_ref(0)))).entries


def test_play_on_squares_that_have_tiles_after_a_correction_is_not_written() -> None:
    game = five_turns(PlayWithdrawn(0), Passed(1))
    game = game.push(PlayMade(0, Play.from_tiles({parse_square("G11"): Tile("O")})))
    game = game.push(TurnCorrected(act_ref(5), Passed(0)))  # the withdrawn BIT stays on the board
    with pytest.raises(RulesError, match=r"GCG cannot describe that .* covers other tiles"):
        build_record(game)
