"""The rule sheet travel-case: one test for each rule, named after it; it alone has the variations."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from engine.board import parse_square
from engine.errors import NotationError, RulesError
from engine.events import (
    BlankNamed,
    BlankTaken,
    Challenged,
    EndReason,
    GameStarted,
    Passed,
    PlayMade,
    SquareCorrected,
    TileRecycled,
    from_json,
    to_json,
)
from engine.game import Game
from engine.inference.explain import MIN_CERTAINTY, infer_play
from engine.lexicon import load_shipped_lexicon
from engine.plays import Play
from engine.rules import rules_preset
from engine.scoring import Status
from engine.state import TurnKind
from engine.tiles import Tile
from tests.support.common_rules import CommonRules, ShorterGames
from tests.support.engine_table import new_game, play, scores, seen, status, total, written
from tests.support.play_at_random import drawn_out, play_of, played_out

TRAVEL = rules_preset("travel-case")
I8 = parse_square("I8")


class TestTravelCase(CommonRules, ShorterGames):
    edition = "travel-case"
    colours = ("blue", "green", "red", "orange")

    def test_gameplay_7_not_with_fewer_than_seven_left_to_draw(self) -> None:
        game = new_game(TRAVEL)
        assert game.can_exchange(1) and game.can_exchange(7)
        assert not drawn_out(game).can_exchange(1)
        almost = new_game(replace(TRAVEL, exchange_minimum_bag=87))
        assert almost.bag_count == 86 and not almost.can_exchange(1)


class TestVariationOfRule1:
    """A minimum length of 3, 4 or 5 letters for the first word."""

    @pytest.mark.parametrize("least", [3, 4, 5])
    def test_the_first_word_has_the_agreed_length(self, least: int) -> None:
        game = new_game(replace(TRAVEL, first_word_minimum=least))
        assert game.check_play(written(game, "8F " + "HORNS"[: least - 1])) & Status.FIRST_WORD_SHORT
        assert game.check_play(written(game, "8F " + "HORNS"[:least])) == Status.VALID

    @pytest.mark.parametrize("least", [1, 6])
    def test_no_other_length_can_be_agreed(self, least: int) -> None:
        with pytest.raises(RulesError, match="2 to 5 letters"):
            replace(TRAVEL, first_word_minimum=least)

    def test_later_words_may_be_shorter(self) -> None:
        game = play(new_game(replace(TRAVEL, first_word_minimum=5)), "8F HORNS")
        assert status(game, {"F9": "E"}) == Status.VALID

    def test_play_passes_until_a_player_can(self) -> None:
        game = new_game(replace(TRAVEL, first_word_minimum=5, scoreless_turns=6))
        for _ in range(8):
            game = game.push(Passed(game.to_move))
        assert game.end_due is None
        assert play(game, "8F HORNS").totals == (16, 0)


class TestVariationAOfRule5:
    """The letters of a word on the board are rearranged before tiles are added to it."""

    RULES = replace(TRAVEL, rearrange=True)

    def rearranged(self) -> Play:
        """LATE on F8 to I8 becomes PETAL on F8 to J8: P and L stand at the ends, the L has gone to J8."""
        old = {"F8": "P", "G8": "E", "H8": "T", "I8": "A"}
        return Play.from_tiles(
            {parse_square("J8"): Tile("L")}, {parse_square(s): Tile(t) for s, t in old.items() if s != "H8"}
        )

    def test_the_letters_change_places_and_a_tile_is_added(self) -> None:
        game = play(new_game(self.RULES), "8F LATE")
        assert game.check_play(self.rearranged()) == Status.VALID
        after = game.push(PlayMade(1, self.rearranged()))
        assert [word.word for word in after.turns[1].words] == ["PETAL"]
        assert after.board[parse_square("F8")] == Tile("P")

    def test_premiums_under_the_old_word_do_not_count(self) -> None:
        game = play(new_game(self.RULES), "8F LATE")
        assert game.score_play(self.rearranged()).total == 3 + 1 + 1 + 1 + 1

    def test_premiums_beside_the_old_word_count(self) -> None:
        game = play(new_game(self.RULES), "8H LATE")  # the new tile, or an old one, goes to L8, a double letter
        old = {"H8": "P", "I8": "E", "J8": "T", "K8": "A"}
        petal = Play.from_tiles(
            {parse_square("L8"): Tile("L")}, {parse_square(s): Tile(t) for s, t in old.items() if s != "J8"}
        )
        assert game.score_play(petal).total == 3 + 1 + 1 + 1 + 2 * 1

    def test_words_altered_across_it_count_too(self) -> None:
        game = play(new_game(self.RULES), "8F LATE", "F8 .O")  # LO down from F8
        after = game.score_play(self.rearranged())
        assert {word.word: word.score for word in after.words} == {"PETAL": 7, "PO": 4}

    def test_no_letter_may_be_lost(self) -> None:
        game = play(new_game(self.RULES), "8F LATE")
        lost = Play.from_tiles({parse_square("J8"): Tile("S")}, {parse_square("F8"): Tile("P")})
        assert Status.OLD_TILE_CHANGED in game.check_play(lost)

    def test_no_letter_may_go_to_another_word(self) -> None:
        game = play(new_game(self.RULES), "8F LATE")
        below = Play.from_tiles({parse_square("F9"): Tile("L")}, {parse_square("F8"): Tile("P")})
        beside = Play.from_tiles({parse_square("J7"): Tile("L"), parse_square("J8"): Tile("S")}, dict(below.rearranged))
        assert Status.OLD_TILE_CHANGED in game.check_play(below)
        assert Status.OLD_TILE_CHANGED in game.check_play(beside)

    def test_only_letters_that_lie_there_change_places(self) -> None:
        game = play(new_game(self.RULES), "8F LATE")
        nowhere = Play.from_tiles({parse_square("J8"): Tile("S")}, {parse_square("A1"): Tile("L")})
        assert Status.OLD_TILE_CHANGED in game.check_play(nowhere)

    def test_only_where_it_was_agreed(self) -> None:
        game = play(new_game(TRAVEL), "8F LATE")
        assert Status.OLD_TILE_CHANGED in game.check_play(self.rearranged())

    def test_the_camera_sees_it(self) -> None:
        game = play(new_game(self.RULES), "8F LATE")
        found = infer_play(game, seen(self.rearranged().apply_to(game.board)))
        assert found.events == (PlayMade(1, self.rearranged()),)

    def test_the_camera_sees_two_added_tiles_as_one_play(self) -> None:
        game = play(new_game(self.RULES), "8F LATE")
        petals = self.rearranged().with_tile(parse_square("K8"), Tile("S"))
        found = infer_play(game, seen(petals.apply_to(game.board)))
        assert found.events == (PlayMade(1, petals),) and found.best.probability > MIN_CERTAINTY

    def test_where_it_was_not_agreed_players_are_asked_about_changed_tiles(self) -> None:
        game = play(new_game(TRAVEL), "8F LATE")
        found = infer_play(game, seen(self.rearranged().apply_to(game.board)))
        unchanged = (one for one in found.explanations if one.game.board[parse_square("F8")] == Tile("L"))
        assert found.question is not None and any(one.misread_squares for one in unchanged)

    def test_taken_back_the_old_word_stands_again(self) -> None:
        game = play(new_game(self.RULES), "8F LATE")
        back = game.push(PlayMade(1, self.rearranged())).push(Challenged(0, upheld=True))
        assert back.board == game.board and back.totals == game.totals

    def test_square_of_the_old_word_is_corrected_after_the_play_was_taken_back(self) -> None:
        game = play(new_game(self.RULES), "8F LATE").push(PlayMade(1, self.rearranged()))
        back = game.push(Challenged(0, upheld=True)).push(SquareCorrected(I8, Tile("D")))
        assert back.board[I8] == Tile("D") and back.turns[0].word == "LATD"
        assert back.turns[1].play == self.rearranged()

    def test_blank_of_the_old_word_is_named_after_the_play_was_taken_back(self) -> None:
        game = play(new_game(self.RULES), "8F LATE").push(SquareCorrected(I8, Tile("?", is_blank=True)))
        game = game.push(PlayMade(1, self.rearranged())).push(Challenged(0, upheld=True))
        assert game.push(BlankNamed(I8, "E")).turns[0].word == "LATe"


class TestVariationBOfRule5:
    """A letter of the board is recycled for one of the rack."""

    RULES = replace(TRAVEL, recycle=True)

    def test_it_scores_nothing_and_the_turn_goes_on(self) -> None:
        game = play(new_game(self.RULES), "8F JAIL").push(TileRecycled(1, parse_square("F8"), Tile("M")))
        assert game.turns[-1].kind is TurnKind.RECYCLED and game.turns[-1].score == 0
        assert game.to_move == 1 and game.unseen["J"] == 1
        assert game.state.rack_counts == (7, 7)

    def test_the_recycled_letter_is_played_and_scored_as_usual(self) -> None:
        game = play(new_game(self.RULES), "8F JAIL").push(TileRecycled(1, parse_square("F8"), Tile("M")))
        assert scores(game, "G7 J.B") == {"JAB": 8 * 2 + 1 + 3 * 2}

    def test_again_on_the_same_turn_one_letter_at_a_time(self) -> None:
        game = play(new_game(self.RULES), "8F JAIL")
        game = game.push(TileRecycled(1, parse_square("F8"), Tile("M"))).push(TileRecycled(1, I8, Tile("N")))
        assert [str(game.board[parse_square(s)]) for s in ("F8", "G8", "H8", "I8")] == ["M", "A", "I", "N"]
        assert game.to_move == 1 and game.totals == play(new_game(self.RULES), "8F JAIL").totals

    def test_the_value_counts_from_the_next_word_through_it(self) -> None:
        game = play(new_game(self.RULES), "8F JAIL").push(TileRecycled(1, parse_square("F8"), Tile("M")))
        assert scores(game, "8J S") == {"MAILS": 3 + 1 + 1 + 1 + 1}

    def test_an_empty_square_holds_nothing_to_recycle(self) -> None:
        with pytest.raises(RulesError, match="no tile on A1"):
            play(new_game(self.RULES), "8F JAIL").push(TileRecycled(1, 0, Tile("M")))

    def test_the_camera_sees_it_with_the_play(self) -> None:
        game = play(new_game(self.RULES), "8F JAIL")
        recycled = TileRecycled(1, parse_square("F8"), Tile("M"))
        after = game.push(recycled)
        after = after.push(PlayMade(1, written(after, "G7 J.B")))
        found = infer_play(game, seen(after.board))
        assert found.best.game.board == after.board
        assert recycled in found.events and found.best.game.totals == after.totals

    def test_where_it_was_not_agreed_the_old_tile_stays(self) -> None:
        game = play(new_game(TRAVEL), "8F JAIL")
        found = infer_play(game, seen(game.board.with_tiles({parse_square("F8"): Tile("M")})))
        assert found.events == () and found.best.misread_squares == (parse_square("F8"),)


class TestVariationOfRule6:
    """A blank on the board is taken back for the letter it stands for."""

    RULES = replace(TRAVEL, retake_blanks=True)

    def test_the_letter_takes_its_place_and_scores_nothing(self) -> None:
        game = play(new_game(self.RULES), "8F hORN").push(BlankTaken(1, parse_square("F8")))
        assert game.board[parse_square("F8")] == Tile("H")
        assert game.unseen["?"] == 2 and game.totals == (6, 0) and game.to_move == 1

    def test_both_blanks_in_one_turn(self) -> None:
        game = play(new_game(self.RULES), "8F hORn")
        game = game.push(BlankTaken(1, parse_square("F8"))).push(BlankTaken(1, I8))
        assert game.unseen["?"] == 2 and "".join(str(game.board[s]) for s in range(110, 114)) == "HORN"

    def test_the_blank_is_used_now_or_later(self) -> None:
        game = play(new_game(self.RULES), "8F hORn").push(BlankTaken(1, parse_square("F8")))
        assert game.check_play(written(game, "H6 fA.M")) == Status.VALID
        assert scores(game, "8J S") == {"HORNS": 4 + 1 + 1 + 0 + 1}

    def test_the_camera_sees_it(self) -> None:
        game = play(new_game(self.RULES), "8F hORN")
        found = infer_play(game, seen(play(new_game(self.RULES), "8F HORN").board))
        assert found.events == (BlankTaken(1, parse_square("F8")),)

    def test_a_blank_that_nobody_named_is_named_by_the_letter_in_its_place(self) -> None:
        game = play(new_game(self.RULES), "8F ?ORN")
        found = infer_play(game, seen(play(new_game(self.RULES), "8F HORN").board))
        assert found.events == (BlankNamed(parse_square("F8"), "H"), BlankTaken(1, parse_square("F8")))

    def test_another_letter_in_its_place_is_no_taking_back(self) -> None:
        game = play(new_game(self.RULES), "8F hORN")
        found = infer_play(game, seen(play(new_game(self.RULES), "8F BORN").board))
        assert found.events == ()

    def test_where_it_was_not_agreed_a_blank_stays(self) -> None:
        game = play(new_game(TRAVEL), "8F hORN")
        assert infer_play(game, seen(play(new_game(TRAVEL), "8F HORN").board)).events == ()


class TestVariationOfRule8:
    """The limits on the use of the dictionary may be waived."""

    def test_it_is_a_switch(self) -> None:
        assert replace(TRAVEL, open_dictionary=False) != replace(TRAVEL, open_dictionary=True)
        assert TRAVEL.open_dictionary


class TestDosDontsAndThingsToRemember:
    def test_1_only_across_from_left_to_right_or_down(self) -> None:
        game = play(new_game(TRAVEL), "8F HORN")
        assert [word.word for word in game.turns[0].words] == ["HORN"]
        assert Status.NOT_IN_LINE in status(game, {"E9": "A", "D10": "T"})

    def test_2_letters_that_touch_are_told_as_words(self) -> None:
        game = play(new_game(TRAVEL), "8F HORN")
        assert [word.word for word in game.score_play(written(game, "9E XX")).words] == ["XX", "HX"]

    def test_3_words_are_apart_unless_they_form_a_word_together(self) -> None:
        game = play(new_game(TRAVEL), "8F HORN", "H8 .UT", "10H .OE")
        assert list(scores(game, "8J S")) == ["HORNS"]

    def test_4_the_game_ends_when_a_player_has_used_all_letters(self) -> None:
        assert played_out(new_game(TRAVEL)).end_due is EndReason.PLAYED_OUT

    def test_4_a_player_who_passes_may_play_on_the_next_turn(self) -> None:
        game = drawn_out(new_game(TRAVEL))
        player = game.to_move
        game = game.push(Passed(player)).push(PlayMade(1 - player, play_of(game, 1, Random(1))))
        again = play_of(game, 1, Random(2))
        assert game.end_due is None and game.check_play(again, player) == Status.VALID

    def test_4_all_passed(self) -> None:
        game = drawn_out(new_game(TRAVEL))
        for _ in range(2):
            game = game.push(Passed(game.to_move))
        assert game.end_due is EndReason.NO_PLAY_LEFT

    def test_5_the_dictionary_is_agreed_before_the_game(self) -> None:
        game = Game.start(("Anna", "Ben"), TRAVEL, lexicon="the family's list")
        assert game.start_event.lexicon == "the family's list"
        with pytest.raises(NotationError, match="starts only once"):
            from_json(to_json(GameStarted(("Anna", "Ben"), lexicon="another one")))

    @pytest.mark.parametrize("word", ["KAYAK", "SIESTA", "THOU", "ZILCH"])
    def test_6_a_word_listed_as_a_part_of_speech_counts_whatever_its_origin(self, word: str) -> None:
        lexicon = load_shipped_lexicon("en")
        assert lexicon is not None and word in lexicon

    @pytest.mark.parametrize("word", ["BOAT", "BOATS", "TALK", "TALKED", "TALKING", "TALKS"])
    def test_7_regular_plurals_and_verbs_are_acceptable(self, word: str) -> None:
        lexicon = load_shipped_lexicon("en")
        assert lexicon is not None and word in lexicon

    def test_8_an_s_gives_credit_for_the_whole_word(self) -> None:
        game = play(new_game(TRAVEL), "8D APPLE")
        assert scores(game, "8I S") == {"APPLES": 1 + 3 + 3 + 1 + 1 + 1}

    def test_9_a_blank_can_neither_be_removed_nor_changed(self) -> None:
        game = play(new_game(TRAVEL), "8F hORN")
        with pytest.raises(RulesError, match="for the rest of the game"):
            game.push(BlankNamed(parse_square("F8"), "B"))

    def test_10_a_word_may_be_played_again(self) -> None:
        game = play(new_game(TRAVEL), "8G IS", "9H IS")
        assert game.turns[1].status == Status.VALID and total(game, "10I IS") > 0
