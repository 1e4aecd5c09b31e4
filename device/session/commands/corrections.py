"""The commands that correct the record of a game: squares, blanks, racks, names; turns are in `turn_corrections`."""

from __future__ import annotations

from collections import Counter
from typing import Annotated

from msgspec import Meta

from device.player_names import MAX_PLAYER_NAME_LENGTH, clean_name
from device.session.commands.base import (
    CommandContext,
    PlayerNumber,
    SquareName,
    Symbol,
    TableCommand,
    check_player,
    parse_rack,
)
from device.session.commands.turn_corrections import CorrectTurn, FillTurns, InsertTurn
from device.session.game_controller import GameController
from device.session.messages import Trouble, convert_engine_errors, make_refusal
from device.session.phases import Transition
from device.session.recording import Record
from engine.board import Square, parse_square
from engine.ending import find_derived_racks, find_revealed_racks
from engine.events import BlankNamed, BlankTaken, PlayerRenamed, RackRevealed, RacksSkipped, SquareCorrected
from engine.game import Game
from engine.inference.overlooked_tiles import find_overlooked_turn
from engine.ledger import AnswerText, Doubt, make_relative
from engine.messages import format_list
from engine.reading import EMPTY
from engine.scoring import Status, check_placement
from engine.state import Turn, find_withdrawn_turn
from engine.tiles import Tile
from engine.validation.void_plays import find_void_turn


class CorrectSquare(TableCommand, frozen=True):
    """Correct the tile on a misread square.

    A tile that was missed becomes part of the last play that it fits. The square may also be one of a play that was
    just withdrawn. In a game without challenges, this play counts if its words are valid now.
    """

    name = "square"
    keeps_turn = True
    transition = Transition.CORRECT
    operation_id = "correct_square"
    schema_name = "SquareOrder"

    square: SquareName
    symbol: Symbol

    def run(self, context: CommandContext) -> None:
        """Record the correction; refuse the command unless the symbol is one tile of the tile set."""
        controller, game = context.controller, context.controller.game
        with convert_engine_errors():
            square = parse_square(self.square)
            tiles = () if self.symbol == EMPTY else game.tiles.parse(self.symbol)
        if self.symbol != EMPTY and len(tiles) != 1:
            raise make_refusal("one-tile", self.symbol or "none")
        tile = tiles[0] if tiles else None
        turn = _find_withdrawn_play(game, square, tile)
        if turn is None and game.board[square] is None:
            turn = find_overlooked_turn(game.state, square)
        corrected = SquareCorrected(square, tile, None if turn is None else turn.ref, told=True)
        if tile is not None and _may_be_taken_blank(game, square, tile):
            if controller.undecided_challenge is not None:
                raise make_refusal("answer-first")  # its question would come before the challenge
            _ask_about_taken_blank(controller, corrected, tile)
        else:
            with convert_engine_errors():
                controller.commit_entered([corrected])


class NameBlank(TableCommand, frozen=True):
    """Name the letter that the blank on a square stands for."""

    name = "blank"
    keeps_turn = True
    transition = Transition.CORRECT
    operation_id = "name_blank"
    schema_name = "BlankOrder"

    square: SquareName
    letter: Annotated[str, Meta(max_length=8)]

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
        context.controller.commit(BlankNamed(square, self.letter))


def _find_withdrawn_play(game: Game, square: Square, tile: Tile | None) -> Turn | None:
    """Return the turn of the play that was just withdrawn, if a correction of `square` to `tile` is about it, or None.

    A correction of one of its tiles is always about it. If the play was withdrawn because of an unlisted word, the
    correction may also add a tile that was missed, or remove a tile that was never there (`tile` is None).
    """
    turn, void = find_withdrawn_turn(game.state), find_void_turn(game)
    if turn is None or turn.play is None or game.board[square] is not None:
        return None
    play, is_void = turn.play, void is not None and turn.ref == void.ref
    if tile is None:
        return turn if is_void and square in play.squares and len(play.squares) > 1 else None
    if square in play.squares:
        return turn
    status = check_placement(game.state.board_before(turn), play.with_tile(square, tile), game.layout, game.rules)
    return turn if is_void and status == Status.VALID else None


