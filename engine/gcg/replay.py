"""Playing a recorded game again: every event on the board, its score by the rules beside the one recorded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from engine.board import Board, Layout, layout, layout_names
from engine.errors import NotationError, RulesError
from engine.gcg.edition import (
    in_brackets,
    named_layout,
    named_tile_set,
    possible_tile_sets,
    unknown_board,
    unknown_game,
)
from engine.gcg.record import Entry, Pragma, Problem, Record
from engine.gcg.validate import check_entry, check_order, check_racks
from engine.messages import said
from engine.plays import Play
from engine.rules import STANDARD, Rules
from engine.scoring import describe, play_status, score_play
from engine.tiles import TileSet, tile_set
from engine.turns import Kind

CLEARLY_BETTER = 2
"""Another tile set or board is taken only if it explains at least so many scores more ..."""
LEAVES_FEW = 3
"""... and divides the number of scores that stay unexplained by at least this."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """An event, and what the rules make of it.

    `score` is None where it cannot be computed: the event does not fit the board. `word` is the whole word of a play,
    tiles of the board included and blanks in small letters.
    """

    entry: Entry
    score: int | None
    word: str | None = None
    play: Play | None = None

    @property
    def counted(self) -> int:
        """What goes into the total: the score by the rules or, where there is none, the one recorded."""
        return self.entry.score if self.score is None else self.score


@dataclass(frozen=True, slots=True)
class Replay:
    """A recorded game played again. `totals` are those by the rules, in seat order; `notes` say what was assumed."""

    tiles: TileSet
    layout: Layout
    events: tuple[Replayed, ...]
    totals: tuple[int, ...]
    board: Board
    problems: tuple[Problem, ...]
    notes: tuple[str, ...] = ()

    @property
    def mismatches(self) -> tuple[Replayed, ...]:
        """The events whose recorded score is not the one by the rules, those without a score included."""
        return tuple(event for event in self.events if event.score != event.entry.score)


def replay(
    record: Record, tiles: TileSet | None = None, board_layout: Layout | None = None, rules: Rules = STANDARD
) -> Replay:
    """Play a recorded game again.

    Without `tiles` the file's own pragmas decide, then English. Without `board_layout` it is the standard one. Where
    nothing is said and the recorded scores disagree, the tile sets that have the file's letters and the known layouts
    are tried, and one that explains nearly all of them is taken; a note says so. Never raises.
    """
    if not board_layout and (unknown := unknown_board(record)):
        return _as_recorded(_with(record, unknown, "no score can be computed"))
    if unknown := unknown_game(record):
        record = _with(record, unknown, "replayed as the standard game")
    notes: list[str] = []
    named = tiles or named_tile_set(record)
    possible = (named,) if named else possible_tile_sets(record) or (tile_set("en"),)
    board_layout = board_layout or named_layout(record)
    layouts = (board_layout,) if board_layout else (layout(), *(layout(n) for n in layout_names() if n != "standard"))
    best = _play(record, possible[0], layouts[0], rules)
    if len(best.mismatches) >= CLEARLY_BETTER:
        others = (_play(record, t, b, rules) for t in possible for b in layouts)
        closest = min(others, key=lambda other: len(other.mismatches))
        left, gained = len(closest.mismatches), len(best.mismatches) - len(closest.mismatches)
        if gained >= CLEARLY_BETTER and left * LEAVES_FEW <= len(best.mismatches):
            best = closest
    if not named and best.tiles.name != "en":
        notes.append(f"tile set {best.tiles.name}: the file names none, and its letters and scores are of this one")
    if not board_layout and best.layout.name != "standard":
        notes.append(f"board layout {best.layout.name}: the recorded scores are those of this one")
    return Replay(best.tiles, best.layout, best.events, best.totals, best.board, best.problems, tuple(notes))


def _with(record: Record, unknown: Pragma, what: str) -> Record:
    problem = Problem(unknown.line, f"#{unknown.name} {unknown.text!r} is not known here; {what}")
    return replace(record, problems=tuple(sorted((*record.problems, problem))))


def _as_recorded(record: Record) -> Replay:
    """The game with its recorded scores, none computed."""
    events = tuple(Replayed(entry, None) for entry in record.entries)
    totals = [sum(event.counted for event in events if event.entry.player == p) for p in range(len(record.players))]
    return Replay(tile_set("en"), layout(), events, tuple(totals), Board(), record.problems)


def _play(record: Record, tiles: TileSet, board_layout: Layout, rules: Rules) -> Replay:
    spelled = in_brackets(record, tiles)
    table = _Table(spelled, tiles, board_layout, rules)
    events = tuple(replace(event, entry=entry) for event, entry in zip(table.events(), record.entries, strict=True))
    problems = (*record.problems, *table.problems, *check_order(record), *check_racks(spelled, table.board, tiles))
    return Replay(tiles, board_layout, events, tuple(table.totals), table.board, tuple(sorted(problems)))


class _Table:
    """The board and the totals while a game is played again."""

    def __init__(self, record: Record, tiles: TileSet, board_layout: Layout, rules: Rules) -> None:
        self.record, self.tiles, self.layout, self.rules = record, tiles, board_layout, rules
        self.board = Board()
        self.totals = [0] * len(record.players)
        self.recorded = [0] * len(record.players)
        self.slip = [0] * len(record.players)  # how far the written totals are from the sums, once said
        self.problems: list[Problem] = []
        self.last: tuple[Entry, Board, int] | None = None  # the last play, the board before it, its score

    def events(self) -> Iterator[Replayed]:
        """Each event of the game, played."""
        for entry in self.record.entries:
            event = self._event(entry)
            if event.score is not None and event.score != entry.score and not self._is_net(entry):
                self._problem(entry, f"recorded {entry.score:+d}, by the rules {event.score:+d}")
            self._check_total(entry, event)
            self.totals[entry.player] += event.counted
            yield event

    def _event(self, entry: Entry) -> Replayed:
        before, last = self.board, self.last[0] if self.last else None
        play, event = None, Replayed(entry, 0)
        if entry.kind is Kind.PLAY:
            try:
                play = Play.from_gcg(before, entry.position, entry.text, self.tiles)
                event = self._place(entry, play)
            except (NotationError, RulesError) as error:
                self._problem(entry, said("gcg-kept", "{0}; its recorded score is kept", error))
                event = Replayed(entry, None)
        elif entry.kind is Kind.WITHDRAWN:
            event = Replayed(entry, self._withdraw(entry))
            before = self.board
        elif entry.kind is Kind.ENDRACK:
            event = Replayed(entry, self._end_rack(entry))
        elif entry.kind in (Kind.CHALLENGE, Kind.TIME):
            event = Replayed(entry, entry.score)  # agreed at the table: no rule computes them
        else:
            self.last = None  # too late to challenge the play before
        for reason in check_entry(entry, play, before, self.tiles, last, self.rules):
            self._problem(entry, reason)
        return event

    def _place(self, entry: Entry, play: Play) -> Replayed:
        before = self.board
        status = play_status(before, play, self.layout, self.rules)
        if status:
            what = repr(entry.text), entry.position, describe(status)
            self._problem(entry, said("gcg-status", "{0} at {1}: {2}", *what))
        if not play.tiles:
            return Replayed(entry, None)
        scored = score_play(before, play, self.layout, self.tiles, self.rules)
        self.last = (entry, before, scored.total)
        self.board = play.on(before)
        word = "".join(map(self.tiles.text, scored.words[0].tiles)) if scored.words else entry.text
        return Replayed(entry, scored.total, word, play)

    def _withdraw(self, entry: Entry) -> int | None:
        """Take the last play back; its points go with it."""
        if self.last is None or self.last[0].player != entry.player:
            return None
        _, self.board, score = self.last
        self.last = None
        return -score

    def _end_rack(self, entry: Entry) -> int | None:
        """Unplayed letters (Scoring 9): a player loses the own ones; who went out gains those of the others.

        Where no player loses any, who went out gains them twice (North American tournaments).
        """
        try:
            points = self.tiles.points(self.tiles.split(entry.text))
        except NotationError:
            return None
        if entry.is_penalty:
            return -points
        lost = any(other.kind is Kind.ENDRACK and other.is_penalty for other in self.record.entries)
        return points if lost else 2 * points

    def _is_net(self, entry: Entry) -> bool:
        """True for a withdrawn play that an old file writes +0, with the total from before the play."""
        return entry.kind is Kind.WITHDRAWN and entry.score == 0 and entry.total is not None

    def _check_total(self, entry: Entry, event: Replayed) -> None:
        expected = self.recorded[entry.player] + entry.score
        if self._is_net(entry):
            expected = self.recorded[entry.player] + event.counted
        ongoing = expected + self.slip[entry.player]
        if entry.total is not None and entry.total not in (expected, ongoing):
            self._problem(entry, f"the total is written {entry.total}, but the scores add up to {expected}")
            self.slip[entry.player] = entry.total - expected
        self.recorded[entry.player] = expected

    def _problem(self, entry: Entry, reason: str) -> None:
        self.problems.append(Problem(entry.line, reason))
