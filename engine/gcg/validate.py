"""Check a recorded game for tiles that were not available, turns out of order, and a wrong end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from engine.board import Board
from engine.errors import NotationError
from engine.gcg.record import Entry, Problem, Record, quote_text
from engine.limits import MAX_CHALLENGE_POINTS, MAX_TIME_PENALTY
from engine.messages import make_message
from engine.plays import Play
from engine.rules import Rules
from engine.state import TURN_KINDS, TurnKind
from engine.tiles import TileSet


def check_entry(
    entry: Entry, play: Play | None, before: Board, tiles: TileSet, last: Entry | None, rules: Rules
) -> Iterator[str]:
    """Yield a text for each error in the numbers, the tiles or the player of one event.

    `before` is the board before the event. `last` is the last play, or None if the last play was withdrawn or can no
    longer be challenged.
    """
    yield from _check_numbers(entry, rules)
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
    if entry.kind in (TurnKind.CHALLENGE, TurnKind.WITHDRAWN):
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
    try:
        given = Counter(tiles.split(entry.text))
    except NotationError as error:
        yield f"The exchange {error}"
        return
    if rack is not None and (missing := _format_tiles(given - rack)):
        yield f"{missing} is exchanged, but is not on the rack {entry.rack}."


def _check_end_rack(entry: Entry, rack: Counter[str] | None, unseen: Counter[str], tiles: TileSet) -> Iterator[str]:
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
    """Yield a problem for each player without an end rack, if others lose points for theirs.

    The letters that nobody has are those of a player without an end rack. If there are none, the player who made the
    last play went out, and gains the letters of the others.
    """
    end_racks = [entry for entry in record.entries if entry.kind is TurnKind.ENDRACK]
    if not any(entry.is_penalty for entry in end_racks):
        return
    left = +tiles.count_remaining(face for face in board.faces() if face in tiles.counts)
    for entry in end_racks:
        try:
            left -= Counter(tiles.split(entry.text))
        except NotationError:
            return  # `check_entry` reports this line
    line, with_end_rack = end_racks[-1].line, {entry.player for entry in end_racks}
    for seat, player in enumerate(record.players):
        if left and seat not in with_end_rack:
            text = f"There is no end rack of {player.nick}, but these tiles were not played: {_format_tiles(left)}."
            yield Problem(line, text)
    last = next((entry.player for entry in reversed(record.entries) if entry.kind is TurnKind.PLAY), None)
    if not left and last is not None and last not in with_end_rack:
        letters = " ".join(entry.text for entry in end_racks if entry.is_penalty)
        text = "{0} went out, but there is no line with the points for the letters of the others: {1}."
        yield Problem(line, make_message("gcg-no-gain", text, record.players[last].nick, letters))


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
