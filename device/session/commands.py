"""What a command at the table means for the game: the events that it makes, or why it is refused. Pure.

Commands name squares as people do (`H8`), tiles as a tile set writes them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import product

from device.session.messages import Refused, refusal, sentence, text
from device.session.snapshot import TurnChange
from device.session.snapshot_builder import Words
from engine.board import Board
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
from engine.reading import EMPTY, SIZE
from engine.rules import Challenge
from engine.squares import parse_square
from engine.turns import CLOSING, Kind, Turn


def exchange(game: Game, count: int) -> Event:
    """The player whose turn it is exchanges so many tiles."""
    if not game.can_exchange(count):
        raise refusal("cannot-exchange", str(count), str(game.bag))
    return Exchanged(game.to_move, count)


def pass_turn(game: Game) -> Event:
    """The player whose turn it is lays nothing."""
    return Passed(game.to_move)


def challenge(game: Game, words: Words) -> Challenged:
    """The last play is challenged, by whoever is most likely; the word list decides."""
    wrong = _wrong_words(game, _challenged(game), words)
    return Challenged(challengers(game)[0], bool(wrong), wrong)


def challengers(game: Game) -> tuple[int, ...]:
    """Who may have challenged the last play, the next player first; that one alone where nothing hangs on who it was.

    Anybody may challenge, and who did so in vain loses the next turn (rule 8); under other rules nobody does.
    """
    count, player = len(game.players), _challenged(game).player
    others = [seat for seat in ((game.to_move + i) % count for i in range(count)) if seat != player]
    return tuple(others) if game.rules.challenge is Challenge.DOUBLE else (others[0],)


def _wrong_words(game: Game, play: Turn, words: Words) -> tuple[str, ...]:
    """The words of a play that are not in the list, whatever its blanks stand for that nobody has named."""
    squares = [range(word.start, SIZE * SIZE, 1 if word.across else SIZE) for word in play.words]
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


def challenge_answers(game: Game) -> tuple[tuple[str, tuple[Event, ...]], ...]:
    """What people may answer who look the words of the last play up themselves; first, that they have not yet."""
    name, seats = game.players[_challenged(game).player], challengers(game)
    good = [text("answer-in-vain", game.players[seat]) for seat in seats] if len(seats) > 1 else [text("answer-good")]
    return (
        (text("answer-looking-up"), ()),
        (text("answer-bad", name), (Challenged(seats[0], upheld=True),)),
        *((answer, (Challenged(seat, upheld=False),)) for answer, seat in zip(good, seats, strict=True)),
    )


def _challenged(game: Game) -> Turn:
    play = game.challengeable
    if play is None:
        raise refusal("nothing-to-challenge")
    return play


def correct(game: Game, square: str, symbol: str) -> Event:
    """A square was read wrong: `symbol` lies there (`A` a tile, `a` a blank, `.` nothing)."""
    with refusing():
        at = parse_square(square)
        tiles = () if symbol == EMPTY else game.tiles.parse(symbol)
    if symbol != EMPTY and len(tiles) != 1:
        raise refusal("one-tile", symbol or "none")
    return SquareCorrected(at, tiles[0] if tiles else None, told=True)


def name_blank(game: Game, square: str, letter: str) -> Event:
    """Somebody says what the blank on a square stands for."""
    with refusing():
        at = parse_square(square)
    tile = game.board[at]
    if tile is None or not tile.is_blank:
        raise refusal("no-blank", square)
    if letter not in game.tiles.letters:
        raise refusal("blank-letters", letter, " ".join(game.tiles.letters))
    return BlankNamed(at, letter)


def tell_rack(game: Game, player: int, letters: str) -> Event:
    """Somebody tells the unplayed letters of a player: tiles that neither the board nor another told rack has."""
    with refusing():
        tiles = tuple(tile.face for tile in game.tiles.parse(letters))
    if not 0 <= player < len(game.players):
        raise refusal("no-player", str(player + 1))
    told = Counter(tile for other, rack in game.state.revealed.items() if other != player for tile in rack)
    if lacking := Counter(tiles) - (game.unseen - told):
        raise refusal("cannot-be-left", ", ".join(lacking))
    return RackRevealed(player, tiles)


def draw_first(game: Game, letters: Sequence[str]) -> FirstDrawn:
    """The players say what they drew for first play, in seat order; empty for who does not draw now."""
    drawing = game.drawing or tuple(range(len(game.players)))
    if game.turns:
        raise refusal("not-drawing")
    if [seat for seat, letter in enumerate(letters) if letter] != list(drawing) or len(letters) > len(game.players):
        raise refusal("draw-each", ", ".join(game.players[seat] for seat in drawing))
    return FirstDrawn(tuple(letters) + ("",) * (len(game.players) - len(letters)))


def correct_turn(game: Game, number: int, change: TurnChange) -> tuple[Event, ...]:
    """What a turn really was; `number` counts from 1, as turns are shown."""
    if not 1 <= number <= len(game.turns):
        raise refusal("no-turn", str(number), str(len(game.turns)))
    turn = game.turns[number - 1]
    events: tuple[Event, ...] = ()
    if change.kind == "none":
        return (TurnCorrected(turn.number, None),)
    if change != TurnChange(score=change.score):
        if turn.kind not in (Kind.PLAY, Kind.PASS, Kind.EXCHANGE):
            raise refusal("only-score")
        before = game.turns[turn.number - 1].board if turn.number else Board()
        events = (TurnCorrected(turn.number, _turn(game, change, before, turn)),)
    if change.score is not None:
        events = (*events, ScoreCorrected(turn.number, change.score))
    if not events:
        raise refusal("no-change")
    return events


def insert_turn(game: Game, number: int, change: TurnChange) -> tuple[Event, ...]:
    """A turn was forgotten: it becomes the one with this number, counted from 1; the next number is a turn now."""
    if not 1 <= number <= len(game.turns) + 1:
        raise refusal("no-turn", str(number), str(len(game.turns)))
    last = sum(turn.kind not in CLOSING for turn in game.turns)
    number = min(number, last + 1)
    before = game.turns[number - 2].board if number > 1 else Board()
    turn = _turn(game, change, before, None)
    forgotten = number <= last or game.is_over
    events: tuple[Event, ...] = (TurnInserted(number - 1, turn),) if forgotten else (turn,)
    return events if change.score is None else (*events, ScoreCorrected(number - 1, change.score))


def _turn(game: Game, change: TurnChange, before: Board, was: Turn | None) -> Event:
    """The event that a change describes, on the board `before` it; what it does not say is as it `was`."""
    player = change.player if change.player is not None else was.player if was else game.to_move
    if not 0 <= player < len(game.players):
        raise refusal("no-player", str(player + 1))
    kind = change.kind or (str(was.kind) if was else "play" if change.word else "")
    match kind:
        case "pass":
            return Passed(player)
        case "exchange":
            count = change.count or (was.count if was else 0)
            if not 1 <= count <= game.rules.rack_size:
                raise refusal("needs-count", str(game.rules.rack_size))
            return Exchanged(player, count)
        case "play" if change.word and change.at:
            with refusing():
                return PlayMade(player, Play.from_gcg(before, change.at, change.word, game.tiles))
        case "play" if was and was.play and not change.word and not change.at:
            return PlayMade(player, was.play)
        case "play":
            raise refusal("needs-word")
        case _:
            raise refusal("no-kind", kind)


def end_game(game: Game) -> Event:
    """The players end the game."""
    due = game.end_due
    return GameEnded(due) if due else GameEnded()


@contextmanager
def refusing() -> Iterator[None]:
    """Turn what the engine objects to into a refusal."""
    try:
        yield
    except (NotationError, RulesError) as error:
        raise Refused(sentence(str(error))) from error
