"""From the engine's game to the values that are shown (`device.session.snapshot`)."""

from __future__ import annotations

from collections.abc import Container
from typing import Protocol

from device.session.snapshot import (
    BoardView,
    LetterView,
    Phase,
    PlayerView,
    TableState,
    TileView,
    TurnView,
    WordView,
)
from engine.board import Layout, Premium
from engine.game import Game
from engine.lexicon import Lexicon
from engine.reading import SIZE
from engine.scoring import WordScore
from engine.squares import SQUARES, Square, square_name
from engine.tiles import Tile
from engine.turns import Kind, Turn


class Words(Protocol):
    """A word list: anything that knows whether it has a word."""

    def __contains__(self, word: str, /) -> bool:
        """True when the word is in the list."""
        ...


_PREMIUM_TEXT = {
    Premium.NONE: "",
    Premium.DOUBLE_LETTER: "2L",
    Premium.TRIPLE_LETTER: "3L",
    Premium.DOUBLE_WORD: "2W",
    Premium.TRIPLE_WORD: "3W",
}


def view_game(game: Game, words: Words | None) -> TableState:
    """All that a game says about the table; each word is looked up in `words` (None: words are not checked)."""
    outcome = game.outcome
    return TableState(
        phase=Phase.ENDED if outcome else Phase.TURN,
        players=view_players(game),
        turn_of=None if outcome else game.to_move,
        turns=view_turns(game, words if game.rules.open_dictionary else None),
        board=view_board(game),
        tile_set=game.tiles.name,
        language=game.tiles.language,
        lexicon=game.started.lexicon if words is not None else None,
        lexicon_advises=not decides(words),
        open_dictionary=game.rules.open_dictionary,
        in_bag=game.bag,
        unseen=tuple((tile, count) for tile in game.tiles.counts if (count := game.unseen[tile]) > 0),
        edition=game.rules.edition,
        exchange_most=next((n for n in range(game.rules.rack_size, 0, -1) if game.can_exchange(n)), 0),
        end_due=game.end_due is not None,
        winners=outcome.winners if outcome else (),
        racks_wanted=game.racks_wanted if outcome else (),
    )


def view_players(game: Game) -> tuple[PlayerView, ...]:
    """The players and their totals, in seat order."""
    return tuple(PlayerView(name, total) for name, total in zip(game.players, game.totals, strict=True))


def view_turns(game: Game, words: Words | None) -> tuple[TurnView, ...]:
    """The score sheet, each word looked up in `words` (None: words are not checked)."""
    return tuple(_view_turn(game, turn, words) for turn in game.turns)


def view_board(game: Game) -> BoardView:
    """The board, with the tiles of the last standing play marked as new."""
    last = game.turns[-1] if game.turns else None
    new = {square for square, _ in last.placements} if last and last.stands else set[Square]()
    tiles = tuple(_view_tile(game, square, square in new) for square in SQUARES)
    return BoardView(tiles, view_premiums(game.layout))


def view_premiums(layout: Layout) -> tuple[str, ...]:
    """What is written on each square of an empty board."""
    return tuple(_PREMIUM_TEXT[premium] for premium in layout.premiums)


def decides(words: Words | None) -> bool:
    """False for a word list that only advises, such as those of the system."""
    return not isinstance(words, Lexicon) or words.decides


def is_listed(word: str, words: Words | None) -> bool | None:
    """Whether the word list has the word; None where nobody can say (no list, a blank without a name)."""
    return None if words is None or "?" in word else word in words


def _view_turn(game: Game, turn: Turn, words: Words | None) -> TurnView:
    new = {square for square, _ in turn.placements}
    target = game.turns[turn.target] if turn.target is not None else None
    shown = target if target is not None and turn.kind is Kind.WITHDRAWN else turn
    return TurnView(
        number=turn.number + 1,
        player=turn.player,
        kind=str(turn.kind),
        score=turn.score,
        total=turn.total,
        at=shown.at or "",
        word="".join(turn.tiles) if turn.kind is Kind.ENDRACK else shown.word or "",
        words=tuple(_view_word(word, new, words) for word in shown.words),
        bonus=shown.bonus,
        tiles=tuple((square_name(square), game.tiles.text(tile)) for square, tile in turn.placements),
        stands=turn.stands,
    )


def _view_word(word: WordScore, new: Container[Square], words: Words | None) -> WordView:
    step = 1 if word.across else SIZE
    letters = tuple(
        LetterView(letter.tile.letter, letter.value, letter.tile.is_blank, word.start + i * step in new, letter.premium)
        for i, letter in enumerate(word.letters)
    )
    listed = is_listed(word.word, words)
    unlisted = listed is False and not decides(words)
    return WordView(word.word, letters, word.multiplier, word.score, None if unlisted else listed, unlisted)


def _view_tile(game: Game, square: Square, new: bool) -> TileView | None:
    tile: Tile | None = game.board[square]
    return None if tile is None else TileView(tile.letter, game.tiles.value(tile), tile.is_blank, new)
