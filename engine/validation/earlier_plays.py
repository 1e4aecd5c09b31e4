"""Check whether tiles of a new play belong to the previous play.

The reading of the previous play may have missed a tile. Or the previous player pressed the button before all tiles were
on the board, added the remaining tiles, and pressed again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice

from engine.board import Board, Square, join_square_names, square_name
from engine.events import Event, Passed, PlayMade, SquareCorrected
from engine.game import Game
from engine.inference.history import EMPTY_HISTORY
from engine.inference.overlooked_tiles import find_overlooked_turn
from engine.plays import Play
from engine.scoring import score_play
from engine.state import Turn, check_play
from engine.tiles import Tile
from engine.validation.alternative_plays import find_end_squares, find_unlisted_words
from engine.validation.findings import Finding, Option, Proposal, Reason
from engine.validation.turn_checks import move_to_seat


def check_earlier_play(proposal: Proposal) -> Iterator[Finding]:
    """Ask whether tiles of the new play belong to the previous play: all tiles, or one at an end of the previous play.

    All tiles may belong to the previous play in three cases:

    - They turn an unlisted word of the previous play into a listed word.
    - The previous player has pressed the button again.
    - The earlier reading may have missed all of them, because a hand hid their squares.

    A single tile may belong to the previous play in two cases:

    - It turns an unlisted word of the previous play into a listed word.
    - The earlier reading may have missed the tile.
    """
    event, last = proposal.single_play, _find_last_turn(proposal.game)
    if event is None or last is None or last.player == event.player:
        return
    findings = (moved.make_finding() for moved in _find_movable_tiles(proposal, last, event))
    yield from islice((finding for finding in findings if finding), 1)


def check_hidden_tile(proposal: Proposal) -> Iterator[Finding]:
    """Ask whether a tile of the new play belongs to an older play than the previous one, because it was hidden so far.

    The square was hidden at the last reading, and the question whether it has a tile is open.
    """
    event, state = proposal.single_play, proposal.game.state
    if event is None:
        return
    hidden = _find_missable_squares(proposal) & proposal.question_history.open_squares
    for square, tile in event.play.tiles:
        turn = find_overlooked_turn(state, square) if square in hidden else None
        if turn is None or not turn.play or turn is state.last_turn:
            continue
        moved = _MovedTiles(proposal, turn, event, {square: tile})
        if finding := moved.make_finding():
            yield replace(finding, reason=Reason.TILE_ADDED, values=(square_name(square),))
            return


def check_lengthened_play(proposal: Proposal) -> Iterator[Finding]:
    """Ask who lengthened the previous play, if both plays are one legal play and a shared button ended the turn.

    The player of the previous play may have pressed too early, and then again. The word list does not help, because
    the lengthened word is the same in both cases. Without other evidence, the new tiles are a play of the next player.
    """
    event, last = proposal.single_play, _find_last_turn(proposal.game)
    if proposal.seat is not None:
        return
    if event is None or last is None or last.player == event.player:
        return
    finding = _MovedTiles(proposal, last, event, dict(event.play.tiles)).make_finding()
    if finding and len(proposal.events) == 1:
        yield finding


@dataclass(frozen=True)
class _MovedTiles:
    """Tiles of the new play `event` that may belong to an earlier play, mostly the previous one: the turn `last`."""

    proposal: Proposal
    last: Turn
    event: PlayMade
    tiles: Mapping[Square, Tile]

    @property
    def is_pressed_again(self) -> bool:
        """True if `tiles` has all tiles of the new play, and the previous player has pressed the button again."""
        return self.is_whole_play and self.proposal.seat == self.last.player != self.event.player

    @property
    def is_whole_play(self) -> bool:
        """True if `tiles` has all tiles of the new play."""
        return len(self.tiles) == len(self.event.play.tiles)

    @property
    def board_before(self) -> Board:
        """The board before the previous play."""
        return self.proposal.game.state.board_before(self.last)

    @property
    def longer_play(self) -> Play:
        """The previous play with the moved tiles added."""
        return Play.from_tiles({**dict(self.last.placements), **self.tiles})

    def has_listed_words(self) -> bool:
        """Return True if all words of the previous play are listed after the moved tiles are added."""
        return self._is_listed(self.longer_play)

    def is_completion(self) -> bool:
        """Return True if the moved tiles complete the previous play: its unlisted words become listed words."""
        return self.has_listed_words() and not self._is_listed(Play(self.last.placements))

    def make_events(self) -> tuple[Event, ...] | None:
        """Return the events that add the moved tiles to the previous play, or None if the rules do not allow this."""
        game = self.proposal.game
        if check_play(replace(game.state, board=self.board_before), self.longer_play):
            return None
        added = tuple(SquareCorrected(square, tile, self.last.ref) for square, tile in self.tiles.items())
        rest = {square: tile for square, tile in self.event.play.tiles if square not in self.tiles}
        if not rest:
            return added
        follows = replace(self.event, play=Play.from_tiles(rest))
        return None if game.push(*added).check_play(follows.play) else (*added, follows)

    def make_finding(self) -> Finding | None:
        """Return the question whether the moved tiles belong to the previous play, or None if the rules forbid this."""
        events, players = self.make_events(), self.proposal.game.players
        if events is None:
            return None
        values = (join_square_names(self.tiles), players[self.last.player])
        return Finding(Reason.TILE_OF_EARLIER_PLAY, values, self.order_options(events), tuple(self.tiles))

    def order_options(self, events: tuple[Event, ...]) -> tuple[Option, ...]:
        """Return the options of the question, the most likely option first.

        If all tiles of the new play are moved, two options move them: the next player has passed by pressing the
        button, or has not played yet. If another player's button or phone ended the turn, this player may have made
        the new play, because the players before passed without a press.
        """
        seat, new = self.proposal.seat, self.proposal.events
        moved = [Option(events)]
        if self.is_whole_play:
            passed = Option((*events, Passed(self.event.player)))
            moved.insert(0 if seat == self.event.player else 1, passed)
        as_played = [Option(new)]
        if seat is not None and seat != self.event.player:
            as_played.append(Option(move_to_seat(self.proposal.game, new, seat)))
        is_completed = self.is_completion() if self.is_whole_play else self.has_listed_words()
        is_likely = self.is_pressed_again or is_completed
        return (*moved, *as_played) if is_likely else (*as_played, *moved)

    def _is_listed(self, play: Play) -> bool:
        words, game = self.proposal.words, self.proposal.game
        if words is None or not game.rules.open_dictionary:
            return False
        score = score_play(self.board_before, play, game.layout, game.tiles, game.rules)
        return not find_unlisted_words(score, words, game.tiles)


def _find_missable_squares(proposal: Proposal) -> frozenset[Square]:
    """Return the squares on which the last reading may have missed a tile.

    If there is no earlier reading, because the program was restarted or a turn undone, these are the squares about
    which a question is open.
    """
    history = proposal.reading_history
    return proposal.question_history.open_squares if history == EMPTY_HISTORY else history.find_missable_squares()


def _find_movable_tiles(proposal: Proposal, last: Turn, event: PlayMade) -> Iterator[_MovedTiles]:
    """Yield sets of tiles of the new play that may belong to the previous play: first all tiles, then single tiles."""
    together = _MovedTiles(proposal, last, event, dict(event.play.tiles))
    missable = _find_missable_squares(proposal)
    if together.is_pressed_again or together.is_completion() or missable.issuperset(together.tiles):
        yield together
    ends = find_end_squares(last.board, Play(last.placements))
    for square, tile in event.play.tiles:
        one = _MovedTiles(proposal, last, event, {square: tile})
        if square in ends and (square in missable or one.is_completion()):
            yield one


def _find_last_turn(game: Game) -> Turn | None:
    """Return the last turn if it is a play, unless the play was withdrawn or has rearranged a word; otherwise None."""
    last = game.last_turn
    return last if last and last.play and last.stands and not last.play.rearranged else None
