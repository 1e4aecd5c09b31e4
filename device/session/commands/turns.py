"""The commands of a turn: end the turn, pass, exchange, and enter the board."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from msgspec import Meta

from device.cameras.base import Image
from device.session.commands.base import (
    BoardRows,
    CommandContext,
    TableCommand,
    parse_board,
)
from device.session.commands.entered_board import match_entered_board, name_blanks
from device.session.game_controller import GameController
from device.session.messages import PASS_KEYS, Trouble, find_picture_advice, format_sentence, make_notice, make_refusal
from device.session.phases import Transition
from device.session.recording import Record, find_missed_press
from device.session.snapshot import Phase
from device.session.turns.turn_capture import AdvanceCapture
from device.session.turns.turn_validation import decide
from engine.board import SQUARES
from engine.events import Exchanged, Passed, TurnCorrected
from engine.inference.explain import infer_play
from engine.inference.history import EMPTY_HISTORY
from engine.ledger import Answered, Doubt, Source
from engine.messages import join_messages
from engine.reading import EMPTY, BoardReading


class EndTurn(TableCommand, frozen=True):
    """End the turn of the player to move: read the board and record the play, pass or exchange.

    If the reading takes long, the response has the phase `looking`, and a later snapshot contains the turn.
    """

    name = "end-turn"
    transition = Transition.END_TURN
    operation_id = "end_turn"
    interim_phase = Phase.LOOKING

    def run(self, context: CommandContext) -> None:
        """Read the board and record the turn.

        The command is refused if a phone must take the picture, or if no camera can read the tiles of the game.
        """
        if context.controller.game.tiles.by_hand_only:
            raise make_refusal("by-hand-only")
        if context.phone_camera and not context.phone_camera.is_live:
            raise make_refusal("take-picture")
        context.turn_recorder.take_turn()


class EndTurnWithPicture(TableCommand, frozen=True):
    """End the turn of the player to move with a picture of the board, `(H, W, 3) uint8 BGR`, that a phone has taken."""

    transition = Transition.END_TURN
    interim_phase = Phase.LOOKING

    picture: Image

    def run(self, context: CommandContext) -> None:
        """Read the picture and record the turn; add a notice with advice if another picture is needed.

        Advice for the problem of the picture replaces the notice about this problem. The advice is also shown if a
        question is open, because the problem may have caused the question.
        """
        controller = context.controller
        if context.phone_camera is None:
            raise make_refusal("own-camera")
        before = controller.log.length
        if (missed := find_missed_press(controller.ledger)) is not None:  # only a usable picture ends a turn
            controller.answer(missed.number, 0)
        context.phone_camera.receive_picture(self.picture)
        problems = context.turn_recorder.take_turn()
        is_unused = controller.log.length == before and controller.question is None
        advice = find_picture_advice(problems)
        if is_unused and advice:
            reason = format_sentence(join_messages(" ", problems))
            others = tuple(notice for notice in controller.notices if notice.text != reason)
            controller.notices = (*others, make_notice(advice, trouble=Trouble.BOARD))
        elif advice and controller.question is not None:
            controller.show_notice(advice)
        elif is_unused and not controller.notices:
            controller.show_notice("take-another")


class EndFoundTurn(TableCommand, frozen=True):
    """End the turn of the player to move automatically, with a play that was captured while the board was at rest."""

    transition = Transition.END_TURN
    interim_phase = Phase.LOOKING

    capture: AdvanceCapture

    def run(self, context: CommandContext) -> None:
        """Record the captured turn."""
        context.turn_recorder.record_advance(self.capture)


class PassTurn(TableCommand, frozen=True):
    """Record a pass of the player to move.

    If a play is on the board whose turn was not ended yet, it is recorded first, and the next player passes.
    """

    name = "pass"
    transition = Transition.PASS
    operation_id = "pass_turn"
    needs_recorded_play = True

    def run(self, context: CommandContext) -> None:
        """Record the pass."""
        context.turn_recorder.record_unended_play(context.controller.seat)
        _record_turn(context.controller, Passed(context.controller.game.to_move))


class ExchangeTiles(TableCommand, frozen=True):
    """Record an exchange of tiles by the player to move.

    If a play is on the board whose turn was not ended yet, it is recorded first, and the next player exchanges.
    """

    name = "exchange"
    transition = Transition.EXCHANGE
    operation_id = "exchange"
    schema_name = "ExchangeOrder"
    needs_recorded_play = True

    count: Annotated[int, Meta(ge=1, le=20)]

    def run(self, context: CommandContext) -> None:
        """Record the exchange; refuse the command if the bag has too few tiles."""
        context.turn_recorder.record_unended_play(context.controller.seat)
        game = context.controller.game
        if not game.can_exchange(self.count):
            raise make_refusal("cannot-exchange", str(self.count), str(game.bag_count))
        _record_turn(context.controller, Exchanged(game.to_move, self.count))


def _record_turn(controller: GameController, turn: Passed | Exchanged) -> None:
    """Record a pass or an exchange that a player has entered.

    Usually it is the turn of the player to move. But if the table has just asked whether the turn before was a pass,
    the player may mean to answer this question. Then the players are asked what was meant, unless the player to move
    has entered the turn on the own phone.
    """
    shown, seat = controller.shown_entry, controller.seat
    if shown is None or shown.doubt is None or shown.doubt.code not in PASS_KEYS or seat == controller.game.to_move:
        controller.commit_entered([turn], seat=seat)
        return
    before = controller.game.turns[-1]
    turn = replace(turn, player=None)
    same = (TurnCorrected(before.ref, turn),) if isinstance(turn, Exchanged) else (Answered(shown.number, 0),)
    controller.record(Record(((turn,), same), Doubt("which-of-these")))


class EnterBoard(TableCommand, frozen=True):
    """Enter by hand the board after a turn; the play is inferred from this board instead of a camera reading.

    Use this command for a turn that rearranged or recycled tiles. `rows` are 15 rows of 15 symbols in the format of
    `/board`.
    """

    name = "board"
    transition = Transition.CORRECT
    operation_id = "enter_board"
    schema_name = "BoardOrder"

    rows: BoardRows

    def run(self, context: CommandContext) -> None:
        """Record the inferred turn, or open a question.

        The command is refused if the board is the same as before, or cannot follow from the board before.
        """
        controller = context.controller
        game = controller.game
        if game.is_over:
            raise make_refusal("ended")
        tiles = parse_board(self.rows, game.tiles)  # with the letters of blanks, which a reading does not have
        if tiles == {square: tile for square, tile in enumerate(game.board.squares) if tile is not None}:
            raise make_refusal("board-unchanged")
        reading = BoardReading.from_symbols(tiles[square].face if square in tiles else EMPTY for square in SQUARES)
        inference = match_entered_board(infer_play(game, reading, told=range(game.entry)), reading)
        turn_context = replace(controller.turn_context, reading_history=EMPTY_HISTORY)
        decision = decide(game, inference, reading, turn_context)
        earlier = name_blanks(game, (), tiles)
        if earlier:
            controller.commit(*earlier)
        now = controller.game
        named = (*decision.events, *name_blanks(now, decision.events, tiles))
        asked = decision.open_question
        if asked is not None:
            answers = tuple((*events, *name_blanks(now, events, tiles)) if events else () for events in asked.answers)
            asked = replace(asked, answers=answers)
        decision = replace(decision, events=named, open_question=asked)
        controller.record_decision(decision, Source.HAND, controller.seat, joins_last=bool(earlier))


TURN_COMMANDS = (
    EndTurn,
    EndTurnWithPicture,
    EndFoundTurn,
    PassTurn,
    ExchangeTiles,
    EnterBoard,
)
