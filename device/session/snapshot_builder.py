"""Build snapshots (`device.session.snapshot`) from a game of the engine."""

from __future__ import annotations

from collections.abc import Container
from typing import Protocol

from device.session.snapshot import (
    BoardView,
    LetterView,
    Phase,
    PlayerView,
    TableSnapshot,
    TileView,
    TurnView,
    WordView,
)
from engine.board import SQUARES, Layout, Premium, Square, square_name
from engine.game import Game
from engine.lexicon import Lexicon
from engine.reading import BOARD_SIZE
from engine.scoring import WordScore
from engine.state import Turn, TurnKind
from engine.tiles import Tile


class WordList(Protocol):
    """Anything that can be asked with `in` if it has a word."""

    def __contains__(self, word: str, /) -> bool:
        """Return True if the word is in the list."""
        ...


_PREMIUM_TEXT = {
    Premium.NONE: "",
    Premium.DOUBLE_LETTER: "2L",
    Premium.TRIPLE_LETTER: "3L",
    Premium.DOUBLE_WORD: "2W",
    Premium.TRIPLE_WORD: "3W",
}


def build_snapshot(game: Game, words: WordList | None) -> TableSnapshot:
    """Return the snapshot of a game; its words are looked up in `words` (None: words are not checked)."""
    outcome = game.outcome
    return TableSnapshot(
        phase=Phase.ENDED if outcome else Phase.TURN,
        players=build_player_views(game),
        turn_of=None if outcome else game.to_move,
        turns=build_turn_views(game, words if game.rules.open_dictionary else None),
        board=build_board_view(game),
        tile_set=game.tiles.name,
        language=game.tiles.language,
        lexicon=game.start_event.lexicon if words is not None else None,
        lexicon_advises=not can_decide_challenge(words),
        open_dictionary=game.rules.open_dictionary,
        in_bag=game.bag_count,
        unseen=tuple((tile, count) for tile in game.tiles.counts if (count := game.unseen[tile]) > 0),
        edition=game.rules.edition,
        exchange_most=next((n for n in range(game.rules.rack_size, 0, -1) if game.can_exchange(n)), 0),
        end_due=game.end_due is not None,
        winners=outcome.winners if outcome else (),
        racks_wanted=game.racks_wanted if outcome else (),
    )


def build_player_views(game: Game) -> tuple[PlayerView, ...]:
    """Return the players and their totals, in seat order."""
    return tuple(PlayerView(name, total) for name, total in zip(game.players, game.totals, strict=True))


def build_turn_views(game: Game, words: WordList | None) -> tuple[TurnView, ...]:
    """Return the score sheet; its words are looked up in `words` (None: words are not checked)."""
    return tuple(_build_turn_view(game, turn, words) for turn in game.turns)


def build_board_view(game: Game) -> BoardView:
    """Return the board, with the tiles of the last play marked as new."""
    last = game.turns[-1] if game.turns else None
    new = {square for square, _ in last.placements} if last and last.stands else set[Square]()
    tiles = tuple(_build_tile_view(game, square, square in new) for square in SQUARES)
    return BoardView(tiles, list_premium_texts(game.layout))


def list_premium_texts(layout: Layout) -> tuple[str, ...]:
    """Return the text of each square of an empty board: `2L`, `3W`, or empty."""
    return tuple(_PREMIUM_TEXT[premium] for premium in layout.premiums)


def can_decide_challenge(words: WordList | None) -> bool:
    """Return False for an advisory word list, such as those of the operating system."""
    return not isinstance(words, Lexicon) or words.is_authoritative


def is_listed(word: str, words: WordList | None) -> bool | None:
    """Return True if the word list has the word; None if that is unknown (no list, or an unnamed blank)."""
    return None if words is None or "?" in word else word in words


def _build_turn_view(game: Game, turn: Turn, words: WordList | None) -> TurnView:
    new = {square for square, _ in turn.placements}
    target = game.turns[turn.target] if turn.target is not None else None
    shown = target if target is not None and turn.kind is TurnKind.WITHDRAWN else turn
    return TurnView(
        number=turn.number + 1,
        player=turn.player,
        kind=str(turn.kind),
        score=turn.score,
        total=turn.total,
        at=shown.at or "",
        word="".join(turn.tiles) if turn.kind is TurnKind.ENDRACK else shown.word or "",
        words=tuple(_build_word_view(word, new, words) for word in shown.words),
        bonus=shown.bonus,
        tiles=tuple((square_name(square), game.tiles.text(tile)) for square, tile in turn.placements),
        stands=turn.stands,
    )


def _build_word_view(word: WordScore, new: Container[Square], words: WordList | None) -> WordView:
    step = 1 if word.across else BOARD_SIZE
    letters = tuple(
        LetterView(letter.tile.letter, letter.value, letter.tile.is_blank, word.start + i * step in new, letter.premium)
        for i, letter in enumerate(word.letters)
    )
    listed = is_listed(word.word, words)
    unlisted = listed is False and not can_decide_challenge(words)
    return WordView(word.word, letters, word.multiplier, word.score, None if unlisted else listed, unlisted)


def _build_tile_view(game: Game, square: Square, new: bool) -> TileView | None:
    tile: Tile | None = game.board[square]
    return None if tile is None else TileView(tile.letter, game.tiles.value(tile), tile.is_blank, new)
