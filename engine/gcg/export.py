"""A game as a GCG record, to be written to a file that other programs open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from engine.game import Game
from engine.gcg.edition import DISTRIBUTIONS
from engine.gcg.record import Entry, Player, Pragma, Record
from engine.gcg.writer import nickname
from engine.rules import Challenge
from engine.turns import Kind, Turn

_LOST_TURN = "#unsuccessful-challenge"  # so Macondo marks the pass of who challenged in vain
_REARRANGED = "the letters of a word on the board were rearranged before"
_NO_EVENT = {
    Kind.RECYCLED: "then took a tile of the board for one of the rack",
    Kind.BLANK_TAKEN: "then took a blank of the board for its letter",
}


def record_of(game: Game, title: str = "", doubled_end_rack: bool = False) -> Record:
    """The game so far, as played.

    The camera sees no racks: on a rack stands what the player is known to have held, the tiles played then and, once
    nothing is drawn any more, those played or told later. A turn lost by a challenge in vain (rule 8) is a pass; what
    GCG has no event for becomes a note. `doubled_end_rack`: in a game of two, who went out gains twice the other's
    letters, and nobody loses any, for the programs that know no other end.
    """
    turns = game.turns
    if doubled_end_rack and len(game.players) == 2:
        turns = _doubled(turns)
    racks = _racks(turns, len(game.players), game.rules.rack_size)
    entries: list[Entry] = []
    lost = [0] * len(game.players)
    for turn, rack in zip(turns, racks, strict=True):
        if turn.kind in _NO_EVENT or (turn.kind is Kind.CHALLENGE and not turn.score):
            reason = _NO_EVENT.get(turn.kind) or f"challenged in vain by {game.players[turn.by or 0]}"
            entries = _with_note(entries, reason)
        else:
            entries += _lost_turns(entries, turn, lost, len(game.players))
            entries.append(_entry(turn, rack))
            if turn.play and turn.play.rearranged:
                entries = _with_note(entries, _REARRANGED)
        if turn.kind is Kind.CHALLENGE and turn.by is not None and game.rules.challenge is Challenge.DOUBLE:
            lost[turn.by] += 1
    return Record(_players(game.players), tuple(entries), tuple(_pragmas(game, title)))


def _players(names: Sequence[str]) -> tuple[Player, ...]:
    """The players, each with a nickname of their own."""
    nicks: list[str] = []
    for name in names:
        nick = nickname(name)
        nicks.append(nick if nick not in nicks else f"{nick}_{len(nicks) + 1}")
    return tuple(Player(nick, name.strip() or nick) for nick, name in zip(nicks, names, strict=True))


def _pragmas(game: Game, title: str) -> list[Pragma]:
    pragmas = [Pragma("title", title)] if title else []
    if game.started.lexicon:
        pragmas.append(Pragma("lexicon", game.started.lexicon))
    if game.tiles.name != "en":
        names = {code: name for name, code in DISTRIBUTIONS.items()}
        pragmas.append(Pragma("tile-distribution", names.get(game.tiles.name, game.tiles.name)))
    pragmas += [Pragma("tile", f"[{t}] [{game.tiles.lower(t)}]") for t in game.tiles.letters if len(t) > 1]
    if game.layout.name != "standard":
        pragmas.append(Pragma("board-layout", game.layout.name))
    return pragmas


def _entry(turn: Turn, rack: tuple[str, ...] | None) -> Entry:
    text = {
        Kind.PLAY: turn.word or "",
        Kind.EXCHANGE: _text(turn.tiles) if turn.tiles else str(turn.count),
        Kind.ENDRACK: _text(turn.tiles),
    }.get(turn.kind, "")
    if turn.kind is Kind.ENDRACK:
        rack = turn.tiles if turn.score < 0 else None
    note = "" if turn.computed is None else f"by the rules {turn.computed:+d}"
    position = (turn.at or "") if turn.kind is Kind.PLAY else ""
    written = None if rack is None else _text(rack)
    return Entry(turn.player, turn.kind, turn.score, turn.total, written, position, text, note=note)


def _lost_turns(entries: list[Entry], turn: Turn, lost: list[int], players: int) -> list[Entry]:
    """The passes of those who lost their turn between the last turn and this one."""
    last = next((entry for entry in reversed(entries) if entry.kind in (Kind.PLAY, Kind.PASS, Kind.EXCHANGE)), None)
    passes: list[Entry] = []
    if last is None or turn.kind not in (Kind.PLAY, Kind.PASS, Kind.EXCHANGE):
        return passes
    seat = (last.player + 1) % players
    while seat != turn.player and lost[seat]:
        lost[seat] -= 1
        total = next((entry.total for entry in reversed(entries) if entry.player == seat), 0)
        passes.append(Entry(seat, Kind.PASS, 0, total, note=_LOST_TURN))
        seat = (seat + 1) % players
    return passes


def _with_note(entries: list[Entry], note: str) -> list[Entry]:
    """The events with a note on the last one."""
    if not entries:
        return entries
    return [*entries[:-1], replace(entries[-1], note=f"{entries[-1].note}\n{note}".strip())]


def _racks(turns: Sequence[Turn], players: int, most: int) -> list[tuple[str, ...] | None]:
    """What each player surely held at each turn, from the last turn back."""
    held: dict[int, tuple[str, ...] | None] = {}
    for turn in turns:
        if turn.kind is Kind.ENDRACK and (turn.score < 0 or players == 2):
            held[turn.player if turn.score < 0 else 1 - turn.player] = turn.tiles
    racks: list[tuple[str, ...] | None] = []
    for turn in reversed(turns):
        later = held.get(turn.player) or ()
        if turn.kind is Kind.PLAY and turn.stands:  # one that was taken back was made from the rack told then
            laid = [tile.face for _, tile in turn.placements]
            kept = () if turn.drawn or len(laid) + len(later) > most else later
            held[turn.player] = tuple(sorted((*laid, *kept)))
        elif turn.kind is Kind.EXCHANGE:
            held[turn.player] = turn.tiles or None
        elif turn.kind is Kind.WITHDRAWN and turn.target is not None:
            back = Counter(tile.face for _, tile in turns[turn.target].placements)
            held[turn.player] = tuple(sorted((back | Counter(later)).elements()))
        racks.append(held.get(turn.player))
    return racks[::-1]


def _doubled(turns: Sequence[Turn]) -> tuple[Turn, ...]:
    """The turns with the North American end: what one loses, the other gains once more."""
    lost = sum(-turn.score for turn in turns if turn.kind is Kind.ENDRACK and turn.score < 0)
    gains = [turn for turn in turns if turn.kind is Kind.ENDRACK and turn.score >= 0]
    if len(gains) != 1:
        return tuple(turns)
    [gain] = gains
    moved: list[Turn] = []
    for turn in turns:
        if turn.kind is Kind.ENDRACK and turn.score < 0:
            continue
        score = turn.score + lost if turn is gain else turn.score
        more = 0 if turn.number < gain.number else lost  # both totals rise by what is lost, the margin stays
        moved.append(replace(turn, score=score, total=turn.total + more))
    return tuple(moved)


def _text(tiles: Sequence[str]) -> str:
    return "".join(tile if len(tile) == 1 else f"[{tile}]" for tile in tiles)
