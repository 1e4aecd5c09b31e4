"""Turn commands into events of the game, or refuse them. Pure functions.

Squares are written as `H8`, tiles as the tile set writes them. All functions raise `CommandRefusedError` for a command
that is not possible now.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import product

from device.session.messages import CommandRefusedError, format_sentence, get_text, make_refusal
from device.session.snapshot import TurnChange
from device.session.snapshot_builder import WordList
from engine.board import Board, parse_square
from engine.errors import NotationError, RulesError
from engine.events import (
    BlankNamed,
    Challenged,
    Event,
    Exchanged,
    FirstDrawn,
    GameEnded,
    Passed,
    PlayMade,
    RackRevealed,
    ScoreCorrected,
    SquareCorrected,
    TurnCorrected,
    TurnInserted,
)
from engine.game import Game
from engine.plays import Play
from engine.reading import BOARD_SIZE, EMPTY
from engine.rules import ChallengeRule
from engine.state import CLOSING_KINDS, Turn, TurnKind


def exchange_tiles(game: Game, count: int) -> Event:
    """Return the exchange of `count` tiles by the player to move."""
    if not game.can_exchange(count):
        raise make_refusal("cannot-exchange", str(count), str(game.bag_count))
    return Exchanged(game.to_move, count)


def pass_turn(game: Game) -> Event:
    """Return the pass of the player to move."""
    return Passed(game.to_move)


def challenge_play(game: Game, words: WordList) -> Challenged:
    """Return the challenge of the last play by the most likely player, decided by the word list."""
    wrong = _find_invalid_words(game, _get_challenged_play(game), words)
    return Challenged(find_challengers(game)[0], bool(wrong), wrong)


def find_challengers(game: Game) -> tuple[int, ...]:
    """Return the possible challengers of the last play, the next player first; only that one if it makes no difference.

    Any opponent may challenge; under the double challenge (rule 8) the challenger of a valid play loses the next turn.
    """
    count, player = len(game.players), _get_challenged_play(game).player
    others = [seat for seat in ((game.to_move + i) % count for i in range(count)) if seat != player]
    return tuple(others) if game.rules.challenge is ChallengeRule.DOUBLE else (others[0],)


def _find_invalid_words(game: Game, play: Turn, words: WordList) -> tuple[str, ...]:
    """Return the words of a play that are not in the list for any letter of its unnamed blanks."""
    squares = [range(word.start, BOARD_SIZE * BOARD_SIZE, 1 if word.across else BOARD_SIZE) for word in play.words]
    spelt = [list(zip(places, word.tiles, strict=False)) for places, word in zip(squares, play.words, strict=True)]
    blanks = sorted({square for word in spelt for square, tile in word if tile.is_unnamed})
    found: tuple[str, ...] | None = None
    for letters in product(game.tiles.letters, repeat=len(blanks)):
        named = dict(zip(blanks, letters, strict=True))
        texts = ["".join(named.get(square, tile.letter) for square, tile in word) for word in spelt]
        wrong = tuple(word.word for word, text in zip(play.words, texts, strict=True) if text not in words)
        if found is None or len(wrong) < len(found):
            found = wrong
        if not found:
            break
    return found or ()


def list_challenge_answers(game: Game) -> tuple[tuple[str, tuple[Event, ...]], ...]:
    """Return the answers to choose from if the players look the words up themselves; the first one is \"not yet\"."""
    name, seats = game.players[_get_challenged_play(game).player], find_challengers(game)
    good = (
        [get_text("answer-in-vain", game.players[seat]) for seat in seats]
        if len(seats) > 1
        else [get_text("answer-good")]
    )
    return (
        (get_text("answer-looking-up"), ()),
        (get_text("answer-bad", name), (Challenged(seats[0], upheld=True),)),
        *((answer, (Challenged(seat, upheld=False),)) for answer, seat in zip(good, seats, strict=True)),
    )


def _get_challenged_play(game: Game) -> Turn:
    play = game.challengeable_turn
    if play is None:
        raise make_refusal("nothing-to-challenge")
    return play


def correct_square(game: Game, square: str, symbol: str) -> Event:
    """Return the correction of a misread square: `A` is a tile, `a` a blank, `.` empty."""
    with convert_engine_errors():
        at = parse_square(square)
        tiles = () if symbol == EMPTY else game.tiles.parse(symbol)
    if symbol != EMPTY and len(tiles) != 1:
        raise make_refusal("one-tile", symbol or "none")
    return SquareCorrected(at, tiles[0] if tiles else None, told=True)


