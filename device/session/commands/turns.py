"""The commands of a turn: end the turn, pass, exchange, and challenge."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from msgspec import Meta

from device.cameras import Image
from device.session.commands.base import (
    BoardRows,
    CommandContext,
    PlayerNumber,
    QuestionEffect,
    TableCommand,
    check_player,
    is_challenge_open,
    is_play_unrecorded,
    parse_board,
)
from device.session.commands.challenges import (
    decide_by_list,
    find_challengers,
    find_question_about_play,
    is_in_doubt,
    list_possible_plays,
    make_challenge_question,
    record_challenge,
)
from device.session.commands.entered_board import (
    drop_answered_question,
    match_entered_board,
    name_blanks,
    name_blanks_of_answers,
)
from device.session.game_controller import GameController
from device.session.messages import Trouble, find_picture_advice, format_sentence, make_notice, make_refusal
from device.session.open_question import make_recalled_question
from device.session.phases import Transition
from device.session.snapshot import Phase
from device.session.turns.turn_capture import AdvanceCapture
from device.session.turns.turn_validation import decide
from engine.board import SQUARES
from engine.events import Challenged, Exchanged, Passed, PlayWithdrawn, TurnCorrected
from engine.inference.explain import infer_play
from engine.inference.history import EMPTY_HISTORY
from engine.lexicon import find_deciding_words
from engine.messages import join_messages
from engine.reading import EMPTY, BoardReading
from engine.rules import ChallengeRule
from engine.state import TurnKind


class EndTurn(TableCommand, frozen=True):
    """End the turn of the player to move: read the board and record the play, pass or exchange.

    If the reading takes long, the response has the phase `looking`, and a later snapshot contains the turn.
    """

    name = "end-turn"
    transition = Transition.END_TURN
    operation_id = "end_turn"
    question_effect = QuestionEffect.REPLACE
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
    question_effect = QuestionEffect.REPLACE
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
        controller.memory.forget_missed_press()  # only a usable picture ends a turn, so the same player tries again
        context.phone_camera.receive_picture(self.picture)
        problems = context.turn_recorder.take_turn()
        is_unused = controller.log.length == before and controller.open_question is None
        advice = find_picture_advice(problems)
        if is_unused and advice:
            reason = format_sentence(join_messages(" ", problems))
            others = tuple(notice for notice in controller.notices if notice.text != reason)
            controller.notices = (*others, make_notice(advice, trouble=Trouble.BOARD))
        elif is_unused or (advice and controller.open_question is not None):
            controller.show_notice(advice or "take-another")


class EndFoundTurn(TableCommand, frozen=True):
    """End the turn of the player to move automatically, with a play that was captured while the board was at rest."""

    transition = Transition.END_TURN
    question_effect = QuestionEffect.REPLACE
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
    question_effect = QuestionEffect.REPLACE
    needs_recorded_play = True
    needs_certain_pass = True

    def run(self, context: CommandContext) -> None:
        """Record the pass."""
        context.turn_recorder.record_unended_play(context.controller.seat)
        context.controller.commit_entered_events([Passed(context.controller.game.to_move)])


class ExchangeTiles(TableCommand, frozen=True):
    """Record an exchange of tiles by the player to move.

    If a play is on the board whose turn was not ended yet, it is recorded first, and the next player exchanges.
    """

    name = "exchange"
    transition = Transition.EXCHANGE
    operation_id = "exchange"
    schema_name = "ExchangeOrder"
    question_effect = QuestionEffect.REPLACE
    needs_recorded_play = True
    needs_certain_pass = True

    count: Annotated[int, Meta(ge=1, le=20)]

    def run(self, context: CommandContext) -> None:
        """Record the exchange; refuse the command if the bag has too few tiles."""
        context.turn_recorder.record_unended_play(context.controller.seat)
        game = context.controller.game
        if not game.can_exchange(self.count):
            raise make_refusal("cannot-exchange", str(self.count), str(game.bag_count))
        context.controller.commit_entered_events([Exchanged(game.to_move, self.count)])


class EnterBoard(TableCommand, frozen=True):
    """Enter by hand the board after a turn; the play is inferred from this board instead of a camera reading.

    Use this command for a turn that rearranged or recycled tiles. `rows` are 15 rows of 15 symbols in the format of
    `/board`.
    """

    name = "board"
    transition = Transition.CORRECT
    operation_id = "enter_board"
    schema_name = "BoardOrder"
    question_effect = QuestionEffect.REPLACE

    rows: BoardRows

    def run(self, context: CommandContext) -> None:
        """Record the inferred turn, or open a question.

        The command is refused if the board is the same as before, or cannot follow from the board before.
        """
        controller = context.controller
        game = controller.game
        if game.is_over:
            raise make_refusal("ended")
        tiles = parse_board(self.rows, game.tiles)
        if tiles == {square: tile for square, tile in enumerate(game.board.squares) if tile is not None}:
            raise make_refusal("board-unchanged")
        reading = BoardReading.from_symbols(tiles[square].face if square in tiles else EMPTY for square in SQUARES)
        inference = match_entered_board(infer_play(game, reading), reading)
        controller.memory.forget_missed_press()  # the players enter the turn of that press
        turn_context = replace(controller.turn_context, reading_history=EMPTY_HISTORY)
        decision = decide(game, inference, reading, turn_context)
        named_blanks = name_blanks(game, decision.events, tiles)
        controller.commit_events((*decision.events, *named_blanks))
        before = game if decision.events else controller.game  # an answer does not replace names without a play
        controller.ask_question(name_blanks_of_answers(before, drop_answered_question(decision, named_blanks), tiles))
        controller.note_entered_events(decision.events, game)


class ChallengePlay(TableCommand, frozen=True):
    """Challenge the last play; the outcome is decided by the word list, or by the players if no list was agreed.

    The players also decide if an open question makes it uncertain which words were played, or if only they know the
    tiles of a word (Hungarian SZ is one tile or two). If it is uncertain which play is the last one, the open question
    is asked first. If the challenge fails and the challenger is not known, the players are asked who has challenged.
    """

    name = "challenge"
    transition = Transition.CHALLENGE
    operation_id = "challenge"
    question_effect = QuestionEffect.DEFER
    needs_recorded_play = True  # the players mean that play, and the last recorded play is the one before it

    def run(self, context: CommandContext) -> None:
        """Decide the challenge, or ask the players; refuse the command if there is no play to challenge.

        A play on the board whose turn was not ended yet is the challenged play.
        """
        controller = context.controller
        if controller.game.challengeable_turn is not None:
            context.turn_recorder.record_unended_play(controller.seat, may_read_board=True)
        game = controller.game
        play = game.challengeable_turn
        if play is None:
            raise make_refusal("nothing-to-challenge")
        possible = list_possible_plays(game)
        if (asked := find_question_about_play(play, possible)) is not None:
            controller.open_question = make_recalled_question(game, asked)
            controller.show_notice("answer-first")
            return
        words = find_deciding_words(controller.words) if game.rules.list_decides else None
        if words is not None and not is_in_doubt(game, play, possible, words):
            decide_by_list(controller, play, words)
        else:
            controller.open_question = make_challenge_question(game, play, controller.words)


class DecideChallenge(TableCommand, frozen=True):
    """Enter by hand whether a challenge of the last play succeeds, or change the outcome that was just recorded.

    `upheld` is true if the play is withdrawn. `player` is the challenger; null means the next player. In a game without
    challenges, in which invalid words do not count, this command decides whether the last play counts.
    """

    name = "decide-challenge"
    transition = Transition.CORRECT
    operation_id = "decide_challenge"
    schema_name = "ChallengeOrder"
    needs_recorded_play = True

    upheld: bool
    player: PlayerNumber | None = None

    def find_question_effect(self, context: CommandContext) -> QuestionEffect:
        """Return `CLOSE` if the open question is that of the challenge, or about the play that the command restores.

        Only a recorded play can be restored.
        """
        is_restored = not self.upheld and context.controller.game.rules.challenge is ChallengeRule.VOID
        is_answer = is_challenge_open(context) or (is_restored and not is_play_unrecorded(context))
        return QuestionEffect.CLOSE if is_answer else QuestionEffect.DEFER

    def run(self, context: CommandContext) -> None:
        """Record the outcome; refuse the command unless the last turn is a play or the outcome of a challenge."""
        controller = context.controller
        game = controller.game
        if game.is_over:
            raise make_refusal("ended")
        if game.rules.challenge is ChallengeRule.VOID:
            _decide_void_play(controller, self.upheld)
            return
        is_decided = bool(game.events) and isinstance(game.events[-1], Challenged)
        before = controller.log.game_before_last_press if is_decided else game
        play = before.challengeable_turn if before else None
        if before is None or play is None:
            raise make_refusal("nothing-to-challenge")
        if self.player is not None:
            check_player(game, self.player)
        if self.player == play.player:
            raise make_refusal("own-play", game.players[play.player])
        by = find_challengers(before, play)[0] if self.player is None else self.player
        record_challenge(controller, Challenged(by, self.upheld), play, is_replacement=is_decided)


def _decide_void_play(controller: GameController, is_invalid: bool) -> None:
    """Withdraw the last play, or restore the play that was withdrawn last, in a game without challenges.

    Raises `CommandRefusedError` if there is no such play.
    """
    game = controller.game
    last = game.last_turn
    if is_invalid and last is not None and last.kind is TurnKind.PLAY and last.stands:
        controller.commit_events([PlayWithdrawn(last.player)])
        words = ", ".join(word.word for word in last.words)
        controller.show_notice("take-off", game.players[last.player], words)
        return
    if is_invalid or last is None or last.kind is not TurnKind.WITHDRAWN:
        raise make_refusal("nothing-to-challenge")
    controller.commit_events([TurnCorrected(last.number, None)])


TURN_COMMANDS = (
    EndTurn,
    EndTurnWithPicture,
    EndFoundTurn,
    PassTurn,
    ExchangeTiles,
    EnterBoard,
    ChallengePlay,
    DecideChallenge,
)
