"""The ledger of a game: what each command has recorded, and the game that follows from it.

The ledger only grows. An entry holds what one command contributed. If it is in doubt what happened, the entry has
several alternatives, of which one is in effect; a late answer chooses another one. `derive` computes the game: whose
turn it was, scores and implied passes are never stored, because they follow from the entries.

>>> from engine.board import EMPTY_BOARD
>>> from engine.events import Passed, PlayMade
>>> from engine.plays import Play
>>> ledger = Ledger(GameStarted(("Anna", "Ben")))
>>> horn, horns = (Play.from_gcg(EMPTY_BOARD, "8F", word, ledger.game.tiles) for word in ("HORN", "HORNS"))
>>> ledger = ledger.record([((PlayMade(None, horn),), (PlayMade(None, horns),))], doubt=Doubt("which-tile"))
>>> ledger = ledger.record([((Passed(None),),)])
>>> ledger.game.totals, ledger.record([((Answered(1, 1),),)]).game.totals
((14, 0), (16, 0))
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import ClassVar

from engine.board import Board, Square
from engine.errors import NotationError, RulesError
from engine.events import (
    Act,
    ClockRead,
    Edit,
    Event,
    GameEnded,
    GameStarted,
    PlayerRenamed,
    PlayerTurn,
    PlayMade,
    PositionEntered,
    Ref,
    SwapEvent,
    TurnInserted,
)
from engine.game import Game
from engine.items import Item, Items, apply_edit, number_refs
from engine.messages import make_message
from engine.scoring import Status
from engine.state import TurnKind, create_state
from engine.transitions import Timeline, apply_items, extend_state


class Source(StrEnum):
    """How an entry was recorded."""

    PRESS = "press"  # a button, also that of a phone, with a reading of the board
    AUTOMATIC = "automatic"  # the table itself, because the board was at rest
    HAND = "hand"  # entered by a player, or by a program
    IMPORT = "import"


class Judge(StrEnum):
    """Who has answered a question."""

    PLAYER = "player"
    PICTURE = "picture"


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer to the question of the entry `of`: the number of its alternative that counts (`chosen`).

    `is_final` is False while the players only try the answers one by one at the panel: the question stays open.
    """

    kind: ClassVar[str] = "answered"
    of: int
    chosen: int
    by: Judge = Judge.PLAYER
    is_final: bool = True


@dataclass(frozen=True, slots=True)
class Undone:
    """The undo of a group of entries."""

    kind: ClassVar[str] = "undone"
    group: int


@dataclass(frozen=True, slots=True)
class Redone:
    """The redo of a group of entries that was undone."""

    kind: ClassVar[str] = "redone"
    group: int


@dataclass(frozen=True, slots=True)
class Shown:
    """The wish of the players to answer the question of the entry `of` now (`is_now`) or later.

    The wish to answer it now ends when something else is recorded. The wish to answer it later ends when the players
    ask for the question again.
    """

    kind: ClassVar[str] = "shown"
    of: int
    is_now: bool


Note = Answered | Undone | Redone | Shown
"""What changes which entries and alternatives are in effect, or which question is shown."""
Step = Act | Edit | Note
Alternative = tuple[Step, ...]
"""What happened by one answer, in order. An empty alternative means that nothing was played."""


@dataclass(frozen=True, slots=True)
class Seat:
    """A placeholder in a question: the name of the player with the index `player`, whoever has the turn."""

    player: int


@dataclass(frozen=True, slots=True)
class Due:
    """A placeholder in a question: the name of the player to move before the entry, or of the one `later` seats on."""

    later: int = 0


