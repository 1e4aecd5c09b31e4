"""Replay a recorded game: place the tiles of each event on a board, and compare recorded and computed scores.

The checks find tiles that were not available, turns out of order, and a wrong end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise, product

from engine.board import Board, Layout, layout_names, load_layout
from engine.errors import NotationError, RulesError
from engine.gcg.edition import (
    bracket_tiles,
    find_named_layout,
    find_named_tile_set,
    find_possible_tile_sets,
    find_unknown_board,
    find_unknown_game,
    find_variants,
    parse_changes,
    parse_rearranged,
)
from engine.gcg.points import has_only_points, remove_points
from engine.gcg.record import Entry, Pragma, Problem, Record, quote_text
from engine.limits import MAX_CHALLENGE_POINTS, MAX_TIME_PENALTY
from engine.messages import make_message
from engine.plays import Play
from engine.rules import Rules
from engine.scoring import check_placement, describe_status, score_play
from engine.state import TURN_KINDS, TurnKind
from engine.tiles import TileSet, load_tile_set


def check_entry(
    entry: Entry, play: Play | None, before: Board, tiles: TileSet, last: Entry | None, rules: Rules
) -> Iterator[str]:
    """Yield a text for each error in the numbers, the tiles or the player of one event.

    `before` is the board before the event. `last` is the last play, or None if the last play was withdrawn or can no
    longer be challenged.
    """
    yield from _check_numbers(remove_points(entry), rules)
    unseen = tiles.count_remaining(face for face in before.faces() if face in tiles.counts)
    rack: Counter[str] | None = None
    try:
        rack = None if entry.rack is None else Counter(tiles.split(tiles.fold(entry.rack)))
    except NotationError as error:
        yield f"The rack {error}"
    if rack:
        if missing := _format_tiles(rack - unseen):
            yield f"The rack {entry.rack} has {missing}, which cannot be in the bag any more."
        if rack.total() > rules.rack_size:
            yield f"The rack {entry.rack} has {rack.total()} tiles, not {rules.rack_size}."
    if play and rack is not None and (missing := _format_tiles(Counter(tile.face for _, tile in play.tiles) - rack)):
        yield f"{missing} is played, but is not on the rack {entry.rack}."
    if entry.kind is TurnKind.EXCHANGE and entry.exchange_count is None:
        yield from _check_exchange(entry, rack, tiles)
    if entry.kind is TurnKind.ENDRACK:
        yield from _check_end_rack(entry, rack, unseen, tiles)
    if entry.kind in (TurnKind.CHALLENGE, TurnKind.WITHDRAWN) and not has_only_points(entry):
        yield from _check_challenge(entry, last)


def _check_numbers(entry: Entry, rules: Rules) -> Iterator[str]:
    """Yield a text for each impossible number in an event, except for numbers that another check finds."""
    if entry.kind is TurnKind.TIME and -entry.score > MAX_TIME_PENALTY:
        text = "A time penalty of {0} points is not possible: an hour of overtime costs {1} points."
        yield make_message("gcg-time", text, -entry.score, MAX_TIME_PENALTY)
    if entry.kind is TurnKind.CHALLENGE and abs(entry.score) > MAX_CHALLENGE_POINTS:
        text = "{0} points for one challenge are not possible: no club counts more than {1}."
        yield make_message("gcg-challenge", text, abs(entry.score), MAX_CHALLENGE_POINTS)
    if (count := entry.exchange_count) is not None and not 1 <= count <= rules.rack_size:
        text = "{0} tiles are exchanged, but a rack has 1 to {1}."
        yield make_message("gcg-exchanged", text, count, rules.rack_size)
    if any(character.isdigit() for character in entry.words):
        yield make_message(
            "gcg-total",
            "{0} after the score must be a total or the words of the play.",
            quote_text(entry.words),
        )


def _check_exchange(entry: Entry, rack: Counter[str] | None, tiles: TileSet) -> Iterator[str]:
    """Yield what is wrong in the line of an exchange."""
    try:
        given = Counter(tiles.split(entry.text))
    except NotationError as error:
        yield f"The exchange {error}"
        return
    if rack is not None and (missing := _format_tiles(given - rack)):
        yield f"{missing} is exchanged, but is not on the rack {entry.rack}."


def _check_end_rack(entry: Entry, rack: Counter[str] | None, unseen: Counter[str], tiles: TileSet) -> Iterator[str]:
    """Yield what is wrong in the line of an end rack: the own unplayed tiles (a penalty), or those of all others."""
    try:
        left = Counter(tiles.split(entry.text))
    except NotationError as error:
        yield f"The end rack {error}"
        return
    if entry.is_penalty:
        if rack is not None and left != rack:
            yield f"The end rack ({entry.text}) is not the rack {entry.rack}."
    elif left != +unseen:
        yield f"The end rack is ({entry.text}), but the tiles not played are {_format_tiles(+unseen) or 'none'}."


def _check_challenge(entry: Entry, last: Entry | None) -> Iterator[str]:
    """Yield what is wrong in a line that withdraws the play `last`, or says that it withstood a challenge."""
    what = "is withdrawn" if entry.kind is TurnKind.WITHDRAWN else "was challenged"
    if last is None:
        yield f"No play {what}, because none came right before."
    elif entry.score < 0 and entry.kind is TurnKind.CHALLENGE:
        return  # the challenger, not the player of the last play, loses points
    elif last.player != entry.player:
        yield f"No play {what}, because the play before (line {last.line}) is another player's."
    elif entry.kind is TurnKind.WITHDRAWN and entry.rack and last.rack and sorted(entry.rack) != sorted(last.rack):
        yield f"The rack {entry.rack} is not {last.rack}, from which the play was made (line {last.line})."


def check_racks(record: Record, board: Board, tiles: TileSet) -> Iterator[Problem]:
    """Yield a problem for each error in the racks at the end of an unfinished game."""
    unseen = tiles.count_remaining(face for face in board.faces() if face in tiles.counts)
    for rack in record.racks:
        try:
            missing = _format_tiles(Counter(tiles.split(rack.tiles)) - unseen)
        except NotationError as error:
            yield Problem(rack.line, f"The rack {error}")
            continue
        if missing:
            yield Problem(rack.line, f"The rack {rack.tiles} has {missing}, which cannot be in the bag any more.")


def check_end_racks(record: Record, board: Board, tiles: TileSet) -> Iterator[Problem]:
    """Yield a problem for each player who has no end rack, if others lose points for theirs and tiles are left."""
    end_racks = _find_end_racks(record)
    if left := _find_left_tiles(end_racks, board, tiles):
        with_end_rack = {entry.player for entry in end_racks}
        for seat, player in enumerate(record.players):
            if seat not in with_end_rack:
                text = f"There is no end rack of {player.nick}, but these tiles were not played: {_format_tiles(left)}."
                yield Problem(end_racks[-1].line, text)


def check_gain(record: Record, board: Board, tiles: TileSet) -> Iterator[Problem]:
    """Yield a problem if others lose points for their letters, but the player who went out does not gain them.

    This player made the last play, and all tiles that are not on the board are letters of the others.
    """
    end_racks = _find_end_racks(record)
    last = next((entry.player for entry in reversed(record.entries) if entry.kind is TurnKind.PLAY), None)
    is_over = _find_left_tiles(end_racks, board, tiles) == Counter()
    if is_over and last is not None and all(entry.player != last for entry in end_racks):
        letters = " ".join(entry.text for entry in end_racks if entry.is_penalty)
        text = "{0} went out, but there is no line with the points for the letters of the others: {1}."
        reason = make_message("gcg-no-gain", text, record.players[last].nick, letters)
        yield Problem(end_racks[-1].line, reason)


def _find_end_racks(record: Record) -> list[Entry]:
    return [entry for entry in record.entries if entry.kind is TurnKind.ENDRACK]


def _find_left_tiles(end_racks: Sequence[Entry], board: Board, tiles: TileSet) -> Counter[str] | None:
    """Return the tiles that are neither on the board nor in an end rack, or None if this is not known.

    It is not known if no player loses points: then the file need not have all end racks. Neither is it if an end rack
    cannot be parsed, which `check_entry` reports.
    """
    if not any(entry.is_penalty for entry in end_racks):
        return None
    left = +tiles.count_remaining(face for face in board.faces() if face in tiles.counts)
    for entry in end_racks:
        try:
            left -= Counter(tiles.split(entry.text))
        except NotationError:
            return None
    return left


def check_order(record: Record) -> Iterator[Problem]:
    """Yield a problem for each error in the order of turns, end racks and time penalties."""
    entries, players = record.entries, record.players
    turns = [entry for entry in entries if entry.kind in TURN_KINDS]
    for before, after in pairwise(turns):
        expected = (before.player + 1) % len(players)
        if after.player != expected:
            nick = players[expected].nick
            yield Problem(after.line, f"{players[after.player].nick} plays, but it was the turn of {nick}.")
    last_turn = turns[-1].line if turns else 0
    last_rack = max((entry.line for entry in entries if entry.kind is TurnKind.ENDRACK), default=0)
    timed = set()
    for entry in entries:
        if entry.kind in (TurnKind.TIME, TurnKind.ENDRACK) and entry.line < last_turn:
            what = "A time penalty" if entry.kind is TurnKind.TIME else "An end rack"
            yield Problem(entry.line, f"{what} belongs after the last turn (line {last_turn}).")
        elif entry.kind is TurnKind.TIME and entry.line < last_rack:
            yield Problem(entry.line, f"A time penalty belongs after the end racks (line {last_rack}).")
        if entry.kind is TurnKind.TIME:
            if entry.player in timed:
                yield Problem(entry.line, f"This is a second time penalty for {players[entry.player].nick}.")
            timed.add(entry.player)
    yield from _check_player_out(record)


def _check_player_out(record: Record) -> Iterator[Problem]:
    """Yield a problem for each player who is credited with unplayed letters but did not make the last play."""
    last: Entry | None = None
    for entry in record.entries:
        if entry.kind is TurnKind.PLAY:
            last = entry
        is_credited = entry.kind is TurnKind.ENDRACK and not entry.is_penalty
        if is_credited and last is not None and last.player != entry.player:
            nick = record.players[last.player].nick
            yield Problem(
                entry.line, f"The end rack belongs to the player who went out, but {nick} played the last tiles."
            )


def _format_tiles(tiles: Counter[str]) -> str:
    return " ".join(sorted(tiles.elements()))


MIN_SCORES_GAINED = 2
"""Minimum number of wrong scores that another tile set or layout makes correct; with fewer, it is not assumed."""
MIN_MISMATCH_RATIO = 3
"""Minimum factor by which another tile set or layout reduces the wrong scores; with a lower one, it is not assumed."""


@dataclass(frozen=True, slots=True)
class ReplayedEvent:
    """A recorded event and its computed score.

    `score` (points) is None if the event does not fit the board, because then no score can be computed. `position` and
    `word` are those of the main word of a play, including tiles that were on the board, with blanks in lower case. A
    file may have the position of the other word of a play of one tile.
    """

    entry: Entry
    score: int | None
    position: str = ""
    word: str | None = None
    play: Play | None = None

    @property
    def counted_score(self) -> int:
        """The points added to the player's total: the computed score, or the recorded score if `score` is None."""
        return self.entry.score if self.score is None else self.score


