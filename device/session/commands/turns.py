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
    TableCommand,
    check_challenger,
    parse_board,
)
from device.session.commands.challenges import (
    ask_players,
    decide_by_list,
    find_challengers,
    find_question_about_play,
    is_in_doubt,
    list_possible_plays,
    record_challenge,
    tell_outcome,
)
from device.session.commands.entered_board import match_entered_board, name_blanks
from device.session.game_controller import GameController
from device.session.messages import PASS_KEYS, Trouble, find_picture_advice, format_sentence, make_notice, make_refusal
from device.session.phases import Transition
from device.session.recording import Record
from device.session.snapshot import Phase
from device.session.turns.turn_capture import AdvanceCapture
from device.session.turns.turn_validation import decide
from engine.board import SQUARES
from engine.events import Challenged, Exchanged, Passed, PlayCounted, PlayWithdrawn, TurnCorrected
from engine.inference.explain import infer_play
from engine.inference.history import EMPTY_HISTORY
from engine.ledger import Answered, Doubt, Source
from engine.lexicon import find_deciding_words
from engine.messages import join_messages
from engine.reading import EMPTY, BoardReading
from engine.rules import ChallengeRule
from engine.state import TurnKind
from engine.validation.void_plays import find_void_turn


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
        if (missed := controller.missed_press) is not None:  # only a usable picture ends a turn: this one replaces it
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

    While the players are asked whether the turn before was a pass, it may be the answer, or the turn of the next
    player. The next player's own phone, or a play on the board between them, shows which; otherwise they are asked.
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
        tiles = parse_board(self.rows, game.tiles)
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
            answers = tuple(events and (*events, *name_blanks(now, events, tiles)) for events in asked.answers)
            asked = replace(asked, answers=answers)
        decision = replace(decision, events=named, open_question=asked)
        controller.record_decision(decision, Source.HAND, controller.seat, joins_last=bool(earlier))


class ChallengePlay(TableCommand, frozen=True):
    """Challenge the last play; the outcome is decided by the word list, or by the players if no list may decide it.

    The players also decide if an open question makes it uncertain which words were played, or if only they know the
    tiles of a word (Hungarian SZ is one tile or two). If it is uncertain which play is the last one, the open question
    is asked first. If the challenge fails and the challenger is not known, the players are asked who has challenged.
    """

    name = "challenge"
    transition = Transition.CHALLENGE
    operation_id = "challenge"
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
        possible = list_possible_plays(controller.ledger)
        if (asked := find_question_about_play(play, possible)) is not None:
            controller.recall(asked)
            controller.show_notice("answer-first")
            return
        words = find_deciding_words(controller.words) if game.rules.list_decides else None
        if words is not None and not is_in_doubt(game, play, possible, words):
            decide_by_list(controller, play, words)
        else:
            ask_players(controller, play)


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

    def run(self, context: CommandContext) -> None:
        """Record the outcome; refuse the command unless the last turn is a play or the outcome of a challenge."""
        controller = context.controller
        game = controller.game
        if game.is_over:
            raise make_refusal("ended")
        if game.rules.challenge is ChallengeRule.VOID:
            _decide_void_play(controller, self.upheld)
            return
        last = game.last_turn
        decided = last if last is not None and not last.is_implied else None
        is_decided = decided is not None and decided.target is not None
        play = game.turns[decided.target] if decided and decided.target is not None else game.challengeable_turn
        if play is None:
            raise make_refusal("nothing-to-challenge")
        check_challenger(game, self.player, play)
        by = self.player if self.player is not None or len(game.players) == 2 else find_challengers(game, play)[0]
        challenged = Challenged(by, self.upheld, of=play.ref)
        if last is not None and is_decided:
            is_newest = last.ref.entry == len(controller.ledger.entries)
            controller.record(Record(((TurnCorrected(last.ref, challenged),),)), joins_last=is_newest)
            tell_outcome(controller, challenged, play)
            return
        if (asked := controller.undecided_challenge) is not None:
            controller.record(Record(((Answered(asked.number, 0), challenged),)))
            tell_outcome(controller, challenged, play)
        else:
            record_challenge(controller, challenged, play)


def _decide_void_play(controller: GameController, is_invalid: bool) -> None:
    """Withdraw the last play, or restore the play that was withdrawn last, in a game without challenges.

    Raises `CommandRefusedError` if there is no such play.
    """
    game = controller.game
    last = game.last_turn
    if is_invalid and last is not None and last.kind is TurnKind.PLAY and last.stands:
        controller.record(Record(((PlayWithdrawn(None, last.ref),),)))
        words = ", ".join(word.word for word in last.words)
        controller.show_notice("take-off", game.players[last.player], words)
    elif not is_invalid and (void := find_void_turn(game)) is not None:
        controller.record(Record(((PlayCounted(void.ref),),)))
    elif not is_invalid and last is not None and last.kind is TurnKind.WITHDRAWN:
        controller.record(Record(((TurnCorrected(last.ref, None),),)))
    else:
        raise make_refusal("nothing-to-challenge")


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
