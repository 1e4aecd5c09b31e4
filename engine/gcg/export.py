"""Convert a game to a GCG record, and a record to a `Game`, which can be corrected and continued."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from math import gcd

from engine.blanks import find_blank_letters, unnamed_blanks
from engine.board import Board, Square, square_name
from engine.ending import find_known_racks
from engine.errors import NotationError, RulesError
from engine.events import (
    BlankNamed,
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
from engine.gcg.edition import (
    STANDARD_LAYOUT_NAME,
    TILE_SET_BY_DISTRIBUTION,
    TileChange,
    bracket_tiles,
    describe_variants,
    find_variants,
    format_change,
    format_rearranged,
    has_marks,
    parse_changes,
    parse_rearranged,
)
from engine.gcg.points import (
    add_gained,
    add_lost,
    ends_game,
    find_points,
    has_only_points,
    has_points,
    parse_points,
    remove_points,
)
from engine.gcg.record import Entry, Player, Pragma, Record, format_gcg, make_nickname, parse_gcg
from engine.gcg.replay import MIN_SCORES_GAINED, ReplayedEvent, are_letters_lost, replay
from engine.lexicon import WordList
from engine.limits import MAX_GCG_EVENTS
from engine.messages import join_messages, make_message
from engine.plays import Play
from engine.rules import ChallengeRule, Rules, UnplayedRule
from engine.state import CLOSING_KINDS, POINTS_KINDS, TURN_KINDS, Turn, TurnKind, create_state
from engine.tiles import TileSet
from engine.transitions import apply_items

_LOST_TURN_NOTE = "#unsuccessful-challenge"  # the note of the program Macondo for the pass after a failed challenge
END_NOTE = "end of the game"
"""The note of the last event line if the game is over, but no line has unplayed letters or overtime."""
_RACK_NOTE = "the rack is not known: {} is assumed"
_EXCHANGE_NOTE = "the exchanged tiles are not known: {} are assumed"
_GENERATED_PRAGMAS = frozenset({"lexicon", "tile-distribution", "tile-set", "tile", "board-layout"})


def build_record(game: Game, lexicon: WordList | None = None, unplayed: UnplayedRule | None = None) -> Record:
    """Return the game so far as a GCG record. If `unplayed` is given, unplayed letters count by this rule.

    - Blanks: GCG has no notation for a blank without a letter. Such a blank gets the first letter that makes its words
      valid in `lexicon`, or the first letter of the tile set if `lexicon` is None. A note says that the letter is
      assumed.
    - Racks: the camera does not see them. A rack in the record has the tiles that were played in this turn. If the bag
      is empty, it also has the tiles that the player played or revealed later. Other programs cannot read a pass or an
      exchange without a rack, nor the number of exchanged tiles in place of the tiles. If these are not known, tiles
      are assumed, and a note says so.
    - Other events: a turn lost by a failed challenge (rule 8) becomes a pass. An event without a GCG notation becomes a
      note.

    Raises `RulesError` for a game that GCG cannot describe. It has no notation for a start from a position, for a gap
    in a play, and for a play on squares that have other tiles. Corrections can cause the last two.
    """
    if any(turn.kind is TurnKind.POSITION for turn in game.turns):
        text = "This game started from a position, which GCG cannot describe. Save it as a ZIP file instead."
        raise RulesError(make_message("gcg-position", text))
    for turn in game.turns:
        if turn.play is not None:
            _check_notation(turn.play, game.state.board_before(turn), f"{turn.at} {turn.word}")
    if unplayed is not None:  # compute the game again by this rule
        start = replace(game.start_event, rules=replace(game.rules, unplayed=unplayed))
        game = replace(game, start_event=start, state=apply_items(create_state(start), game.items))
    assumed = unnamed_blanks(game.state)
    for square in assumed:
        letters = find_blank_letters(game.state, square, lexicon.__contains__) if lexicon else game.tiles.letters
        game = game.push(BlankNamed(square, letters[0]))
    entries = _sum_totals(_build_entries(game, assumed))
    record = Record(_build_players(game.players), tuple(entries), tuple(_build_pragmas(game)))
    imported = next((event for event in game.events if isinstance(event, RecordImported)), None)
    if imported is not None:
        record = _restore_details(record, parse_gcg("\n".join(imported.lines)), game.tiles)
    return replace(record, entries=tuple(_fill_racks(record.entries, game)))


def _fill_racks(entries: Sequence[Entry], game: Game) -> list[Entry]:
    """Return the event lines with a rack for each pass and exchange. Other programs cannot read these without a rack.

    The rack of a play that was taken back is still the rack of the player's next turn. A player who passes keeps the
    rack. For any other turn, tiles are assumed that were not on the board.
    """
    filled = list(entries)
    # Forwards: the rack of a withdrawn play is that of the next turn.
    rack_by_player: dict[int, str | None] = {}
    exchanges = (turn for turn in game.turns if turn.kind is TurnKind.EXCHANGE)
    for index, entry in enumerate(filled):
        rack, turn = rack_by_player.get(entry.player), next(exchanges) if entry.kind is TurnKind.EXCHANGE else None
        if turn is not None and not entry.rack:
            filled[index] = _assume_exchange(entry, rack, turn, game.tiles)
        elif entry.kind is TurnKind.PASS and not entry.rack:
            filled[index] = replace(entry, rack=rack)
        rack_by_player[entry.player] = entry.rack if entry.kind is TurnKind.WITHDRAWN else None
    # Backwards: the rack of the turn after a pass was also the rack at the pass.
    rack_by_player = {}
    unseen = "".join(f"[{tile}]" for tile, _ in game.unseen.most_common())
    for index, entry in reversed(list(enumerate(filled))):
        if entry.kind is TurnKind.PASS and not entry.rack:
            rack = rack_by_player.get(entry.player)
            filled[index] = entry = replace(entry, rack=rack) if rack else _assume_rack(entry, unseen, game.tiles)
        if entry.rack and entry.kind is not TurnKind.CHALLENGE:
            rack_by_player[entry.player] = entry.rack
    return filled


def _assume_exchange(entry: Entry, rack: str | None, turn: Turn, tiles: TileSet) -> Entry:
    """Return the line of an exchange by number with tiles: first those of `rack`, then others not on the board.

    `rack` has the known tiles of the player, or is None. If more tiles were exchanged than are known, the line gets the
    exchanged tiles as its rack, because a player can only exchange tiles of the rack.
    """
    held = tiles.split(rack or "")
    others = tiles.count_remaining((*turn.board.faces(), *held)).most_common()
    exchanged = _format_tiles((*held, *(tile for tile, count in others if count > 0))[: turn.count])
    note = f"{entry.note}\n{_EXCHANGE_NOTE.format(exchanged)}".strip()
    return replace(entry, rack=rack if len(held) > turn.count else exchanged, text=exchanged, note=note)


def _has_assumed_exchange(entry: Entry) -> bool:
    """Return True for the line of an exchange by number, whose tiles are assumed (`_assume_exchange`)."""
    return entry.kind is TurnKind.EXCHANGE and _EXCHANGE_NOTE.format(entry.text) in entry.note.split("\n")


def _assume_rack(entry: Entry, rack: str, tiles: TileSet) -> Entry:
    """Return the line of a pass with the first tile of `rack` as its rack."""
    assumed = _format_tiles(tiles.split(tiles.fold(rack))[:1])
    return replace(entry, rack=assumed, note=f"{entry.note}\n{_RACK_NOTE.format(assumed)}".strip())


def _check_notation(play: Play, before: Board, name: str) -> None:
    """Raise `RulesError` if GCG has no notation for a play on the board `before`; `name` is its square and word."""
    if _has_gap(play, before):
        text = "GCG cannot describe the gap in {0}. Save the game as a ZIP file instead."
        raise RulesError(make_message("gcg-gap", text, name))
    if any(before[square] not in (None, tile) for square, tile in play.tiles):
        text = "GCG cannot describe that {0} covers other tiles. Save the game as a ZIP file instead."
        raise RulesError(make_message("gcg-covered", text, name))


def _has_gap(play: Play, before: Board) -> bool:
    """Return True if the main word of a play on the board `before` does not contain all of its tiles."""
    run = play.apply_to(before).tile_run(play.squares[0], play.is_across(before))
    return any(square not in run for square in play.squares)


def _build_entries(game: Game, assumed: Collection[Square]) -> list[Entry]:
    """Return the event lines of a game. `assumed` are the squares of the blanks whose letters are an assumption."""
    left_racks = find_known_racks(game.state) if game.is_over else ()
    racks = _infer_racks(game.turns, left_racks, game.rules.rack_size)
    entries: list[Entry] = []
    lost_turns = [0] * len(game.players)  # turns that each player still has to lose after a failed challenge
    gained, lost = find_points(game.turns)
    for turn, rack in zip(game.turns, racks, strict=True):
        if turn.square is not None:
            change = TileChange(turn.kind, (turn.square, turn.board.tile(turn.square)))
            _add_note(entries, format_change(change, game.tiles))
        elif turn.kind is TurnKind.CHALLENGE and not turn.score:
            _add_note(entries, f"unsuccessful challenge by {game.players[turn.by or 0]}")
        elif turn.kind not in POINTS_KINDS:
            if turn.kind in TURN_KINDS:
                entries += _build_lost_turns(entries, turn.player, lost_turns)
            entries.insert(_find_place(entries, turn), _build_entry(turn, rack))
            if turn.play and turn.play.rearranged:
                _add_note(entries, format_rearranged(turn.play.rearranged, game.tiles))
            for square, tile in turn.placements if turn.stands else ():
                if square in assumed:
                    _add_note(entries, f"the blank on {square_name(square)} was not named: {tile.letter} is assumed")
            add_gained(entries, gained.get(turn.number, ()), game.players)
        if turn.kind is TurnKind.CHALLENGE and turn.by is not None and game.rules.challenge is ChallengeRule.DOUBLE:
            lost_turns[turn.by] += 1
    if not game.is_over:
        entries += _build_lost_turns(entries, game.to_move, lost_turns)
    first = next((n for n, entry in enumerate(entries) if entry.kind in CLOSING_KINDS), len(entries))
    entries, closing = entries[:first], entries[first:]
    add_gained(entries, gained.get(None, ()), game.players)
    add_lost(closing, lost, game.players)
    entries += closing
    if game.is_over and not any(map(ends_game, entries)):
        _add_note(entries, END_NOTE)
    return entries


def _restore_details(record: Record, imported: Record, tiles: TileSet) -> Record:
    """Return the record with the headers, racks and notes of the file (`imported`) that the game was imported from.

    If a player deleted or corrected an event after the import, the rack and the notes of this event are left out. Notes
    about changed tiles and points without a turn are not taken from the file, because `record` already has those of the
    game as it is now.
    """
    entries: list[Entry] = []
    # Both have the events in the same order. Each event of the record is looked for after the last one that was found.
    start, bracketed = 0, bracket_tiles(imported, tiles)
    for entry in record.entries:
        for index in range(start, len(imported.entries)):
            other = imported.entries[index]
            is_same = other.position == entry.position or other.score == entry.score  # 14M and N14 may be one play
            if is_same and (other.player, other.kind) == (entry.player, entry.kind):
                rack = _normalise_rack(bracketed.entries[index].rack, tiles) or entry.rack
                kept = [line for line in other.note.split("\n") if not _is_rebuilt(line)]
                added = [line for line in entry.note.split("\n") if line not in kept]
                text = other.text if _has_assumed_exchange(other) else entry.text
                entry, start = replace(entry, rack=rack, text=text, note="\n".join((*kept, *added)).strip()), index + 1
                break
        entries.append(entry)
    imported_pragmas = [pragma for pragma in imported.pragmas if pragma.name not in _GENERATED_PRAGMAS]
    names = {pragma.name for pragma in imported_pragmas}
    pragmas = (*imported_pragmas, *(pragma for pragma in record.pragmas if pragma.name not in names))
    known = {player.name: player for player in imported.players}
    players = tuple(known.get(player.name, player) for player in record.players)
    racks = imported.racks if len(imported.entries) == len(record.entries) else ()
    return Record(players, tuple(entries), pragmas, racks)


def _is_rebuilt(note: str) -> bool:
    """Return True for a line of a note that `_build_entries` writes for the game as it is now."""
    return note == END_NOTE or has_marks(note) or has_points(note)


def _normalise_rack(rack: str | None, tiles: TileSet) -> str | None:
    """Return a rack in the notation of this program, or None if the rack is not known or cannot be parsed."""
    try:
        return _format_tiles(tiles.split(tiles.fold(rack))) if rack else None
    except NotationError:
        return None


def _build_players(names: Sequence[str]) -> tuple[Player, ...]:
    """Return the players, each with a unique nickname."""
    nicks: list[str] = []
    for name in names:
        nick = make_nickname(name)
        while nick in nicks:
            nick = f"{nick}_{len(nicks) + 1}"
        nicks.append(nick)
    return tuple(Player(nick, name.strip() or nick) for nick, name in zip(nicks, names, strict=True))


def _build_pragmas(game: Game) -> list[Pragma]:
    """Return the lines with `#` that describe the game: variants, word list, tiles and board."""
    variants = describe_variants(game.rules)
    pragmas = [Pragma("description", variants)] if variants else []
    lexicon = game.start_event.lexicon
    if lexicon and lexicon != game.tiles.name:  # other programs do not know the packaged word lists
        pragmas.append(Pragma("lexicon", lexicon))
    names = {code: name for name, code in TILE_SET_BY_DISTRIBUTION.items()}
    pragmas.append(Pragma("tile-distribution", names.get(game.tiles.name, game.tiles.name)))
    pragmas += [Pragma("tile", f"[{t}] [{game.tiles.lower(t)}]") for t in game.tiles.letters if len(t) > 1]
    if game.layout.name != "standard":
        pragmas.append(Pragma("board-layout", game.layout.name))
    elif _count_entered_scores(game) >= MIN_SCORES_GAINED:  # `replay` might assume the layout of these scores
        pragmas.append(Pragma("board-layout", STANDARD_LAYOUT_NAME))
    return pragmas


def _count_entered_scores(game: Game) -> int:
    """Return the number of plays with a score that players entered, with the withdrawals of such plays."""
    entered = {turn.number for turn in game.turns if turn.computed_score not in (None, turn.score)}
    return sum(turn.number in entered or turn.target in entered for turn in game.turns)


def _build_entry(turn: Turn, rack: tuple[str, ...] | None) -> Entry:
    """Return the event line of a turn."""
    text = {
        TurnKind.PLAY: turn.word or "",
        TurnKind.EXCHANGE: _format_tiles(turn.tiles) if turn.tiles else str(turn.count),
        TurnKind.ENDRACK: _format_tiles(turn.tiles),
    }.get(turn.kind, "")
    note = "" if turn.computed_score is None else f"by the rules {turn.computed_score:+d}"
    position = (turn.at or "") if turn.kind is TurnKind.PLAY else ""
    written = None if rack is None else _format_tiles(rack)
    return Entry(turn.player, turn.kind, turn.score, turn.total, written, position, text, note=note)


def _sum_totals(entries: Sequence[Entry]) -> list[Entry]:
    """Return the event lines with the total of each player after each line."""
    totals: Counter[int] = Counter()
    summed: list[Entry] = []
    for entry in entries:
        totals[entry.player] += entry.score
        summed.append(replace(entry, total=totals[entry.player]))
    return summed


def _build_lost_turns(entries: Sequence[Entry], to_move: int, lost_turns: list[int]) -> list[Entry]:
    """Return a pass for each turn that a player lost after the last turn in `entries`, up to the turn of `to_move`.

    `lost_turns` has the number of turns that each player still has to lose; it is reduced in place.
    """
    last = next((entry for entry in reversed(entries) if entry.kind in TURN_KINDS), None)
    passes: list[Entry] = []
    if last is None:
        return passes
    seat = (last.player + 1) % len(lost_turns)
    while seat != to_move and lost_turns[seat]:
        lost_turns[seat] -= 1
        passes.append(Entry(seat, TurnKind.PASS, 0, note=_LOST_TURN_NOTE))
        seat = (seat + 1) % len(lost_turns)
    return passes


def _find_place(entries: Sequence[Entry], turn: Turn) -> int:
    """Return the index at which to insert the line of a turn.

    A withdrawal is inserted directly after its play, even if other players passed or exchanged tiles before the
    withdrawal. All other turns are inserted at the end.
    """
    if turn.kind is not TurnKind.WITHDRAWN:
        return len(entries)
    at = len(entries)
    while at and entries[at - 1].kind in (TurnKind.PASS, TurnKind.EXCHANGE):
        at -= 1
    return at if at and entries[at - 1].player == turn.player else len(entries)


def _add_note(entries: list[Entry], note: str) -> None:
    """Add `note` to the last event line, if there is one."""
    if entries:
        entries[-1] = replace(entries[-1], note=f"{entries[-1].note}\n{note}".strip())


def _infer_racks(
    turns: Sequence[Turn], left_racks: Sequence[tuple[str, ...] | None], rack_size: int
) -> list[tuple[str, ...] | None]:
    """Return the tiles known to be on the player's rack at each turn, or None if none are known.

    They are inferred from the last turn back to the first, beginning with `left_racks`, the racks at the end of the
    game.
    """
    rack_by_player: dict[int, tuple[str, ...] | None] = dict(enumerate(left_racks))
    racks: list[tuple[str, ...] | None] = []
    for turn in reversed(turns):
        rack_after = rack_by_player.get(turn.player) or ()
        if turn.kind is TurnKind.PLAY and turn.stands:  # the tiles of a withdrawn play go back: see the last branch
            played = [tile.face for _, tile in turn.placements]
            is_rack_after_kept = not turn.drawn_count and len(played) + len(rack_after) <= rack_size
            rack_by_player[turn.player] = tuple(sorted((*played, *(rack_after if is_rack_after_kept else ()))))
        elif turn.kind is TurnKind.EXCHANGE:
            rack_by_player[turn.player] = turn.tiles
        elif turn.kind is TurnKind.WITHDRAWN and turn.target is not None:
            returned = Counter(tile.face for _, tile in turns[turn.target].placements)
            kept = returned | Counter(rack_after)
            # The rack may not hold both the returned tiles and those played later if one of the plays was misread.
            rack_by_player[turn.player] = tuple(sorted((kept if kept.total() <= rack_size else returned).elements()))
        racks.append(rack_by_player.get(turn.player) or None)
    return racks[::-1]


def _format_tiles(tiles: Sequence[str]) -> str:
    return "".join(tile if len(tile) == 1 else f"[{tile}]" for tile in tiles)


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
    extra = sum(len(parse_changes(entry.note, tiles)) + len(parse_points(entry)) for entry in record.entries)
    _check_event_count(len(record.entries) + extra)
    bracketed = bracket_tiles(record, tiles)
    bracketed = replace(bracketed, entries=tuple(map(remove_points, bracketed.entries)))
    names = [player.name for player in record.players]
    game = Game.start(
        names if len(set(names)) == len(names) else record.labels(),
        _infer_rules(bracketed, tiles),
        tiles.name,
        record.pragma_text("lexicon"),
        played.layout.name,
        record.entries[0].player if record.entries else 0,
    )
    for entry, written, event in zip(bracketed.entries, record.entries, played.events, strict=True):
        try:
            if entry.kind not in CLOSING_KINDS and not has_only_points(written):
                game = _push_entry(game, entry, event, tiles)
            game = game.push(*parse_points(written))
            if entry.kind not in CLOSING_KINDS:
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
    return END_NOTE in last_notes or any(map(ends_game, record.entries))


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
    overtime = [-entry.score for entry in entries if entry.kind is TurnKind.TIME and entry.score]
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
    # Old files withdraw a play with +0. If they have the total before the play, its points are withdrawn; if they have
    # the total with the play, its points were kept.
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
    """Return the act that a line of a GCG file describes. Raises `RulesError` if the line does not fit the game."""
    match entry.kind:
        case TurnKind.PLAY if event.play is not None and event.play.tiles:
            return PlayMade(entry.player, event.play)
        case TurnKind.EXCHANGE if entry.exchange_count is not None:
            return Exchanged(entry.player, entry.exchange_count)
        case TurnKind.EXCHANGE:
            exchanged = tiles.split(entry.text)
            return Exchanged(entry.player, len(exchanged), () if _has_assumed_exchange(entry) else exchanged)
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
        elif entry.kind is TurnKind.TIME and entry.score:
            overtime_points[entry.player] += max(-entry.score, 0)
    for player, points in overtime_points.items():
        minutes = points // rules.overtime_points
        events.append(ClockRead(player, rules.clock_seconds + 60.0 * minutes))
    return events