@dataclass(frozen=True, slots=True)
class Replay:
    """The result of a replay.

    `totals` are the computed totals in seat order. `notes` say which tile set or board layout was assumed, if any.
    """

    tiles: TileSet
    layout: Layout
    events: tuple[ReplayedEvent, ...]
    totals: tuple[int, ...]
    board: Board
    problems: tuple[Problem, ...]
    notes: tuple[str, ...] = ()

    @property
    def mismatches(self) -> tuple[ReplayedEvent, ...]:
        """The events with a wrong recorded score, and the events for which no score could be computed."""
        return tuple(event for event in self.events if event.score != event.entry.score)


def replay(record: Record, tiles: TileSet | None = None, layout: Layout | None = None) -> Replay:
    """Replay a recorded game. Never raises an exception: errors in the record are in the `problems` of the result.

    If `tiles` or `layout` is None, the pragmas of the file decide. Without a pragma, the English tile set and the
    standard layout are tried first. If many recorded scores are then wrong, all layouts and all tile sets with the
    letters of the file are tried. A tile set and layout that make nearly all scores correct are used, and a note says
    so. The rules are those that the file describes (`find_variants`).
    """
    if not layout and (unknown := find_unknown_board(record)):
        return _replay_as_recorded(_add_unknown_problem(record, unknown, "No score can be computed."))
    if unknown := find_unknown_game(record):
        record = _add_unknown_problem(record, unknown, "It is replayed as the standard game.")
    named = tiles or find_named_tile_set(record)
    tile_sets = (named,) if named else find_possible_tile_sets(record) or (load_tile_set("en"),)
    layout = layout or find_named_layout(record)
    if layout:
        layouts = [layout]
    else:  # the standard layout first
        layouts = [load_layout(name) for name in sorted(layout_names(), key=lambda name: name != "standard")]
    best = _find_best_replay(record, tile_sets, layouts)
    notes: list[str] = []
    if not named and best.tiles.name != "en":
        notes.append(f"tile set {best.tiles.name}: the file names none, and its letters and scores are of this one")
    if not layout and best.layout.name != "standard":
        notes.append(f"board layout {best.layout.name}: the recorded scores are those of this one")
    return replace(best, notes=tuple(notes))


