"""The commands that correct the record of a game: squares, blanks, racks, names; turns are in `turn_corrections`."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import replace
from typing import Annotated

from msgspec import Meta

from device.player_names import MAX_PLAYER_NAME_LENGTH, clean_name
from device.session.commands.answers import find_squares_in_question
from device.session.commands.base import (
    CommandContext,
    PlayerNumber,
    QuestionEffect,
    SquareName,
    Symbol,
    TableCommand,
    check_player,
    is_answer_unrecorded,
    is_challenge_open,
    parse_rack,
)
from device.session.commands.taken_blanks import ask_about_taken_blank, may_be_taken_blank
from device.session.commands.turn_corrections import CorrectTurn, InsertTurn, replace_turn
from device.session.messages import Trouble, convert_engine_errors, make_refusal
from device.session.phases import Transition
from engine.board import Square, parse_square
from engine.ending import find_derived_racks, find_revealed_racks
from engine.errors import NotationError
from engine.events import BlankNamed, Event, PlayerRenamed, PlayMade, RackRevealed, SquareCorrected
from engine.game import Game
from engine.inference.overlooked_tiles import find_overlooked_turn
from engine.lexicon import WordList, find_deciding_words
from engine.messages import format_list
from engine.plays import Play
from engine.reading import EMPTY
from engine.scoring import Status, check_placement
from engine.state import find_withdrawn_turn
from engine.tiles import Tile
from engine.validation.void_plays import find_void_turn


def _find_effect_of_tile(context: CommandContext, square: str) -> QuestionEffect:
    """Return what entering the tile on a square, given by its name, does to the open question.

    During a challenge, the question is kept. A question about the tile on this square is closed, any other is deferred.
    So is a question before whose answer no turn is recorded, because a tile does not record one.
    """
    if is_challenge_open(context):
        return QuestionEffect.KEEP
    if is_answer_unrecorded(context):
        return QuestionEffect.DEFER
    with suppress(NotationError):  # the command itself refuses such a name
        if parse_square(square) in find_squares_in_question(context.controller):
            return QuestionEffect.CLOSE
    return QuestionEffect.DEFER


class CorrectSquare(TableCommand, frozen=True):
    """Correct the tile on a misread square.

    A tile that was missed becomes part of the last play that it fits. The square may also be one of a play that was
    just withdrawn. In a game without challenges, this play counts if its words are valid now.
    """

    name = "square"
    transition = Transition.CORRECT
    operation_id = "correct_square"
    schema_name = "SquareOrder"

    square: SquareName
    symbol: Symbol

    def find_question_effect(self, context: CommandContext) -> QuestionEffect:
        """Return `KEEP` during a challenge, and `CLOSE` if the open question is which tile is on this square."""
        return _find_effect_of_tile(context, self.square)

    def run(self, context: CommandContext) -> None:
        """Record the correction; refuse the command unless the symbol is one tile of the tile set."""
        controller, game = context.controller, context.controller.game
        with convert_engine_errors():
            square = parse_square(self.square)
            tiles = () if self.symbol == EMPTY else game.tiles.parse(self.symbol)
        if self.symbol != EMPTY and len(tiles) != 1:
            raise make_refusal("one-tile", self.symbol or "none")
        tile = tiles[0] if tiles else None
        if events := _correct_withdrawn_play(game, square, tile, controller.words):
            controller.commit_entered_events(events)
            return
        turn = None if game.board[square] else find_overlooked_turn(game.state, square)
        corrected = SquareCorrected(square, tile, turn, told=True)
        if tile is not None and may_be_taken_blank(game, square, tile):
            if is_challenge_open(context):
                raise make_refusal("answer-first")  # its question would take the place of the challenge
            ask_about_taken_blank(controller, corrected, tile)
        else:
            controller.commit_entered_events([corrected])


class NameBlank(TableCommand, frozen=True):
    """Name the letter that the blank on a square stands for."""

    name = "blank"
    transition = Transition.CORRECT
    operation_id = "name_blank"
    schema_name = "BlankOrder"

    square: SquareName
    letter: Annotated[str, Meta(max_length=8)]

    def find_question_effect(self, context: CommandContext) -> QuestionEffect:
        """Return `KEEP` during a challenge, and `CLOSE` if the open question is which tile is on this square."""
        return _find_effect_of_tile(context, self.square)

    def run(self, context: CommandContext) -> None:
        """Record the letter; refuse the command if the square has no blank or the letter is not in the tile set."""
        game = context.controller.game
        with convert_engine_errors():
            square = parse_square(self.square)
        tile = game.board[square]
        if tile is None or not tile.is_blank:
            raise make_refusal("no-blank", self.square)
        if self.letter not in game.tiles.letters:
            raise make_refusal("blank-letters", self.letter, " ".join(game.tiles.letters))
        context.controller.commit_events([BlankNamed(square, self.letter)])


def _correct_withdrawn_play(game: Game, square: Square, tile: Tile | None, words: WordList | None) -> tuple[Event, ...]:
    """Return the events that put `tile` on a square of the play that was just withdrawn.

    There are none if the square belongs elsewhere. Only if the play was withdrawn because of its words is a tile that
    was missed added, and a tile that was never there (`tile` is None) removed. `words` is the word list in use.
    """
    turn = find_withdrawn_turn(game.state)
    if turn is None or turn.play is None or game.board[square] is not None:
        return ()
    play, is_void = turn.play, turn == find_void_turn(game, find_deciding_words(words))
    if tile is None:
        corrected = Play(tuple(placed for placed in play.tiles if placed[0] != square), play.rearranged)
        is_possible = is_void and bool(corrected.tiles) and corrected != play
    else:
        corrected = play.with_tile(square, tile)
        status = check_placement(game.state.board_before(turn), corrected, game.layout, game.rules)
        is_possible = square in play.squares or (is_void and status == Status.VALID)
    return replace_turn(game, turn, PlayMade(turn.player, corrected), words) if is_possible else ()


class RevealRack(TableCommand, frozen=True):
    """Enter the unplayed letters of a player (`?` for a blank), which are scored when the game has ended."""

    name = "rack"
    transition = Transition.REVEAL_RACK
    operation_id = "tell_rack"
    schema_name = "RackOrder"
    question_effect = QuestionEffect.DEFER
    unrecorded_effect = QuestionEffect.KEEP

    player: PlayerNumber
    letters: Annotated[str, Meta(max_length=60)]

    def run(self, context: CommandContext) -> None:
        """Record the letters; show a warning if the player's rack has another number of tiles.

        If the game has ended, also say which letters of other players follow from these. The command is refused if a
        letter is on the board or on another rack.
        """
        controller = context.controller
        game = controller.game
        tiles = parse_rack(self.letters, game.tiles)
        check_player(game, self.player)
        racks = find_revealed_racks(game.state).items()
        on_other_racks = Counter(tile for player, rack in racks if player != self.player for tile in rack)
        if lacking := Counter(tiles) - (game.unseen - on_other_racks):
            raise make_refusal("cannot-be-left", ", ".join(lacking))
        controller.commit_events([RackRevealed(self.player, tiles)])
        state = controller.game.state
        rack_count = state.rack_counts[self.player]
        if len(tiles) != rack_count:
            values = state.players[self.player], str(rack_count), str(len(tiles))
            controller.show_notice("rack-count", *values, trouble=Trouble.BOARD)
        derived = find_derived_racks(game.state, state) if game.is_over else {}
        for player, letters in derived.items():
            controller.show_notice("rack-rest", format_list(letters), state.players[player])


class RenamePlayer(TableCommand, frozen=True):
    """Change the name of a player. The colour stays the same, unless another colour is stored for the new name."""

    name = "rename"
    transition = Transition.CORRECT
    operation_id = "rename_player"
    schema_name = "RenameOrder"
    question_effect = QuestionEffect.DEFER
    unrecorded_effect = QuestionEffect.KEEP

    player: PlayerNumber
    new_name: Annotated[str, Meta(max_length=MAX_PLAYER_NAME_LENGTH)]

    def run(self, context: CommandContext) -> None:
        """Record the new name; refuse an empty name and a name that another player has."""
        controller = context.controller
        check_player(controller.game, self.player)
        before, after = controller.game.players[self.player], clean_name(self.new_name)
        controller.commit_events([PlayerRenamed(self.player, after)])
        if (open_question := controller.open_question) is not None:
            open_question = replace(open_question, question=open_question.question.with_names({before: after}))
            controller.open_question = open_question
        controller.colours.save([(after, controller.colours.get(after) or controller.colours.get(before))])


CORRECTION_COMMANDS = (CorrectSquare, NameBlank, CorrectTurn, InsertTurn, RevealRack, RenamePlayer)
