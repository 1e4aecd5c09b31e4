"""Withdraw plays with invalid words, and restore them, in a game without challenges (`ChallengeRule.VOID`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from engine.blanks import find_invalid_words
from engine.errors import NotationError, RulesError
from engine.events import (
    BlankNamed,
    Correction,
    Event,
    PlayerTurn,
    PlayMade,
    PlayWithdrawn,
    TurnCorrected,
    TurnInserted,
)
from engine.game import Game
from engine.lexicon import WordList
from engine.rules import ChallengeRule
from engine.state import Turn, TurnKind


@dataclass(frozen=True, slots=True)
class VoidPlay:
    """A play with invalid words. `counts` is True if the play is kept because a later play needs its tiles."""

    player: int
    words: tuple[str, ...]
    counts: bool


def withdraw_void_plays(
    game: Game, events: Sequence[Event], words: WordList
) -> tuple[tuple[Event, ...], tuple[VoidPlay, ...]]:
    """Return the events with a withdrawal after each play that has invalid words, and a list of these plays.

    Only plays that the events add or change are withdrawn: players may have decided that an earlier invalid play
    counts, which removes its withdrawal. A play is also kept if a later play among the events would be illegal without
    its tiles. `game` is the game before the events, `words` the agreed word list. Raises `RulesError`, `NotationError`.
    """
    if _is_decision(game, events):
        return tuple(events), ()
    recorded: list[Event] = []
    found: list[VoidPlay] = []
    parts = list(_split_into_turns(events))
    for number, part in enumerate(parts):
        before, game = game, game.push(*part)
        recorded += part
        turns, turns_before = game.state.played_turns, before.state.played_turns
        is_changed = bool(turns) and (not turns_before or turns[-1].words != turns_before[-1].words)
        invalid = game.find_void_words(words) if is_changed else ()
        if not invalid:
            continue
        withdrawn: Event = PlayWithdrawn(turns[-1].player)
        if game.is_over:  # it belongs before the unplayed letters that players have entered
            withdrawn = TurnInserted(len(turns), withdrawn)
        later = [event for following in parts[number + 1 :] for event in following]
        counts = not _are_possible_without(game, game.push(withdrawn), later)
        found.append(VoidPlay(turns[-1].player, invalid, counts))
        if not counts:
            recorded.append(withdrawn)
            game = game.push(withdrawn)
    return tuple(recorded), tuple(found)


def find_void_turn(game: Game, words: WordList | None) -> Turn | None:
    """Return the play that was just withdrawn because `words` lacks one of its words, otherwise None.

    This happens only in a game without challenges. `words` is the agreed word list, or None.
    """
    turns = game.state.played_turns
    if game.rules.challenge is not ChallengeRule.VOID or not turns or turns[-1].kind is not TurnKind.WITHDRAWN:
        return None
    if turns[-1].target is None or words is None:
        return None
    turn = turns[turns[-1].target]
    return turn if find_invalid_words(turn.words, game.tiles, words) else None


def restore_void_play(game: Game, events: Sequence[Event], words: WordList) -> tuple[Event, ...]:
    """Return corrections, with the removal of the last withdrawal if its play is valid after them.

    The last play may have been withdrawn because an earlier tile was misread, which the corrections put right. Other
    events, and corrections of the withdrawal itself, are returned unchanged. `words` is the agreed word list. Raises
    `RulesError`, `NotationError`.
    """
    void, withdrawal_number = find_void_turn(game, words), len(game.state.played_turns) - 1
    if void is None or void.number != withdrawal_number - 1:
        return tuple(events)
    if not events or not all(_is_correction_before(event, withdrawal_number) for event in events):
        return tuple(events)
    restored = (TurnCorrected(withdrawal_number, None), *events)
    return restored if _is_last_play_valid(game.push(*restored), words) else tuple(events)


def restore_void_play_after_answer(before: Game, after: Game, words: WordList) -> Game:
    """Return the game after a late answer, without the last withdrawal if its play is valid after the answer.

    `before` is the game before the answer. The last play may have been withdrawn because of the tile that the answer
    corrects. Raises `RulesError`.
    """
    void, turns = find_void_turn(before, words), after.state.played_turns
    if void is None or len(turns) < 2 or turns[-1].kind is not TurnKind.WITHDRAWN or turns[-2].play != void.play:
        return after
    restored = after.push(TurnCorrected(len(turns) - 1, None))
    return restored if _is_last_play_valid(restored, words) else after


def _is_last_play_valid(game: Game, words: WordList) -> bool:
    return not find_invalid_words(game.state.played_turns[-1].words, game.tiles, words)


def _is_decision(game: Game, events: Sequence[Event]) -> bool:
    """Return True if the only event removes a withdrawal: the players have decided that the play counts."""
    if len(events) != 1 or not isinstance(events[0], TurnCorrected) or events[0].event is not None:
        return False
    return any(turn.number == events[0].turn and turn.kind is TurnKind.WITHDRAWN for turn in game.turns)


def _is_correction_before(event: Event, number: int) -> bool:
    """Return True for a correction that refers to no turn from the turn `number` on, and inserts no turn."""
    if isinstance(event, TurnInserted) or not isinstance(event, Correction):
        return False
    return isinstance(event, BlankNamed) or event.turn is None or event.turn < number


def _split_into_turns(events: Sequence[Event]) -> Iterator[list[Event]]:
    """Yield the events in parts, each of which begins with a turn of a player or with the first event."""
    part: list[Event] = []
    for event in events:
        if part and isinstance(event, PlayerTurn):
            yield part
            part = []
        part.append(event)
    if part:
        yield part


def _are_possible_without(kept: Game, withdrawn: Game, events: Sequence[Event]) -> bool:
    """Return True if the withdrawal of a play causes neither new defects nor errors in the later events.

    `events` are the later events. `kept` is the game with the play, `withdrawn` the game without the play.
    """
    try:
        for event in events:
            if isinstance(event, PlayMade) and withdrawn.check_play(event.play) & ~kept.check_play(event.play):
                return False
            kept, withdrawn = kept.push(event), withdrawn.push(event)
    except (NotationError, RulesError):
        return False
    return True
