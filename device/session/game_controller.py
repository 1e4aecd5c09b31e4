"""The controller of the current game, which records what happens, shows questions and builds snapshots."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import EllipsisType
from typing import Protocol

from device.capture.turn_images import TurnImages
from device.session.clock import ClockKeeper
from device.session.evidence import EVIDENCE_NOTE, TableEvidence, load_evidence, write_evidence
from device.session.messages import (
    Notice,
    Question,
    Trouble,
    convert_engine_errors,
    format_sentence,
    make_finding_notice,
    make_notice,
    make_refusal,
)
from device.session.phases import TURN_PHASES
from device.session.picture_buffer import QUESTION_KIND, PictureBuffer
from device.session.questions import (
    find_asked_words,
    is_challenge,
    list_open_questions,
    make_finding_question,
    show_question,
)
from device.session.recording import (
    Record,
    add_evidence,
    add_record,
    answer_question,
    close_questions,
    make_question_history,
    make_record,
)
from device.session.snapshot import Moment, Phase, TableSnapshot
from device.session.snapshot_builder import build_snapshot
from device.session.turns.decision import Decision, TurnContext
from device.session.withdrawn_tiles import add_withdrawn_plays
from device.storage.errors import log_store_errors
from device.storage.game_log import GameLog
from device.storage.notes import load_note
from device.storage.store import TABLE_NOTES, GameStore
from engine.board import Square, square_name
from engine.events import (
    Act,
    Edit,
    GameStarted,
    PlayerTurn,
    PlayMade,
    PositionEntered,
    SquareCorrected,
    TurnCorrected,
    TurnEvent,
    TurnInserted,
)
from engine.game import Game
from engine.inference.history import EMPTY_HISTORY, ReadingHistory
from engine.ledger import (
    Alternative,
    Entry,
    Ledger,
    Shown,
    Source,
    Step,
    find_open_entries,
    find_shown_entry,
    make_relative,
)
from engine.lexicon import WordList, find_deciding_words
from engine.reading import BoardReading
from engine.rules import ChallengeRule
from engine.tiles import load_tile_set
from engine.validation import validate_turn
from engine.validation.open_questions import find_provisional_turns

ASKED_WORDS_NOTE = "asked-words"
"""Name of the table's note that contains the words about which the players were asked, as a JSON list."""


class Director(Protocol):
    """What the director of a hall has sent to the table; `device.hall.publishing.directed_table` implements it."""

    @property
    def pairing(self) -> tuple[str, ...]:
        """The players of the next game, the first one begins; empty without a pairing."""

    def must_wait(self, players: Sequence[str]) -> bool:
        """Return True if a game of these players waits until the director starts the round."""


MAX_QUICK_S = 10.0
"""Time after a press, in seconds, in which another press is probably by the same player, who changes the play.

Few players draw tiles, think and play in less time.
"""


