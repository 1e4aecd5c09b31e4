"""Take and record the turns of the current game."""

from __future__ import annotations

from dataclasses import dataclass, replace

from device.cameras.base import CameraError
from device.capture.board_camera import BoardCamera
from device.capture.turn_images import crop_squares, make_turn_images
from device.session.background.work import BackgroundWork
from device.session.game_controller import GameController
from device.session.messages import Notice, Trouble
from device.session.questions import make_wait_question
from device.session.snapshot import Sight
from device.session.threads import CaptureProgress, CommandQueue, TurnWorker
from device.session.turns.decision import Decision, TurnContext
from device.session.turns.turn_capture import (
    AdvanceCapture,
    TurnCapture,
    capture_turn,
    mark_echo,
    may_show_play,
    reject_blurred_turn,
    reject_used_picture,
    sample_board_colours,
)
from device.session.turns.turn_finder import shows_unended_play
from device.session.used_pictures import UsedPictures, digest_image
from engine.events import filter_plays
from engine.ledger import Source
from engine.messages import join_messages, key_of
from vision.recognition.problems import EXTRA_TILES, FOREIGN_TILES, MIRRORED, OTHER_SET


@dataclass(frozen=True, slots=True)
class TurnRecorder:
    """Recorder of turns, which commands call on the session's thread: it takes pictures, and records what they show.

    If `rejects_blur` is True, a blurred picture that shows no play is not used, because a phone can take another one at
    once.
    """

    board_camera: BoardCamera
    controller: GameController
    queue: CommandQueue
    worker: TurnWorker[TurnCapture]
    used_pictures: UsedPictures
    background: BackgroundWork
    rejects_blur: bool

    def prepare_board(self) -> None:
        """Discard the pictures of the previous game and let the camera adjust to the light. Raises `CameraError`."""
        self.background.discard_pictures()
        self.board_camera.settle_camera()

    def take_turn(self) -> tuple[str, ...]:
        """Take a picture, read the board and record the turn; return the problems of the picture.

        - If no board is found, the picture and the reason are shown.
        - If the turn is not read in time, the players are asked. If they choose to wait, the next call waits for the
          same reading.
        - If a turn has just ended automatically and the board is still the same, the press was probably meant for that
          turn, and records nothing.

        Raises `CameraError`.
        """
        controller, worker, auto_turns = self.controller, self.worker, self.background.auto_turns
        if controller.game.tiles.by_hand_only:
            controller.show_notice("by-hand-only", trouble=Trouble.BOARD)
            return ()
        if not worker.is_pending:
            ended = auto_turns.consume_ended_turn(controller.game) if auto_turns is not None else None
            if ended is not None and ended is self.background.advance_reader.get_newest() and self._is_board_known():
                self._show_echo()
                return ()
            self._start_capture(controller.turn_context, ended)
        turn = worker.wait(self.queue.run_pings)
        if turn is None:
            controller.wait_question = make_wait_question(worker.max_s)
            return ()
        if turn.is_echo:
            self._show_echo()
            return ()
        if self.board_camera.is_live:
            self._record_turn(turn)
        else:
            turn = self._record_new_picture(reject_blurred_turn(turn) if self.rejects_blur else turn)
        return turn.reading.problems

    def _show_echo(self) -> None:
        """Show that a press was ignored, because the turn for which it was meant has just ended automatically."""
        game = self.controller.game
        self.controller.show_notice("turn-ended-already", game.players[game.to_move])

    def _start_capture(self, context: TurnContext, ended: AdvanceCapture | None = None) -> None:
        """Start to take pictures of the board, and to infer the turn from them.

        `ended` is the capture of a turn that has just ended automatically, if the press may be meant for that turn.
        Both boards are compared on the thread of the capture, so also after the players have chosen to wait.
        """
        game, camera, reader = self.controller.game, self.board_camera, self.background.advance_reader

        def capture(progress: CaptureProgress) -> TurnCapture:
            turn = capture_turn(camera, context, progress, reader.take(), reader.list_rests)
            return turn if ended is None else mark_echo(turn, ended.turn, game)

        self.worker.start(capture)

    def record_advance(self, advance: AdvanceCapture) -> None:
        """Record a turn that no player has ended with a button, from a picture that was taken without a press."""
        self._record_advance_turn(advance, self._adapt_advance(advance))

    def _adapt_advance(self, advance: AdvanceCapture) -> TurnCapture:
        """Return the turn of a capture in advance, in the current game.

        The player who gave the command is not used: it may be the next player. If the tiles only answer an earlier
        question, no turn is recorded.
        """
        rests = self.background.advance_reader.list_rests(advance.turn.frame.time)
        turn = advance.adapt(replace(self.controller.turn_context, seat=None, rests=rests))
        if turn.decision is not None and not filter_plays(turn.decision.events):
            turn = replace(turn, decision=Decision(()))
        return turn

    def _record_advance_turn(self, advance: AdvanceCapture, turn: TurnCapture) -> None:
        """Record the turn of a capture in advance, and track the board from the location in its picture."""
        before, auto_turns = self.controller.game, self.background.auto_turns
        self.board_camera.use_advance(advance.reading)
        if turn.is_aligned:
            self.board_camera.confirm_location(turn.reading)
        self._record_turn(turn, Source.AUTOMATIC)
        if auto_turns is not None and len(self.controller.game.turns) > len(before.turns):
            auto_turns.note_end(advance, self.controller.game)

    def record_unended_play(self, seat: int | None, *, may_read_board: bool = False) -> None:
        """Record the play on the board if it is at rest and no button has ended its turn, and show a notice.

        Some commands call this before they run, because they come after the play: a pass is the next player's, and a
        challenge is about the play.

        - `seat`: the player who gave the command; None if this is not known or does not matter. The player of the new
          play neither passes after it nor challenges it, so nothing is recorded for that player.
        - `may_read_board`: True if the board may be read now, as at the end of a turn. It is read if it has changed
          since the last reading, or if it moves. Without a `seat`, a notice is shown if the board may show a play that
          cannot be recorded.
        """
        controller = self.controller
        if not controller.awaits_play:
            return
        advance, turn = self._find_unended_turn(may_read_board)
        if turn is None:
            return
        self.background.check_tiles_to_clear(turn.reading)
        if controller.evidence.to_clear or not self._shows_play_before(turn, seat):
            if may_read_board and seat is None and may_show_play(turn):
                controller.show_notice("play-unrecorded")
            return
        name = controller.game.players[controller.game.to_move]
        if advance is None:
            self._record_turn(turn)
        else:
            self._record_advance_turn(advance, turn)
        controller.show_notice("recorded-first", name)

    def settle_flip(self) -> None:
        """Let the recorded tiles decide whether pictures are mirrored, if the last reading could not.

        This is not done while a question is open: another answer may change the recorded tiles.
        """
        if self.controller.has_game and self.controller.question is None:
            self.board_camera.settle_flip(self.controller.game.board)

    def shows_unended_play(self, seat: int | None) -> bool:
        """Return True if the last reading shows a play that `record_unended_play` would record for `seat`."""
        _, turn = self._find_unended_turn(may_read_board=False)
        return self.controller.awaits_play and turn is not None and self._shows_play_before(turn, seat)

    def _find_unended_turn(self, may_read_board: bool) -> tuple[AdvanceCapture | None, TurnCapture | None]:
        """Return the capture of the board that was made in advance, and the turn that it shows in the current game.

        If the board is read now, the capture is None. Both are None if the board moves and is not read now, or if a
        turn was recorded since the capture.
        """
        is_readable = self.board_camera.is_live and not self.controller.game.tiles.by_hand_only
        if may_read_board and is_readable and not self._is_board_known():
            return None, self._read_turn()
        advance = self.background.advance_reader.get_unused()
        if advance is None or self.queue.state.sight is Sight.HAND_IN_VIEW:
            return None, None
        return advance, self._adapt_advance(advance)

    def _is_board_known(self) -> bool:
        """Return True if the board looks as it did when it was last read."""
        newest = self.background.advance_reader.get_newest()
        if newest is None or self.queue.state.sight is Sight.HAND_IN_VIEW:
            return False
        try:
            preview = self.board_camera.capture_preview()
        except CameraError:  # the camera monitor reports it
            return True
        return preview is not None and self.board_camera.is_unchanged(newest.reading, preview)

    def _read_turn(self) -> TurnCapture | None:
        """Take pictures and return the turn that they show; None if the camera fails or they are not read in time."""
        self._start_capture(replace(self.controller.turn_context, seat=None))
        try:
            return self.worker.wait(self.queue.run_pings)
        except CameraError as error:
            self.controller.show_problem(str(error), Trouble.CAMERA)
            return None
        finally:
            self.worker.stop()

    def _shows_play_before(self, turn: TurnCapture, seat: int | None) -> bool:
        """Return True if a turn shows an unrecorded play by another player than `seat`.

        The word list is not used: otherwise a notice would reveal that the words of the play are valid.
        """
        plays = filter_plays(turn.decision.events) if turn.decision else ()
        if not plays or plays[-1].player == seat:
            return False
        rests = self.background.advance_reader.list_rests(turn.frame.time)
        board, context = turn.reading.board, replace(self.controller.turn_context, words=None, seat=None, rests=rests)
        return board is not None and shows_unended_play(board, context)

    def _record_new_picture(self, turn: TurnCapture) -> TurnCapture:
        """Record a turn, unless its picture (from a phone or a folder) was already used for an earlier turn.

        Return the turn; if the picture was used, without its inference and decision.
        """
        controller, digest = self.controller, digest_image(turn.frame.image)
        game_number, turn_count = controller.log.number, len(controller.game.turns)
        if self.used_pictures.is_used(digest, game_number, turn_count):
            turn = reject_used_picture(turn)
        if turn.decision is not None:  # note the picture before the turn is stored: the power may fail in between
            self.used_pictures.add(digest, game_number, turn_count + 1)
        self._record_turn(turn)
        if turn.decision is not None and turn.decision.events:  # note it again: it may have shown two turns
            self.used_pictures.add(digest, game_number, len(controller.game.turns))
        return turn

    def _record_turn(self, turn: TurnCapture, source: Source = Source.PRESS) -> None:
        """Record a captured turn, and show its pictures, question and notices.

        If no board was found, only the picture and the reason are shown.
        """
        controller = self.controller
        images = make_turn_images(turn.encode_pictures(), turn.reading, turn.inference)
        board = turn.reading.board
        if turn.inference is None or turn.decision is None or board is None:
            controller.show_problem(join_messages(" ", turn.reading.problems), Trouble.BOARD)
            controller.show_images(images)
            return
        evidence = controller.evidence
        if not (evidence.board_colours and controller.game.turns):  # once for each game
            colours = sample_board_colours(turn) or evidence.board_colours
            controller.evidence = replace(evidence, board_colours=colours)
        if turn.ledger is not controller.ledger:  # the reading has answered an earlier question
            controller.show_notice("question-settled")
        if turn.decision.events:
            self.background.advance_reader.mark_used(turn)
        seat = controller.seat if source is Source.PRESS else None
        problems = self._select_problems(turn)
        controller.record_decision(
            turn.decision,
            source,
            seat,
            reading=board,
            history=turn.inference.history,
            images=images,
            crop=self._crop_question(turn),
            base=turn.ledger,
        )
        self.background.check_tiles_to_clear(turn.reading)
        if len(filter_plays(turn.decision.events)) > 1 and turn.decision.open_question is None:
            controller.show_notice("two-turns")
        controller.notices += tuple(map(Notice, problems))
        self.background.add_turn(turn, controller.ledger)

    def _select_problems(self, turn: TurnCapture) -> list[str]:
        """Return the problems of the picture that are shown to the players.

        Problems of the tile set are shown once in each game. A mirrored picture is mentioned only with a question,
        because it may be the reason for the question.
        """
        evidence, problems = self.controller.evidence, turn.reading.problems
        of_set = {key_of(problem) for problem in problems} & {FOREIGN_TILES, OTHER_SET, EXTRA_TILES}
        self.controller.evidence = replace(evidence, told=evidence.told | of_set)
        shown_keys = of_set - evidence.told
        if turn.decision is not None and turn.decision.open_question is not None:
            shown_keys.add(MIRRORED)
        return [problem for problem in problems if key_of(problem) in shown_keys]

    def _crop_question(self, turn: TurnCapture) -> bytes | None:
        """Return a picture of the squares in question, or None if the question is not about squares."""
        asked = turn.decision.open_question if turn.decision else None
        if asked is None or not asked.question.squares or turn.reading.corners is None:
            return None
        return crop_squares(turn.frame.image, turn.reading.corners, asked.question.squares)