def name_blank(game: Game, square: str, letter: str) -> Event:
    """Return the naming of the blank on a square."""
    with convert_engine_errors():
        at = parse_square(square)
    tile = game.board[at]
    if tile is None or not tile.is_blank:
        raise make_refusal("no-blank", square)
    if letter not in game.tiles.letters:
        raise make_refusal("blank-letters", letter, " ".join(game.tiles.letters))
    return BlankNamed(at, letter)


def reveal_rack(game: Game, player: int, letters: str) -> Event:
    """Return the unplayed letters of a player; each must be in neither the board nor another revealed rack."""
    with convert_engine_errors():
        tiles = tuple(tile.face for tile in game.tiles.parse(letters))
    if not 0 <= player < len(game.players):
        raise make_refusal("no-player", str(player + 1))
    told = Counter(tile for other, rack in game.state.revealed_racks.items() if other != player for tile in rack)
    if lacking := Counter(tiles) - (game.unseen - told):
        raise make_refusal("cannot-be-left", ", ".join(lacking))
    return RackRevealed(player, tiles)


def draw_first(game: Game, letters: Sequence[str]) -> FirstDrawn:
    """Return the draw for first play, in seat order; empty for a player who does not draw now."""
    drawing = game.drawing or tuple(range(len(game.players)))
    if game.turns:
        raise make_refusal("not-drawing")
    if [seat for seat, letter in enumerate(letters) if letter] != list(drawing) or len(letters) > len(game.players):
        raise make_refusal("draw-each", ", ".join(game.players[seat] for seat in drawing))
    return FirstDrawn(tuple(letters) + ("",) * (len(game.players) - len(letters)))


def correct_turn(game: Game, number: int, change: TurnChange) -> tuple[Event, ...]:
    """Return the events that correct a turn; `number` counts from 1, as in the score sheet."""
    if not 1 <= number <= len(game.turns):
        raise make_refusal("no-turn", str(number), str(len(game.turns)))
    turn = game.turns[number - 1]
    events: tuple[Event, ...] = ()
    if change.kind == "none":
        return (TurnCorrected(turn.number, None),)
    if change != TurnChange(score=change.score):
        if turn.kind not in (TurnKind.PLAY, TurnKind.PASS, TurnKind.EXCHANGE):
            raise make_refusal("only-score")
        before = game.turns[turn.number - 1].board if turn.number else Board()
        events = (TurnCorrected(turn.number, _make_turn_event(game, change, before, turn)),)
    if change.score is not None:
        events = (*events, ScoreCorrected(turn.number, change.score))
    if not events:
        raise make_refusal("no-change")
    return events


def insert_turn(game: Game, number: int, change: TurnChange) -> tuple[Event, ...]:
    """Return the events that insert a missing turn; the number after the last one enters a turn by hand."""
    if not 1 <= number <= len(game.turns) + 1:
        raise make_refusal("no-turn", str(number), str(len(game.turns)))
    last = sum(turn.kind not in CLOSING_KINDS for turn in game.turns)
    number = min(number, last + 1)
    before = game.turns[number - 2].board if number > 1 else Board()
    turn = _make_turn_event(game, change, before, None)
    forgotten = number <= last or game.is_over
    events: tuple[Event, ...] = (TurnInserted(number - 1, turn),) if forgotten else (turn,)
    return events if change.score is None else (*events, ScoreCorrected(number - 1, change.score))


def _make_turn_event(game: Game, change: TurnChange, before: Board, was: Turn | None) -> Event:
    """Return the event that a change describes, on the board `before` it; what the change leaves out is taken from
    `was`."""
    player = change.player if change.player is not None else was.player if was else game.to_move
    if not 0 <= player < len(game.players):
        raise make_refusal("no-player", str(player + 1))
    kind = change.kind or (str(was.kind) if was else "play" if change.word else "")
    match kind:
        case "pass":
            return Passed(player)
        case "exchange":
            count = change.count or (was.count if was else 0)
            if not 1 <= count <= game.rules.rack_size:
                raise make_refusal("needs-count", str(game.rules.rack_size))
            return Exchanged(player, count)
        case "play" if change.word and change.at:
            with convert_engine_errors():
                return PlayMade(player, Play.from_gcg(before, change.at, change.word, game.tiles))
        case "play" if was and was.play and not change.word and not change.at:
            return PlayMade(player, was.play)
        case "play":
            raise make_refusal("needs-word")
        case _:
            raise make_refusal("no-kind", kind)


def end_game(game: Game) -> Event:
    """Return the end of the game."""
    due = game.end_due
    return GameEnded(due) if due else GameEnded()


@contextmanager
def convert_engine_errors() -> Iterator[None]:
    """Convert errors of the engine into `CommandRefusedError`."""
    try:
        yield
    except (NotationError, RulesError) as error:
        raise CommandRefusedError(format_sentence(str(error))) from error