class GameController:
    """Controller of the current game, with its log, its clock, the evidence of readings and the notices."""

    def __init__(
        self,
        store: GameStore,
        words: WordList | None,
        now: Callable[[], float],
        find_director: Callable[[], Director | None] = lambda: None,
    ) -> None:
        self.store = store
        """The store of all games."""
        self.find_director = find_director
        """Function that returns the director of the hall to which the table belongs, or None."""
        self._now = now
        self._log: GameLog | None = None
        self.game_before: tuple[GameLog, WordList | None] | None = None
        """The log and the word list of the game that was played before the current one; None if there was none."""
        self.clock_keeper: ClockKeeper | None = None
        """The keeper of the game's clock; None in the lobby."""
        self._shown_warnings: set[str] = set()
        self.colours: dict[str, str] = {}
        """The colours of all players in the store, by name."""
        self.words = words
        """The word list in use; None means that words are not checked."""
        self.pictures = PictureBuffer(store)
        """The last pictures, by the names that the snapshots contain."""
        self._last_press_time = -MAX_QUICK_S
        """The time (s) at which the last turn was recorded from a press."""
        self.seat: int | None = None
        """The player whose button or phone has ended the last turn; None for a shared button, and for the API."""
        self.notices: tuple[Notice, ...] = ()
        """Notices to show in the next snapshot."""
        self.evidence = TableEvidence()
        """What the readings of this game's board have shown."""
        self.wait_question: Question | None = None
        """The question whether to wait for a reading that takes long, or None."""
        warning = "the words of earlier questions are not known"
        self._asked_words = load_note(store, TABLE_NOTES, ASKED_WORDS_NOTE, frozenset[str], warning) or frozenset()
        self._pictured: dict[int, str] = {}
        """The names of the pictures of questions, by the number of their entry."""

    # The game

    @property
    def log(self) -> GameLog:
        """The log of the current game. Raises `AssertionError` if there is no game."""
        assert self._log is not None, "commands that need a game are refused without one"
        return self._log

    @property
    def ledger(self) -> Ledger:
        """The ledger of the current game."""
        return self.log.ledger

    @property
    def game(self) -> Game:
        """The current game, as it follows from the ledger. Raises `AssertionError` if there is no game."""
        return self.log.game

    @property
    def has_game(self) -> bool:
        """True if there is a current game; False in the lobby."""
        return self._log is not None

    def has_turn_since(self, moment: Moment) -> bool:
        """Return True if a turn was recorded in the current game after a moment."""
        if self._log is None or moment.game != self._log.number:
            return False
        later = (entry for entry in self.ledger.in_effect if entry.number >= moment.events)
        return any(isinstance(step, PlayerTurn) for entry in later for step in self.ledger.get_steps(entry))

    @property
    def readable_letters(self) -> tuple[str, ...]:
        """The letters of the game's tile set; those of the English set without a game that a camera can read."""
        is_readable = self.has_game and not self.game.tiles.by_hand_only
        return self.game.tiles.letters if is_readable else load_tile_set("en").letters

    @property
    def shown_entry(self) -> Entry | None:
        """The entry whose question is shown, or None."""
        if self._log is None:
            return None
        return find_shown_entry(self.ledger)

    @property
    def waits_for_answer(self) -> bool:
        """True if the game waits for the answer to the question that is shown: nothing counts before the answer."""
        if self.wait_question is not None:
            return True
        entry = self.shown_entry
        return entry is not None and bool(entry.doubt and entry.doubt.waits) and not self.ledger.get_steps(entry)

    @property
    def undecided_challenge(self) -> Entry | None:
        """The entry of a challenge whose question to the players is shown, or None."""
        entry = self.shown_entry
        return entry if entry is not None and is_challenge(entry) else None

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
        if self.wait_question or self.shown_entry:
            return Phase.QUESTION
        return Phase.CHALLENGE if self.game.challengeable_turn else Phase.TURN

    @property
    def awaits_play(self) -> bool:
        """True if a new play on the board may become a turn.

        This is also so in a pause, because the play may have been placed before the pause. No play may become a turn
        while players draw for first play, or if the game should end by the rules.
        """
        return self.phase in (*TURN_PHASES, Phase.PAUSED) and not self.game.drawing and self.game.end_due is None

    @property
    def turn_context(self) -> TurnContext:
        """The context for the explanation of the next reading."""
        history = make_question_history(self.ledger, self.evidence, self._asked_words)
        readings = self.evidence.history.without(self.ledger.undone)
        # A quick second press is probably by the same player, who changes the play.
        is_quick = self._now() - self._last_press_time < MAX_QUICK_S
        return TurnContext(self.ledger, self.words, readings, history, self.seat, is_quick=is_quick)

    def start_game(self, started: GameStarted, words: WordList | EllipsisType | None, colours: Sequence[str]) -> None:
        """Start a game, and delete the previous one if it has no turn. If `words` is `...`, the word list is kept.

        `colours` are the colours of the players in seat order. Raises `CommandRefusedError`, `StoreError`.
        """
        before = self._log
        self._save_asked_words()
        with convert_engine_errors():
            log, save_error = GameLog.begin_game(self.store, started, self._log)
        if before is not None and before.game.turns:
            self.game_before = before, self.words
        if not isinstance(words, EllipsisType):
            self.words = words
        self.save_colours(zip(started.players, colours, strict=False))
        self.open_log(log)
        director = self.find_director()
        self.set_paused(director is not None and director.must_wait(started.players))
        self.report_unsaved(save_error)
        if before is not None and not before.game.turns:
            before.discard()

    def open_log(self, log: GameLog) -> None:
        """Continue the game of a log, with the evidence of its readings."""
        self._log, self.wait_question = log, None
        loaded, colours = load_evidence(self.store, log.number, log.length), self.evidence.board_colours
        self.evidence = replace(loaded, board_colours=loaded.board_colours or colours)
        self._pictured = {}
        with log_store_errors("the pictures of the questions are not known"):
            for number, kind in self.store.list_pictures(log.number):
                if kind == QUESTION_KIND:
                    self._pictured[number] = _name_question_picture(log.number, number)
        self._shown_warnings.clear()
        self.clock_keeper = ClockKeeper(self.store, log, self._now)
        with log_store_errors("the colours of the players are not known"):
            self.colours = dict(self.store.list_players())

    @property
    def can_return(self) -> bool:
        """True if an undo goes back to the game before, because nothing is left to undo in this game."""
        return self.game_before is not None and self._log is not None and not self._log.can_undo

    # Recording

    def commit(self, *events: Act | Edit, seat: int | None = None) -> None:
        """Record events that are certain. Raises `CommandRefusedError`."""
        with convert_engine_errors():
            alternative = make_relative(self.game, events, seat)
        self.record(Record((alternative,), seat=seat))

    def commit_entered(self, events: Sequence[Act | Edit], *, seat: int | None = None) -> None:
        """Validate and record events that a player has entered; show the resulting notices and question.

        `seat` is the player whose phone ended a turn, None for other corrections. Raises `CommandRefusedError`.
        """
        context = replace(self.turn_context, reading_history=EMPTY_HISTORY, seat=seat)
        with convert_engine_errors():
            result = validate_turn(context.propose(self.game, tuple(events), Source.HAND))
        asked = make_finding_question(self.game, result.question) if result.question else None
        self.record_decision(Decision(result.events, asked), Source.HAND, seat)
        self.notices += tuple(map(make_finding_notice, result.notices))

    def record_decision(
        self,
        decision: Decision,
        source: Source,
        seat: int | None,
        *,
        reading: BoardReading | None = None,
        history: ReadingHistory | None = None,
        images: TurnImages | None = None,
        crop: bytes | None = None,
        base: Ledger | None = None,
        joins_last: bool = False,
    ) -> None:
        """Record the events of a decision about a turn, with its question.

        - `reading`: the reading of the board from which the decision was made. `history`: the last readings with it.
        - `images`, `crop`: the pictures of the turn, and of the squares in question.
        - `base`: the ledger with the answers that the reading gives to earlier questions.
        - `joins_last`: True if the entry belongs to the last group, so that one undo takes back both.

        Raises `CommandRefusedError`.
        """
        base = base or self.ledger
        with convert_engine_errors():
            record = make_record(base.game, decision, source, seat, reading)
            if reading is not None and history is not None:
                self.evidence = add_evidence(self.evidence, base.game, decision, reading, history)
        if not record.is_empty or base is not self.ledger:
            self.record(record, base=base, reading=reading, images=images, crop=crop, joins_last=joins_last)
        else:
            self.save_evidence()
            if images is not None:
                self.show_images(images)
        self.notices += decision.notices
        if decision.warning and (decision.warning not in self._shown_warnings or not decision.events):
            self._shown_warnings.add(decision.warning)  # warn only once: players may ignore the warning on purpose
            self.show_problem(decision.warning, Trouble.BOARD)

    def record(
        self,
        record: Record,
        *,
        base: Ledger | None = None,
        reading: BoardReading | None = None,
        images: TurnImages | None = None,
        crop: bytes | None = None,
        joins_last: bool = False,
    ) -> None:
        """Record what a command has contributed, as one group of entries.

        The group has `record` and what follows from it: the withdrawal of an unlisted play that the players have taken
        off, answers that corrections have given, and questions about new blanks.

        - `base`: the ledger to which the entries are added; None for the current one.
        - `reading`: the reading of the board that is the reason, or None.
        - `images`, `crop`: the pictures of the turn, and of the squares in question.
        - `joins_last`: True if the entries belong to the last group, so that one undo takes back both.

        Raises `CommandRefusedError`.
        """
        words = find_deciding_words(self.words)
        last_group = self.ledger.last_group
        group = last_group if joins_last and last_group is not None else self.ledger.next_group
        with convert_engine_errors():
            ledger, number = add_record(
                base or self.ledger, record, words, group=group, clocks=self._read_clocks(record.alternatives)
            )
            ledger = close_questions(ledger, self.words, reading, group=group, source=record.source)
        jpegs: dict[str, bytes] = {}
        entry = ledger.entries[number - 1] if number else None
        if images is not None:
            jpegs = images.list_jpegs()
            self.show_images(images.with_name(f"{self.log.number}-{number}") if number else images)
        if crop is not None and entry is not None and entry.doubt is not None:
            jpegs[QUESTION_KIND] = crop
            self._pictured[number] = _name_question_picture(self.log.number, number)
            self.pictures.add(self._pictured[number], crop)
        steps = [step for steps in record.alternatives[:1] for step in steps]
        if record.source is Source.HAND:
            self._note_entered(steps, ledger.game)
        elif record.source is Source.PRESS:
            self._last_press_time = self._now()
        self._continue_with(ledger, steps, pictures={number: jpegs} if jpegs and number else {})

    def _read_clocks(self, alternatives: Iterable[Alternative]) -> tuple[float, ...] | None:
        """Return the seconds that the players have used, if a turn may end; None in a game without a clock."""
        is_turn = any(isinstance(step, TurnEvent) for steps in alternatives for step in steps)
        return self.clock_keeper.read() if self.clock_keeper and is_turn else None

    def _continue_with(
        self,
        ledger: Ledger,
        steps: Iterable[object] = (),
        *,
        pictures: Mapping[int, Mapping[str, bytes]] | None = None,
    ) -> None:
        """Continue with a ledger that has new entries, and save them together with the evidence.

        `steps` are the acts and edits of the new entries, and `pictures` the pictures by the number of their entry.
        """
        before = self.game
        self._update_notices(before, ledger)
        if any(isinstance(step, PositionEntered) for step in steps):
            # The earlier readings are of a board without the tiles of the position.
            self.evidence = replace(self.evidence, history=EMPTY_HISTORY)
        to_clear = add_withdrawn_plays(self.evidence.to_clear, before, ledger.game, self.evidence.reading)
        self.evidence = replace(self.evidence, to_clear=to_clear)
        notes = {EVIDENCE_NOTE: write_evidence(self.evidence, 1 + len(ledger.entries))}
        self.report_unsaved(self.log.append(ledger, pictures or {}, notes))
        if self.store.picture_problem:
            self.show_notice("picture-not-saved", self.store.picture_problem, trouble=Trouble.STORE)

    def _update_notices(self, before: Game, ledger: Ledger) -> None:
        """Show a notice for each new or changed play that does not count, because it has an unlisted word.

        The play may stay on the board because a later play needs its tiles: then the notice says so.
        """
        if before.rules.challenge is not ChallengeRule.VOID:
            return
        known = {item.ref: item.act for item in before.items}
        game = ledger.game
        for item in game.items:
            if not isinstance(item.act, PlayMade) or not item.act.unlisted or known.get(item.ref) == item.act:
                continue
            turn = game.find_turn(item.ref)
            if turn is not None and not item.counts:
                key = "void-play-needed" if turn.stands else "void-play"
                values = game.players[turn.player], ", ".join(item.act.unlisted)
                self.show_notice(key, *values, trouble=Trouble.BOARD)

    def save_evidence(self) -> None:
        """Save the evidence alone, after a reading from which nothing was recorded."""
        if self._log is not None:
            with log_store_errors("the evidence of the readings is not kept"):
                self.store.save_note(self.log.number, EVIDENCE_NOTE, write_evidence(self.evidence, self.log.length))

    # Questions

    def answer(self, number: int, chosen: int, *, is_final: bool = True) -> None:
        """Apply an answer of the players to the question of an entry. Raises `CommandRefusedError`."""
        before = self.ledger
        entry = before.find_entry(number)
        if entry is None or entry.doubt is None or entry not in find_open_entries(before):
            raise make_refusal("nothing-asked")
        with convert_engine_errors():
            ledger = answer_question(before, entry, chosen, self.words, self.evidence.reading, is_final=is_final)
        self.evidence = self.evidence.confirm_squares(entry.doubt.squares)
        self._continue_with(ledger)

    def recall(self, entry: Entry) -> None:
        """Show the question of an earlier entry again, until something is recorded."""
        self._note_wish(Shown(entry.number, is_now=True))

    def defer(self, entry: Entry) -> None:
        """Let the players answer the question of an entry later."""
        self._note_wish(Shown(entry.number, is_now=False))

    def _note_wish(self, note: Shown) -> None:
        self._continue_with(self.ledger.record([((note,),)], group=self.ledger.last_group))

    def undo(self) -> None:
        """Undo what the last command has recorded (its group of entries), and restore the clock.

        Raises `CommandRefusedError` if there is nothing to undo.
        """
        self._move(self.ledger.undo)

    def redo(self) -> None:
        """Redo what was undone last (a group of entries), and restore the clock.

        Raises `CommandRefusedError` if there is nothing to redo.
        """
        self._move(self.ledger.redo)

    def _move(self, step: Callable[[], Ledger]) -> None:
        """Continue with the ledger that `step` returns after an undo or a redo, and save it."""
        before = self.game
        with convert_engine_errors():
            ledger = step()
        self.evidence = replace(self.evidence, to_clear=())
        notes = {EVIDENCE_NOTE: write_evidence(self.evidence, 1 + len(ledger.entries))}
        self.report_unsaved(self.log.append(ledger, {}, notes))
        if self.clock_keeper:
            self.clock_keeper.restore(before, self.game)

    def _note_entered(self, steps: Sequence[Step], after: Game) -> None:
        """Update the evidence by what players have entered (`steps`): they know the tiles for certain.

        `after` is the game after the steps.
        """
        events = [step for step in steps if isinstance(step, Act | Edit)]
        squares: set[Square] = set()
        for event in events:
            entered = event.event if isinstance(event, TurnCorrected | TurnInserted) else event
            if isinstance(entered, PlayMade):
                squares.update(entered.play.squares)
            elif isinstance(entered, SquareCorrected):
                squares.add(entered.square)
        history = self.evidence.history.with_entered_events(events, self.game, after)
        self.evidence = replace(self.evidence.confirm_squares(squares), history=history)

    def _save_asked_words(self) -> None:
        """Save the words about which the players were asked in this game, so that later games do not ask again."""
        words = self._asked_words | (find_asked_words(self.ledger) if self._log is not None else frozenset())
        if words != self._asked_words:
            self._asked_words = words
            with log_store_errors("the words of a question are not kept"):
                self.store.save_note(TABLE_NOTES, ASKED_WORDS_NOTE, json.dumps(sorted(words), ensure_ascii=False))

    def close(self) -> None:
        """Save what is not saved with each command: the clock, and the words of questions."""
        self._save_asked_words()
        if self.clock_keeper:
            self.clock_keeper.save()

    def save_colours(self, colours: Iterable[tuple[str, str]]) -> None:
        """Save the colours of players, given as (name, colour), for this game and later games."""
        with log_store_errors("the colours of the players are not kept"):
            for name, colour in colours:
                self.colours[name] = colour
                self.store.save_colour(name, colour)

    def set_paused(self, paused: bool) -> None:
        """Pause or continue the game."""
        if self.clock_keeper:
            self.clock_keeper.paused = paused

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
        self.evidence = replace(self.evidence, look=images.view)
        self.pictures.add(images.view.picture, images.crop)

    def update_clock(self) -> None:
        """Run the clock of the player to move, unless a pause, a question or the due end of the game stops it."""
        if self.clock_keeper:
            is_stopped = self.wait_question is not None or self.undecided_challenge is not None
            is_running = self.phase.in_play and self.game.end_due is None and not is_stopped
            self.clock_keeper.set_running(self.game.to_move if is_running else None)

    @property
    def question(self) -> Question | None:
        """The question that is shown, or None."""
        if self.wait_question is not None:
            return self.wait_question
        entry = self.shown_entry
        if entry is None:
            return None
        return show_question(self.ledger, entry, self.log.number, self._pictured.get(entry.number, ""))

    def build_snapshot(self, last: TableSnapshot) -> TableSnapshot:
        """Return the snapshot of the current game.

        If there is no game, return the snapshot `last` with the phase `LOBBY` and the current notices.
        """
        if self._log is None:
            return replace(last, phase=Phase.LOBBY, notices=self.notices)
        log = self.log
        game = log.game
        snapshot = build_snapshot(game, self.words, find_provisional_turns(log.ledger))
        return replace(
            snapshot,
            players=tuple(replace(one, colour=self.colours.get(one.name, "")) for one in snapshot.players),
            turns=tuple(
                replace(view, doubtful=self._find_doubtful(turn.placements) if turn.stands else ())
                for view, turn in zip(snapshot.turns, game.turns, strict=True)
            ),
            phase=self.phase,
            game=log.number,
            events=log.length,
            look=self.evidence.look,
            board_colours=self.evidence.board_colours,
            notices=(*self.notices, make_notice("totals-uncertain")) if log.ledger.unreadable else self.notices,
            question=self.question,
            open_questions=list_open_questions(log.ledger, log.number, self._pictured),
            clock=self.clock_keeper.view if self.clock_keeper else None,
            drawing=game.drawing,
            undo=log.can_undo or self.can_return,
            redo=log.can_redo,
        )

    def _find_doubtful(self, placements: Iterable[tuple[Square, object]]) -> tuple[str, ...]:
        return tuple(square_name(square) for square, _ in placements if square in self.evidence.doubtful)

    @property
    def has_unsaved(self) -> bool:
        """True if entries could not be saved to disk yet, or a game could not be deleted."""
        return self._log is not None and (self._log.has_unsaved or self.store.has_discarded_games)

    def save(self) -> bool:
        """Try to save what is not on disk yet; return True if nothing is left."""
        if self._log is not None:
            self._log.save()
        return not self.has_unsaved

    def remove_notices(self, key: str) -> None:
        """Remove the notices with the message `key`."""
        self.notices = tuple(notice for notice in self.notices if notice.key != key)

    def report_unsaved(self, save_error: str) -> None:
        """Show the reason why something could not be saved, unless it is empty."""
        if save_error:
            self.show_notice("not-saved", save_error, trouble=Trouble.STORE)


def _name_question_picture(game: int, number: int) -> str:
    return f"{game}-{number}-{QUESTION_KIND}"
