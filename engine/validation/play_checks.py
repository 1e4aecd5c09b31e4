"""Checks of a new play: its tiles, its blanks and its words.

If a word is unlisted, a tile may have been misread. The checks then look for plays with listed words that resemble the
play. Such an alternative must be plausible from the picture: a letter among the candidates of the reading, a letter of
similar shape, or one more tile beside the word. The word list alone is no evidence of a misread tile, because nearly
every short phony differs from a valid word in only one letter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, permutations
from types import MappingProxyType

from engine.blanks import find_blank_letters
from engine.board import (
    EMPTY_BOARD,
    Board,
    Square,
    column_of,
    join_square_names,
    row_of,
    run_ends,
    square_name,
)
from engine.events import (
    BlankNamed,
    BlankTaken,
    Event,
    Exchanged,
    Passed,
    PlayMade,
    PositionEntered,
    TileRecycled,
    filter_plays,
)
from engine.game import Game
from engine.lexicon import WordList, find_deciding_words
from engine.plays import Play
from engine.position import find_loose_squares
from engine.reading import BLANK, EMPTY, HIDDEN, BoardReading
from engine.scoring import PlayScore, Status
from engine.tiles import Tile
from engine.validation.findings import LOOK_AGAIN, Finding, Option, Proposal, Reason, Source, find_doubtful_squares

MIN_MARKED_BLANK_PROBABILITY = 0.01
"""Probability that a tile read as a letter is a blank; if it is higher, the letter may be written on a blank.

None of 7,521 letters in photographs reached this probability.
"""
MAX_ALTERNATIVES = 2
"""Maximum number of alternatives to a play in one question."""

_REPORTED_DEFECTS = (
    Status.CENTRE_MISSED, Status.NOT_JOINED, Status.NOT_IN_LINE, Status.GAP, Status.SQUARE_TAKEN,
    Status.FIRST_WORD_SHORT, Status.TOO_MANY_TILES,
)  # fmt: skip
"""Defects for which a recorded play is reported. The `Reason` of the report has the same name as the defect."""

MAX_REORDERED_PLAYS = 3
"""Maximum number of plays of which all orders are offered; the orders of more plays are too many answers."""

MIN_PLAUSIBLE_PROBABILITY = 0.001
"""Minimum probability in a reading for a symbol to count as plausible."""
MAX_EXCLUDING_PROBABILITY = 0.99
"""Limit of the confidence of a letter; from this value on, letters of similar shape are not plausible."""
MIN_TILE_BESIDE_PROBABILITY = 0.005
"""Probability of a tile on an empty square at the end of a word; if it is higher, a tile may have been missed there.

