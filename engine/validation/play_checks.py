"""Checks of a new play: its tiles, its blanks, its words, and the player's turn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from types import MappingProxyType

from engine.blanks import find_blank_letters
from engine.board import square_name
from engine.events import BlankNamed, Event, Exchanged, Passed, PlayMade
from engine.game import Game
from engine.lexicon import WordList
from engine.plays import Play
from engine.reading import BLANK, BoardReading
from engine.scoring import Status
from engine.tiles import Tile
from engine.validation.alternatives import (
    find_faint_end_squares,
    find_listed_alternatives,
    find_plausible_letters,
    find_unlisted_words,
    iterate_longer_plays,
)
from engine.validation.findings import (
    LOOK_AGAIN,
    MIN_LETTER_CONFIDENCE,
    Finding,
    Option,
    Proposal,
    Reason,
    Source,
    read_confidence,
)

MIN_MARKED_BLANK_PROBABILITY = 0.01
"""Probability of a blank from which a letter may be written on a blank.

None of 7,521 letters in photographs reached this probability.
"""
MAX_ALTERNATIVES = 2
"""Maximum number of alternatives to a play in one question."""

_REASON_BY_STATUS: Mapping[Status, Reason] = MappingProxyType(
    {
        Status.CENTRE_MISSED: Reason.CENTRE_MISSED,
        Status.NOT_JOINED: Reason.NOT_JOINED,
        Status.NOT_IN_LINE: Reason.NOT_IN_LINE,
        Status.GAP: Reason.GAP,
        Status.FIRST_WORD_SHORT: Reason.FIRST_WORD_SHORT,
        Status.TOO_MANY_TILES: Reason.TOO_MANY_TILES,
    }
)


def check_record(proposal: Proposal) -> Iterator[Finding]:
    """Report plays that the rules do not allow, for example off the centre, not joined, or with a gap.

    A play that had the same defects before the proposed events is left out. After a correction, only the plays with new
    defects are therefore reported.
    """
    known = {(turn.play, turn.status) for turn in proposal.game.turns}
    after = proposal.game_after
    for turn in after.turns:
        if turn.play is None or (turn.play, turn.status) in known:
            continue
        name, squares = f"{turn.at} {turn.word}", turn.play.squares
        for flag, reason in _REASON_BY_STATUS.items():
            if flag in turn.status:
                yield Finding(reason, (name,), squares=squares)
        if Status.MORE_THAN_SET in turn.status:
            excess = [tile for tile, left in after.tiles.count_remaining(turn.board.faces()).items() if left < 0]
            yield Finding(Reason.MORE_THAN_SET, (name, ", ".join(excess)), squares=squares)


def check_exchanges(proposal: Proposal) -> Iterator[Finding]:
    """Report an exchange of more tiles than the player has on the rack."""
    for game, event in proposal.iterate_events():
        if isinstance(event, Exchanged) and event.count > game.state.rack_counts[event.player]:
            yield Finding(Reason.TOO_MANY_EXCHANGED, (game.players[event.player], str(event.count)))


def check_order(proposal: Proposal) -> Iterator[Finding]:
    """Report a turn of a player who is not to move."""
    game = proposal.game
    for event in proposal.events:
        if isinstance(event, PlayMade | Passed | Exchanged):
            if event.player != game.to_move:
                yield Finding(Reason.OUT_OF_TURN, (game.players[event.player], game.players[game.to_move]))
            return


def check_seat(proposal: Proposal) -> Iterator[Finding]:
    """Ask whose turn it was if another player's button or phone ended the turn.

    If no button or phone of a player ended the turn, ask nothing.
    """
    game, event, seat = proposal.game, proposal.single_play, proposal.seat
    if event is None or seat is None or seat == event.player or len(proposal.events) != 1:
        return
    missed = [Passed((game.to_move + n) % len(game.players)) for n in range((seat - game.to_move) % len(game.players))]
    values = (game.players[seat], game.players[event.player])
    options = (LOOK_AGAIN, Option(proposal.events), Option((*missed, replace(event, player=seat))))
    yield Finding(Reason.OUT_OF_TURN, values, options)


def check_rack(proposal: Proposal) -> Iterator[Finding]:
    """Ask about a play with more tiles than the player has on the rack, if the bag is empty."""
    for game, event in proposal.iterate_plays():
        held, laid = game.state.rack_counts[event.player], len(event.play.tiles)
        if game.bag_count == 0 and laid > held:
            values = (game.players[event.player], str(held), str(laid))
            options = (LOOK_AGAIN, Option(proposal.events)) if proposal.source is Source.CAMERA else ()
            yield Finding(Reason.RACK_TOO_SMALL, values, options, event.play.squares, needs_picture=True)


def check_blank(proposal: Proposal) -> Iterator[Finding]:
    """Ask which letter a new blank stands for (rule 6), or if the tile is a letter that was read as a blank."""
    event = proposal.single_play
    blanks = [square for square, tile in event.play.tiles if tile.is_unnamed] if event else []
    if event is None or not blanks:
        return
    square, after = blanks[0], proposal.game_after
    words = proposal.words if proposal.game.rules.open_dictionary else None
    letters = find_blank_letters(after.state, square, words.__contains__) if words is not None else after.tiles.letters
    options = [Option(proposal.events)]
    if proposal.reading is not None:
        likely = find_plausible_letters(proposal.game, proposal.reading, square, Tile.unnamed())
        others = [
            Play.from_tiles({**dict(event.play.tiles), square: Tile(letter)}, dict(event.play.rearranged))
            for letter in islice(sorted(likely, key=lambda letter: -likely[letter]), MAX_ALTERNATIVES)
        ]
        options += [Option(_replace_play(proposal, other)) for other in others if not proposal.game.check_play(other)]
    options += [Option((*proposal.events, BlankNamed(square, letter))) for letter in letters]
    yield Finding(Reason.BLANK_UNNAMED, (square_name(square),), tuple(options), (square,))


def check_marked_blank(proposal: Proposal) -> Iterator[Finding]:
    """Ask if a new letter is a blank with a letter written on it. Such a tile scores no points."""
    event, reading = proposal.single_play, proposal.reading
    if event is None or reading is None:
        return
    for square, tile in event.play.tiles:
        if tile.is_blank or reading.squares[square].probability(BLANK) < MIN_MARKED_BLANK_PROBABILITY:
            continue
        marked = Play.from_tiles({**dict(event.play.tiles), square: Tile(tile.letter, is_blank=True)})
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
    if not unlisted or proposal.asked.words.issuperset(unlisted):
        return
    others = find_listed_alternatives(game, event.play, reading, words)
    if others or find_least_confidence(event.play, reading) < MIN_LETTER_CONFIDENCE:
        options = [Option(proposal.events)]
        options += [Option(_replace_play(proposal, other)) for other in islice(others, MAX_ALTERNATIVES)]
        values, squares = (", ".join(unlisted),), event.play.squares
        if others:
            squares = tuple(
                sorted({s for other in others[:MAX_ALTERNATIVES] for s, _ in {*other.tiles} ^ {*event.play.tiles}})
            )
        yield Finding(Reason.WORD_UNLISTED, values, (*options, LOOK_AGAIN), squares, unlisted, needs_picture=True)


def check_word_ends(proposal: Proposal) -> Iterator[Finding]:
    """Ask if a tile at an end of the main word was missed. The tile must be possible and make a valid word."""
    event, reading, words = proposal.single_play, proposal.reading, _get_open_words(proposal)
    if event is None or reading is None:
        return
    game = _find_game_before(proposal, event)
    squares = find_faint_end_squares(game, event.play, reading)
    if not squares:
        return
    longer = sorted(iterate_longer_plays(game, event.play, reading), key=lambda pair: -pair[1])
    possible = [
        play
        for play, _ in longer
        if not game.check_play(play) and (words is None or not find_unlisted_words(game.score_play(play), words))
    ]
    if possible:
        options = [
            Option(proposal.events),
            *(Option(_replace_play(proposal, play)) for play in possible[:MAX_ALTERNATIVES]),
        ]
        values = (_name_play(game, event.play), ", ".join(map(square_name, squares)))
        yield Finding(Reason.TILE_BESIDE, values, (*options, LOOK_AGAIN), squares, needs_picture=True)


def check_closed_letters(proposal: Proposal) -> Iterator[Finding]:
    """Ask about a letter with low confidence in a game in which words are looked up only after a challenge."""
    event, reading = proposal.single_play, proposal.reading
    if event is None or reading is None or proposal.words is None or proposal.game.rules.open_dictionary:
        return
    game = _find_game_before(proposal, event)
    unsure = tuple(s for s, tile in event.play.tiles if read_confidence(reading, s, tile) < MIN_LETTER_CONFIDENCE)
    if not unsure:
        return
    options = [Option(proposal.events)]
    square, tile = unsure[0], dict(event.play.tiles)[unsure[0]]
    likely = find_plausible_letters(game, reading, square, tile)
    for letter in islice(sorted(likely, key=lambda letter: -likely[letter]), MAX_ALTERNATIVES):
        other = Play.from_tiles({**dict(event.play.tiles), square: Tile(letter)}, dict(event.play.rearranged))
        if not game.check_play(other):
            options.append(Option(_replace_play(proposal, other)))
    values = (", ".join(map(square_name, unsure)),)
    yield Finding(Reason.LETTER_UNSURE, values, (*options, LOOK_AGAIN), unsure, needs_picture=True)


def find_least_confidence(play: Play, reading: BoardReading) -> float:
    """Return the lowest confidence (0..1) among the new tiles of a play."""
    return min(read_confidence(reading, square, tile) for square, tile in play.tiles)


def _get_open_words(proposal: Proposal) -> WordList | None:
    """Return the word list if the rules allow looking up words during the game, otherwise None."""
    return proposal.words if proposal.game.rules.open_dictionary else None


def _find_game_before(proposal: Proposal, play: PlayMade) -> Game:
    return next(game for game, event in proposal.iterate_plays() if event is play)


def _replace_play(proposal: Proposal, play: Play) -> tuple[Event, ...]:
    """Return the proposed events with `play` in place of the recorded play."""
    return tuple(replace(event, play=play) if isinstance(event, PlayMade) else event for event in proposal.events)


def _name_play(game: Game, play: Play) -> str:
    return f"{play.position(game.board)} {play.word(game.board, game.tiles)}"
