"""Open questions of a ledger: what they are about, and which of them the players have answered by a correction."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import chain

from engine.board import Square
from engine.errors import NotationError, RulesError
from engine.events import (
    Act,
    BlankNamed,
    BlankTaken,
    Edit,
    PlayMade,
    SquareCorrected,
    TurnCorrected,
    TurnGiven,
    TurnInserted,
)
from engine.game import Game
from engine.ledger import (
    Alternative,
    Entry,
    Judge,
    Ledger,
    Source,
    Step,
    find_counting_entries,
    find_disputed_squares,
    find_open_entries,
    try_alternative,
)
from engine.state import Turn


def find_open_squares(ledger: Ledger) -> frozenset[Square]:
    """Return the squares of the questions that are not answered yet. Nothing more is asked about these squares."""
    entries = find_counting_entries(ledger)
    return frozenset(square for entry in entries if entry.doubt is not None for square in entry.doubt.squares)


def find_told_entries(ledger: Ledger) -> frozenset[int]:
    """Return the numbers of the entries whose acts players have entered, corrected or chosen by an answer."""
    told: set[int] = set()
    for entry in ledger.in_effect:
        steps = [*_find_told_steps(ledger, entry)]
        told |= {step.of.entry for step in steps if isinstance(step, TurnCorrected | SquareCorrected) and step.of}
        if entry.source in (Source.HAND, Source.IMPORT) and any(isinstance(step, Act) for step in steps):
            told.add(entry.number)
    return frozenset(told)


def find_answered_squares(ledger: Ledger) -> frozenset[Square]:
    """Return the squares of the questions whose answer by players decides about an act, such as the letters of a play.

    The letters on these squares are certain. Questions whose answers differ only in edits of earlier acts are left out.
    """
    entries = (entry for entry in ledger.in_effect if entry.doubt is not None)
    answered = (one for one in entries if any(isinstance(step, Act) for step in _find_told_steps(ledger, one)))
    return frozenset(square for entry in answered if entry.doubt is not None for square in entry.doubt.squares)


def _find_told_steps(ledger: Ledger, entry: Entry) -> Iterator[Step]:
    """Yield the steps of an entry that come from the players and not from a picture.

    - Of an entry by hand, or from an imported file: all steps.
    - Of a question that the players have answered: the steps that are not in all of its answers, even those of answers
      that they did not choose. What all answers have in common was read from the picture.
    - Of other entries: none.
    """
    answer = ledger.answers.get(entry.number)
    steps = chain.from_iterable(entry.alternatives)
    if entry.source in (Source.HAND, Source.IMPORT):
        yield from steps
    elif answer is not None and answer.by is Judge.PLAYER:
        yield from (step for step in steps if not all(step in one for one in entry.alternatives))


def find_provisional_turns(ledger: Ledger) -> Mapping[int, Entry]:
    """Return the turns that may still change, because a question about them is not answered yet.

    The keys are the numbers of the turns (from 0), the values the entries with the question.
    """
    found: dict[int, Entry] = {}
    for entry in find_counting_entries(ledger):
        steps = (step for alternative in entry.alternatives for step in alternative)
        refs = {edit.of for edit in steps if isinstance(edit, TurnCorrected | SquareCorrected)}
        for turn in ledger.game.turns:
            if turn.ref.entry == entry.number or turn.ref in refs:
                found[turn.number] = entry
    return found


def is_only_about_turn(turn: Turn, disputed: Collection[Square], alternatives: Collection[Alternative]) -> bool:
    """Return True if a question is only about what was played in `turn`.

    `disputed` are the squares on which the answers of the question (`alternatives`) differ. All of them must belong to
    the play of the turn, or to plays in the answers that have a square in common with it: these are other readings of
    the same play. If the turn has no play, any play may be meant, and the result is True.
    """
    own = {square for square, _ in turn.placements}
    plays = [{*play.play.squares} for steps in alternatives for play in steps if isinstance(play, PlayMade)]
    return not own or own.union(*(play for play in plays if not own.isdisjoint(play))).issuperset(disputed)


def is_blank_named(game: Game, entry: Entry) -> bool:
    """Return True if the question of an entry asks for the letter of a blank, and is answered by other means.

    It is answered if the blank has a letter now, or is not on the board any more. The question asks for the letter if
    its answers name the same blank differently. A question whether a player has taken a blank does not ask for it.
    """
    alternatives = entry.alternatives
    steps = [
        step for alternative in alternatives for step in alternative if not all(step in other for other in alternatives)
    ]
    squares = {step.square for step in steps if isinstance(step, BlankNamed)}
    plays = [play for play in steps if isinstance(play, PlayMade)]
    for square in {square for play in plays for square, tile in play.play.tiles if tile.is_unnamed}:
        if any((tile := dict(play.play.tiles).get(square)) and tile.is_blank and not tile.is_unnamed for play in plays):
            squares.add(square)
    squares -= {step.square for step in steps if isinstance(step, BlankTaken)}
    tiles = [game.board[square] for square in squares]
    return bool(squares) and not any(tile is not None and tile.is_unnamed for tile in tiles)


def find_corrected_entries(ledger: Ledger) -> tuple[Entry, ...]:
    """Return the entries whose question the players have answered indirectly, by correcting a square or a turn."""
    return tuple(entry for entry in find_open_entries(ledger) if _is_corrected(ledger, entry))


def _is_corrected(ledger: Ledger, entry: Entry) -> bool:
    """Return True if later corrections by the players answer the question of an entry."""
    if is_blank_named(ledger.game, entry):
        return True
    edits = [
        step
        for other in ledger.in_effect
        if other.number > entry.number and other.doubt is None
        for step in ledger.get_steps(other)
        if isinstance(step, Edit) and not isinstance(step, TurnInserted)
    ]
    if not edits:
        return False
    before = ledger.find_game_before(entry)
    disputed = find_disputed_squares(before, entry)
    told = {edit.square for edit in edits if isinstance(edit, SquareCorrected) and edit.told}
    if disputed and told.issuperset(disputed):
        return True
    try:
        after = try_alternative(before, entry, ledger.find_chosen(entry))
    except (NotationError, RulesError):
        return False  # the turn that the answer in effect changes is gone
    return any(_answers(edit, after, disputed, entry) for edit in edits)


def _answers(edit: Edit, after: Game, disputed: Collection[Square], entry: Entry) -> bool:
    """Return True if an edit answers the question of an entry. `after` is the game after the entry.

    The edit must be about an act of the entry. A correction of only the player does not say what was played. A
    correction of the tiles says neither who made the play nor what is on the squares of another play.
    """
    if not isinstance(edit, TurnCorrected | TurnGiven) or edit.of.entry != entry.number:
        return False
    turn = after.find_turn(edit.of)
    if turn is None or not is_only_about_turn(turn, disputed, entry.alternatives):
        return False
    if isinstance(edit, TurnGiven):
        return not disputed
    return not isinstance(edit.event, PlayMade) or (bool(disputed) and edit.event.play != turn.play)
