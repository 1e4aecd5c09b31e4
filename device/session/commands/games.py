"""The commands of a game as a whole: start, draw for first play, pause, undo, end."""

from __future__ import annotations

from collections.abc import Callable
from types import EllipsisType
from typing import Annotated

from msgspec import Meta

from device.session.commands.base import MAX_PLAYERS, CommandContext, Symbol, TableCommand
from device.session.messages import make_notice, make_refusal
from device.session.phases import Command
from device.session.snapshot import WordList
from engine.events import FirstDrawn, GameEnded, GameStarted
from engine.messages import format_list


class DrawFirst(TableCommand, frozen=True):
    """Record the tiles drawn for first play, in seat order.

    `?` is a blank; the text of a player who does not draw now is empty.
    """

    name = "draw"
    transition = Command.DRAW
    operation_id = "draw_first"
    schema_name = "DrawOrder"

    letters: Annotated[tuple[Symbol, ...], Meta(max_length=MAX_PLAYERS)]

    def run(self, context: CommandContext) -> None:
        """Record the draw; refuse it unless it has one tile of each player who draws now."""
        controller = context.controller
        game = controller.game
        names, drawing = game.players, game.drawing or tuple(range(len(game.players)))
        if game.turns:
            raise make_refusal("not-drawing")
        letters = tuple(game.tiles.upper(letter.strip()) for letter in self.letters)
        if [seat for seat, letter in enumerate(letters) if letter] != list(drawing) or len(letters) > len(names):
            raise make_refusal("draw-each", ", ".join(names[seat] for seat in drawing))
        controller.commit_events([FirstDrawn(letters + ("",) * (len(names) - len(letters)))])
        game = controller.game
        again = format_list([names[player] for player in game.drawing])
        notice = make_notice("draw-again", again) if again else make_notice("begins", names[game.to_move])
        controller.notices += (notice,)


class Pause(TableCommand, frozen=True):
    """Pause the game and stop the clocks."""

    name = "pause"
    transition = Command.PAUSE
    operation_id = "pause"
    keeps_question = True

    def run(self, context: CommandContext) -> None:
        """Stop the clocks until the pause ends."""
        context.controller.set_paused(True)


class EndPause(TableCommand, frozen=True):
    """Continue a paused game."""

    name = "go-on"
    transition = Command.END_PAUSE
    operation_id = "go_on"
    keeps_question = True

    def run(self, context: CommandContext) -> None:
        """Run the clock of the player to move again."""
        context.controller.set_paused(False)


class Undo(TableCommand, frozen=True):
    """Undo the last press with all its events, including the end of a game.

    While the players decide a challenge, this cancels the challenge instead.
    """

    name = "undo"
    transition = Command.UNDO
    operation_id = "undo"
    keeps_question = True

    def run(self, context: CommandContext) -> None:
        """Cancel a challenge that the players decide, otherwise undo the last press; refuse it if there is none."""
        controller = context.controller
        question, controller.open_question = controller.open_question, None
        if question is None or not question.stops_clock:
            controller.move_in_history(controller.log.undo)


class Redo(TableCommand, frozen=True):
    """Redo the press that was undone last."""

    name = "redo"
    transition = Command.REDO
    operation_id = "redo"

    def run(self, context: CommandContext) -> None:
        """Redo the press undone last; refuse it if there is none."""
        context.controller.move_in_history(context.controller.log.redo)


class EndGame(TableCommand, frozen=True):
    """End the game and count unplayed letters."""

    name = "end-game"
    transition = Command.END_GAME
    operation_id = "end_game"

    def run(self, context: CommandContext) -> None:
        """Record the end, for the reason that the rules give now or by agreement, and ask for unknown racks."""
        controller = context.controller
        due = controller.game.end_due
        controller.commit_events([GameEnded(due) if due else GameEnded()])
        if racks_wanted := controller.game.racks_wanted:
            names = format_list([controller.game.players[player] for player in racks_wanted])
            controller.notices += (make_notice("racks-wanted", names),)


class StartGame(TableCommand, frozen=True):
    """Start a new game. A running game is kept in the archive, unfinished.

    `words` is the word list (None: words are not checked; `...`: the current list), `colours` are the colours of the
    players from now on.
    """

    name = "new-game"
    transition = Command.START
    operation_id = "new_game"
    schema_name = "GameOrder"

    started: GameStarted
    words: WordList | EllipsisType | None = ...
    colours: tuple[str, ...] = ()

    def run(self, context: CommandContext) -> None:
        """Start the game and let the camera adjust to the board."""
        context.controller.start_game(self.started, self.words, self.colours)
        context.prepare_board()


class PlayAgain(TableCommand, frozen=True):
    """Start a game with the settings of the last one and the next player first; `default` if there was none.

    After a restart the last game is the newest one in the store; `words_for` finds its word list.
    """

    transition = Command.START

    default: GameStarted
    words_for: Callable[[GameStarted], WordList | None] | None = None

    def run(self, context: CommandContext) -> None:
        """Start the game and let the camera adjust to the board."""
        context.controller.start_next_game(self.default, self.words_for)
        context.prepare_board()


class ResumeGame(TableCommand, frozen=True):
    """Resume the newest game of the store if it has not ended.

    `words_for` finds the word list that the game was started with; without it the current list is kept. A game without
    a turn is replaced by `replacement`, if there is one.
    """

    transition = Command.RESUME

    words_for: Callable[[GameStarted], WordList | None] | None = None
    replacement: StartGame | None = None

    def run(self, context: CommandContext) -> None:
        """Load the game and let the camera adjust; refuse it if there is none that goes on."""
        controller, new = context.controller, self.replacement
        controller.resume_game(self.words_for)
        if new and not controller.game.turns and controller.game.start_event != new.started:
            controller.replace_game(new.started, new.words, new.colours)
        context.prepare_board()


GAME_COMMANDS = (DrawFirst, Pause, EndPause, Undo, Redo, EndGame, StartGame, PlayAgain, ResumeGame)
