"""Find out from key frames whether the new tiles are of one play, or of two plays.

A press of the button ends a turn. If a player forgets the press, the next press ends two turns. If a key frame shows
the first play alone, the two turns can be separated.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from engine.board import Square
from engine.events import PlayMade, filter_plays
from engine.game import Game
from engine.inference.explain import Inference, infer_play
from engine.inference.history import ReadingHistory
from engine.lexicon import WordList, is_word_listed
from engine.plays import Play
from engine.reading import BoardReading
from engine.validation.alternative_plays import MAX_ALTERNATIVES, find_end_squares

MIN_STABLE_UNKNOWN_WORDS_S = 10.0
"""Minimum time in seconds without a change of the board for a play to count as complete, unless its words are known to
be listed: the player may still be thinking."""


def needs_key_frames(inference: Inference) -> bool:
    """Return True if key frames may improve the inference: it has several plays, or does not explain the new tiles."""
    best = inference.best
    return len(filter_plays(best.events)) > 1 or bool(best.leftover_squares and not best.events)


def find_extended_plays(
    game: Game,
    inference: Inference,
    stable_readings: Iterable[tuple[BoardReading, float]],
    history: ReadingHistory,
    words: WordList | None,
) -> tuple[tuple[PlayMade, PlayMade], ...]:
    """Return pairs of plays that together may be the inferred play: key frames show the first of them as complete.

    The first play has the tiles in a key frame. The second play has the remaining tiles, and is made by the next
    player. If several key frames show such a play, the pair of the newest is the first one, because an older one may
    show an incomplete play; at most `MAX_ALTERNATIVES` pairs are returned. `stable_readings` are readings of the key
    frames that `find_stable_frames` yields, with the seconds for which the board remained unchanged. Listed words do
    not matter if words are looked up only after a challenge: the time of the question would show which words are
    listed.
    """
    words = words if game.rules.open_dictionary else None
    whole = _find_single_play(inference)
    pairs: list[tuple[PlayMade, PlayMade]] = []
    for reading, stable_s in stable_readings:
        first = _find_single_play(infer_play(game, reading, history))
        if whole is None or first is None or not set(first.play.tiles) < set(whole.play.tiles):
            continue
        between = game.push(first)
        rest = Play.from_tiles(
            {square: tile for square, tile in whole.play.tiles if (square, tile) not in first.play.tiles}
        )
        are_listed = words is not None and all(
            is_word_listed(word.tile_letters, words, game.tiles) for word in between.turns[-1].words
        )
        is_unfinished = not are_listed and stable_s < MIN_STABLE_UNKNOWN_WORDS_S
        if not (is_unfinished or between.is_over or between.check_play(rest)):
            pairs.append((first, PlayMade(between.to_move, rest)))
    return tuple(dict.fromkeys(reversed(pairs)))[:MAX_ALTERNATIVES]


def find_earlier_tile(game: Game, play: Play, stable_readings: Iterable[tuple[BoardReading, float]]) -> Square | None:
    """Return the square of a tile of the new play `play` that may belong to the previous play, or None.

    The previous play is the last turn of `game`. Its reading may have missed a tile at an end of this play. This is
    assumed if a key frame shows the tile but no other tile of `play`, and the board then remained unchanged for at
    least `MIN_STABLE_UNKNOWN_WORDS_S` seconds. `stable_readings` are readings of key frames, with the seconds for which
    the board remained unchanged.
    """
    last = game.last_turn
    if last is None or last.play is None or not last.stands:
        return None
    ends, tiles = find_end_squares(last.board, last.play), dict(play.tiles)
    for reading, stable_s in stable_readings:
        shown = [square for square in tiles if reading.squares[square].is_tile]
        if stable_s < MIN_STABLE_UNKNOWN_WORDS_S or len(shown) != 1 or shown[0] not in ends:
            continue
        if reading.squares[shown[0]].symbol == tiles[shown[0]].face:
            return shown[0]
    return None


def _find_single_play(inference: Inference) -> PlayMade | None:
    """Return the play if an inference is certain and has one play as its only event; otherwise return None."""
    plays = filter_plays(inference.events)
    return plays[0] if inference.is_certain and len(inference.events) == len(plays) == 1 else None


def split_turns(
    game: Game, last: BoardReading, key_frame_readings: Sequence[BoardReading], history: ReadingHistory
) -> Inference | None:
    """Infer two turns from the last reading and a key frame that shows only the first play.

    If there are several such key frames, the newest is used, because an older one may show an incomplete play. If there
    is no such key frame, return None. `key_frame_readings` are in the order of their times.
    """
    for reading in reversed(key_frame_readings):
        first = _find_single_play(infer_play(game, reading, history))
        if first is None:
            continue
        second = infer_play(game.push(first), last, history)
        if (play := _find_single_play(second)) is not None:
            return replace(second, explanations=(replace(second.best, events=(first, play)),))
    return None
