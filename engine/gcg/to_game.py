"""Convert a recorded game to a `Game`, which can be corrected and continued."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from math import gcd

from engine.errors import NotationError, RulesError
from engine.events import (
    BlankTaken,
    Challenged,
    ClockRead,
    EndReason,
    Event,
    Exchanged,
    GameEnded,
    Passed,
    PlayMade,
    PlayWithdrawn,
    RackRevealed,
    RecordImported,
    ScoreCorrected,
    TileRecycled,
)
from engine.game import Game
from engine.gcg.changes import parse_changes, parse_rearranged
from engine.gcg.edition import bracket_tiles, find_variants
from engine.gcg.export import END_NOTE, build_record
from engine.gcg.record import Entry, Record, format_gcg
from engine.gcg.replay import ReplayedEvent, are_letters_lost, replay
from engine.limits import MAX_GCG_EVENTS
from engine.messages import join_messages, make_message
from engine.rules import ChallengeRule, Rules, UnplayedRule
from engine.state import CLOSING_KINDS, TurnKind
from engine.tiles import TileSet

_DEFAULT_CLOCK_S = 25 * 60  # usual time of a player; files do not record the time, only overtime


def build_game(record: Record) -> Game:
    """Return a game with the recorded events. The tile set and the layout are chosen as in `replay`.

    A recorded score that differs from the computed score is kept as a correction; `Turn.computed_score` has the
    computed score. A GCG file does not contain the agreed rules, so they are inferred from the events: points for a
    failed challenge, unplayed letters counted once or twice, overtime. Raises `RulesError` with the line number if an
    event is impossible or a line cannot be read.
    """
    _check_event_count(len(record.entries))
    for problem in record.unread_lines:
        raise RulesError(make_message("gcg-line", "line {0}: {1}", problem.line, problem.reason))
    played = replay(record)
    tiles = played.tiles
    changes = sum(len(parse_changes(entry.note, tiles)) for entry in record.entries)
    _check_event_count(len(record.entries) + changes)
    bracketed = bracket_tiles(record, tiles)
    names = [player.name for player in record.players]
    game = Game.start(
        names if len(set(names)) == len(names) else record.labels(),
        _infer_rules(bracketed, tiles),
        tiles.name,
        record.pragma_text("lexicon"),
        played.layout.name,
        record.entries[0].player if record.entries else 0,
    )
    for entry, event in zip(bracketed.entries, played.events, strict=True):
        if entry.kind in CLOSING_KINDS:
            continue
        try:
            game = _push_entry(game, entry, event, tiles)
            game = _push_changes(game, entry.note, tiles)
        except (NotationError, RulesError) as error:
            reasons = [problem.reason for problem in played.problems if problem.line == entry.line]
            why = join_messages("; ", reasons) if reasons else error
            raise RulesError(make_message("gcg-line", "line {0}: {1}", entry.line, why)) from None
    game = game.push(*_build_end_events(bracketed, game.rules, tiles))
    if _is_closed(record) or game.end_due is EndReason.FINISH_LINE:
        game = game.push(GameEnded(game.end_due or EndReason.AGREED))
    return _attach_file(game, record)


def _is_closed(record: Record) -> bool:
    """Return True if a recorded game is over: a line has unplayed letters or overtime, or the last note says so."""
    last_notes = record.entries[-1].note.split("\n") if record.entries else []
    return END_NOTE in last_notes or any(entry.kind in CLOSING_KINDS for entry in record.entries)


def _check_event_count(count: int) -> None:
    """Raise `RulesError` for a file with more events than `MAX_GCG_EVENTS`. Notes may contain events, too."""
    if count > MAX_GCG_EVENTS:
        text = "A game has at most {0} events, but this file has {1} events."
        raise RulesError(make_message("gcg-events", text, MAX_GCG_EVENTS, count))


def _attach_file(game: Game, file: Record) -> Game:
    """Add the lines of the GCG file to the game, if an export of the game would lose some of them."""
    text = format_gcg(file)
    if text == format_gcg(build_record(game)):
        return game
    lines = ("".join(c if c.isprintable() else " " for c in line) for line in text.splitlines())
    return game.push(RecordImported(tuple(lines)))


def _infer_rules(record: Record, tiles: TileSet) -> Rules:
    """Return the rules in the description of the file, extended to allow the recorded events.

    The extensions are for challenges, unplayed letters, overtime and changes of tiles on the board.
    """
    entries = record.entries
    changes = {change.kind for entry in entries for change in parse_changes(entry.note, tiles)}
    costs = [entry.score for entry in entries if entry.kind is TurnKind.CHALLENGE and entry.score]
    end_racks = [entry for entry in entries if entry.kind is TurnKind.ENDRACK]
    unplayed = UnplayedRule.NONE
    if end_racks:
        unplayed = UnplayedRule.BOTH if are_letters_lost(record, tiles) else UnplayedRule.TWICE
    overtime = [-entry.score for entry in entries if entry.kind is TurnKind.TIME]
    described = find_variants(record)
    return replace(
        described,
        rearrange=any(parse_rearranged(entry.note, tiles) for entry in entries),
        recycle=TurnKind.RECYCLED in changes,
        retake_blanks=TurnKind.BLANK_TAKEN in changes,
        challenge=ChallengeRule.POINTS if costs else ChallengeRule.SINGLE,  # files record a lost turn as a pass
        challenge_points=abs(costs[0]) if costs else 0,
        challenger_pays=bool(costs) and costs[0] < 0,
        finish_unplayed=bool(described.finish_line and end_racks),
        unplayed=unplayed,
        clock_seconds=_DEFAULT_CLOCK_S if overtime else 0,
        overtime_points=gcd(*overtime) or 10,
    )


def _push_entry(game: Game, entry: Entry, event: ReplayedEvent, tiles: TileSet) -> Game:
    """Return the game after one event line, with the recorded score."""
    if entry.kind is TurnKind.CHALLENGE and entry.score and not _is_challenge_by_rules(game, entry):
        last = next((turn for turn in reversed(game.turns) if turn.player == entry.player), None)
        if last is None:
            raise RulesError(make_message("gcg-no-challenge", "There is no play that could have been challenged."))
        return game.push(ScoreCorrected(last.ref, last.score + entry.score))
    # Old files withdraw a play with +0 and the total before it; a total with the play means that its points were kept.
    net = entry.kind is TurnKind.WITHDRAWN and entry.score == 0 and entry.total != game.totals[entry.player]
    game = game.push(_build_event(game, entry, event, tiles))
    turn = game.turns[-1]
    return game if net or turn.score == entry.score else game.push(ScoreCorrected(turn.ref, entry.score))


def _push_changes(game: Game, note: str, tiles: TileSet) -> Game:
    """Return the game after the exchanges of tiles between board and rack in the note of an event line."""
    for change in parse_changes(note, tiles):
        square, tile = change.placement
        if change.kind is TurnKind.RECYCLED:
            game = game.push(TileRecycled(game.to_move, square, tile))
        else:
            game = game.push(BlankTaken(game.to_move, square))
    return game


def _is_challenge_by_rules(game: Game, entry: Entry) -> bool:
    """Return True if the rules of the game give the points of a challenge to the player of the event line.

    The rules are inferred from the first challenge of the file. A file may have points gained and points lost by
    challenges, which no single rule allows.
    """
    if game.last_turn is not None and game.last_turn.kind is TurnKind.CHALLENGE:
        return False  # the points of one challenge are in two lines, or a second player challenged the same play
    if game.rules.challenger_pays:
        return entry.score < 0
    target = game.challengeable_turn
    return entry.score > 0 and (target is None or target.player == entry.player)


def _build_event(game: Game, entry: Entry, event: ReplayedEvent, tiles: TileSet) -> Event:
    match entry.kind:
        case TurnKind.PLAY if event.play is not None and event.play.tiles:
            return PlayMade(entry.player, event.play)
        case TurnKind.EXCHANGE if entry.exchange_count is not None:
            return Exchanged(entry.player, entry.exchange_count)
        case TurnKind.EXCHANGE:
            exchanged = tiles.split(entry.text)
            return Exchanged(entry.player, len(exchanged), exchanged)
        case TurnKind.PASS:
            return Passed(entry.player)
        case TurnKind.WITHDRAWN if event.score is not None:
            return PlayWithdrawn(entry.player)
        case TurnKind.CHALLENGE if game.rules.challenger_pays:
            return Challenged(entry.player, upheld=False)
        case TurnKind.CHALLENGE:
            return Challenged((entry.player + 1) % len(game.players), upheld=False)
    raise RulesError(make_message("gcg-no-fit", "This line does not fit the game."))


def _build_end_events(record: Record, rules: Rules, tiles: TileSet) -> list[Event]:
    """Return the events for the unplayed letters and for the time used at the end of the game."""
    events: list[Event] = [RackRevealed(rack.player, tiles.split(rack.tiles)) for rack in record.racks if rack.tiles]
    overtime_points: Counter[int] = Counter()
    for entry in record.entries:
        if entry.is_penalty:
            events.append(RackRevealed(entry.player, tiles.split(entry.text)))
        elif entry.kind is TurnKind.TIME:
            overtime_points[entry.player] += max(-entry.score, 0)
    for player, points in overtime_points.items():
        minutes = points // rules.overtime_points
        events.append(ClockRead(player, rules.clock_seconds + 60.0 * minutes))
    return events
