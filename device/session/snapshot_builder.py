"""Build the snapshot of a game from the engine's values."""

from __future__ import annotations

from collections.abc import Collection, Container

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
from engine.board import Board, Layout, Premium, Square, square_name
from engine.game import Game
from engine.lexicon import WordList, can_decide_challenge, is_word_listed
from engine.reading import BOARD_SIZE
from engine.scoring import STATUS_TEXT, WordScore
from engine.state import Turn, TurnKind
from engine.tiles import TileSet

_PREMIUM_TEXT = {
    Premium.NONE: "",
    Premium.DOUBLE_LETTER: "2L",
    Premium.TRIPLE_LETTER: "3L",
    Premium.DOUBLE_WORD: "2W",
    Premium.TRIPLE_WORD: "3W",
}


def build_snapshot(game: Game, words: WordList | None, provisional: Collection[int] = ()) -> TableSnapshot:
    """Return the snapshot of a game; words are looked up in `words`, or not checked if `words` is None.

    `provisional` are the numbers (from 0) of the turns that may still change, because a question is not answered.
    """
    outcome = game.outcome
    shown_words = words if game.rules.open_dictionary else None
    return TableSnapshot(
        phase=Phase.ENDED if outcome else Phase.TURN,
        players=tuple(PlayerView(name, total) for name, total in zip(game.players, game.totals, strict=True)),
        turn_of=None if outcome or game.drawing else game.to_move,
        turns=tuple(_build_turn_view(game, turn, shown_words, turn.number in provisional) for turn in game.turns),
        board=_build_board_view(game),
        tile_set=game.tiles.name,
        language=game.tiles.language,
        lexicon=game.start_event.lexicon if words is not None else None,
        lexicon_advises=not can_decide_challenge(words),
        open_dictionary=game.rules.open_dictionary,
        in_bag=game.bag_count,
        unseen=tuple(game.unseen.items()),
        lost=game.start_event.lost,
        edition=game.rules.edition,
        rules=game.rules,
        finish_lines=game.rules.finish_lines(len(game.players)),
        exchange_most=find_max_exchange(game),
        end_due=game.end_due is not None,
        winners=outcome.winners if outcome and not game.racks_wanted else (),
        racks_wanted=game.racks_wanted if outcome else (),
        skips_racks=game.state.skips_racks,
    )


def find_max_exchange(game: Game) -> int:
    """Return the largest number of tiles that may be exchanged now."""
    return next((count for count in range(game.rules.rack_size, 0, -1) if game.can_exchange(count)), 0)


def _build_board_view(game: Game) -> BoardView:
    """Return the view of the game's board, with the tiles of the last play marked as new."""
    last = game.last_turn
    new = {square for square, _ in last.placements} if last and last.stands else set[Square]()
    tiles, premiums = build_tile_views(game.board, game.tiles, new), list_premium_texts(game.layout)
    return BoardView(tiles, premiums, game.tiles.right_to_left, game.layout.name)


def build_tile_views(board: Board, tiles: TileSet, new: Container[Square]) -> tuple[TileView | None, ...]:
    """Return the tile (or None) of each square; tiles on the squares `new` are marked as new."""
    return tuple(
        None if tile is None else TileView(tile.letter, tiles.values[tile.face], tile.is_blank, square in new)
        for square, tile in enumerate(board.squares)
    )


def list_premium_texts(layout: Layout) -> tuple[str, ...]:
    """Return the premium of each square of a board layout as text: `2L`, `3W` and so on, or empty."""
    return tuple([_PREMIUM_TEXT[premium] for premium in layout.premiums])


def _build_turn_view(game: Game, turn: Turn, words: WordList | None, is_provisional: bool) -> TurnView:
    """Return a turn as the page shows it. A withdrawn play shows the words of the play that it withdraws."""
    new = {square for square, _ in turn.placements}
    target = game.turns[turn.target] if turn.target is not None else None
    turn_of_words = target if target is not None and turn.kind is TurnKind.WITHDRAWN else turn
    return TurnView(
        number=turn.number + 1,
        player=turn.player,
        kind=str(turn.kind),
        score=turn.score,
        total=turn.total,
        at=turn_of_words.at or "",
        word="".join(turn.tiles) if turn.kind is TurnKind.ENDRACK else turn_of_words.word or "",
        words=tuple(_build_word_view(word, new, words, game.tiles) for word in turn_of_words.words),
        bonus=turn_of_words.bonus,
        tiles=tuple((square_name(square), game.tiles.text(tile)) for square, tile in turn.placements),
        stands=turn.stands,
        target=None if turn.target is None else turn.target + 1,
        by=turn.by,
        problems=tuple(text for flag, text in STATUS_TEXT.items() if flag & turn.status) if turn.status else (),
        provisional=is_provisional,
        ref=str(turn.ref),
    )


def _build_word_view(word: WordScore, new: Container[Square], words: WordList | None, tiles: TileSet) -> WordView:
    """Return a word of a turn as the page shows it; `new` are the squares of the tiles that were placed in the turn."""
    step = 1 if word.across else BOARD_SIZE
    letters = tuple(
        LetterView(letter.tile.letter, letter.value, letter.tile.is_blank, word.start + i * step in new, letter.premium)
        for i, letter in enumerate(word.letters)
    )
    listed = is_word_listed(word.tile_letters, words, tiles)
    unlisted = listed is False and not can_decide_challenge(words)
    return WordView(word.word, letters, word.multiplier, word.score, None if unlisted else listed, unlisted)
