"""Plays that may have been made instead of a play that was read.

A letter may have been misread, a tile at the end of the word may have been missed, and two plays may have been made in
another order. An alternative must be plausible from the picture: a letter among the candidates of the reading, a letter
of similar shape, or one more tile beside the word. The word list alone is no evidence of a misread tile, because nearly
every short phony differs from a valid word in only one letter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import permutations
from types import MappingProxyType

from engine.board import (
    Board,
    Square,
    column_of,
    row_of,
    run_ends,
)
from engine.events import (
    BlankNamed,
    BlankTaken,
    Event,
    Passed,
    PlayMade,
    TileRecycled,
    filter_plays,
)
from engine.game import Game
from engine.lexicon import WordList, is_word_listed
from engine.plays import Play
from engine.reading import BLANK, EMPTY, HIDDEN, BoardReading
from engine.scoring import PlayScore, Status
from engine.tiles import Tile, TileSet

SwapEvent = BlankNamed | BlankTaken | TileRecycled
"""The events of a swap of a tile on the board for one of the rack; an unnamed blank is named before it is taken."""
MAX_ALTERNATIVES = 2
"""Maximum number of alternatives to a play in one question."""
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
    """Return two crossing plays after the tile at their crossing has moved from `one` to `other`: first `other`.

    Return None if the plays do not cross, or if one of them rearranges a word. A play of a single tile has no line, so
    it crosses no other play.
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
    is_exchange = bool(events) and all(isinstance(event, SwapEvent) for event in events)
    return (*events, Passed(game.to_move)) if is_exchange else ()


def _collect_similar_letters() -> Mapping[str, frozenset[str]]:
    """Return, for each letter, the letters of similar shape."""
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
        if not find_unlisted_words(game.score_play(other), words, game.tiles):
            found[other] = probability
    return tuple(sorted(found, key=lambda other: -found[other]))


def find_unlisted_words(score: PlayScore, words: WordList, tiles: TileSet) -> tuple[str, ...]:
    """Return the words of a play that are not in the word list. Words with an unnamed blank are left out."""
    return tuple(word.word for word in score.words if is_word_listed(word.tile_letters, words, tiles) is False)


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