def _may_be_taken_blank(game: Game, square: Square, tile: Tile) -> bool:
    """Return True if a player may have swapped `tile` for the blank on a square, so that the square was not misread.

    A blank of the last play was misread: no player has had a turn to take it.
    """
    old, last = game.board[square], game.last_turn
    if not game.rules.retake_blanks or game.is_over or old is None or not old.is_blank or tile.is_blank:
        return False
    is_of_last_play = last is not None and last.play is not None and square in last.play.squares
    return not is_of_last_play and (old.is_unnamed or old.letter == tile.letter)


def _ask_about_taken_blank(controller: GameController, corrected: SquareCorrected, tile: Tile) -> None:
    """Record that the player to move has taken a blank for `tile`, and ask whether the blank was misread instead.

    If it was misread (`corrected`), the earlier play scores more. Raises `CommandRefusedError`.
    """
    game, square = controller.game, corrected.square
    named = (BlankNamed(square, tile.letter),) if game.board.tile(square).is_unnamed else ()
    with convert_engine_errors():
        taken = make_relative(game, (*named, BlankTaken(game.to_move, square)), None)
    doubt = Doubt("which-is-right", (AnswerText(0), AnswerText(1)), squares=(square,))
    controller.record(Record((taken, (corrected,)), doubt))


class RevealRack(TableCommand, frozen=True):
    """Enter the unplayed letters of a player (`?` for a blank), which are scored when the game has ended."""

    name = "rack"
    keeps_turn = True
    transition = Transition.REVEAL_RACK
    operation_id = "tell_rack"
    schema_name = "RackOrder"

    player: PlayerNumber
    letters: Annotated[str, Meta(max_length=60)]

    def run(self, context: CommandContext) -> None:
        """Record the letters; show a warning if the player's rack has another number of tiles.

        If the game has ended, also say which letters of other players follow from these. The command is refused if a
        letter is on the board or on another rack.
        """
        controller = context.controller
        game = controller.game
        revealed = make_rack_act(game, self.player, self.letters)
        controller.commit(revealed)
        state = controller.game.state
        rack_count = state.rack_counts[self.player]
        if len(revealed.tiles) != rack_count:
            values = state.players[self.player], str(rack_count), str(len(revealed.tiles))
            controller.show_notice("rack-count", *values, trouble=Trouble.BOARD)
        derived = find_derived_racks(game.state, state) if game.is_over else {}
        for player, letters in derived.items():
            controller.show_notice("rack-rest", format_list(letters), state.players[player])


def make_rack_act(game: Game, player: int, letters: str) -> RackRevealed:
    """Return the act that reveals the unplayed letters of a player.

    Raises `CommandRefusedError` if a letter is on the board or on another rack.
    """
    tiles = parse_rack(letters, game.tiles)
    check_player(game, player)
    racks = find_revealed_racks(game.state).items()
    on_other_racks = Counter(tile for seat, rack in racks if seat != player for tile in rack)
    if lacking := Counter(tiles) - (game.unseen - on_other_racks):
        raise make_refusal("cannot-be-left", ", ".join(lacking))
    return RackRevealed(player, tiles)


class SkipRacks(TableCommand, frozen=True):
    """Finish a game without counting unplayed letters."""

    name = "skip-racks"
    transition = Transition.REVEAL_RACK
    operation_id = "skip_racks"

    def run(self, context: CommandContext) -> None:
        """Record that no letters count, until a player enters letters all the same."""
        context.controller.commit(RacksSkipped())


class RenamePlayer(TableCommand, frozen=True):
    """Change the name of a player. The colour stays the same, unless another colour is stored for the new name."""

    name = "rename"
    keeps_turn = True
    transition = Transition.CORRECT
    operation_id = "rename_player"
    schema_name = "RenameOrder"

    player: PlayerNumber
    new_name: Annotated[str, Meta(max_length=MAX_PLAYER_NAME_LENGTH)]

    def run(self, context: CommandContext) -> None:
        """Record the new name; refuse an empty name and a name that another player has."""
        controller = context.controller
        check_player(controller.game, self.player)
        before, after = controller.game.players[self.player], clean_name(self.new_name)
        controller.commit(PlayerRenamed(self.player, after))
        colours = controller.colours
        controller.save_colours([(after, colours.get(after) or colours.get(before, ""))])


CORRECTION_COMMANDS = (
    CorrectSquare,
    NameBlank,
    CorrectTurn,
    InsertTurn,
    FillTurns,
    RevealRack,
    SkipRacks,
    RenamePlayer,
)
