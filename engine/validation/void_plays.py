"""What the agreed word list says about plays in a game in which invalid words do not count (`ChallengeRule.VOID`).

The verdict is recorded with the play, so that the totals do not depend on the list of a later day. `engine.transitions`
takes off a play with unlisted words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from engine.blanks import find_invalid_words
from engine.errors import NotationError, RulesError
from engine.events import Act, PlayJudged, PlayMade, TurnInserted
from engine.game import Game
from engine.ledger import Alternative, Entry, Step, try_alternative
from engine.lexicon import WordList
from engine.rules import ChallengeRule
from engine.state import Turn, TurnKind


def judge_alternatives(
    game: Game, alternatives: Sequence[Alternative], words: WordList | None
) -> tuple[Alternative, ...]:
    """Return the alternatives of the next entry with the unlisted words of the plays that they make or change.

    `game` is the game before the entry, `words` the agreed word list or None. An alternative that is not possible is
    returned unchanged.
    """
    entry = Entry(game.entry, 0, tuple(alternatives))
    return tuple(_judge_alternative(game, entry, number, words) for number in range(len(alternatives)))


def _judge_alternative(game: Game, entry: Entry, number: int, words: WordList | None) -> Alternative:
    """Return alternative `number` of an entry, with a note at each play which of its words are not in the word list.

    The entry's own plays have this note themselves. For earlier plays that the entry changes, edits are added.
    """
    try:
        verdicts = judge_changed_plays(game, try_alternative(game, entry, number), words)
    except (NotationError, RulesError):
        return entry.alternatives[number]
    unlisted = {verdict.of: verdict.unlisted for verdict in verdicts}
    refs, steps = entry.list_refs(number), list[Step]()
    for step in entry.alternatives[number]:
        ref = next(refs) if isinstance(step, Act | TurnInserted) else None
        steps.append(
            replace(step, unlisted=unlisted.pop(ref)) if isinstance(step, PlayMade) and ref in unlisted else step
        )
    return (*steps, *(PlayJudged(*verdict) for verdict in unlisted.items()))


def judge_changed_plays(before: Game, after: Game, words: WordList | None) -> tuple[PlayJudged, ...]:
    """Return the unlisted words of the plays that have other words in the game `after` than in `before`.

    The plays are judged in their order: whether a play counts decides which words the later plays have.
    """
    if words is None or after.rules.challenge is not ChallengeRule.VOID:
        return ()
    known = {turn.ref: turn.words for turn in before.turns if turn.kind is TurnKind.PLAY}
    judged: list[PlayJudged] = []
    for item in after.items:
        turn = after.find_turn(item.ref)
        if turn is None or not isinstance(item.act, PlayMade) or turn.words == known.get(turn.ref):
            continue
        unlisted = find_invalid_words(turn.words, after.tiles, words)
        if unlisted != item.act.unlisted:
            judged.append(PlayJudged(turn.ref, unlisted))
            after = after.push(judged[-1])
    return tuple(judged)


def find_void_turn(game: Game) -> Turn | None:
    """Return the play that was just taken off because the word list lacks one of its words, otherwise None."""
    turns = game.state.played_turns
    if not turns or not turns[-1].is_implied or turns[-1].target is None:
        return None
    return game.turns[turns[-1].target]