In photographs, one in 500 empty squares reaches this probability.
"""

_SIMILAR_SHAPES = (
    "AÀÁÂÄÅĄ", "BPR", "CGOQÖD", "EFĘÉÈ", "HNMKW", "ILTJ", "UVY", "SZ", "OÖÓ", "UÜÚ", "NÑŃ", "CČĆ", "SŠŚ", "ZŽŻŹ",
    "ЕЭВ", "ИНМ", "ШЩЦ", "ЬЪЫ", "ΕΣΞ", "ΟΘΦ", "ΛΑΔ",
)  # fmt: skip
"""Groups of letters with similar shapes in print, which character recognition confuses most often."""


def check_record(proposal: Proposal) -> Iterator[Finding]:
    """Report plays that the rules do not allow, for example off the centre, not joined, or with a gap.

    A play that had the same defects before is not reported. So after a correction, only plays with new defects are
    reported.
    """
    known = {(turn.play, turn.status) for turn in proposal.game.turns}
    after = proposal.game_after
    for turn in after.turns:
        if turn.play is None or (turn.play, turn.status) in known:
            continue
        name, squares = f"{turn.at} {turn.word}", turn.play.squares
        for flag in _REPORTED_DEFECTS:
            if flag in turn.status:
                yield Finding(Reason[str(flag.name)], (name,), squares=squares)
        if Status.MORE_THAN_SET in turn.status:
            excess = ", ".join(after.tiles.find_excess(turn.board.faces()))
            yield Finding(Reason.MORE_THAN_SET, (name, excess), squares=squares)


def check_position(proposal: Proposal) -> Iterator[Finding]:
    """Report the tiles of a position that are not connected with the centre square: a square may be wrong."""
    for _, event in proposal.iterate_events():
        if isinstance(event, PositionEntered):
            loose = find_loose_squares(EMPTY_BOARD.with_tiles(dict(event.board)), proposal.game.layout)
            if loose:
                yield Finding(Reason.POSITION_LOOSE, (join_square_names(loose),), squares=loose)


def check_exchanges(proposal: Proposal) -> Iterator[Finding]:
    """Report an exchange of more tiles than the player has on the rack."""
    for game, event in proposal.iterate_events():
        if isinstance(event, Exchanged) and event.count > game.state.rack_counts[event.player]:
            yield Finding(Reason.TOO_MANY_EXCHANGED, (game.players[event.player], str(event.count)))


def check_rack(proposal: Proposal) -> Iterator[Finding]:
    """Ask about a play with more tiles than the player has on the rack, if the bag is empty."""
    for game, event in proposal.iterate_plays():
        rack_count, play_count = game.state.rack_counts[event.player], len(event.play.tiles)
        if game.bag_count == 0 and play_count > rack_count:
            values = (game.players[event.player], str(rack_count), str(play_count))
            orders = (proposal.events, *list_other_orders(proposal.game, proposal.events))
            possible = (LOOK_AGAIN, *map(Option, orders))
            options = possible if proposal.source is Source.CAMERA else ()
            yield Finding(Reason.RACK_TOO_SMALL, values, options, event.play.squares, needs_picture=True)


def list_other_orders(game: Game, events: Sequence[Event]) -> tuple[tuple[Event, ...], ...]:
    """Return the other ways in which the players may have made two or three plays, if `events` are these plays.

    If no play depends on another, the board does not show which player made which play. If two plays cross, the tile at
    the crossing may belong to either of them. Only legal plays are returned.
    """
    made = filter_plays(events)
    if len(made) != len(events) or not 2 <= len(made) <= MAX_REORDERED_PLAYS:
        return ()
    plays = tuple(event.play for event in made)
    orders = [order for order in permutations(plays) if order != plays]
    if len(plays) == 2:
        orders += filter(None, (_move_crossing_tile(*plays), _move_crossing_tile(*plays[::-1])))
    others = (tuple(replace(event, play=play) for event, play in zip(made, order, strict=True)) for order in orders)
    return tuple(other for other in others if _are_legal(game, other))


def _move_crossing_tile(one: Play, other: Play) -> tuple[Play, Play] | None:
    """Return `other` with the tile of `one` at the crossing of both plays, and `one` without it; None for other plays.

    A play of a single tile has no line, so it has no crossing. Plays that rearrange a word are left as they are.
    """
    if len(one.tiles) == 1 or one.rearranged or other.rearranged:
        return None
    find_line = column_of if len({*map(row_of, one.squares)}) == 1 else row_of
    lines = {*map(find_line, other.squares)}
    crossing = {square: tile for square, tile in one.tiles if {find_line(square)} == lines}
    rest = {square: tile for square, tile in one.tiles if square not in crossing}
    return (Play.from_tiles({**dict(other.tiles), **crossing}), Play.from_tiles(rest)) if crossing else None


def _are_legal(game: Game, plays: Sequence[PlayMade]) -> bool:
    for event in plays:
        if game.check_play(event.play):
            return False
        game = game.push(event)
    return True


def pass_after_exchange(game: Game, events: Sequence[Event]) -> tuple[Event, ...]:
    """Return the events with a pass, if they only exchange tiles of the board for tiles of the rack.

    After such an exchange the turn goes on (rules 5 B and 6), but a player who pressed the button may have ended it.
    For other `events`, return no events.
    """
    is_exchange = bool(events) and all(isinstance(event, BlankNamed | BlankTaken | TileRecycled) for event in events)
    return (*events, Passed(game.to_move)) if is_exchange else ()


def check_blank(proposal: Proposal) -> Iterator[Finding]:
    """Ask which letter a new blank stands for (rule 6), or whether the tile is a letter that was read as a blank.

    If invalid words do not count and no letter makes the words of the play valid, no letter is asked for.
    """
    event = proposal.single_play
    blanks = [square for square, tile in event.play.tiles if tile.is_unnamed] if event else []
    if event is None or not blanks:
        return
    square, after = blanks[0], proposal.game_after
    words = proposal.words if proposal.game.rules.open_dictionary else None
    letters = find_blank_letters(after.state, square, words.__contains__) if words is not None else after.tiles.letters
    deciding_words = find_deciding_words(proposal.words)
    if deciding_words is not None and after.find_void_words(deciding_words):
        letters = ()  # the play is withdrawn, whatever the letter is
    options = [Option(proposal.events)]
    if proposal.reading is not None:
        options += _offer_other_letters(proposal, proposal.game, proposal.reading, event.play, square)
    options += [Option((*proposal.events, BlankNamed(square, letter))) for letter in letters]
    if len(options) > 1:
        yield Finding(Reason.BLANK_UNNAMED, (square_name(square),), tuple(options), (square,))


def check_marked_blank(proposal: Proposal) -> Iterator[Finding]:
    """Ask whether a new letter is written on a blank, which scores no points."""
    event, reading = proposal.single_play, proposal.reading
    if event is None or reading is None:
        return
    for square, tile in event.play.tiles:
        if tile.is_blank or reading.squares[square].probability(BLANK) < MIN_MARKED_BLANK_PROBABILITY:
            continue
        marked = event.play.with_tile(square, Tile(tile.letter, is_blank=True))
        if not _find_game_before(proposal, event).check_play(marked):
            options = (Option(proposal.events), Option(_replace_play(proposal, marked)))
            values = (square_name(square), tile.letter)
            yield Finding(Reason.BLANK_OR_LETTER, values, options, (square,), needs_picture=True)
            return


def check_imported_blanks(proposal: Proposal) -> Iterator[Finding]:
    """Report the blanks without a known letter in an imported game."""
    board = proposal.game_after.board
    for square in board.occupied_squares():
        if board.tile(square).is_unnamed:
            yield Finding(Reason.BLANK_UNNAMED, (square_name(square),), squares=(square,))


def check_words(proposal: Proposal) -> Iterator[Finding]:
    """Ask about an unlisted word if a tile may be misread. The players are asked only once about each word."""
    event, reading, words = proposal.single_play, proposal.reading, _get_open_words(proposal)
    if event is None or reading is None or words is None:
        return
    game = _find_game_before(proposal, event)
    unlisted = find_unlisted_words(game.score_play(event.play), words)
    if not unlisted or proposal.question_history.words.issuperset(unlisted):
        return
    alternatives = find_listed_alternatives(game, event.play, reading, words)[:MAX_ALTERNATIVES]
    if alternatives or find_doubtful_squares(event.play, reading):
        changed = (set(other.tiles).symmetric_difference(event.play.tiles) for other in alternatives)
        squares = tuple(sorted({square for square, _ in chain.from_iterable(changed)})) or event.play.squares
        options = [Option(proposal.events)]
        options += [Option(_replace_play(proposal, other)) for other in alternatives]
        values = (", ".join(unlisted),)
        yield Finding(Reason.WORD_UNLISTED, values, (*options, LOOK_AGAIN), squares, unlisted, needs_picture=True)


def check_word_ends(proposal: Proposal) -> Iterator[Finding]:
    """Ask whether a tile at an end of the main word was missed.

    Only tiles that make a legal play are offered. If words may be looked up, all words of the play must be valid.
    """
    event, reading, words = proposal.single_play, proposal.reading, _get_open_words(proposal)
    if event is None or reading is None:
        return
    game = _find_game_before(proposal, event)
    squares = find_faint_end_squares(game, event.play, reading)
    if not squares:
        return
    longer = sorted(iterate_longer_plays(game, event.play, reading), key=lambda pair: -pair[1])
    possible = [play for play, _ in longer if not game.check_play(play)]
    if words is not None:
        possible = [play for play in possible if not find_unlisted_words(game.score_play(play), words)]
    if possible:
        options = [Option(proposal.events)]
        options += [Option(_replace_play(proposal, play)) for play in possible[:MAX_ALTERNATIVES]]
        values = (event.play.to_gcg(game.board, game.tiles), join_square_names(squares))
        yield Finding(Reason.TILE_BESIDE, values, (*options, LOOK_AGAIN), squares, needs_picture=True)


def check_closed_letters(proposal: Proposal) -> Iterator[Finding]:
    """Ask about a letter with low confidence in a game in which words are looked up only after a challenge."""
    event, reading = proposal.single_play, proposal.reading
    if event is None or reading is None:
        return
    if proposal.words is None or proposal.game.rules.open_dictionary:
        return
    game = _find_game_before(proposal, event)
    unsure = find_doubtful_squares(event.play, reading)
    if not unsure:
        return
    others = _offer_other_letters(proposal, game, reading, event.play, unsure[0])
    values = (join_square_names(unsure),)
    options = (Option(proposal.events), *others, LOOK_AGAIN)
    yield Finding(Reason.LETTER_UNSURE, values, options, unsure, needs_picture=True)


def _offer_other_letters(
    proposal: Proposal, game: Game, reading: BoardReading, play: Play, square: Square
) -> list[Option]:
    """Return the options with the most plausible other letters on a square of the play, if the rules allow them.

    `game` is the game before the play.
    """
    likely = find_plausible_letters(game, reading, square, dict(play.tiles)[square])
    letters = sorted(likely, key=lambda letter: -likely[letter])[:MAX_ALTERNATIVES]
    others = (play.with_tile(square, Tile(letter)) for letter in letters)
    return [Option(_replace_play(proposal, other)) for other in others if not game.check_play(other)]


def _get_open_words(proposal: Proposal) -> WordList | None:
    """Return the word list if words may be looked up during the game, otherwise None."""
    return proposal.words if proposal.game.rules.open_dictionary else None


def _find_game_before(proposal: Proposal, play: PlayMade) -> Game:
    return next(game for game, event in proposal.iterate_plays() if event is play)


def _replace_play(proposal: Proposal, play: Play) -> tuple[Event, ...]:
    """Return the proposed events with `play` in place of the proposed play."""
    return tuple(replace(event, play=play) if isinstance(event, PlayMade) else event for event in proposal.events)


def _collect_similar_letters() -> Mapping[str, frozenset[str]]:
    similar: dict[str, set[str]] = {}
    for shapes in _SIMILAR_SHAPES:
        for letter in shapes:
            similar.setdefault(letter, set()).update(set(shapes) - {letter})
    return MappingProxyType({letter: frozenset(others) for letter, others in similar.items()})


_SIMILAR_LETTERS = _collect_similar_letters()


def find_listed_alternatives(game: Game, play: Play, reading: BoardReading, words: WordList) -> tuple[Play, ...]:
    """Return the legal plays with listed words that differ from `play` in one tile, the most plausible play first.

    An alternative has either another plausible letter for one tile, or one more tile at an end of the main word.
    """
    found: dict[Play, float] = {}
    for other, probability in (*_replace_one_tile(game, play, reading), *iterate_longer_plays(game, play, reading)):
        if other in found or game.check_play(other) is not Status.VALID:
            continue
        if not find_unlisted_words(game.score_play(other), words):
            found[other] = probability
    return tuple(sorted(found, key=lambda other: -found[other]))


def find_unlisted_words(score: PlayScore, words: WordList) -> tuple[str, ...]:
    """Return the words of a play that are not in the word list. Words with an unnamed blank are left out."""
    return tuple(word.word for word in score.words if BLANK not in word.word and word.word not in words)


def _replace_one_tile(game: Game, play: Play, reading: BoardReading) -> Iterator[tuple[Play, float]]:
    for square, tile in play.tiles:
        for letter, probability in find_plausible_letters(game, reading, square, tile).items():
            yield play.with_tile(square, Tile(letter)), probability


def find_plausible_letters(game: Game, reading: BoardReading, square: Square, tile: Tile) -> Mapping[str, float]:
    """Return other plausible letters for a tile, with their probabilities.

    The probability is 0 for a letter that is plausible only because of its similar shape. These letters are in the
    order of the tile set, so that the same reading leads to the same answers.
    """
    read = reading.squares[square]
    known = {
        symbol: probability
        for symbol, probability in read.candidates
        if symbol not in (EMPTY, HIDDEN, BLANK, tile.face) and probability >= MIN_PLAUSIBLE_PROBABILITY
    }
    if read.confidence >= MAX_EXCLUDING_PROBABILITY:
        return known
    similar = _SIMILAR_LETTERS.get(tile.letter, frozenset())
    return {**{letter: 0.0 for letter in game.tiles.letters if letter in similar}, **known}


def iterate_longer_plays(game: Game, play: Play, reading: BoardReading) -> Iterator[tuple[Play, float]]:
    """Yield plays with one more tile at an end of the main word, each with the probability of this tile.

    Squares that are certainly empty in the reading are left out.
    """
    for square in find_faint_end_squares(game, play, reading):
        for letter in game.tiles.letters:
            yield play.with_tile(square, Tile(letter)), reading.squares[square].probability(letter)


def find_faint_end_squares(game: Game, play: Play, reading: BoardReading) -> tuple[Square, ...]:
    """Return the squares directly before and after the main word that may have a missed tile."""
    ends = find_end_squares(play.apply_to(game.board), play)
    return tuple(s for s in ends if 1.0 - reading.squares[s].probability(EMPTY) >= MIN_TILE_BESIDE_PROBABILITY)


def find_end_squares(board: Board, play: Play) -> tuple[Square, ...]:
    """Return the empty squares directly before and after the main word of a play.

    `board` is the board after the play. If a play of a single tile forms two words, both count as main words.
    """
    ends: set[Square] = set()
    for across in (True, False):
        run = board.tile_run(play.squares[0], across)
        if len(run) > 1 and all(square in run for square in play.squares):
            ends.update(run_ends(run, across))
    return tuple(sorted(square for square in ends if board[square] is None))
