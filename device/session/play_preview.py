"""Preview of a play that a player enters: its words, score and problems, before it is recorded."""

from __future__ import annotations

from dataclasses import dataclass

from device.session.game_controller import GameController
from device.session.messages import (
    convert_engine_errors,
    format_sentence,
    make_finding_notice,
    make_finding_question,
    make_refusal,
)
from device.session.snapshot import TurnView, WordList, build_snapshot
from engine.events import PlayMade
from engine.game import Game
from engine.plays import Play
from engine.validation import Proposal, Source, validate_turn


@dataclass(frozen=True, slots=True)
class PlayPreview:
    """A play as it would be recorded: its line in the score sheet, and its problems as sentences."""

    turn: TurnView
    problems: tuple[str, ...] = ()


def preview_entry(controller: GameController, at: str, word: str) -> PlayPreview:
    """Return the preview of a play in the current game; see `preview_play`. Raises `CommandRefusedError`."""
    if not controller.has_game:
        raise make_refusal("no-game")
    return preview_play(controller.game, controller.words, at, word)


def preview_play(game: Game, words: WordList | None, at: str, word: str) -> PlayPreview:
    """Return the preview of a play by the player to move, with its score; `at` and `word` are in GCG notation.

    Raises `CommandRefusedError` for a play that does not fit the board.
    """
    with convert_engine_errors():
        event = PlayMade(game.to_move, Play.from_gcg(game.board, at, word, game.tiles))
        after = game.push(event)
    verdict = validate_turn(Proposal(game, (event,), Source.HAND, words=words))
    problems = tuple(make_finding_notice(finding).text for finding in verdict.notices)
    if verdict.question:
        problems += (make_finding_question(game, verdict.question).question.text,)
    return PlayPreview(build_snapshot(after, words).turns[-1], tuple(map(format_sentence, problems)))
