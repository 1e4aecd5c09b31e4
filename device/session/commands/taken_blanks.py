"""Corrections of a square whose blank a player may have taken for its letter (`Rules.retake_blanks`)."""

from __future__ import annotations

from device.session.game_controller import GameController
from device.session.messages import format_sentence, make_question
from device.session.open_question import OpenQuestion
from engine.board import Square
from engine.descriptions import describe_events
from engine.events import BlankNamed, BlankTaken, Event, SquareCorrected
from engine.game import Game
from engine.tiles import Tile


def may_be_taken_blank(game: Game, square: Square, tile: Tile) -> bool:
    """Return True if a player may have taken the blank from a square for `tile`, which the players say is there.

    The blank of the last play was not taken yet, so it was misread.
    """
    old, last = game.board[square], game.last_turn
    if not game.rules.retake_blanks or game.is_over or old is None or not old.is_blank or tile.is_blank:
        return False
    is_of_last_play = last is not None and last.play is not None and square in last.play.squares
    return not is_of_last_play and (old.is_unnamed or old.letter == tile.letter)


def ask_about_taken_blank(controller: GameController, corrected: SquareCorrected, tile: Tile) -> None:
    """Record that the player to move has taken a blank for `tile`, and ask whether the tile was misread instead.

    Only if it was misread (`corrected`) does the earlier play score more. Raises `CommandRefusedError`.
    """
    game, square = controller.game, corrected.square
    taken: tuple[Event, ...] = (BlankTaken(game.to_move, square),)
    if game.board.tile(square).is_unnamed:
        taken = (BlankNamed(square, tile.letter), *taken)
    events: tuple[tuple[Event, ...], ...] = (taken, (corrected,))
    texts = [describe_events(game, game.push(*answer), answer) for answer in events]
    controller.commit_entered_events(taken)
    answers = tuple(map(format_sentence, texts))
    question = make_question("which-is-right", *texts, answers=answers, squares=(square,))
    controller.open_question = OpenQuestion(question, events)
