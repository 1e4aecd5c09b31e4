"""Play seeded games automatically, for tests and for the recorded games of the demo.

`python -m tests.support.self_play device/data/games` writes the games of the demo; they are the same each time.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

import marisa_trie

from device.storage.lexicons import open_lexicon
from engine.board import CENTRE, NEIGHBOURS, SQUARES, Board, Square, transpose
from engine.events import (
    Challenged,
    EndReason,
    Event,
    Exchanged,
    GameEnded,
    Passed,
    PlayMade,
    RackRevealed,
)
from engine.game import Game
from engine.gcg import Entry, Player, Pragma, Record, format_gcg
from engine.lexicon import Lexicon
from engine.plays import Play
from engine.reading import BLANK, BOARD_SIZE
from engine.state import Turn, TurnKind
from engine.tiles import Tile

Letters = Callable[[str], str]
"""Function from the beginning of a word to the letters that may follow it in the word list."""


class PlayFinder:
    """Generator of the plays of a rack.

    After Appel and Jacobson, The World's Fastest Scrabble Program (1988): each play is extended along a line through an
    anchor, an empty square next to a tile, by letters that keep it the beginning of a word.
    """

    def __init__(self, lexicon: Lexicon, alphabet: str) -> None:
        self._words = lexicon
        self._alphabet = alphabet
        self._following: Letters = lru_cache(maxsize=None)(partial(_following, marisa_trie.Trie(lexicon), alphabet))

    def plays(self, board: Board, rack: Mapping[str, int]) -> Iterator[Play]:
        """Yield all plays of `rack` (tile to number) with words of the list; plays of one tile may be yielded twice."""
        yield from (Play.from_tiles(placed) for placed in self._along_rows(board, rack))
        for placed in self._along_rows(Board(tuple(board[transpose(square)] for square in SQUARES)), rack):
            yield Play.from_tiles({transpose(square): tile for square, tile in placed.items()})

    def _along_rows(self, board: Board, rack: Mapping[str, int]) -> Iterator[dict[Square, Tile]]:
        crossing = {s: self._fitting(board, s) for s in range(BOARD_SIZE * BOARD_SIZE) if board[s] is None}
        anchors = {s for s in crossing if any(board[n] for n in NEIGHBOURS[s])} if board else {CENTRE}
        for row in range(0, BOARD_SIZE * BOARD_SIZE, BOARD_SIZE):
            reach = _measure_reach(row, crossing, anchors)
            line = _Line(board, row, crossing, anchors, reach, self._following, self._words)
            for start in range(BOARD_SIZE):
                if start == 0 or board[row + start - 1] is None:
                    yield from line.grow("", start, Counter(rack), {}, False)

    def _fitting(self, board: Board, square: Square) -> str:
        """Return the letters that form a word in the column through an empty square."""
        column = board.tile_run(square, across=False)
        if len(column) == 1:
            return self._alphabet
        pattern = ["" if s == square else _letter(board[s]) for s in column]
        return "".join(c for c in self._alphabet if "".join(p or c for p in pattern) in self._words)


@dataclass(frozen=True)
class _Line:
    """A row of the board on which words are extended from left to right.

    `reach` is, for each column, the number of tiles that a word from there needs up to the next anchor.
    """

    board: Board
    row: Square
    crossing: Mapping[Square, str]
    anchors: set[Square]
    reach: Sequence[int]
    following: Letters
    words: Lexicon

    def grow(
        self, word: str, column: int, rack: Counter[str], placed: dict[Square, Tile], anchored: bool
    ) -> Iterator[dict[Square, Tile]]:
        """Yield the plays whose word begins with `word` and has its next letter in `column`."""
        square = self.row + column
        free = column == BOARD_SIZE or self.board[square] is None
        if free and placed and anchored and len(word) > 1 and word in self.words:
            yield dict(placed)
        if column == BOARD_SIZE:
            return
        if not free:
            letter = _letter(self.board[square])
            if letter in self.following(word):
                yield from self.grow(word + letter, column + 1, rack, placed, anchored)
            return
        if not anchored and self.reach[column] > rack.total():
            return
        for letter in self.following(word):
            if letter not in self.crossing[square]:
                continue
            for face in (letter, BLANK):
                if rack[face]:
                    rack[face] -= 1
                    placed[square] = _make_tile(letter, is_blank=face == BLANK)
                    yield from self.grow(word + letter, column + 1, rack, placed, anchored or square in self.anchors)
                    del placed[square]
                    rack[face] += 1


_make_tile = lru_cache(maxsize=None)(Tile)


def _measure_reach(row: Square, empty: Mapping[Square, str], anchors: set[Square]) -> list[int]:
    """Return for each column of a row how many tiles fill it up to the next anchor, more than any rack has if none."""
    reach, needed = [], BOARD_SIZE + 1
    for square in reversed(range(row, row + BOARD_SIZE)):
        needed = 1 if square in anchors else needed + (square in empty)
        reach.insert(0, needed)
    return reach


def _following(words: marisa_trie.Trie, alphabet: str, beginning: str) -> str:
    return "".join(letter for letter in alphabet if any(True for _ in words.iterkeys(beginning + letter)))


def _letter(tile: Tile | None) -> str:
    assert tile is not None
    return tile.letter


PATIENCE = 6
"""Number of turns without a play after which a game ends."""


class SelfPlay:
    """A game of players who make high-scoring plays, with one exchange and one phony that is challenged."""

    def __init__(self, players: tuple[str, ...], lexicon: Lexicon, seed: int) -> None:
        self._random = random.Random(seed)
        self._lexicon = lexicon
        self.game = Game.start(players, lexicon=lexicon.name)
        tiles = self.game.tiles
        self._finder = PlayFinder(lexicon, "".join(tiles.letters))
        self._bag = [tile for tile, count in tiles.counts.items() for _ in range(count)]
        self._random.shuffle(self._bag)
        self._racks = [self._draw(Counter()) for _ in players]
        self._phony_at = self._random.randrange(5, 12)
        self._exchange_at = self._random.randrange(3, 14)
        self.racks: list[str] = []
        """The rack before each turn of the game, in the order of `game.turns`."""

    def run(self) -> Game:
        """Play until the end is due by the rules, or until `PATIENCE` turns in succession had no play."""
        while self.game.end_due is None and not self._stuck():
            self._turn()
        for player, rack in enumerate(self._racks):
            self.game = self.game.push(RackRevealed(player, tuple(sorted(rack.elements()))))
        self._push(GameEnded(self.game.end_due or EndReason.AGREED), "")
        return self.game

    def _stuck(self) -> bool:
        last = self.game.turns[-PATIENCE:]
        return len(last) == PATIENCE and all(turn.kind in (TurnKind.PASS, TurnKind.EXCHANGE) for turn in last)

    def _turn(self) -> None:
        game, player = self.game, self.game.to_move
        rack, number = self._racks[player], len(self.game.turns)
        text = "".join(sorted(rack.elements()))
        if number >= self._exchange_at and game.bag_count >= game.rules.rack_size:
            self._exchange_at = 10_000
            swapped = Counter(self._random.sample(sorted(rack.elements()), 4))
            rack = rack - swapped
            self._push(Exchanged(player, 4, tuple(sorted(swapped.elements()))), text)
            self._racks[player] = self._draw(rack)
            self._bag += swapped.elements()
            self._random.shuffle(self._bag)
            return
        found = self._finder.plays(game.board, rack)
        plays = sorted({(game.score_play(play).total, play.tiles) for play in found}, key=_rank)
        if not plays:
            self._push(Passed(player), text)
            return
        if number >= self._phony_at and (phony := self._phony([Play(tiles) for _, tiles in plays])):
            self._phony_at = 10_000
            self._push(PlayMade(player, phony), text)
            self._push(Challenged(self.game.to_move, True), text)
            return
        best = [play for play in plays if play[0] >= plays[0][0] * 0.75][:6]
        play = Play(self._random.choice(best)[1])
        self._push(PlayMade(player, play), text)
        self._racks[player] = self._draw(rack - Counter(tile.face for _, tile in play.tiles))

    def _phony(self, plays: list[Play]) -> Play | None:
        """Return a play of one word with its tiles reversed, so that it is not a word; None if there is none."""
        for play in plays[:40]:
            if len(play.tiles) < 4 or len(self.game.score_play(play).words) > 1:
                continue
            turned = Play.from_tiles(dict(zip(play.squares, [tile for _, tile in play.tiles][::-1], strict=True)))
            if self.game.score_play(turned).words[0].word not in self._lexicon:
                return turned
        return None

    def _push(self, event: Event, rack: str) -> None:
        before = len(self.game.turns)
        self.game = self.game.push(event)
        self.racks += [rack] * (len(self.game.turns) - before)

    def _draw(self, rack: Counter[str]) -> Counter[str]:
        rack = Counter(rack)
        while rack.total() < self.game.rules.rack_size and self._bag:
            rack[self._bag.pop()] += 1
        return rack


def _rank(scored: tuple[int, tuple[tuple[Square, Tile], ...]]) -> tuple[int, str]:
    return -scored[0], repr(scored[1])


def as_record(play: SelfPlay, title: str) -> Record:
    """Return a finished game as a GCG record."""
    game = play.game
    players = tuple(Player(name, name) for name in game.players)
    entries = tuple(_entry(turn, rack) for turn, rack in zip(game.turns, play.racks, strict=True))
    pragmas = (Pragma("title", title), Pragma("lexicon", game.start_event.lexicon or "none"))
    return Record(players, entries, pragmas)


def _entry(turn: Turn, rack: str) -> Entry:
    text, position = "".join(turn.tiles), ""
    if turn.kind is TurnKind.PLAY:
        text, position = turn.word or "", turn.at or ""
    own = rack or (text if turn.score < 0 else None)
    return Entry(turn.player, turn.kind, turn.score, turn.total, own or None, position, text)


DEMO_GAMES: tuple[tuple[str, tuple[str, ...], int], ...] = (
    ("kitchen-table", ("Anna", "Ben"), 11),
    ("rainy-sunday", ("Mira", "Tom"), 23),
    ("night-train", ("Ines", "Luka"), 37),
    ("three-of-us", ("Ada", "Finn", "Rosa"), 41),
)
"""File name, players and seed of the games of the demo."""


def main(folder: Path) -> None:
    """Write the games of the demo."""
    lexicon = open_lexicon(None, "en")
    assert lexicon is not None, "the English word list is part of this program"
    for name, players, seed in DEMO_GAMES:
        play = SelfPlay(players, lexicon, seed)
        play.run()
        record = as_record(play, f"Tilekeeper demo: {name.replace('-', ' ')}")
        (folder / f"{name}.gcg").write_text(format_gcg(record), encoding="utf-8")
        print(name, dict(zip(play.game.players, play.game.totals, strict=True)), len(play.game.turns), "turns")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
