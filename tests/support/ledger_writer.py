"""A game that is recorded twice: as it really was, and with doubts, slips, late answers and corrections."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Any
from zlib import crc32

from engine.blanks import find_invalid_words
from engine.errors import NotationError, RulesError
from engine.events import (
    Act,
    BlankNamed,
    Challenged,
    Edit,
    GameEnded,
    GameStarted,
    Passed,
    PlayCounted,
    PlayerTurn,
    PlayMade,
    PlayWithdrawn,
    PositionEntered,
    RackRevealed,
    Ref,
    ScoreCorrected,
    SquareCorrected,
    SwapEvent,
    TurnCorrected,
    TurnInserted,
)
from engine.game import Game
from engine.items import Item, Items
from engine.ledger import (
    Alternative,
    Doubt,
    Due,
    Judge,
    Ledger,
    Sentence,
    Source,
    Step,
    label_parts,
    make_relative,
)
from engine.plays import Play
from engine.rules import ChallengeRule
from engine.validation.void_plays import judge_alternatives, judge_changed_plays


def find_item(items: Items, ref: Ref) -> Item | None:
    """Return the item with an identity, or None."""
    return next((item for item in items if item.ref == ref), None)


class OddWords:
    """A word list that has about three of four texts, always the same ones."""

    def __contains__(self, word: str, /) -> bool:
        return crc32(word.encode()) % 4 != 0


@dataclass(frozen=True)
class Deed:
    """Something that really happened.

    `act` names no player if the player was due, and other deeds by `Ref(0, key)`. `counts`: the players have decided
    that the play counts.
    """

    key: int
    act: Act
    counts: bool = False


@dataclass
class Correction:
    """What the players still have to tell about the deed `key`; `write` returns the edits, or None if it is too early.

    `entry` is the number of the entry in which they told it.
    """

    kind: str
    key: int
    write: Callable[[], Sequence[Edit] | None]
    entry: int = 0


@dataclass
class Command:
    """What one command should have recorded (`deeds`, ended by the button of `seat`), and what it has recorded.

    `right` is the alternative of the entry `entry` that is true. `changes` are tiles of earlier deeds that became known
    by this command. `scores` are the points that the players entered.
    """

    deeds: tuple[Deed, ...] = ()
    seat: int | None = None
    changes: dict[int, PlayMade] = field(default_factory=dict)
    corrections: list[Correction] = field(default_factory=list)
    entry: int = 0
    right: int = 0
    is_doubtful: bool = False
    undo_count: int = 0


class LedgerWriter:
    """A random game while it is played and recorded.

    - `games`: the game after each command, in which each turn names its player and nothing is in doubt; passes of
      skipped players and withdrawals of plays that do not count are turns of their own. It needs no ledger.
    - `asked`: the ledger with doubts and slips.
    - `known`: the ledger of the same commands as they really were.
    """

    def __init__(self, rng: random.Random, setup: GameStarted, own_button_chance: float, *, has_clock: bool) -> None:
        self.rng = rng
        self.setup = setup
        self.words = OddWords() if setup.rules.challenge is ChallengeRule.VOID else None
        self.own_button_chance = own_button_chance
        self.has_clock = has_clock
        self.commands: list[Command] = []
        self.undone: list[tuple[Command, Game]] = []
        self.games = [Game.begin(self.setup)]
        self.asked = Ledger(self.setup)
        self.game_refs: dict[int, Ref] = {}
        self.recorded: dict[int, tuple[Ref, Play | None]] = {}
        self.keys = 0
        self.refusals: list[str] = []
        self.refused_once: list[str] = []
        self.log: list[str] = []

    # What really happens

    @property
    def game(self) -> Game:
        """The game as it really was."""
        return self.games[-1]

    def choose_seat(self, player: int) -> int | None:
        """Return the player whose own button was pressed, or None for a shared button."""
        return player if self.rng.random() < self.own_button_chance else None

    def do(self, *acts: Act, skipped: int = 0, is_shared: bool = False) -> tuple[tuple[Deed, ...], int | None]:
        """Let the next players really do something; `skipped` players pass before, without pressing."""
        game, player = self.game, None
        for _ in range(skipped):
            game = game.push(Passed(game.to_move))
        deeds = []
        for act in acts:
            self.keys += 1
            if isinstance(act, PlayerTurn):
                player = game.to_move if act.player is None else act.player
            plain = self.resolve(act, self.game_refs)
            if isinstance(plain, PlayerTurn | SwapEvent) and plain.player is None:
                plain = replace(plain, player=game.to_move)
            self.game_refs[self.keys] = Ref(game.entry, game.part)
            game = game.push(plain)
            counts = False
            if self.words is not None and isinstance(plain, PlayMade):
                ref = self.game_refs[self.keys]
                if find_invalid_words(game.turns[-1].words, game.tiles, self.words):
                    counts = self.rng.random() < 0.4
                    if not counts:
                        game = game.push(PlayWithdrawn(plain.player, ref))
            deeds.append(Deed(self.keys, act, counts))
        self.push_game(game)
        if player is None or is_shared:
            return tuple(deeds), None
        return tuple(deeds), player if skipped else self.choose_seat(player)

    def push_game(self, game: Game) -> None:
        self.games.append(game)

    def resolve(self, act: Act, refs: dict[int, Ref]) -> Act:
        if isinstance(act, Challenged | PlayWithdrawn) and act.of is not None:
            return replace(act, of=refs[act.of.part])
        return act

    def find_deed(self, key: int) -> Deed:
        """Return a deed as it is known now."""
        changes = {key: act for command in self.commands for key, act in command.changes.items()}
        deed = next(deed for command in self.commands for deed in command.deeds if deed.key == key)
        return replace(deed, act=changes.get(key, deed.act))

    # How it is recorded

    def write(
        self,
        alternatives: Sequence[Sequence[Step]],
        command: Command,
        right: int | None = None,
    ) -> Command | None:
        """Record an entry. `right` is the true alternative, if it is in doubt which one is."""
        order = list(range(len(alternatives)))
        self.rng.shuffle(order)
        shuffled = [tuple(alternatives[n]) for n in order]
        right_now = order.index(right or 0)
        number = len(self.asked.entries) + 1
        labels = label_parts(shuffled)[right_now]
        for deed, part in zip(command.deeds, labels, strict=False):
            self.recorded[deed.key] = Ref(number, part), deed.act.play if isinstance(deed.act, PlayMade) else None
        try:
            self.asked = self.asked.record(
                [self.judge(*(self.name_players(steps, command.seat) for steps in shuffled))],
                chosen=self.rng.randrange(len(order)),
                seat=command.seat,
                source=self.rng.choice([*Source]),
                clocks=tuple(self.rng.random() * 900 for _ in self.setup.players) if self.has_clock else None,
                doubt=None if right is None else self.make_doubt(len(order)),
            )
        except (NotationError, RulesError):
            return None  # the table lacks the tile that was swapped
        command.entry, command.right, command.is_doubtful = number, right_now, right is not None
        return command

    def name_players(self, steps: Sequence[Step], seat: int | None) -> Alternative:
        """Perhaps name the players whom the table believes to be due, as the reading of a press does."""
        named, game, turns = [], self.asked.game, sum(isinstance(step, PlayerTurn) for step in steps)
        if self.rng.random() < 0.5 or any(getattr(step, "player", None) is not None for step in steps):
            return tuple(steps)
        for step in steps:
            assert isinstance(step, Act | Edit)
            if isinstance(step, PlayerTurn | SwapEvent):
                step = replace(step, player=game.to_move if seat is None or turns > 1 else seat)
            turns -= isinstance(step, PlayerTurn)
            named.append(step)
            game = game.push(step)
        return make_relative(self.asked.game, named, seat)

    def judge(self, *alternatives: Alternative) -> tuple[Alternative, ...]:
        return judge_alternatives(self.asked.game, alternatives, self.words)

    def make_doubt(self, count: int) -> Doubt:
        answers = tuple((number, Sentence("x", ("y", Due(1)))) for number in range(count) if self.rng.random() < 0.3)
        squares = tuple(self.rng.sample(range(225), 2))
        return Doubt("which", (Due(), Sentence("z")), answers, squares, ("A", "?"), self.rng.random())

    def change(self, steps: Sequence[Step], group: int | None = None) -> int:
        """Record an edit or note with what the word list says about changed plays; return the number of its entry."""
        before = self.asked
        after = before.record([self.judge(tuple(steps))], group=group)
        self.asked = self.add_verdicts(before, after)
        return len(after.entries)

    def add_verdicts(self, before: Ledger, after: Ledger) -> Ledger:
        verdicts = judge_changed_plays(before.game, after.game, self.words)
        return after.record([(verdicts,)], group=after.entries[-1].group) if verdicts else after

    @property
    def asked_refs(self) -> dict[int, Ref]:
        """The identity of the line in which the players see each deed now, or else of the right line."""
        return {key: self.find_shown_ref(*recorded) for key, recorded in self.recorded.items()}

    def find_shown_ref(self, ref: Ref, play: Play | None) -> Ref:
        if play is None:
            return ref
        items = (item for item in self.asked.game.items if item.ref.entry == ref.entry)
        shown = (item.ref for item in items if isinstance(item.act, PlayMade) and item.act.play.squares == play.squares)
        return next(shown, ref)

    def find_asked_act(self, key: int) -> Act | None:
        """Return the act that the table has for a deed now, if it is there."""
        ref = self.asked_refs.get(key)
        item = find_item(self.asked.game.items, ref) if ref else None
        return item.act if item else None

    def find_next_ref(self, key: int) -> tuple[Ref | None, ...]:
        """Return the first act after a deed that the table has recorded, to insert the deed before it.

        Return an empty tuple if this act is in question, so that the players cannot name it yet.
        """
        later = [(deed.key, command) for command in self.commands for deed in command.deeds if deed.key > key]
        for other, command in sorted(later, key=itemgetter(0)):
            if self.find_asked_act(other) is not None:
                return (self.asked_refs[other],)
            if not self.is_answered(command):
                return ()
        return (None,)

    def is_told(self, correction: Correction) -> bool:
        return self.asked.find_entry(correction.entry) is not None

    def list_untold(self) -> list[Correction]:
        """Return the corrections that the players still have to tell."""
        return [c for command in self.commands for c in command.corrections if not self.is_told(c)]

    def list_unanswered(self) -> list[Command]:
        """Return the commands whose question has no right answer yet."""
        return [command for command in self.commands if command.is_doubtful and not self.is_answered(command)]

    def is_answered(self, command: Command) -> bool:
        entry = self.asked.find_entry(command.entry)
        return entry is None or self.asked.find_chosen(entry) == command.right

    # Late answers and corrections

    def tell_something(self) -> None:
        """Give one answer or correction, perhaps a wrong answer that stays open."""
        told: list[Command | Correction] = [*self.list_unanswered(), *self.list_untold()]
        if not told:
            return
        choice = self.rng.choice(told)
        if isinstance(choice, Command) and self.rng.random() < 0.2:
            entry = self.asked.find_entry(choice.entry)
            assert entry is not None
            self.answer(choice, self.rng.randrange(len(entry.alternatives)), is_final=False)
        else:
            self.tell(choice)

    def tell(self, choice: Command | Correction) -> bool:
        """Give a right answer or a correction. Return False if this is not possible now."""
        if isinstance(choice, Command):
            return self.answer(choice, choice.right, is_final=True)
        try:
            steps = choice.write()
            if steps is None:
                return False
            choice.entry = self.change(steps)
        except (NotationError, RulesError) as error:
            self.refuse(choice.kind, error)
            return False
        if choice.kind == "insert":
            self.recorded[choice.key] = Ref(choice.entry, 0), None
        return True

    def refuse(self, kind: str, error: Exception) -> None:
        self.refusals.append(f"{kind}: {error}")
        self.refused_once.append(f"{kind}: {type(error).__name__} {error.args[0]}")

    def answer(self, command: Command, chosen: int, *, is_final: bool) -> bool:
        before = self.asked
        try:
            after = before.answer(command.entry, chosen, self.rng.choice([*Judge]), is_final=is_final)
        except (NotationError, RulesError) as error:
            self.refuse("answer", error)
            return False
        self.asked = self.add_verdicts(before, after)
        return True

    def tell_all(self) -> list[str]:
        """Give all answers and corrections in random order. Return what was refused to the end."""
        while True:
            told: list[Command | Correction] = [*self.list_unanswered(), *self.list_untold()]
            if not told:
                return []
            self.rng.shuffle(told)
            self.refusals.clear()
            done = [self.tell(choice) for choice in told]
            if not any(done):
                return self.refusals or [f"stuck: {c.kind}" for c in told if isinstance(c, Correction)] or ["stuck"]
            if self.rng.random() < 0.2:
                self.asked = self.asked.undo().redo()

    def undo_command(self) -> None:
        """Undo until the last command is undone."""
        command = self.commands.pop()
        numbers = {command.entry, *(correction.entry for correction in command.corrections)} - {0}
        command.undo_count = 0
        while any(self.asked.find_entry(number) for number in numbers):
            self.asked = self.asked.undo()
            command.undo_count += 1
        self.undone.append((command, self.games.pop()))
        self.log.append("undo")

    def redo_command(self) -> None:
        command, game = self.undone.pop()
        for _ in range(command.undo_count):
            self.asked = self.asked.redo()
        self.commands.append(command)
        self.games.append(game)
        self.log.append("redo")

    def try_out(self) -> None:
        """Record something that did not happen, and undo it."""
        before = self.asked.game
        self.asked = self.asked.record([((Passed(None),), ())], doubt=self.make_doubt(2)).undo()
        if self.rng.random() < 0.5:
            self.asked = self.asked.redo().undo()
        assert self.asked.game.items == before.items

    # Corrections

    def correct_turn(self, key: int) -> Correction:
        """Tell what a turn really was."""

        def write() -> Sequence[Edit] | None:
            if self.find_asked_act(key) is None:
                return None
            act = self.find_deed(key).act
            if isinstance(act, PlayerTurn):
                act = replace(act, player=None)
            return (TurnCorrected(self.asked_refs[key], self.resolve(act, self.asked_refs)),)

        return Correction("turn", key, write)

    def correct_square(self, key: int, square: int) -> Correction:
        """Tell the tile on a square, or the play if it is not on the board."""
        whole = self.correct_turn(key)

        def write() -> Sequence[Edit] | None:
            deed, now = self.find_deed(key), self.find_asked_act(key)
            if not isinstance(now, PlayMade) or not isinstance(deed.act, PlayMade):
                return None
            game, ref = self.asked.game, self.asked_refs[key]
            covering = [t for t in game.turns if t.square == square or (t.stands and square in dict(t.placements))]
            tile = dict(deed.act.play.tiles)[square]
            if not covering or covering[-1].ref != ref or self.rng.random() < 0.3:
                return whole.write()
            if (old := game.board[square]) and old.is_unnamed and tile.is_blank:
                return (BlankNamed(square, tile.letter),)
            return (SquareCorrected(square, tile, ref, told=True),)

        return Correction("square", key, write)

    def insert(self, key: int) -> Correction:
        """Tell a deed that was not recorded."""

        def write() -> Sequence[Edit] | None:
            act = self.find_deed(key).act
            if isinstance(act, Challenged | PlayWithdrawn) and (act.of is None or not self.is_there(act.of.part)):
                return None
            following = self.find_next_ref(key)
            return [TurnInserted(before, self.resolve(act, self.asked_refs)) for before in following] or None

        return Correction("insert", key, write)

    def remove(self, command: Command) -> Correction:
        """Tell that something did not happen."""
        return Correction("remove", 0, lambda: (TurnCorrected(Ref(command.entry, 0), None),))

    def add_score(self, command: Command) -> None:
        """Perhaps enter points for one of the deeds, and tell which plays count."""
        for deed in command.deeds:
            ref = self.game_refs[deed.key]
            if deed.counts:
                command.corrections.append(self.count_play(deed.key))
            if isinstance(deed.act, GameEnded | RackRevealed | PositionEntered) or self.rng.random() > 0.2:
                continue
            if self.game.find_turn(ref) is None:
                continue
            points = self.rng.randint(-5, 60)
            self.games[-1] = self.game.push(ScoreCorrected(ref, points))
            command.corrections.append(self.enter_score(deed.key, points))

    def count_play(self, key: int) -> Correction:
        def write() -> Sequence[Edit] | None:
            return (PlayCounted(self.asked_refs[key]),) if self.is_there(key) else None

        return Correction("counts", key, write)

    def enter_score(self, key: int, points: int) -> Correction:
        def write() -> Sequence[Edit] | None:
            if not self.is_clean(key):
                return None
            return (ScoreCorrected(self.asked_refs[key], points),)

        return Correction("score", key, write)

    def is_clean(self, key: int) -> bool:
        """Return True if the table has recorded the right thing for a deed, but for letters still in question."""
        is_told = not any(c.key == key and c.kind in ("turn", "square") for c in self.list_untold())
        return is_told and self.is_there(key)

    def is_there(self, key: int) -> bool:
        """Return True if the table has recorded a turn of the same kind or on the same squares for a deed."""
        act, right = self.find_asked_act(key), self.find_deed(key).act
        if isinstance(act, PlayMade) and isinstance(right, PlayMade):
            return act.play.squares == right.play.squares
        return act is not None and act.kind == right.kind

    # The same game, known at once

    def record_known(self) -> Ledger:
        """Return the ledger in which each command is recorded as it really was."""
        ledger, refs = Ledger(self.setup), dict[int, Ref]()
        for command in self.commands:
            if not command.deeds:
                continue
            deeds = [self.find_deed(deed.key) for deed in command.deeds]
            acts = tuple(self.resolve(deed.act, refs) for deed in deeds)
            number = len(ledger.entries) + 1
            refs |= {deed.key: Ref(number, part) for deed, part in zip(deeds, label_parts([acts])[0], strict=True)}
            ledger = ledger.record([judge_alternatives(ledger.game, [acts], self.words)], seat=command.seat)
            counted = tuple(PlayCounted(refs[deed.key]) for deed in deeds if deed.counts)
            if counted:
                ledger = ledger.record([judge_alternatives(ledger.game, [counted], self.words)])
        scores = tuple(self.list_scores(refs))
        return ledger.record([(scores,)]) if scores else ledger

    def list_scores(self, refs: dict[int, Ref]) -> Iterator[ScoreCorrected]:
        for command in self.commands:
            for deed in command.deeds:
                item = find_item(self.game.items, self.game_refs[deed.key])
                if item is not None and item.score is not None:
                    yield ScoreCorrected(refs[deed.key], item.score)


def describe_game(game: Game) -> dict[str, Any]:
    """Return what players see of a game, and what the rest of it depends on."""
    state = game.state
    return {
        "totals": game.totals,
        "to move": game.to_move,
        "board": game.board,
        "turns": [
            (
                turn.player, turn.due, str(turn.kind), turn.at, turn.word, turn.score, turn.total, turn.computed_score,
                turn.by, turn.target, turn.stands, turn.count, turn.tiles, turn.status, turn.play,
            )
            for turn in game.turns
        ],
        "rest": (state.bag_count, state.rack_counts, state.turns_to_skip, state.end_reason, dict(state.revealed_racks)),
    }  # fmt: skip
