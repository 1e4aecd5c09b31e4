"""Tests of the rules that all sheets have in common, named after the rules; each sheet's module runs them all.

The numbers are those of the sheets: Gameplay 1 to 9, Scoring 1 to 9.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random
from typing import ClassVar

import pytest

from engine.board import CENTRE, load_layout, parse_square
from engine.errors import RulesError
from engine.events import (
    BlankNamed,
    Challenged,
    EndReason,
    Exchanged,
    FirstDrawn,
    GameEnded,
    Passed,
    PlayMade,
    RackRevealed,
    ScoreCorrected,
)
from engine.game import Game
from engine.inference.explain import infer_play
from engine.lexicon import Lexicon
from engine.rules import FinishLineLevel, Rules, rules_preset
from engine.scoring import Status
from engine.state import TurnKind
from engine.tiles import Tile
from tests.support.engine_table import new_game, play, scores, seen, status, total, written
from tests.support.play_at_random import drawn_out, play_of, played_out


class CommonRules:
    """Set-up, gameplay, scoring and winning."""

    edition: ClassVar[str]
    colours: ClassVar[tuple[str, str, str, str]]

    @property
    def rules(self) -> Rules:
        return rules_preset(self.edition)

    def game(self, *plays: str, players: int = 2) -> Game:
        return play(new_game(self.rules, players), *plays)

    # Set-up

    @pytest.mark.parametrize("players", [2, 3, 4])
    def test_players_are_two_to_four(self, players: int) -> None:
        assert len(self.game(players=players).players) == players

    @pytest.mark.parametrize("names", [("Anna",), tuple("ABCDE")])
    def test_no_other_number_of_players(self, names: tuple[str, ...]) -> None:
        with pytest.raises(RulesError, match="2 to 4 players"):
            Game.start(names, self.rules)

    def test_setup_one_hundred_tiles_with_two_blanks(self) -> None:
        game = self.game()
        assert game.tiles.tile_count == 100 and game.tiles.counts["?"] == 2

    def test_setup_the_letter_closest_to_a_plays_first(self) -> None:
        assert self.game(players=3).push(FirstDrawn(("M", "C", "Q"))).to_move == 1

    def test_setup_a_blank_beats_any_letter(self) -> None:
        assert self.game(players=3).push(FirstDrawn(("A", "C", "?"))).to_move == 2

    def test_setup_players_who_tie_draw_again(self) -> None:
        game = self.game(players=3).push(FirstDrawn(("C", "B", "B")))
        assert game.to_move == 0  # the draw is not decided yet
        assert game.push(FirstDrawn(("", "T", "E"))).to_move == 2

    def test_setup_seven_letters_each(self) -> None:
        game = self.game(players=3)
        assert game.state.rack_counts == (7, 7, 7) and game.bag_count == 100 - 21

    # Gameplay

    def test_gameplay_1_two_or_more_letters(self) -> None:
        assert status(self.game(), {"H8": "A"}) == Status.FIRST_WORD_SHORT
        assert status(self.game(), {"H8": "A", "I8": "T"}) == Status.VALID

    @pytest.mark.parametrize("tiles", [{"H8": "A", "I8": "T"}, {"H7": "A", "H8": "T"}], ids=["across", "down"])
    def test_gameplay_1_across_or_down_with_one_letter_on_the_centre(self, tiles: dict[str, str]) -> None:
        assert status(self.game(), tiles) == Status.VALID

    def test_gameplay_1_a_first_word_beside_the_centre_is_not_allowed(self) -> None:
        assert status(self.game(), {"H9": "A", "I9": "T"}) == Status.CENTRE_MISSED

    def test_gameplay_1_diagonal_words_are_not_allowed(self) -> None:
        assert Status.NOT_IN_LINE in status(self.game(), {"H8": "A", "I9": "T"})

    def test_gameplay_2_draw_as_many_as_played(self) -> None:
        game = self.game("8F HORN")
        assert game.state.rack_counts == (7, 7) and game.bag_count == 100 - 14 - 4

    def test_gameplay_2_as_long_as_there_are_enough(self) -> None:
        game = drawn_out(self.game())
        player, before = game.to_move, game.state.rack_counts[game.to_move]
        game = game.push(PlayMade(player, play_of(game, 1, Random(1))))
        assert game.bag_count == 0 and game.state.rack_counts[player] == before - 1

    @pytest.mark.parametrize("players", [2, 3, 4])
    def test_gameplay_3_play_passes_to_the_left(self, players: int) -> None:
        game = self.game(players=players)
        seats = []
        for _ in range(players + 1):
            seats.append(game.to_move)
            game = game.push(Passed(game.to_move))
        assert seats == [*range(players), 0]

    def test_gameplay_3_one_row_or_column(self) -> None:
        game = self.game("8F HORN")
        assert Status.NOT_IN_LINE in status(game, {"F7": "O", "G9": "X"})
        assert status(game, {"F7": "O", "F9": "O"}) == Status.VALID

    def test_gameplay_3_no_gap(self) -> None:
        game = self.game("8F HORN")
        assert status(game, {"F7": "O", "F10": "X"}) == Status.GAP

    def test_gameplay_3_tiles_that_lie_there_fill_the_line(self) -> None:
        assert status(self.game("8F HORN"), {"E8": "T", "J8": "S"}) == Status.VALID

    def test_gameplay_3_the_tiles_must_join_those_on_the_board(self) -> None:
        assert status(self.game("8F HORN"), {"A1": "A", "A2": "T"}) == Status.NOT_JOINED
        assert status(self.game("8F HORN"), {"E7": "A", "D7": "T"}) == Status.NOT_JOINED  # corner to corner

    def test_gameplay_3_full_credit_for_all_words(self) -> None:
        assert scores(self.game("8F HORN", "H6 FA.M"), "10F PASTE") == {"PASTE": 15, "FARMS": 10}

    def test_gameplay_4a_adding_letters_to_a_word(self) -> None:
        assert scores(self.game("8F HORN"), "8E T....S") == {"THORNS": 9}

    def test_gameplay_4b_at_right_angles_through_a_letter(self) -> None:
        assert scores(self.game("8F HORN"), "H6 FA.M") == {"FARM": 9}

    def test_gameplay_4b_at_right_angles_adding_a_letter(self) -> None:
        assert scores(self.game("8F HORN"), "J8 SO") == {"SO": 2, "HORNS": 8}

    def test_gameplay_4c_parallel(self) -> None:
        game = self.game("8F HORN", "H6 FA.M", "10F PASTE", "9H .OB")
        assert scores(game, "11E BIT") == {"BIT": 10, "PI": 4, "AT": 2}

    def test_gameplay_5_no_tile_is_replaced(self) -> None:
        assert Status.SQUARE_TAKEN in status(self.game("8F HORN"), {"F8": "B", "J8": "S"})

    def test_gameplay_5_a_tile_that_was_shifted_is_named(self) -> None:
        game = self.game("8F HORN", "H6 FA.M")
        shifted = game.board.with_tiles({parse_square("F8"): None, parse_square("E7"): Tile("H")})
        found = infer_play(game, seen(shifted))
        assert found.events == ()
        assert found.best.moved_tiles == ((parse_square("F8"), parse_square("E7")),)

    def test_gameplay_5_a_tile_that_was_replaced_is_named_and_stays_on_the_record(self) -> None:
        game = self.game("8F HORN", "H6 FA.M")
        found = infer_play(game, seen(game.board.with_tiles({parse_square("F8"): Tile("B")})))
        assert found.events == () and found.best.misread_squares == (parse_square("F8"),)

    @pytest.mark.parametrize("letter", ["A", "Q", "Z"])
    def test_gameplay_6_a_blank_is_any_letter(self, letter: str) -> None:
        assert status(self.game(), {"H8": letter.lower(), "I8": "T"}) == Status.VALID

    def test_gameplay_6_the_player_states_which_letter(self) -> None:
        game = self.game("8F H?RN").push(BlankNamed(parse_square("G8"), "O"))
        assert game.turns[0].words[0].word == "HORN" and game.turns[0].word == "HoRN"

    def test_gameplay_6_it_remains_that_letter(self) -> None:
        game = self.game("8F H?RN").push(BlankNamed(parse_square("G8"), "O"))
        assert scores(game, "8J S") == {"HORNS": 7}
        with pytest.raises(RulesError, match="for the rest of the game"):
            game.push(BlankNamed(parse_square("G8"), "E"))

    def test_gameplay_6_a_third_blank_is_more_than_the_set_has(self) -> None:
        assert Status.MORE_THAN_SET in status(self.game("8F HoRn"), {"J8": "s"})

    def test_gameplay_7_an_exchange_uses_the_turn(self) -> None:
        game = self.game().push(Exchanged(0, 3, ("V", "V", "U")))
        assert game.to_move == 1 and game.totals == (0, 0) and game.bag_count == 86
        assert game.turns[0].kind is TurnKind.EXCHANGE and game.turns[0].count == 3

    def test_gameplay_8_all_words_are_challenged_at_once(self) -> None:
        game = self.game("8F HORN", "H6 FA.M", "10F PASTE").push(Challenged(1, upheld=True, words=("FARMS",)))
        assert game.totals == (14, 9)
        assert game.board == self.game("8F HORN", "H6 FA.M").board

    def test_gameplay_8_upheld_the_tiles_come_back_and_the_turn_is_lost(self) -> None:
        game = self.game("8F HORN", "H6 VA.M").push(Challenged(0, upheld=True))
        assert game.totals == (14, 0) and game.to_move == 0
        assert game.state.rack_counts == (7, 7) and game.bag_count == 82
        assert [turn.kind for turn in game.turns] == [TurnKind.PLAY, TurnKind.PLAY, TurnKind.WITHDRAWN]
        assert game.turns[-1].score == -game.turns[1].score

    def test_gameplay_8_rejected_the_challenger_loses_the_next_turn(self) -> None:
        game = self.game("8F HORN").push(Challenged(1, upheld=False))
        assert game.totals == (14, 0) and game.to_move == 0
        game = play(game, "H6 FA.M")
        assert game.to_move == 1  # only one turn is lost

    def test_gameplay_8_with_more_players_only_the_challenger_loses_a_turn(self) -> None:
        game = self.game("8F HORN", players=4).push(Challenged(2, upheld=False))
        seats = []
        for _ in range(7):
            seats.append(game.to_move)
            game = game.push(Passed(game.to_move))
        assert seats == [1, 3, 0, 1, 2, 3, 0]

    def test_gameplay_8_until_the_next_player_starts_a_turn(self) -> None:
        game = self.game("8F HORN")
        assert game.challengeable_turn == game.turns[0]
        later = game.push(Passed(1))
        assert later.challengeable_turn is None
        with pytest.raises(RulesError, match="no play to challenge"):
            later.push(Challenged(0, upheld=True))

    @pytest.mark.parametrize("entry", ["Ohio", "etc.", "re-", "-ing", "x-ray", "don't"])
    def test_gameplay_8_words_that_are_not_permitted(self, entry: str) -> None:
        assert set(Lexicon.from_words("dictionary", ["horn", "farm", entry])) == {"HORN", "FARM"}

    def test_gameplay_8_a_play_is_challenged_once(self) -> None:
        assert self.game("8F HORN").push(Challenged(1, upheld=False)).challengeable_turn is None

    def test_gameplay_9_the_bag_is_empty_and_a_player_uses_the_last_letter(self) -> None:
        game = drawn_out(self.game())
        assert game.end_due is None
        out = played_out(self.game())
        assert out.end_due is EndReason.PLAYED_OUT
        assert out.push(Passed(out.to_move)).end_due is EndReason.PLAYED_OUT

    def test_gameplay_9_all_possible_plays_have_been_made(self) -> None:
        game = drawn_out(self.game(players=3))
        for _ in range(3):
            assert game.end_due is None
            game = game.push(Passed(game.to_move))
        assert game.end_due is EndReason.NO_PLAY_LEFT

    def test_gameplay_9_who_lost_a_turn_may_still_have_a_play(self) -> None:
        game = drawn_out(self.game(players=3))
        last = game.turns[-1].player
        game = game.push(Challenged((last + 2) % 3, upheld=False))
        for _ in range(3):  # the two others pass, one of them twice
            game = game.push(Passed(game.to_move))
        assert game.to_move == (last + 2) % 3 and game.end_due is None
        assert game.push(Passed(game.to_move)).end_due is EndReason.NO_PLAY_LEFT

    def test_gameplay_9_passes_do_not_end_a_game_with_tiles_to_exchange(self) -> None:
        game = self.game("8F HORN").push(Passed(1)).push(Passed(0)).push(Passed(1))
        assert game.end_due is None

    # Scoring

    def test_scoring_1_each_turn_is_tallied(self) -> None:
        game = self.game("8F HORN", "H6 FA.M", "10F PASTE")
        assert [(turn.player, turn.score, turn.total) for turn in game.turns] == [(0, 14, 14), (1, 9, 9), (0, 25, 39)]

    def test_scoring_1_the_value_of_a_blank_is_zero(self) -> None:
        assert total(self.game(), "8F hORN") == 14 - 2 * 4

    def test_scoring_2_the_letters_of_every_word_and_the_premiums(self) -> None:
        game = self.game("8F HORN", "H6 FA.M", "10F PASTE")
        word = game.turns[2].words[0]
        assert [(str(letter.tile), letter.value, letter.premium) for letter in word.letters] == [
            ("P", 3, 3),
            ("A", 1, 1),
            ("S", 1, 1),
            ("T", 1, 1),
            ("E", 1, 3),
        ]
        assert (sum(letter.value * letter.premium for letter in word.letters), word.multiplier, word.score) == (
            15,
            1,
            15,
        )

    def test_scoring_3_a_double_letter(self) -> None:
        # D on G7 (double letter), O on H7: DO = 2 x 2 + 1
        assert self.game("8F HORN").score_play(written(self.game("8F HORN"), "7G DO")).words[0].score == 5

    def test_scoring_3_a_triple_letter(self) -> None:
        # P on F10 and E on J10 (both triple letter): 3 x 3 + 1 + 1 + 1 + 3 x 1
        assert scores(self.game("8F HORN", "H6 FA.M"), "10F PASTE")["PASTE"] == 15

    def test_scoring_4_premium_word_squares(self) -> None:
        board = load_layout()
        assert {board.word_multipliers[parse_square(name)] for name in ("B2", "E5", "H8", "N14")} == {2}
        assert {board.word_multipliers[parse_square(name)] for name in ("A1", "H1", "O8", "O15")} == {3}

    def test_scoring_4_letter_premiums_before_word_premiums(self) -> None:
        # D on the double letter D8, the word doubled by the centre: (2 x 2 + 1 + 1 + 1 + 1) x 2
        assert total(self.game(), "8D DATES") == 16

    def test_scoring_4_two_double_words_make_four_times(self) -> None:
        # E5 and K5 are double words, the A on H5 was there before: (2 + 1 + 1 + 1 + 1 + 2 + 1) x 4
        assert scores(self.game("8F HORN", "H5 ABE."), "5E DIS.RDE") == {"DISARDE": 36}

    def test_scoring_4_two_triple_words_make_nine_times(self) -> None:
        # A1 and A8 are triple words: (1 + 3 + 1 + 4 + 1 + 3 + 1 + 2) x 9, and seven tiles
        game = self.game("8F HORN", "F4 DATC.", "4A FASTE.")
        assert scores(game, "A1 ABS.RBED") == {"ABSFRBED": 144}
        assert total(game, "A1 ABS.RBED") == 144 + 50

    def test_scoring_4_the_centre_doubles_the_first_word(self) -> None:
        assert load_layout().word_multipliers[CENTRE] == 2
        assert total(self.game(), "8G TOR") == 2 * 3

    def test_scoring_5_premiums_count_only_on_the_turn_they_are_covered(self) -> None:
        assert scores(self.game("8F HORN"), "8J S") == {"HORNS": 8}

    def test_scoring_6_a_blank_on_a_premium_word_square_doubles_the_word(self) -> None:
        assert total(self.game(), "8H oR") == (0 + 1) * 2

    def test_scoring_7_the_common_letter_counts_in_each_word_with_its_premium(self) -> None:
        # D on G7 (double letter) is common to DO across and DO down, O on H7 to DO and OR.
        game = self.game("8F HORN")
        words = game.score_play(written(game, "7G DO")).words
        assert [(word.position, word.word, word.score) for word in words] == [
            ("7G", "DO", 5),
            ("G7", "DO", 5),
            ("H7", "OR", 2),
        ]

    def test_scoring_8_bingo(self) -> None:
        game = self.game()
        scored = game.score_play(written(game, "8B DARTERS"))
        assert scored.bonus == 50 and scored.total == scored.words[0].score + 50

    def test_scoring_8_six_tiles_are_no_bingo(self) -> None:
        assert self.game().score_play(written(self.game(), "8C DARTER")).bonus == 0

    def test_scoring_9_unplayed_letters(self) -> None:
        game = played_out(self.game())
        out = game.turns[-1].player
        left = game.tiles.points(game.unseen.elements())
        ended = game.push(GameEnded(EndReason.PLAYED_OUT))
        assert left > 0
        assert ended.totals[out] == game.totals[out] + left
        assert ended.totals[1 - out] == game.totals[1 - out] - left

    def test_scoring_9_nobody_went_out(self) -> None:
        game = drawn_out(self.game())
        game = game.push(Passed(game.to_move)).push(Passed(1 - game.to_move)).push(GameEnded(EndReason.NO_PLAY_LEFT))
        assert game.racks_wanted == (0, 1)
        letters = sorted(game.unseen.elements())
        mine = tuple(letters[: game.state.rack_counts[0]])
        revealed = game.push(RackRevealed(0, mine))
        assert revealed.racks_wanted == ()  # the other rack is what is left
        yours = Counter(letters) - Counter(mine)
        assert revealed.totals == (
            game.totals[0] - game.tiles.points(mine),
            game.totals[1] - game.tiles.points(yours.elements()),
        )

    def test_scoring_9_with_more_players_each_one_tells_the_letters(self) -> None:
        game = played_out(self.game(players=3)).push(GameEnded(EndReason.PLAYED_OUT))
        out = next(turn.player for turn in reversed(game.turns) if turn.kind is TurnKind.PLAY)
        others = tuple(player for player in range(3) if player != out)
        assert game.racks_wanted == others
        letters = sorted(game.unseen.elements())
        first = tuple(letters[: game.state.rack_counts[others[0]]])
        done = game.push(RackRevealed(others[0], first))
        assert done.racks_wanted == ()
        assert sum(done.totals) == sum(turn.score for turn in done.turns)
        assert sum(turn.score for turn in done.turns if turn.kind is TurnKind.ENDRACK) == 0

    # How to win

    def test_how_to_win_the_highest_final_score(self) -> None:
        game = self.game("8F HORN", "H6 FA.M").push(GameEnded())
        assert game.outcome is not None and game.outcome.winners == (0,)

    def test_how_to_win_a_tie_goes_to_the_higher_score_before_unplayed_letters(self) -> None:
        game = drawn_out(self.game())
        letters = sorted(game.unseen.elements(), key=lambda tile: game.tiles.values[tile])
        cheap, dear = letters[: game.state.rack_counts[0]], letters[game.state.rack_counts[0] :]
        game = game.push(GameEnded(), RackRevealed(0, tuple(cheap)), RackRevealed(1, tuple(dear)))
        last = next(turn for turn in reversed(game.turns) if turn.kind is TurnKind.PLAY and turn.player == 1)
        level = game.push(ScoreCorrected(last.ref, last.score + game.totals[0] - game.totals[1]))
        assert level.outcome is not None and level.totals[0] == level.totals[1]
        assert level.outcome.totals_before_unplayed[1] > level.outcome.totals_before_unplayed[0]
        assert level.outcome.winners == (1,)

    def test_how_to_win_equal_again_is_a_draw(self) -> None:
        game = self.game().push(GameEnded())
        assert game.outcome is not None and game.outcome.winners == (0, 1)

    def test_colours_of_the_premium_squares(self) -> None:
        colours = self.rules.colours
        found = (colours.double_letter, colours.triple_letter, colours.double_word, colours.triple_word)
        assert tuple(name for name, _ in found) == self.colours


class ExchangeAnyNumber:
    """Rule 7 of every sheet but the travel case: "all, some, or none" may be exchanged, however few are in the bag."""

    rules: Rules

    def test_gameplay_7_all_some_or_none(self) -> None:
        game = new_game(self.rules)
        assert game.can_exchange(7) and game.can_exchange(1)
        none = game.push(Exchanged(0, 0))
        assert none.turns[0].kind is TurnKind.PASS and none.to_move == 1

    def test_gameplay_7_with_fewer_than_seven_left(self) -> None:
        game = new_game(self.rules)
        while game.bag_count >= 7:
            game = game.push(PlayMade(game.to_move, play_of(game, 5, Random(game.bag_count))))
        assert 0 < game.bag_count < 7 and game.can_exchange(game.bag_count)
        assert not game.can_exchange(game.bag_count + 1)


class ShorterGames:
    """The 9-Tile game and the Finish Line game, which are the same in the four sheets that have them."""

    rules: Rules

    def test_nine_tile_game_nine_tiles_on_the_rack(self) -> None:
        game = new_game(replace(self.rules, rack_size=9))
        assert game.state.rack_counts == (9, 9) and game.bag_count == 82

    @pytest.mark.parametrize(("count", "bonus"), [(6, 0), (7, 50), (8, 50), (9, 50)])
    def test_nine_tile_game_a_bonus_for_seven_eight_or_nine(self, count: int, bonus: int) -> None:
        game = new_game(replace(self.rules, rack_size=9))
        nine = written(game, "8A " + "REARRANGE"[:count] if count > 7 else "8C " + "REARRANGE"[:count])
        assert game.score_play(nine).bonus == bonus and game.check_play(nine) == Status.VALID

    @pytest.mark.parametrize(
        ("players", "lines"),
        [(2, (70, 120, 200)), (3, (60, 100, 180)), (4, (50, 90, 160))],
        ids=["two", "three", "four"],
    )
    def test_finish_line_game_points_needed(self, players: int, lines: tuple[int, int, int]) -> None:
        for level, line in zip(FinishLineLevel, lines, strict=True):
            finish = replace(self.rules, finish_line=(level,))
            assert finish.finish_lines(players) == (line,) * players

    def test_finish_line_game_ends_whatever_is_left_in_the_bag(self) -> None:
        game = new_game(replace(self.rules, finish_line=(FinishLineLevel.BEGINNER,)))
        game = play(game, "8B QUARTER")
        assert game.totals[0] >= 70 and game.end_due is EndReason.FINISH_LINE

    def test_finish_line_game_mixed_levels(self) -> None:
        game = new_game(replace(self.rules, finish_line=(FinishLineLevel.EXPERT, FinishLineLevel.BEGINNER)))
        assert play(game, "8B QUARTER").end_due is None
        assert play(game.push(Passed(0)), "8B QUARTER").end_due is EndReason.FINISH_LINE
