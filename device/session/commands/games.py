"""The commands of a game as a whole: start, draw for first play, pause, undo, end."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from types import EllipsisType
from typing import Annotated

from msgspec import Meta

from device.session.commands.base import (
    BoardRows,
    CommandContext,
    PlayerNumber,
    QuestionCommand,
    RackLetters,
    Symbol,
    TableCommand,
    parse_board,
    parse_rack,
)
from device.session.game_controller import GameController
from device.session.messages import make_refusal
from device.session.phases import Transition
from device.session.snapshot import Phase
from device.storage.errors import StoreError
from device.storage.game_log import GameLog
from device.storage.store import GameStore
from engine.events import FirstDrawn, GameEnded, GameStarted, PositionEntered
from engine.lexicon import WordList
from engine.messages import format_list
from engine.rules import MAX_PLAYERS

_log = logging.getLogger(__name__)


class DrawFirst(TableCommand, frozen=True):
    """Record the tiles that the players drew for first play, in seat order.

    `?` is a blank. For a player who does not draw this time, the text is empty.
    """

    name = "draw"
    transition = Transition.DRAW
    operation_id = "draw_first"
    schema_name = "DrawOrder"

    letters: Annotated[tuple[Symbol, ...], Meta(max_length=MAX_PLAYERS)]

    def run(self, context: CommandContext) -> None:
        """Record the draw; refuse the command unless there is exactly one tile for each player who has to draw."""
        controller = context.controller
        game = controller.game
        names, drawing = game.players, game.drawing or tuple(range(len(game.players)))
        if game.turns:
            raise make_refusal("not-drawing")
        letters = tuple(game.tiles.upper(letter.strip()) for letter in self.letters)
        if [seat for seat, letter in enumerate(letters) if letter] != list(drawing) or len(letters) > len(names):
            raise make_refusal("draw-each", ", ".join(names[seat] for seat in drawing))
        counts = game.tiles.counts
        if lacking := Counter(letter for letter in letters if letter in counts) - Counter(counts):
            raise make_refusal("drawn-too-many", ", ".join(lacking))
        controller.commit(FirstDrawn(letters + ("",) * (len(names) - len(letters))))
        game = controller.game
        if game.drawing:
            controller.show_notice("draw-again", format_list([names[player] for player in game.drawing]))
        else:
            controller.show_notice("begins", names[game.to_move])


class EnterPosition(TableCommand, frozen=True):
    """Start the game from a position: the tiles on the board, and the points so far in seat order.

    `rows` are 15 rows of 15 symbols in the format of `/board`. `player` is the player who has the next turn; null
    means the player to move now. If the bag is empty, `racks` may contain the letters on each player's rack, with an
    empty text for an unknown rack.
    """

    name = "position"
    transition = Transition.CORRECT
    operation_id = "enter_position"
    schema_name = "PositionOrder"

    rows: BoardRows
    totals: Annotated[tuple[Annotated[int, Meta(ge=0, le=4000)], ...], Meta(max_length=MAX_PLAYERS)]
    player: PlayerNumber | None = None
    racks: Annotated[tuple[RackLetters, ...], Meta(max_length=MAX_PLAYERS)] = ()

    def run(self, context: CommandContext) -> None:
        """Record the position; refuse a position that is impossible or is entered after the first turn."""
        controller = context.controller
        game = controller.game
        if game.is_over:
            raise make_refusal("ended")
        board = tuple(parse_board(self.rows, game.tiles).items())
        racks = tuple(parse_rack(letters, game.tiles) for letters in self.racks) if any(self.racks) else ()
        to_move = game.to_move if self.player is None else self.player
        controller.commit_entered([PositionEntered(board, self.totals, to_move, racks)])


class Pause(TableCommand, frozen=True):
    """Pause the game and stop the clocks."""

    name = "pause"
    keeps_turn = True
    transition = Transition.PAUSE
    operation_id = "pause"

    def run(self, context: CommandContext) -> None:
        """Stop the clocks until the pause ends."""
        context.controller.set_paused(True)


class EndPause(TableCommand, frozen=True):
    """Continue a paused game."""

    name = "go-on"
    keeps_turn = True
    transition = Transition.END_PAUSE
    operation_id = "go_on"

    def run(self, context: CommandContext) -> None:
        """Continue the game, and run the clock of the player to move."""
        context.controller.set_paused(False)


class StartClock(TableCommand, frozen=True):
    """Let a game of these players begin that has waited for the director of a hall."""

    keeps_turn = True
    transition = Transition.END_PAUSE

    players: tuple[str, ...]

    def run(self, context: CommandContext) -> None:
        """Start the clock; refuse the command in another game, or after a turn: then players have paused the game."""
        game = context.controller.game
        if game.turns or set(game.players) != set(self.players):
            raise make_refusal("not-paused")
        context.controller.set_paused(False)


class Undo(QuestionCommand, frozen=True):
    """Undo everything that the last press (of a button, or a command) recorded, even the end of a game.

    In a game in which nothing is left to undo, the command goes back to the game before.
    """

    name = "undo"
    keeps_turn = True
    transition = Transition.UNDO
    operation_id = "undo"

    def run(self, context: CommandContext) -> None:
        """Undo the last press, or the start of a game in which nothing is left to undo.

        If the players are asked whether to wait for a reading, only this question is closed. The command is refused if
        there is nothing to undo.
        """
        controller = context.controller
        if controller.wait_question is not None:
            controller.wait_question = None
            return
        if not (controller.can_return and _return_to_game_before(context)):
            controller.undo()
            context.turn_recorder.background.discard_turns_to_learn()


def _return_to_game_before(context: CommandContext) -> bool:
    """Delete the current game, in which nothing is left to undo, and continue the game before.

    Do nothing and return False if the players have deleted the game before. Raises `StoreError` without a change, and
    `CameraError` after the change.
    """
    controller = context.controller
    assert controller.game_before is not None, "`can_return` is True"
    empty, (log, words) = controller.log, controller.game_before
    is_saved = not log.has_unsaved
    stored = GameLog.load(controller.store, log.number) if is_saved else log
    controller.game_before = None
    if stored is None:  # the players have deleted the game
        return False
    log = stored  # its players may have been renamed
    controller.words = words
    controller.open_log(log)
    controller.show_notice("game-before", format_list(log.game.players))
    controller.report_unsaved(empty.discard())  # otherwise it would be the current game after a power cut
    context.turn_recorder.prepare_board()
    return True


class Redo(TableCommand, frozen=True):
    """Redo the press that was undone last."""

    name = "redo"
    keeps_turn = True
    transition = Transition.REDO
    operation_id = "redo"

    def run(self, context: CommandContext) -> None:
        """Redo the press that was undone last; refuse the command if there is no press to redo."""
        context.controller.redo()


class EndGame(TableCommand, frozen=True):
    """End the game and count unplayed letters."""

    name = "end-game"
    transition = Transition.END_GAME
    operation_id = "end_game"
    needs_recorded_play = True

    def run(self, context: CommandContext) -> None:
        """Record the end of the game; the snapshot then names the players whose racks are not known.

        The reason is the one that the rules give (such as an empty rack), or an agreement of the players. A play on the
        board whose turn was not ended yet is recorded first.
        """
        context.turn_recorder.record_unended_play(None, may_read_board=True)
        controller = context.controller
        due = controller.game.end_due
        controller.commit(GameEnded(due) if due else GameEnded())


class StartGame(TableCommand, frozen=True):
    """Start a new game. A running game is kept in the archive, unfinished.

    `words` is the word list; None means that words are not checked, and `...` that the current list is kept. `colours`
    are the new colours of the players.
    """

    name = "new-game"
    transition = Transition.START
    operation_id = "new_game"
    schema_name = "GameOrder"

    started: GameStarted
    words: WordList | EllipsisType | None = ...
    colours: tuple[str, ...] = ()

    def run(self, context: CommandContext) -> None:
        """Start the game and let the camera adjust to the board."""
        _leave_game(context)
        context.controller.start_game(self.started, self.words, self.colours)
        context.turn_recorder.prepare_board()


class PlayAgain(TableCommand, frozen=True):
    """Start a game with the settings of the last game; the next player in seat order begins.

    If the director of a hall has sent other players, they play, and the first of them begins.

    If there was no game, `default` is started. After a restart of the program, the newest game in the store counts as
    the last game, and the function `words_for` returns its word list.

    The games up to the number `outdated` were started before the settings of the table were changed. After such a game,
    `default` is started with the word list `default_words` (`...`: the current list is kept).
    """

    transition = Transition.START

    default: GameStarted
    words_for: Callable[[GameStarted], WordList | None] | None = None
    default_words: WordList | EllipsisType | None = ...
    outdated: int = 0

    def find_default(self, last: int) -> GameStarted | None:
        """Return the default game if the game with the number `last` is older than the settings, otherwise None."""
        return self.default if last <= self.outdated else None

    def run(self, context: CommandContext) -> None:
        """Start the game and let the camera adjust to the board."""
        _leave_game(context)
        controller = context.controller
        last = controller.log if controller.has_game else _load_newest_log(controller.store)
        if last is None or self.find_default(last.number):
            controller.start_game(self.default, self.default_words, ())
        else:
            started = last.game.start_event
            words = ... if controller.has_game or self.words_for is None else self.words_for(started)
            players, first = last.game.players, (last.game.first_player + 1) % len(started.players)
            director = controller.find_director()
            if director is not None and director.pairing and set(director.pairing) != set(players):
                players, first = director.pairing, 0
            controller.start_game(replace(started, players=players, first=first), words, ())
        context.turn_recorder.prepare_board()


class ResumeGame(TableCommand, frozen=True):
    """Resume the newest game in the store if it has not ended.

    An ended game is not resumed, but an undo in the next game goes back to it: it may have been ended by mistake, or
    unplayed letters and answers may be missing.

    The function `words_for` returns the word list with which the game was started; without this function, the current
    list is kept. If nothing was recorded in the game, the game `replacement` (if any) is started instead.
    """

    transition = Transition.RESUME

    words_for: Callable[[GameStarted], WordList | None] | None = None
    replacement: StartGame | None = None

    def run(self, context: CommandContext) -> None:
        """Load the game and let the camera adjust to the board.

        The command is refused if the store has no game, or if the newest game has ended.
        """
        controller, replacement = context.controller, self.replacement
        log = GameLog.load_newest(controller.store)
        if log is None:
            raise make_refusal("nothing-to-resume")
        if log.game.is_over:
            controller.game_before = log, self._find_words(controller, log)
            raise make_refusal("resume-ended")
        controller.words = self._find_words(controller, log)
        controller.open_log(log)
        if not log.game.turns:
            self._find_game_before(controller)
        if replacement and not log.ledger.entries and log.game.start_event != replacement.started:
            controller.start_game(replacement.started, replacement.words, replacement.colours)
        elif self.words_for and controller.words is None and (lexicon := log.game.start_event.lexicon):
            controller.show_notice("list-missing", lexicon)
        context.turn_recorder.prepare_board()

    def _find_game_before(self, controller: GameController) -> None:
        """Let an undo go back to the game before the current one, which may have been begun by mistake."""
        before = _load_newest_log(controller.store, before=controller.log.number)
        if before is not None and before.game.turns:
            controller.game_before = before, self._find_words(controller, before)

    def _find_words(self, controller: GameController, log: GameLog) -> WordList | None:
        return self.words_for(log.game.start_event) if self.words_for else controller.words


def _leave_game(context: CommandContext) -> None:
    """Record a play whose turn was not ended yet, and save the clock: Undo may go back to the game.

    In a pause, the board is not watched, so it is read now: the play may have been taken back.
    """
    controller = context.controller
    context.turn_recorder.record_unended_play(None, may_read_board=controller.phase is Phase.PAUSED)
    if keeper := controller.clock_keeper:
        keeper.save()


def _load_newest_log(store: GameStore, before: int | None = None) -> GameLog | None:
    """Return the log of the newest game in the store, or of the newest one before the game number `before`.

    Return None if there is no such game, or if it cannot be read.
    """
    try:
        return GameLog.load_newest(store, before=before)
    except StoreError as error:
        _log.warning("the last game is not used: %s", error)
        return None


GAME_COMMANDS = (
    DrawFirst,
    EnterPosition,
    Pause,
    EndPause,
    StartClock,
    Undo,
    Redo,
    EndGame,
    StartGame,
    PlayAgain,
    ResumeGame,
)