@dataclass(frozen=True, slots=True)
class AnswerText:
    """The description of an alternative in the text of a question."""

    number: int


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, by its code in the catalogues of texts and the values of its placeholders."""

    code: str
    values: tuple[Value, ...] = ()


Value = str | Seat | Due | AnswerText | Sentence


@dataclass(frozen=True, slots=True)
class Doubt:
    """Why it is in doubt which alternative of an entry is right.

    - `code` and `values`: the question, as in `Sentence`.
    - `answers`: texts of some alternatives, by their number. Any other text is computed from the alternative.
    - `waits`: True if nothing counts before the answer. The question is dropped if the next turn is made instead.
    - `offers_picture`: True if another picture may answer the question.
    - `squares`: the squares in question.
    - `seen`: the symbols that were read where the alternatives differ. `confidence` is their lowest probability.
    """

    code: str
    values: tuple[Value, ...] = ()
    answers: tuple[tuple[int, Sentence], ...] = ()
    squares: tuple[Square, ...] = ()
    seen: tuple[str, ...] = ()
    confidence: float = 1.0
    waits: bool = False
    offers_picture: bool = False


@dataclass(frozen=True, slots=True)
class Entry:
    """What one command has recorded.

    - `number`: the identity of the entry: 1, 2, 3 ... without gaps.
    - `group`: the number of its group. The entries of a group are undone together, because one command has caused them.
    - `alternatives`: what may have happened. `chosen` is the number of the one that counts until an answer.
    - `seat`: the player whose own button or phone was pressed; None for a button that all players share.
    - `clocks`: the seconds that each player had used, or None in a game without a clock.
    - `doubt`: why it is in doubt which alternative is right, or None.
    - `is_readable`: False for a damaged entry. Its alternative is empty, and all totals after it are uncertain.
    """

    number: int
    group: int
    alternatives: tuple[Alternative, ...]
    chosen: int = 0
    seat: int | None = None
    source: Source = Source.HAND
    clocks: tuple[float, ...] | None = None
    doubt: Doubt | None = None
    is_readable: bool = True

    @property
    def notes(self) -> Iterator[Note]:
        """The answers, undos and other notes (`Note`) in the entry. An entry with several alternatives has none."""
        steps = self.alternatives[0] if len(self.alternatives) == 1 else ()
        return (step for step in steps if isinstance(step, Note))

    def list_refs(self, chosen: int) -> Iterator[Ref]:
        """Yield the identities of the acts of alternative number `chosen`, and after them unused ones without end."""
        return number_refs(self.number, label_parts(self.alternatives)[chosen])


def make_unreadable(number: int) -> Entry:
    """Return an empty entry in place of a lost one. Its group has the number `-number`, so it can be undone alone."""
    return Entry(number, -number, ((),), is_readable=False)


def label_parts(alternatives: Sequence[Alternative]) -> list[tuple[int, ...]]:
    """Return a tuple for each alternative of an entry, with the number of each of its acts within the entry.

    This number is the `part` of the act's identity (`Ref`). Acts of two alternatives have the same part if they are
    plays with a common square, or other acts of the same kind. So a score that players entered for a play stays with
    it, whatever they answer later about its letters, its player or the order of two plays.
    """
    known: list[Act] = []
    labels = []
    for alternative in alternatives:
        parts: list[int] = []
        for act in _list_acts(alternative):
            same = (n for n, other in enumerate(known) if n not in parts and _is_same_part(act, other))
            part = next(same, len(known))
            if part == len(known):
                known.append(act)
            parts.append(part)
        labels.append(tuple(parts))
    return labels


def _list_acts(alternative: Alternative) -> Iterator[Act]:
    """Yield the acts of an alternative that get a number in the game: its own acts, and the acts that edits insert."""
    for step in alternative:
        if isinstance(step, TurnInserted):
            yield step.event
        elif isinstance(step, Act):
            yield step


def _is_same_part(one: Act, other: Act) -> bool:
    if isinstance(one, PlayMade) and isinstance(other, PlayMade):
        return not {*one.play.squares}.isdisjoint(other.play.squares)
    return one.kind == other.kind


def make_relative(game: Game, events: Iterable[Act | Edit], seat: int | None) -> Alternative:
    """Return acts and edits as an alternative that stays right if a later answer changes whose turn it was.

    For this, an act loses its player if it is that of the player due, or whose button was pressed (`seat`): who that is
    follows from the order of the turns. Raises `RulesError` or `NotationError` for an act that is impossible in `game`.
    """
    events = tuple(events)
    turns = [-1, -1, *(n for n, event in enumerate(events) if isinstance(event, PlayerTurn))]
    steps: list[Step] = []
    for number, event in enumerate(events):
        after = game.push(event)
        step = after.events[-1]  # the event as `push` has completed it: with the identity of the play that it is about
        if isinstance(step, PlayerTurn | SwapEvent):
            is_last = turns[-2] < number <= turns[-1]  # the press has ended the last turn, and the swaps in this turn
            player = seat if is_last and seat is not None else game.to_move
            step = replace(step, player=None) if step.player == player else step
        steps.append(step)
        game = after
    return tuple(steps)


@dataclass(frozen=True)
class Ledger:
    """The entries of a game. `record` returns the ledger with one more group, the entries of one command."""

    setup: GameStarted
    entries: tuple[Entry, ...] = ()
    base: Game | None = field(default=None, repr=False, compare=False)
    """The game before the last entry, if that entry only adds acts to it; None if the whole game must be computed."""
    timeline: Timeline | None = field(default=None, repr=False, compare=False)
    """The states of the game with other answers, while many answers are compared; otherwise None."""

    _games_before: dict[int, Game] = field(default_factory=dict, repr=False, compare=False)
    """Cache of `find_game_before`, by the number of the entry. A new note or edit empties the cache."""

    @cached_property
    def game(self) -> Game:
        """The game that follows from the entries. Raises `RulesError` or `NotationError` if it is impossible.

        If an entry is lost, later acts that are impossible without it are left out.
        """
        if self.base is not None:
            return _extend_game(self.base, self.entries[-1])
        return self._derive(self.entries)

    def _derive(self, entries: Iterable[Entry]) -> Game:
        return derive(self.setup, entries, skips_impossible=bool(self.unreadable), timeline=self.timeline)

    def with_timeline(self) -> Ledger:
        """Return the ledger with the states of its game, so that games with other answers are computed faster."""
        timeline = Timeline.compute(self.setup, self.game.items, skips_impossible=bool(self.unreadable))
        return replace(self, timeline=timeline)

    @cached_property
    def unreadable(self) -> tuple[Entry, ...]:
        """The empty entries that stand for damaged ones, which cannot be read any more (`make_unreadable`)."""
        return tuple(entry for entry in self.entries if not entry.is_readable)

    @cached_property
    def in_effect(self) -> tuple[Entry, ...]:
        """The entries that were not undone, without those that only undo and redo."""
        return find_entries_in_effect(self.entries)

    @cached_property
    def undone(self) -> frozenset[int]:
        """The numbers of the entries that are not in effect."""
        return frozenset(range(1, len(self.entries) + 1)).difference(entry.number for entry in self.in_effect)

    @cached_property
    def answers(self) -> Mapping[int, Answered]:
        """The last answer in effect to each question, by the number of its entry."""
        notes = (note for entry in self.in_effect for note in entry.notes)
        lost = {entry.number for entry in self.unreadable}
        return {note.of: note for note in notes if isinstance(note, Answered) and note.of not in lost}

    def is_answered(self, number: int) -> bool:
        """Return True if the question of an entry is answered for good.

        An answer that the players only try at the panel becomes final when another command records entries.
        """
        answer = self.answers.get(number)
        if answer is None:
            return False
        last = (note for entry in self.in_effect if entry.group == self.last_group for note in entry.notes)
        return answer.is_final or answer not in last

    @property
    def last_group(self) -> int | None:
        """The number of the group that an undo takes back, or None if there is none."""
        return self.in_effect[-1].group if self.in_effect else None

    @cached_property
    def undone_group(self) -> int | None:
        """The number of the group that a redo brings back, or None: nothing can be redone after a new command."""
        undone: list[int] = []
        for entry in self.entries:
            note = next(entry.notes, None)
            if isinstance(note, Undone):
                undone.append(note.group)
            elif isinstance(note, Redone):
                undone = [group for group in undone if group != note.group]
            elif undone:
                undone = []
        return undone[-1] if undone else None

    @property
    def next_group(self) -> int:
        """The number of the next group."""
        return max((entry.group for entry in self.entries), default=0) + 1

    def find_entry(self, number: int) -> Entry | None:
        """Return the entry with a number, or None if there is none in effect."""
        return next((entry for entry in self.in_effect if entry.number == number), None)

    def find_chosen(self, entry: Entry) -> int:
        """Return the number of the alternative of an entry that is in effect."""
        answer = self.answers.get(entry.number)
        return entry.chosen if answer is None else answer.chosen

    def get_steps(self, entry: Entry) -> Alternative:
        """Return the alternative of an entry that is in effect."""
        return entry.alternatives[self.find_chosen(entry)]

    def find_game_before(self, entry: Entry) -> Game:
        """Return the game before an entry. Later edits of earlier acts and answers to earlier questions count."""
        if entry.number not in self._games_before:
            self._games_before[entry.number] = self.find_game_after(entry, None)
        return self._games_before[entry.number]

    def is_corrected(self, entry: Entry) -> bool:
        """Return True if a later edit names an act of an entry."""
        later = (step for other in self.in_effect if other.number > entry.number for step in self.get_steps(other))
        refs = (getattr(step, "of", None) for step in later if isinstance(step, Edit))
        return any(ref is not None and ref.entry == entry.number for ref in refs)

    def find_game_after(self, entry: Entry, number: int | None) -> Game:
        """Return the game after alternative `number` of an entry; None is the game before the entry.

        Later edits of the entry's acts and of earlier acts count.
        """
        kept = []
        last = entry.number if number is not None else entry.number - 1
        for other in self.in_effect:
            if other.number == entry.number:
                if number is None:
                    continue
                other = replace(other, chosen=number)
            elif other.number > entry.number:  # of later entries, only what changes the game up to `entry` counts
                steps = tuple(step for step in self.get_steps(other) if _is_about_earlier(step, entry, last))
                other = replace(other, alternatives=(steps,), chosen=0, clocks=None)
            kept.append(other)
        return replace(self._derive(kept), entry=last + 1)

    def add(self, *entries: Entry) -> Ledger:
        """Return the ledger with more entries."""
        ledger = self
        for entry in entries:
            ledger = ledger._add_entry(entry)
        return ledger

    def _add_entry(self, entry: Entry) -> Ledger:
        steps = entry.alternatives[entry.chosen]
        if not all(isinstance(step, Act) for step in steps):
            return Ledger(self.setup, (*self.entries, entry), timeline=self.timeline)
        has_new_name = any(isinstance(step, PlayerRenamed) for step in steps)
        games = {} if has_new_name else {**self._games_before, entry.number: replace(self.game, entry=entry.number)}
        return Ledger(self.setup, (*self.entries, entry), self.game, self.timeline, games)

    def record(
        self,
        parts: Sequence[Sequence[Alternative]],
        *,
        group: int | None = None,
        doubt: Doubt | None = None,
        chosen: int = 0,
        seat: int | None = None,
        source: Source = Source.HAND,
        clocks: tuple[float, ...] | None = None,
    ) -> Ledger:
        """Return the ledger with a group of new entries. `parts` has the alternatives of each entry.

        `group` is the number of the group, or None for a new one. The other arguments are fields of the last of these
        entries. Raises `RulesError` or `NotationError` for impossible acts.
        """
        group = self.next_group if group is None else group
        ledger = self
        for number, alternatives in enumerate(parts, len(self.entries) + 1):
            entry = Entry(number, group, tuple(map(tuple, alternatives)))
            if number == len(self.entries) + len(parts):
                entry = replace(entry, chosen=chosen, seat=seat, source=source, clocks=clocks, doubt=doubt)
            ledger = ledger.add(entry)
            _ = ledger.game  # raises for impossible acts
        return ledger

    def undo(self) -> Ledger:
        """Return the ledger in which the last group is undone. Raises `RulesError` if there is none."""
        if self.last_group is None:
            raise RulesError(make_message("nothing-to-undo", "There is nothing to undo."))
        return self.record([((Undone(self.last_group),),)])

    def redo(self) -> Ledger:
        """Return the ledger in which the group that was undone last is in effect again. Raises `RulesError`."""
        if self.undone_group is None:
            raise RulesError(make_message("nothing-to-redo", "There is nothing to redo."))
        return self.record([((Redone(self.undone_group),),)])

    def answer(
        self, number: int, chosen: int, by: Judge = Judge.PLAYER, *, is_final: bool = True, group: int | None = None
    ) -> Ledger:
        """Return the ledger with an answer to the question of an entry.

        `group` is the group of the answer. If it is None, an answer to a question of the last group joins this group:
        both are undone together. Any other answer is a new group.

        Raises `RulesError` if there is no such question or answer, or if the answer makes later turns impossible, and
        `NotationError` for an answer with tiles that the set does not have.
        """
        entry = self.find_entry(number)
        if entry is None or entry.doubt is None or not 0 <= chosen < len(entry.alternatives):
            raise RulesError(make_message("nothing-asked", "There is no open question."))
        if group is None and entry.group == self.last_group:
            group = entry.group
        try:
            answered = Answered(number, chosen, by, is_final)
            notes: Alternative = (answered,) if is_final else (answered, Shown(number, is_now=True))
            after = self.record([(notes,)], group=group)
        except (NotationError, RulesError):
            if entry.group == self.last_group:  # nothing is later: the answer itself is impossible
                raise
            raise make_too_late_error() from None
        if has_new_conflict(self.game, after.game):
            raise make_too_late_error()
        return after


def _is_about_earlier(step: Step, entry: Entry, last: int) -> bool:
    """Return True if `step`, of an entry after `entry`, changes what happened up to the entry `last`, or renames."""
    match step:
        case TurnInserted(before=Ref(number, _)):
            return number <= last
        case Answered(of=number):
            return number < entry.number
        case TurnInserted():
            return False
    return isinstance(step, Edit | PlayerRenamed)


def make_too_late_error() -> RulesError:
    """Return the error for an answer after which later turns are not possible."""
    text = "This answer would make later turns impossible. Correct those turns first."
    return RulesError(make_message("answer-too-late", text))


_TILE_CONFLICTS = (
    Status.SQUARE_TAKEN | Status.GAP | Status.NOT_JOINED | Status.NOT_IN_LINE | Status.CENTRE_MISSED
    | Status.MORE_THAN_SET
)  # fmt: skip
"""Defects of a play whose tiles cannot be where they are, or that needs a tile which is missing."""


def has_new_conflict(before: Game, after: Game) -> bool:
    """Return True if a play became impossible on the board: it is in both games, but has a conflict only in `after`."""
    known = {turn.ref: turn for turn in before.turns if turn.kind is TurnKind.PLAY}
    for turn in after.turns:
        old = known.get(turn.ref)
        if old is not None and turn.play == old.play and turn.status & ~old.status & _TILE_CONFLICTS:
            return True
    return False


def find_entries_in_effect(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """Return the entries that were not undone, without those that only undo and redo."""
    entries = tuple(entries)
    groups: set[int] = set()
    for entry in entries:
        match next(entry.notes, None):
            case Undone(group):
                groups.discard(group)
            case Redone(group):
                groups.add(group)
            case _:
                groups.add(entry.group)
    return tuple(
        entry for entry in entries if entry.group in groups and not isinstance(next(entry.notes, None), Undone | Redone)
    )


def derive(
    setup: GameStarted,
    entries: Iterable[Entry],
    *,
    skips_impossible: bool = False,
    timeline: Timeline | None = None,
) -> Game:
    """Return the game that follows from the entries of a ledger.

    `timeline` has the states of another game with these entries; those of a common beginning are not computed again.

    An edit of an act that an answer has taken away is left out. If `skips_impossible` is True, impossible acts are left
    out, too: they may follow a damaged entry. Raises `RulesError` or `NotationError`.
    """
    entries = tuple(entries)
    ledger = Ledger(setup, entries)
    items: Items = ()
    events: list[Event] = []
    for entry in ledger.in_effect:
        chosen = ledger.find_chosen(entry)
        items = (*items, *_list_clock_items(entry))
        refs = entry.list_refs(chosen)
        for step, seat in _seat_steps(entry, chosen):
            if isinstance(step, Edit):
                with suppress(RulesError):
                    items = apply_edit(items, step, refs)
                    events.append(step)
            elif isinstance(step, Act):
                items = (*items, Item(next(refs), step, seat))
                events.append(step)
    timeline = timeline or Timeline.compute(setup, ())
    state = timeline.apply_items(items, skips_impossible=skips_impossible)
    return Game(setup, tuple(events), state, items, len(entries) + 1)


def try_alternative(game: Game, entry: Entry, number: int) -> Game:
    """Return the game after alternative `number` of `entry`, where `game` is the game before the entry.

    Raises `RulesError` or `NotationError` if the alternative is impossible.
    """
    if all(isinstance(step, Act) for step in entry.alternatives[number]):
        return _extend_game(game, replace(entry, chosen=number))
    refs = entry.list_refs(number)
    items, events = game.items, list(game.events)
    for step, seat in _seat_steps(entry, number):
        if isinstance(step, Edit):
            items = apply_edit(items, step, refs)
        elif isinstance(step, Act):
            items = (*items, Item(next(refs), step, seat))
        if not isinstance(step, Note):
            events.append(step)
    state = apply_items(create_state(game.start_event), items)
    return Game(game.start_event, tuple(events), state, items, entry.number + 1)


def _extend_game(game: Game, entry: Entry) -> Game:
    """Return the game after one more entry. Its chosen alternative must have no edits, only acts."""
    refs = entry.list_refs(entry.chosen)
    seated = [(step, seat) for step, seat in _seat_steps(entry, entry.chosen) if isinstance(step, Act)]
    added = (*_list_clock_items(entry), *(Item(next(refs), act, seat) for act, seat in seated))
    items = (*game.items, *added)
    state = extend_state(game.state, game.start_event, items, len(added))
    return Game(game.start_event, (*game.events, *(act for act, _ in seated)), state, items, entry.number + 1)


def _list_clock_items(entry: Entry) -> Iterator[Item]:
    for player, seconds in enumerate(entry.clocks or ()):
        yield Item(Ref(entry.number, -1 - player), ClockRead(player, seconds))


def _seat_steps(entry: Entry, chosen: int) -> Iterator[tuple[Step, int | None]]:
    """Yield the steps of alternative number `chosen`, each with the player whose own button ended it, or None.

    A button ends only the last turn of the alternative, with the swaps of tiles in this turn. Who made an earlier turn
    follows from the order of the turns.
    """
    steps = entry.alternatives[chosen]
    turns = [-1, *(n for n, step in enumerate(steps) if isinstance(step, PlayerTurn))]
    last, before = turns[-1], turns[-2] if len(turns) > 1 else -1
    for number, step in enumerate(steps):
        yield step, entry.seat if before < number <= last else None


# Questions


def find_open_entries(ledger: Ledger) -> tuple[Entry, ...]:
    """Return the entries with a question that is not answered for good, the oldest first."""
    return tuple(entry for entry in ledger.in_effect if entry.doubt is not None and _is_open(ledger, entry))


def _is_open(ledger: Ledger, entry: Entry) -> bool:
    """Return True if the question of an entry is not answered.

    A question for whose answer the game waits is dropped if another one like it follows, or a turn.
    """
    if ledger.is_answered(entry.number):
        return False
    if entry.doubt is None or not entry.doubt.waits or ledger.get_steps(entry):
        return True
    later = [other for other in ledger.in_effect if other.group > entry.group]
    if any(other.doubt is not None and other.doubt.waits for other in later):
        return False
    steps = (step for other in later for step in ledger.get_steps(other))
    return not any(isinstance(step, PlayerTurn | PositionEntered | GameEnded) for step in steps)


def find_counting_entries(ledger: Ledger) -> tuple[Entry, ...]:
    """Return the entries whose question is open while one of its answers already counts, the oldest first.

    If the game waits for the answer (`Doubt.waits`), nothing counts before it, so the entry is left out. It is not left
    out while the players try an answer at the panel: this answer counts.
    """
    entries = find_open_entries(ledger)
    return tuple(entry for entry in entries if not (entry.doubt and entry.doubt.waits) or ledger.get_steps(entry))


def find_shown_entry(ledger: Ledger) -> Entry | None:
    """Return the entry whose question the players are asked now, or None.

    It is the first open question in this order, without those that the players want to answer later:

    1. the question that they want to answer now
    2. the oldest question of the last group
    3. the newest question for whose answer the game waits
    """
    notes = (note for entry in ledger.in_effect for note in entry.notes if isinstance(note, Shown))
    wishes = {note.of: note.is_now for note in notes}
    counting = find_counting_entries(ledger)
    entries = [entry for entry in find_open_entries(ledger) if wishes.get(entry.number, True)]
    recalled = [e for e in entries if e.number in wishes and _is_in_last_group(ledger, e.number)]
    last = [entry for entry in entries if entry.group == ledger.last_group]
    waiting = [entry for entry in entries if entry not in counting]
    return next(iter((*recalled, *last, *reversed(waiting))), None)


def _is_in_last_group(ledger: Ledger, number: int) -> bool:
    """Return True if the last group has the wish of the players (`Shown`) to answer the question of an entry."""
    last = (entry for entry in ledger.in_effect if entry.group == ledger.last_group)
    return any(isinstance(note, Shown) and note.of == number for entry in last for note in entry.notes)


def find_disputed_squares(before: Game, entry: Entry) -> tuple[Square, ...]:
    """Return the squares on which the alternatives of an entry look different, so that a picture can answer.

    A picture does not show the letter of a blank, so boards that differ only in such a letter count as equal. `before`
    is the game before the entry.
    """
    return compare_boards(list(find_boards(before, entry).values()))


def find_boards(before: Game, entry: Entry) -> Mapping[int, Board]:
    """Return the board after each possible alternative of an entry, by its number; `before` is the game before it."""
    boards = {}
    for number in range(len(entry.alternatives)):
        with suppress(NotationError, RulesError):
            boards[number] = try_alternative(before, entry, number).board
    return boards


def compare_boards(boards: Sequence[Board]) -> tuple[Square, ...]:
    """Return the squares on which boards look different in a picture, which does not show the letter of a blank."""
    found = {square for board in boards for square in boards[0].differences(board)}
    faces = {square: {None if tile is None else tile.face for tile in (b[square] for b in boards)} for square in found}
    return tuple(sorted(square for square in found if len(faces[square]) > 1))