def _find_best_replay(record: Record, tile_sets: Sequence[TileSet], layouts: Sequence[Layout]) -> Replay:
    """Return the replay with the first tile set and layout, or with others that make many more scores correct."""
    rules = find_variants(record)
    best = _replay_with(record, tile_sets[0], layouts[0], rules)
    wrong_count = len(best.mismatches)
    # Another tile set or layout is only used if it leaves at most this number of wrong scores.
    max_count = min(wrong_count - MIN_SCORES_GAINED, wrong_count // MIN_MISMATCH_RATIO)
    for tiles, layout in product(tile_sets, layouts):
        if max_count >= 0 and _make_replayer(record, tiles, layout, rules).count_mismatches(max_count) <= max_count:
            best = _replay_with(record, tiles, layout, rules)
            max_count = len(best.mismatches) - 1
    return best


def _add_unknown_problem(record: Record, unknown: Pragma, what: str) -> Record:
    problem = Problem(unknown.line, f"#{unknown.name} {unknown.text!r} is not known here. {what}")
    return replace(record, problems=tuple(sorted((*record.problems, problem))))


def _replay_as_recorded(record: Record) -> Replay:
    """Return a replay with the recorded scores. No scores are computed."""
    events = tuple(ReplayedEvent(entry, None) for entry in record.entries)
    totals = [0] * len(record.players)
    for event in events:
        totals[event.entry.player] += event.counted_score
    return Replay(load_tile_set("en"), load_layout(), events, tuple(totals), Board(), record.problems)


def _replay_with(record: Record, tiles: TileSet, layout: Layout, rules: Rules) -> Replay:
    """Replay a record with this tile set, layout and rules, and collect all problems of the file."""
    replayer = _make_replayer(record, tiles, layout, rules)
    events = tuple(
        replace(event, entry=entry) for event, entry in zip(replayer.replay_events(), record.entries, strict=True)
    )
    board = replayer.board
    problems = [*record.problems, *replayer.problems, *check_order(record)]
    for check in (check_end_racks, check_gain, check_racks):
        problems += check(replayer.record, board, tiles)
    return Replay(tiles, layout, events, tuple(replayer.totals), board, tuple(sorted(problems)))


def _make_replayer(record: Record, tiles: TileSet, layout: Layout, rules: Rules) -> _Replayer:
    if any(parse_rearranged(entry.note, tiles) for entry in record.entries):
        rules = replace(rules, rearrange=True)
    return _Replayer(bracket_tiles(record, tiles), tiles, layout, rules)


def are_letters_lost(record: Record, tiles: TileSet) -> bool:
    """Return True if the players of a recorded game lose points for their unplayed letters.

    The player who went out gains the value of these letters once if the other players lose points, and twice if they
    do not. With more than two players, a file may have only the gain, because it is not known who held which letters.
    """
    end_racks = [entry for entry in record.entries if entry.kind is TurnKind.ENDRACK]
    return any(entry.is_penalty or _is_gained_once(entry, record, tiles) for entry in end_racks)


def _is_gained_once(entry: Entry, record: Record, tiles: TileSet) -> bool:
    """Return True if, in a game of more than two players, the gain in an end rack is the value of its letters."""
    try:
        points = tiles.points(tiles.split(entry.text))
    except NotationError:
        return False
    return len(record.players) > 2 and entry.score == points > 0


@dataclass(frozen=True, slots=True)
class _LastPlay:
    """The last play, which may still be withdrawn: its event line, the board before the play, and its score."""

    entry: Entry
    board_before: Board
    score: int


class _Replayer:
    """The state of a replay: the board and the totals after the events so far."""

    def __init__(self, record: Record, tiles: TileSet, layout: Layout, rules: Rules) -> None:
        self.record, self.tiles, self.layout, self.rules = record, tiles, layout, rules
        self.board = Board()
        self.totals = [0] * len(record.players)
        self.recorded_totals = [0] * len(record.players)
        self.total_offsets = [0] * len(record.players)  # known errors of recorded totals: total minus sum of scores
        self.are_letters_lost = are_letters_lost(record, tiles)
        self.problems: list[Problem] = []
        self.last_play: _LastPlay | None = None

    def replay_events(self) -> Iterator[ReplayedEvent]:
        """Replay the events in order. Yield each event with its computed score."""
        for entry in self.record.entries:
            event = self._replay_event(entry)
            if event.score is not None and event.score != entry.score and not self._is_net_withdrawal(entry):
                self._add_problem(
                    entry, f"The recorded score is {entry.score:+d}, but by the rules it is {event.score:+d}."
                )
            self._check_total(entry, event)
            self.totals[entry.player] += event.counted_score
            yield event

    def count_mismatches(self, limit: int) -> int:
        """Return the number of scores that do not match the recorded ones; stop when it is more than `limit`."""
        mismatches = (event for event in self.replay_events() if event.score != event.entry.score)
        return sum(1 for _ in islice(mismatches, limit + 1))

    def _replay_event(self, entry: Entry) -> ReplayedEvent:
        """Replay one line: compute its score, change the board, and note what is wrong in the line."""
        before, last_play = self.board, self.last_play
        play, event = None, ReplayedEvent(entry, 0)
        if entry.kind is TurnKind.PLAY:
            try:
                play = Play.from_gcg(before, entry.position, entry.text, self.tiles)
                play = replace(play, rearranged=parse_rearranged(entry.note, self.tiles))
                event = self._replay_play(entry, play)
            except (NotationError, RulesError) as error:
                self._add_problem(entry, make_message("gcg-kept", "{0} The recorded score is kept.", error))
                event = ReplayedEvent(entry, None)
        elif entry.kind is TurnKind.WITHDRAWN:
            event = ReplayedEvent(entry, self._withdraw_play(entry))
            before = self.board
        elif entry.kind is TurnKind.ENDRACK:
            event = ReplayedEvent(entry, self._score_end_rack(entry))
        elif entry.kind is TurnKind.CHALLENGE:
            event = ReplayedEvent(entry, entry.score)  # these points depend on agreements between the players
        elif entry.kind is TurnKind.TIME:
            event = ReplayedEvent(entry, min(entry.score, 0))  # these, too; but overtime never gives points
        else:
            self.last_play = None  # the previous play can no longer be challenged
        last_entry = last_play.entry if last_play else None
        for reason in check_entry(entry, play, before, self.tiles, last_entry, self.rules):
            self._add_problem(entry, reason)
        self.board = self.board.with_tiles(dict(c.placement for c in parse_changes(entry.note, self.tiles)))
        return event

    def _replay_play(self, entry: Entry, play: Play) -> ReplayedEvent:
        """Replay a play: compute its score and put its tiles on the board."""
        before = self.board
        status = check_placement(before, play, self.layout, self.rules)
        if status:
            what = repr(entry.text), entry.position, describe_status(status)
            self._add_problem(entry, make_message("gcg-status", "{0} at {1}: {2}", *what))
        if not play.tiles:
            return ReplayedEvent(entry, None)
        scored = score_play(before, play, self.layout, self.tiles, self.rules)
        self.last_play = _LastPlay(entry, before, scored.total)
        self.board = play.apply_to(before)
        word = "".join(map(self.tiles.text, scored.words[0].tiles)) if scored.words else entry.text
        return ReplayedEvent(entry, scored.total, play.position(before), word, play)

    def _withdraw_play(self, entry: Entry) -> int | None:
        """Withdraw the last play and return its score with the opposite sign.

        If there is no last play, or if another player made it, change nothing and return None.
        """
        last_play = self.last_play
        if last_play is None or last_play.entry.player != entry.player:
            return None
        self.board, self.last_play = last_play.board_before, None
        return -last_play.score

    def _score_end_rack(self, entry: Entry) -> int | None:
        """Return the score of unplayed letters (Scoring 9), or None if the letters cannot be parsed.

        Each player loses the value of the player's own letters, and the player who went out gains the value of all
        other players' letters. By the rule of North American tournaments no player loses points, and the player who
        went out gains twice this value.
        """
        try:
            points = self.tiles.points(self.tiles.split(entry.text))
        except NotationError:
            return None
        if entry.is_penalty:
            return -points
        return points if self.are_letters_lost else 2 * points

    def _is_net_withdrawal(self, entry: Entry) -> bool:
        """Return True for a net withdrawal, as in old files: its score is missing or +0, but it takes points away.

        Its total, if there is one, is that before the withdrawn play. With the total after the play, the points of the
        play were kept.
        """
        if entry.kind is not TurnKind.WITHDRAWN or entry.score:
            return False
        if entry.total is None:
            return True
        total_before = self.recorded_totals[entry.player]
        return entry.total not in (total_before, total_before + self.total_offsets[entry.player])

    def _check_total(self, entry: Entry, event: ReplayedEvent) -> None:
        """Report a recorded total that is not the sum of the scores so far.

        The lines after a wrong total usually continue from it. Such an error is reported only once.
        """
        expected = self._expect_total(entry, event)
        ongoing = expected + self.total_offsets[entry.player]  # it continues from the last wrong total
        if entry.total is not None and entry.total not in (expected, ongoing):
            self._add_problem(entry, f"The recorded total is {entry.total}, but the scores add up to {expected}.")
            self.total_offsets[entry.player] = entry.total - expected
        self.recorded_totals[entry.player] = expected

    def _expect_total(self, entry: Entry, event: ReplayedEvent) -> int:
        """Return the player's total after an event line, as the sum of the recorded scores.

        The line of a net withdrawal (`_is_net_withdrawal`) has no score, but its total is without the points of the
        withdrawn play. So its computed score counts.
        """
        score = event.counted_score if self._is_net_withdrawal(entry) else entry.score
        return self.recorded_totals[entry.player] + score

    def _add_problem(self, entry: Entry, reason: str) -> None:
        self.problems.append(Problem(entry.line, reason))
