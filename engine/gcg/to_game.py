"""A recorded game as a `Game`: it can be played back event by event, undone, and put right."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

from engine.board import Layout
from engine.errors import NotationError, RulesError
from engine.events import (
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
    ScoreCorrected,
)
from engine.game import Game
from engine.gcg.edition import in_brackets
from engine.gcg.record import Entry, Record
from engine.gcg.replay import Replayed, replay
from engine.messages import joined, said
from engine.rules import Challenge, Rules, Unplayed
from engine.tiles import TileSet
from engine.turns import CLOSING, Kind

_MOST = 500  # events, several times as many as the longest game has: each score put right folds all before it again
_CLOCK_S = 25 * 60  # the usual time of a player; only what is used beyond it is on record


def game_of(record: Record, tiles: TileSet | None = None, board_layout: Layout | None = None) -> Game:
    """The game as it was recorded; tile set and board are chosen as `replay` does.

    A recorded score that is not the one by the rules stands, as if a person had put it right (`Turn.computed` has the
    other). A file does not say which rules were agreed, only what came of them: points for a challenge in vain,
    unplayed letters once or twice, overtime. Raises `RulesError` with the line for what cannot have been played.
    """
    if len(record.entries) > _MOST:
        text = "a game has up to {0} events, this file has {1}"
        raise RulesError(said("gcg-events", text, _MOST, len(record.entries)))
    played = replay(record, tiles, board_layout)
    tiles = played.tiles
    record = in_brackets(record, tiles)
    names = [player.name for player in record.players]
    game = Game.start(
        names if len(set(names)) == len(names) else record.labels(),
        _rules(record.entries),
        tiles.name,
        record.pragma("lexicon"),
        played.layout.name,
        record.entries[0].player if record.entries else 0,
    )
    for entry, event in zip(record.entries, played.events, strict=True):
        if entry.kind in CLOSING:
            continue
        try:
            game = _with_turn(game, entry, event, tiles)
        except (NotationError, RulesError) as error:
            reasons = [problem.reason for problem in played.problems if problem.line == entry.line]
            why = joined("; ", reasons) if reasons else error
            raise RulesError(said("gcg-line", "line {0}: {1}", entry.line, why)) from None
    for told in _told(record, game.rules, tiles):
        game = game.push(told)
    if any(entry.kind in CLOSING for entry in record.entries):
        game = game.push(GameEnded(game.end_due or EndReason.AGREED))
    return game


def _rules(entries: Sequence[Entry]) -> Rules:
    """Rules under which the game can have come out as it did."""
    gained = [entry.score for entry in entries if entry.kind is Kind.CHALLENGE and entry.score > 0]
    end_racks = [entry for entry in entries if entry.kind is Kind.ENDRACK]
    lost = any(entry.is_penalty for entry in end_racks)
    overtime = [-entry.score for entry in entries if entry.kind is Kind.TIME]
    return Rules(
        challenge=Challenge.POINTS if gained else Challenge.SINGLE,  # a turn lost is written as a pass
        challenge_points=gained[0] if gained else 0,
        unplayed=Unplayed.NONE if not end_racks else Unplayed.BOTH if lost else Unplayed.TWICE,
        clock_seconds=_CLOCK_S if overtime else 0,
        overtime_points=gcd(*overtime) or 10,
    )


def _with_turn(game: Game, entry: Entry, event: Replayed, tiles: TileSet) -> Game:
    """The game after one line, with the score that the line has."""
    if entry.kind is Kind.CHALLENGE and entry.score < 0:  # a challenger pays for being wrong: no event has that
        last = next((turn for turn in reversed(game.turns) if turn.player == entry.player), None)
        if last is None:
            raise RulesError(said("gcg-no-challenge", "nothing was played that could have been challenged"))
        return game.push(ScoreCorrected(last.number, last.score + entry.score))
    game = game.push(_event(game, entry, event, tiles))
    net = entry.kind is Kind.WITHDRAWN and entry.score == 0
    turn = game.turns[-1]
    return game if net or turn.score == entry.score else game.push(ScoreCorrected(turn.number, entry.score))


def _event(game: Game, entry: Entry, event: Replayed, tiles: TileSet) -> Event:
    match entry.kind:
        case Kind.PLAY if event.play is not None and event.play.tiles:
            return PlayMade(entry.player, event.play)
        case Kind.EXCHANGE if entry.count is not None:
            return Exchanged(entry.player, entry.count)
        case Kind.EXCHANGE:
            exchanged = tiles.split(entry.text)
            return Exchanged(entry.player, len(exchanged), exchanged)
        case Kind.PASS:
            return Passed(entry.player)
        case Kind.WITHDRAWN if event.score is not None:
            return PlayWithdrawn(entry.player)
        case Kind.CHALLENGE:
            return Challenged((entry.player + 1) % len(game.players), upheld=False)
    raise RulesError(said("gcg-no-fit", "this does not fit the game"))


def _told(record: Record, rules: Rules, tiles: TileSet) -> list[Event]:
    """What the players held at the end, and the time they used."""
    told: list[Event] = [RackRevealed(rack.player, tiles.split(rack.tiles)) for rack in record.racks]
    for entry in record.entries:
        if entry.kind is Kind.ENDRACK and entry.is_penalty:
            told.append(RackRevealed(entry.player, tiles.split(entry.text)))
        elif entry.kind is Kind.TIME:
            minutes = -entry.score // rules.overtime_points
            told.append(ClockRead(entry.player, rules.clock_seconds + 60.0 * minutes))
    return told
