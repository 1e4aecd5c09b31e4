"""Functions that answer the players' questions about words, letters for a blank, and plays before they count."""

from __future__ import annotations

from dataclasses import dataclass

from device.session.commands.turn_corrections import TurnCommand
from device.session.messages import convert_engine_errors, format_sentence, make_finding_notice, make_refusal
from device.session.questions import make_finding_question
from device.session.snapshot import Phase, TableSnapshot, TurnView
from device.session.snapshot_builder import build_snapshot
from engine.blanks import find_blank_letters
from engine.board import parse_square
from engine.events import PlayMade
from engine.game import Game
from engine.ledger import Note, Source
from engine.lexicon import WordList, can_decide_challenge, find_deciding_words, is_listed
from engine.plays import Play
from engine.validation import Proposal, validate_turn
from engine.validation.void_plays import judge_alternatives


def look_up(state: TableSnapshot, words: WordList | None, word: str) -> bool | None:
    """Return True if the word list contains the word, or None if there is no authoritative list.

    Raises `CommandRefusedError` if the rules forbid looking up words now.
    """
    if state.phase not in (Phase.LOBBY, Phase.ENDED) and not state.open_dictionary:
        raise make_refusal("closed-dictionary")
    return is_listed(word, words) if can_decide_challenge(words) else None


def list_blank_letters(game: Game, words: WordList | None, square: str) -> tuple[str, ...]:
    """Return the letters that the blank on a square may stand for.

    If words may be looked up, only letters that form valid words are returned. Raises `CommandRefusedError` if `square`
    is not the name of a square.
    """
    if words is None or not game.rules.open_dictionary:
        return game.tiles.letters
    with convert_engine_errors():
        return find_blank_letters(game.state, parse_square(square), words.__contains__)


@dataclass(frozen=True, slots=True)
class PlayPreview:
    """A play as it would be recorded: its line in the score sheet, and its problems as sentences."""

    turn: TurnView
    problems: tuple[str, ...] = ()


def preview_correction(game: Game, words: WordList | None, command: TurnCommand) -> TableSnapshot:
    """Return the score sheet and the totals after a correction of the score sheet, without recording it.

    Raises `CommandRefusedError` for an impossible correction.
    """
    with convert_engine_errors():
        [steps] = judge_alternatives(game, [tuple(command.make_events(game))], find_deciding_words(words))
        return build_snapshot(game.push(*(step for step in steps if not isinstance(step, Note))), words)


def preview_play(game: Game, words: WordList | None, at: str, word: str) -> PlayPreview:
    """Return the preview of a play by the player to move, with its score; `at` and `word` are in GCG notation.

    Raises `CommandRefusedError` for a play that does not fit the board.
    """
    with convert_engine_errors():
        event = PlayMade(game.to_move, Play.from_gcg(game.board, at, word, game.tiles))
        after = game.push(event)
    result = validate_turn(Proposal(game, (event,), Source.HAND, words=words))
    problems = tuple(make_finding_notice(finding).text for finding in result.notices)
    if result.question:
        problems += (make_finding_question(game, result.question).question.text,)
    return PlayPreview(build_snapshot(after, words).turns[-1], tuple(map(format_sentence, problems)))
