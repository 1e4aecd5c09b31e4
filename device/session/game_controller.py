"""The controller of the current game, which records events, holds the open question and builds snapshots."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from types import EllipsisType

from device.capture.turn_images import TurnImages
from device.session.clock import ClockKeeper
from device.session.messages import (
    Notice,
    Trouble,
    convert_engine_errors,
    format_sentence,
    list_deferred_questions,
    make_finding_notice,
    make_notice,
    update_names,
)
from device.session.open_question import OpenQuestion, make_finding_question
from device.session.phases import TURN_PHASES
from device.session.picture_buffer import PictureBuffer
from device.session.player_colours import PlayerColours
from device.session.question_memory import QuestionMemory
from device.session.question_note import QuestionNote, make_deferral
from device.session.snapshot import LookView, Phase, TableSnapshot
from device.session.snapshot_builder import build_snapshot
from device.session.turns.decision import Decision, TurnContext
from device.session.withdrawn_tiles import WithdrawnPlay, add_withdrawn_plays
from device.storage.game_log import GameLog
from device.storage.store import GameStore
from engine.events import Event, GameStarted, PositionEntered
from engine.game import Game
from engine.inference.history import EMPTY_HISTORY
from engine.lexicon import WordList, find_deciding_words
from engine.reading import BoardReading
from engine.rules import ChallengeRule
from engine.tiles import load_tile_set
from engine.validation import Source, validate_turn
from engine.validation.deferred_questions import find_deferred_questions
from engine.validation.late_answers import answer_deferred_question
from engine.validation.void_plays import restore_void_play, withdraw_void_plays


class GameController:
    """Controller of the current game, with its log, its clock, the open question and the notices for the players."""

    def __init__(self, store: GameStore, words: WordList | None, now: Callable[[], float]) -> None:
        self.store = store
        """The store of all games."""
        self._now = now
        self._log: GameLog | None = None
        self.game_before: tuple[GameLog, WordList | None] | None = None
        """The log and the word list of the game that was played before the current one; None if there was none."""
        self.clock_keeper: ClockKeeper | None = None
        """The keeper of the game's clock; None in the lobby."""
        self._shown_warnings: set[str] = set()
        self._look_view: LookView | None = None
        self.colours = PlayerColours(store)
        """Colours of all players in the store."""
        self.words = words
        """The word list in use; None means that words are not checked."""
        self.pictures = PictureBuffer(store)
        """The last pictures, by the names that the snapshots contain."""
        self.seat: int | None = None
        """The player whose button or phone gave the last command that did not keep the open question, or None.

        It is None for a shared button or phone, and for the API."""
        self.notices: tuple[Notice, ...] = ()
        """Notices to show in the next snapshot."""
        self.open_question: OpenQuestion | None = None
        """The question that the players have not answered yet, or None."""
        self.reading_history = EMPTY_HISTORY
        """Evidence from earlier readings of this game's board."""
        self.board_colours: tuple[tuple[str, str], ...] = ()
        """The colours of the board by premium, in the format of `TableSnapshot.board_colours`."""
        self.memory = QuestionMemory(store)
        """The questions that the players were asked before."""
        self._question_note = QuestionNote(store)
        self.last_reading: BoardReading | None = None
        """The last reading of this game's board; None before the first one."""
        self.tiles_to_clear: tuple[WithdrawnPlay, ...] = ()
        """The withdrawn plays whose tiles the players must remove."""

    # The game

    @property
    def log(self) -> GameLog:
        """The log of the current game. Raises `AssertionError` if there is no game."""
        assert self._log is not None, "commands that need a game are refused without one"
        return self._log

    @property
    def game(self) -> Game:
        """The current game."""
        return self.log.game

    @property
    def has_game(self) -> bool:
        """True if there is a current game; False in the lobby."""
        return self._log is not None

    @property
    def readable_letters(self) -> tuple[str, ...]:
        """The letters of the game's tile set; those of the English set without a game that a camera can read."""
        is_readable = self.has_game and not self.game.tiles.by_hand_only
        return self.game.tiles.letters if is_readable else load_tile_set("en").letters

    @property
    def phase(self) -> Phase:
        """The phase of the session between commands."""
        if self._log is None:
            return Phase.LOBBY
        if self.game.is_over:
            return Phase.ENDED
        if self.clock_keeper and self.clock_keeper.paused:
            return Phase.PAUSED
        if self.game.drawing:
            return Phase.DRAWING
        if self.open_question:
            return Phase.QUESTION
        return Phase.CHALLENGE if self.game.challengeable_turn else Phase.TURN

    @property
    def awaits_play(self) -> bool:
        """True if a new play on the board may become a turn, also in a pause: it may have been placed before.

        No play may become a turn while players draw, or if the game should end by the rules.
        """
        return self.phase in (*TURN_PHASES, Phase.PAUSED) and not self.game.drawing and self.game.end_due is None

    @property
    def turn_context(self) -> TurnContext:
        """The context for the validation of the next turn: word list, reading history, earlier questions and seat."""
        return TurnContext(self.words, self.reading_history, self.memory.history, self.seat)

    def start_game(self, started: GameStarted, words: WordList | EllipsisType | None, colours: Sequence[str]) -> None:
        """Start a game, and delete the previous one if it has no turn. If `words` is `...`, the word list is kept.

        `colours` are the colours of the players in seat order. Raises `CommandRefusedError`, `StoreError`.
        """
        before = self._log
        with convert_engine_errors():
            log, save_error = GameLog.begin_game(self.store, started, self._log)
        if before is not None and before.game.turns:
            self.game_before = before, self.words
        if not isinstance(words, EllipsisType):
            self.words = words
        self.colours.save(zip(started.players, colours, strict=False))
        self.open_log(log)
        self._report_unsaved(save_error)
        if before is not None and not before.game.turns:
            before.discard()

    def open_log(self, log: GameLog) -> None:
        """Continue the game of a log, with the question that was open when the program stopped."""
        self.notices += self._question_note.restore(log, self.pictures)
        self._log, self.reading_history, self._look_view = log, EMPTY_HISTORY, None
        self.last_reading, self.tiles_to_clear = None, ()
        self.memory.start_game(log)
        self._shown_warnings.clear()
        self.clock_keeper = ClockKeeper(self.store, log, self._now)
        self.colours.load()

    @property
    def can_return(self) -> bool:
        """True if nothing is left to undo in this game, so that its start can be undone to continue the game before."""
        return self.game_before is not None and self._log is not None and not self._log.can_undo

    # Methods for commands

    def commit_events(self, events: Sequence[Event], images: TurnImages | None = None) -> tuple[Event, ...]:
        """Append the events of a press (one command) to the log, and store the `images` of the turn.

        Return the events with the withdrawals of plays that do not count.
        """
        log = self.log
        events = self.add_void_withdrawals(self.game, events)
        timed = self._add_clock_events(events)
        if images:
            stored_name = f"{log.number}-{log.length + len(timed) - 1}"
            self.show_images(images.with_name(stored_name) if events else images)
        if events:
            self._record(timed, lambda: log.append_press(timed, images.list_jpegs() if images else {}))
            if closed := self.memory.close_corrected_questions(self.game):
                self.extend_last_press(closed)
        return events

    def ask_question(self, decision: Decision, reading: BoardReading | None = None) -> None:
        """Open the question of a decision about `reading`, and show the notices of the decision.

        If the decision records events, a warning that was shown before is not repeated.
        """
        self.open_question = replace(decision.open_question, reading=reading) if decision.open_question else None
        self.memory.add_decision(decision, self.game, reading)
        self.notices += decision.notices
        if decision.warning and (decision.warning not in self._shown_warnings or not decision.events):
            self._shown_warnings.add(decision.warning)  # players may have ignored the warning on purpose
            self.show_problem(decision.warning, Trouble.BOARD)

    def leave_question(self, *, keep: int = 0) -> None:
        """Close the open question, because the players go on without answering it.

        An answer that they chose at the panel before is final, and the question that follows from it is deferred.
        Without such an answer, the question itself is deferred. `keep` has the meaning of `defer_question`.
        """
        open_question = self.open_question
        if open_question is not None and open_question.question.chosen:
            self.open_question = open_question.following
            if open_question.deferred:
                self.answer_deferred_question(open_question.deferred, open_question.question.chosen)
        self.defer_question(keep=keep)

    def defer_question(self, *, keep: int = 0) -> None:
        """Close the open question. If its turn counts provisionally, store the question for a later answer.

        To make room, the oldest deferred question may be closed, but not the one with the number `keep`. If no answer
        is recorded, show a notice instead. A question about a pass is not stored: only
        `QuestionHistory.unanswered_pass` remains, for a play that directly follows.
        """
        open_question, self.open_question = self.open_question, None
        if open_question is not None and not open_question.is_answer_recorded:
            self.show_notice("question-closed", open_question.question.text, trouble=Trouble.BOARD)
        elif open_question is not None and (events := make_deferral(self.log, open_question, keep=keep)):
            self.extend_last_press(events)

    def save_open_question(self) -> None:
        """Save to disk the open question, the doubtful letters and what is in doubt about the last press."""
        if self._log is not None:
            self.memory.doubts.save()
            self.memory.save_last_press(self._log.number)
            self._question_note.save(self._log, self.open_question, self.pictures)

    def answer_deferred_question(self, number: int, answer: int, *, stays_open: bool = False) -> None:
        """Apply an answer to the deferred question with this number. Raises `CommandRefusedError`."""
        with convert_engine_errors():
            words, has_own_buttons = find_deciding_words(self.words), self.memory.has_own_buttons
            game = answer_deferred_question(
                self.game, number, answer, stays_open=stays_open, words=words, has_own_buttons=has_own_buttons
            )
        self.change_history(game)
        self.reading_history = EMPTY_HISTORY

    def change_history(self, game: Game) -> None:
        """Replace the events of the current game with those of `game`, so that one *Undo* takes back the change.

        `game` differs from the current game only by the answers to deferred questions.
        """
        deferred_numbers = {question.number for question in find_deferred_questions(game)}
        for question in find_deferred_questions(self.game):
            if question.number not in deferred_numbers:
                self.memory.confirm_squares(question.squares)
        self._report_unsaved(self.log.append_press(self.log.find_events_to(game)))

    def _add_clock_events(self, events: Sequence[Event]) -> tuple[Event, ...]:
        return (*(self.clock_keeper.make_clock_events(events) if self.clock_keeper else ()), *events)

    def add_void_withdrawals(self, game: Game, events: Sequence[Event]) -> tuple[Event, ...]:
        """Return the events with the withdrawals of plays that have invalid words, and show a notice for each play.

        Corrections after which the last play is valid remove its withdrawal. Plays are only withdrawn under
        `ChallengeRule.VOID`. `game` is the game before the events. Raises `CommandRefusedError`.
        """
        words = find_deciding_words(self.words)
        if words is None or game.rules.challenge is not ChallengeRule.VOID:
            return tuple(events)
        with convert_engine_errors():
            recorded, plays = withdraw_void_plays(game, restore_void_play(game, events, words), words)
        for play in plays:
            key = "void-play-needed" if play.counts else "void-play"
            values = game.players[play.player], ", ".join(play.words)
            self.show_notice(key, *values, trouble=Trouble.BOARD)
        return recorded

    def extend_last_press(self, events: Sequence[Event]) -> None:
        """Add events to the last press, so that they are undone with it."""
        self._report_unsaved(self.log.extend_last_press(events))

    def replace_last_press(self, events: Sequence[Event]) -> None:
        """Record events in place of the last press; if `events` is empty, undo the last press."""
        if events:
            self._record(events, lambda: self.log.replace_last_press(events))
        else:
            self.move_in_history(self.log.undo)

    def _record(self, events: Sequence[Event], write: Callable[[], str]) -> None:
        """Record events by calling `write`, and remember the squares from which players must remove tiles."""
        with convert_engine_errors():
            self._report_unsaved(write())
        if self.store.picture_problem:
            self.show_notice("picture-not-saved", self.store.picture_problem, trouble=Trouble.STORE)
        if any(isinstance(event, PositionEntered) for event in events):
            self.reading_history = EMPTY_HISTORY  # its evidence is about a board without these tiles
        self.tiles_to_clear = add_withdrawn_plays(self.tiles_to_clear, self.game, events, self.last_reading)

    def set_paused(self, paused: bool) -> None:
        """Pause or continue the game."""
        if self.clock_keeper:
            self.clock_keeper.paused = paused

    def move_in_history(self, step: Callable[[], str]) -> None:
        """Undo or redo a press by calling `step`, and restore the clock. Raises `CommandRefusedError`."""
        before = self.game
        with convert_engine_errors():
            self._report_unsaved(step())
        if self.clock_keeper:
            self.clock_keeper.restore_press(before, self.game)
        self.reading_history, self.tiles_to_clear = EMPTY_HISTORY, ()
        self.memory.start_game(self.log)

    def commit_entered_events(self, events: Sequence[Event]) -> None:
        """Validate and record events that a player has entered; show the resulting notices and question."""
        context = replace(self.turn_context, reading_history=EMPTY_HISTORY)
        with convert_engine_errors():
            result = validate_turn(context.propose(self.game, tuple(events), Source.HAND))
        open_question = make_finding_question(self.game, result.question) if result.question else None
        before = self.game
        self.commit_events(result.events)
        self.note_entered_events(result.events, before)
        self.notices += tuple(map(make_finding_notice, result.notices))
        self.open_question = open_question or self.open_question

    def note_entered_events(self, events: Sequence[Event], before: Game) -> None:
        """Handle recorded events that players have entered, who know the tiles; `before` is the game before them."""
        self.reading_history = self.reading_history.with_entered_events(events, before, self.game)
        self.memory.confirm_entered(events)

    # Notices, pictures and snapshots

    def show_notice(self, key: str, *values: str, trouble: Trouble = Trouble.NONE) -> None:
        """Show a notice with the message `key` in the next snapshot; `values` replace its placeholders."""
        self.notices += (make_notice(key, *values, trouble=trouble),)

    def show_problem(self, text: str, trouble: Trouble) -> None:
        """Show the text of a problem as a notice in the next snapshot, unless it is empty."""
        if text:
            self.notices += (Notice(format_sentence(text), trouble),)

    def show_images(self, images: TurnImages) -> None:
        """Show the images of a turn in the next snapshot."""
        self._look_view = images.view
        self.pictures.add(images.view.picture, images.crop)

    def update_clock(self) -> None:
        """Run the clock of the player to move, unless a pause, a question or the due end of the game stops it."""
        if self.clock_keeper:
            is_asked = self.open_question is not None and self.open_question.stops_clock
            is_running = self.phase.in_play and self.game.end_due is None and not is_asked
            self.clock_keeper.set_running(self.game.to_move if is_running else None)

    def build_snapshot(self, last: TableSnapshot) -> TableSnapshot:
        """Return the snapshot of the current game.

        If there is no game, return the snapshot `last` with the phase `LOBBY` and the current notices.
        """
        if self._log is None:
            return replace(last, phase=Phase.LOBBY, notices=self.notices)
        log = self.log
        snapshot = build_snapshot(log.game, self.words)
        return replace(
            snapshot,
            players=tuple(map(self.colours.colour_player, snapshot.players)),
            turns=self.memory.doubts.mark_turns(log.game, snapshot.turns),
            phase=self.phase,
            game=log.number,
            events=log.length,
            look=self._look_view,
            board_colours=self.board_colours,
            notices=self.notices,
            question=self.open_question.view if self.open_question else None,
            open_questions=tuple(
                update_names(log.game, self.pictures.find_crop(deferred))
                for deferred in list_deferred_questions(log.game)
            ),
            clock=self.clock_keeper.view if self.clock_keeper else None,
            drawing=log.game.drawing,
            undo=log.can_undo or self.can_return,
            redo=log.can_redo,
        )

    @property
    def has_unsaved(self) -> bool:
        """True if events could not be saved to disk yet, or a game could not be deleted."""
        return self._log is not None and (self._log.has_unsaved or self.store.has_discarded_games)

    def save(self) -> bool:
        """Try to save the events that are not on disk yet; return True if all events are on disk."""
        return self._log is None or not self._log.save()

    def remove_notices(self, key: str) -> None:
        """Remove the notices with the message `key`."""
        self.notices = tuple(notice for notice in self.notices if notice.key != key)

    def _report_unsaved(self, save_error: str) -> None:
        if save_error:
            self.show_notice("not-saved", save_error, trouble=Trouble.STORE)
