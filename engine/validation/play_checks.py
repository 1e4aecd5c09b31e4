"""Checks of a new play: its tiles, its blanks and its words.

If a word is unlisted, a tile may have been misread. The players are then offered plays with listed words that resemble
the play (`alternative_plays`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

from engine.board import (
    EMPTY_BOARD,
    Square,
    join_square_names,
    square_name,
)
from engine.events import (
    Event,
    Exchanged,
    PlayMade,
    PositionEntered,
)
from engine.game import Game
from engine.ledger import Source
from engine.lexicon import WordList
from engine.plays import Play
from engine.position import find_loose_squares
from engine.reading import BLANK, BoardReading
from engine.scoring import Status
from engine.tiles import Tile
from engine.validation.alternative_plays import (
    MAX_ALTERNATIVES,
    find_faint_end_squares,
    find_listed_alternatives,
    find_plausible_letters,
    find_unlisted_words,
    iterate_longer_plays,
    list_other_orders,
)
from engine.validation.findings import LOOK_AGAIN, Finding, Option, Proposal, Reason, find_doubtful_squares

MIN_MARKED_BLANK_PROBABILITY = 0.01
"""Probability that a tile read as a letter is a blank; if it is higher, the letter may be written on a blank.

None of 7,521 letters in photographs reached this probability.
"""

_REPORTED_DEFECTS = (
    Status.CENTRE_MISSED, Status.NOT_JOINED, Status.NOT_IN_LINE, Status.GAP, Status.SQUARE_TAKEN,
    Status.FIRST_WORD_SHORT, Status.TOO_MANY_TILES,
)  # fmt: skip
"""Defects for which a recorded play is reported. The `Reason` of the report has the same name as the defect."""


def check_record(proposal: Proposal) -> Iterator[Finding]:
    """Report plays that the rules do not allow, for example off the centre, not joined, or with a gap.

    A play that had the same defects before the proposal is not reported again.
    """
    known = {(turn.play, turn.status) for turn in proposal.game.turns}
    after = proposal.game_after
    for turn in after.turns:
        if turn.play is None or (turn.play, turn.status) in known:
            continue
        word = turn.words[0].word if turn.words else "".join(tile.letter for _, tile in turn.placements)
        name, squares = f"{turn.at} {word}", turn.play.squares
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
        if isinstance(event, Exchanged) and event.count > game.state.rack_counts[player := game.find_player(event)]:
            yield Finding(Reason.TOO_MANY_EXCHANGED, (game.players[player], str(event.count)))


def check_rack(proposal: Proposal) -> Iterator[Finding]:
    """Ask about a play with more tiles than the player has on the rack, if the bag is empty."""
    for game, event in proposal.iterate_plays():
        player = game.find_player(event)
        rack_count, play_count = game.state.rack_counts[player], len(event.play.tiles)
        if game.bag_count == 0 and play_count > rack_count:
            values = (game.players[player], str(rack_count), str(play_count))
            orders = (proposal.events, *list_other_orders(proposal.game, proposal.events))
            possible = (LOOK_AGAIN, *map(Option, orders))
            options = possible if proposal.source in (Source.PRESS, Source.AUTOMATIC) else ()
            yield Finding(Reason.RACK_TOO_SMALL, values, options, event.play.squares, needs_picture=True)


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
    unlisted = find_unlisted_words(game.score_play(event.play), words, game.tiles)
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
    longer = sorted(iterate_longer_plays(game, event.play, reading), key=lambda pair: -pair[1])  # likeliest tile first
    possible = [play for play, _ in longer if game.check_play(play) is Status.VALID]
    if words is not None:
        possible = [play for play in possible if not find_unlisted_words(game.score_play(play), words, game.tiles)]
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
    """Return the game before `play`, which is one of the proposed events."""
    return next(game for game, event in proposal.iterate_plays() if event is play)


def _replace_play(proposal: Proposal, play: Play) -> tuple[Event, ...]:
    """Return the proposed events with `play` in place of the proposed play."""
    return tuple(replace(event, play=play) if isinstance(event, PlayMade) else event for event in proposal.events)
