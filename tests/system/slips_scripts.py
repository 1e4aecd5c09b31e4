"""The slips: what lies on the board, who presses when, and what is then the truth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random

from engine.board import Board, Square
from engine.events import GameEnded, PlayMade, PlayWithdrawn
from engine.game import Game
from engine.plays import Play
from engine.reading import BLANK
from tests.support.disturbed_squares import find_similar_letters
from tests.system.slips_positions import Position, find_loose_square, with_letter
from tests.system.slips_table import Scene, make_scene

FOLLOWING_TURNS = 2
PREFACE_TURNS = 2
"""Clear turns that are pressed before a slip."""


@dataclass(frozen=True, slots=True)
class Step:
    """Something that the players do: lay `scene`, rest for `rest_s` seconds, and press.

    `player` is None if nobody presses. `truth` is the game after the press. `is_key` is True for the press at which the
    table would be wrong if it did not understand the slip.
    """

    scene: Scene
    rest_s: float
    player: int | None = None
    truth: Game | None = None
    is_slip: bool = False
    is_key: bool = False
    exchanged: int = 0
    """Tiles that the player exchanges, with a command, instead of a press."""


@dataclass(frozen=True, slots=True)
class Script:
    """The game at the start, and what follows. `note` says in words what the slip is."""

    start: Game
    steps: tuple[Step, ...]
    note: str
    is_over: bool = False
    """True if the game ends with the slip, so that no turns follow."""


Build = Callable[[Position, Random], Script | None]


class Builder:
    """Builder of a script: it keeps the true game, and what lies on the board."""

    def __init__(self, position: Position) -> None:
        self.position, self.chance, self.game = position, position.chance, position.game
        self.steps: list[Step] = []

    def rest(self, least: float = 0.5, most: float = 6.0) -> float:
        """Return a random time in seconds."""
        return round(self.chance.uniform(least, most), 1)

    def push(self, play: Play) -> int:
        """Make a play the truth, by the player to move; return this player."""
        player = self.game.to_move
        self.game = self.game.push(PlayMade(player, play))
        self.position.held = Counter()
        return player

    def lay(self, board: Board, rest_s: float, *loose: tuple[Square, str], **press: bool | int | None) -> None:
        """Lay a board and further symbols; with `player`, that player presses, and the game is now the truth."""
        scene = list(make_scene(board))
        for square, symbol in loose:
            scene[square] = symbol
        truth = self.game if press.get("player") is not None else None
        self.steps.append(Step(tuple(scene), rest_s, truth=truth, **press))  # type: ignore[arg-type]

    def think(self) -> None:
        """Let the next player draw tiles and think, while the board stays as it is."""
        self.lay(self.game.board, self.rest(8.0, 40.0))

    def play_clear(self, play: Play) -> None:
        """Make a play, and press after it."""
        self.think()
        player = self.push(play)
        self.lay(self.game.board, self.rest(), player=player)

    def play_key(self, play: Play, *, thinks: bool = True) -> None:
        """Make the play of the next player, at whose press the slip matters."""
        if thinks:
            self.think()
        player = self.push(play)
        self.lay(self.game.board, self.rest(), player=player, is_slip=True, is_key=True)

    def draw_clear(self, turns: int) -> bool:
        """Make random clear turns; return False if there is no play."""
        for _ in range(turns):
            play = self.position.draw_play(self.game)
            if play is None:
                return False
            self.play_clear(play)
        return True


def write(game: Game, play: Play) -> str:
    """Return a play in GCG notation."""
    return play.to_gcg(game.board, game.tiles)


def lay_early_letter(build: Builder) -> str | None:
    """1: while Anna presses, Ben has laid a letter of his word that touches nothing; he completes it and presses."""
    first = build.position.draw_play(build.game)
    if first is None:
        return None
    player = build.push(first)
    for play in build.position.draw_plays(build.game, 2, racks=6):
        square = find_loose_square(build.game.board, play)
        if square is None:
            continue
        letter = dict(play.tiles)[square].face
        build.lay(build.game.board, build.rest(1.0))
        build.lay(build.game.board, build.rest(0.0, 1.5), (square, letter), player=player, is_slip=True)
        note = f"{write(build.game, play)} with its {letter} at the press before"
        build.play_key(play, thinks=False)
        return note
    return None


def press_by_mistake(build: Builder) -> str | None:
    """2: a player presses by mistake with only a loose letter on the board, and completes the word.

    In half of the cases the player presses again, in the others the opponent plays and presses.
    """
    for play in build.position.draw_plays(build.game, 2, racks=6):
        square = find_loose_square(build.game.board, play)
        if square is None:
            continue
        letter, player = dict(play.tiles)[square].face, build.game.to_move
        note = f"{write(build.game, play)} pressed with only its {letter}"
        build.lay(build.game.board, build.rest(0.3, 2), (square, letter), player=player, is_slip=True)
        if build.chance.random() < 0.5:
            build.play_key(play, thinks=False)
            return note + ", pressed again"
        build.push(play)
        build.lay(build.game.board, build.rest())
        return _play_next(build, note + ", not pressed again")
    return None


def _play_next(build: Builder, note: str) -> str | None:
    """The opponent plays and presses."""
    play = build.position.draw_play(build.game)
    if play is None:
        return None
    build.play_key(play)
    return f"{note}, then {write(replace_last(build.game), play)}"


def replace_last(game: Game) -> Game:
    """Return the game before its last event."""
    return Game.begin(game.start_event).push(*game.events[:-1])


def _draw_shortened(build: Builder) -> tuple[Play, Play] | None:
    """Return a play, and the same play without its last or first tile, which is legal, too."""
    for play in build.position.draw_plays(build.game, 2):
        if (part := build.position.split_play(build.game, play, 1)) is not None:
            return play, part
    return None


def _press_wrong(build: Builder, pressed: Play, true: Play) -> int:
    """Press after one play, then let another one lie on the board; the truth is then the other one."""
    before = build.game
    player = build.push(pressed)
    build.lay(build.game.board, build.rest(), player=player)
    build.game = before.push(PlayMade(player, true))
    build.position.held = _count_faces(pressed) - _count_faces(true)
    return player


def _count_faces(play: Play) -> Counter[str]:
    return Counter(tile.face for _, tile in play.tiles)


def take_back(build: Builder) -> str | None:
    """3: a tile of the last play is taken back after the press, the opponent plays elsewhere."""
    if (pair := _draw_shortened(build)) is None:
        return None
    note = f"{write(build.game, pair[0])}, then {write(build.game, pair[1])}"
    _press_wrong(build, *pair)
    build.lay(build.game.board, build.rest(1.0))
    freed = set(pair[0].squares) - set(pair[1].squares)
    for play in build.position.draw_plays(build.game):
        if freed.isdisjoint(play.squares):
            build.play_key(play)
            return note
    return None


def take_back_and_press(build: Builder) -> str | None:
    """4: the same, and the player presses again."""
    return _press_again(build, _draw_shortened(build))


def _press_again(build: Builder, pair: tuple[Play, Play] | None) -> str | None:
    """Press with the first play of the pair and, after it was changed to the second one, once more."""
    if pair is None:
        return None
    note = f"{write(build.game, pair[0])}, then {write(build.game, pair[1])}, pressed again"
    player = _press_wrong(build, *pair)
    build.lay(build.game.board, build.rest(), player=player, is_slip=True, is_key=True)
    return note


def cover_freed_square(build: Builder) -> str | None:
    """5: the same, and the opponent's word covers the freed square with the same letter."""
    for play in build.position.draw_plays(build.game, 2, racks=6):
        part = build.position.split_play(build.game, play, 1)
        if part is None:
            continue
        ((square, tile),) = set(play.tiles) - set(part.tiles)
        after = build.game.push(PlayMade(build.game.to_move, part))
        if after.unseen[tile.face] < 2:  # the player who took it back has one
            continue
        rack = build.position.draw_rack(after, tile.face)
        covering = [one for one in build.position.list_plays(after.board, rack, 2) if (square, tile) in one.tiles]
        if covering:
            note = f"{write(build.game, play)}, then {write(build.game, part)}, covered by {write(after, covering[0])}"
            _press_wrong(build, play, part)
            build.lay(build.game.board, build.rest(1.0))
            build.play_key(covering[0])
            return note
    return None


def _draw_misspelt(build: Builder) -> tuple[Play, Play] | None:
    """Return a play with a wrong letter or two letters in the wrong order, and the right play."""
    for play in build.position.draw_plays(build.game, 2):
        letters = {square: tile.letter for square, tile in play.tiles if not tile.is_blank}
        if len(letters) > 1 and build.chance.random() < 1 / 3:
            one, other = build.chance.sample(sorted(letters), 2)
            if letters[one] != letters[other]:
                return with_letter(with_letter(play, one, letters[other]), other, letters[one]), play
        unseen = build.game.unseen - Counter(letters.values())
        if letters:
            square = build.chance.choice(sorted(letters))
            wrong = build.chance.choice(sorted(unseen.keys() - {BLANK, letters[square]}))
            return with_letter(play, square, wrong), play
    return None


def exchange_letter(build: Builder) -> str | None:
    """6: a letter is exchanged after the press (PAZTE, then PASTE), and the opponent plays."""
    if (pair := _draw_misspelt(build)) is None:
        return None
    note = f"{write(build.game, pair[0])}, then {write(build.game, pair[1])}"
    _press_wrong(build, *pair)
    build.lay(build.game.board, build.rest(1.0))
    return _play_next(build, note)


def exchange_letter_and_press(build: Builder) -> str | None:
    """7: the same, and the player presses again."""
    return _press_again(build, _draw_misspelt(build))


def put_elsewhere(build: Builder) -> str | None:
    """8: the play is put elsewhere after the press, with tiles of the same rack, and the opponent plays."""
    rack = build.position.draw_rack(build.game)
    plays = build.position.list_plays(build.game.board, rack, 2)
    for play in plays[:30]:
        others = [other for other in plays if set(other.squares).isdisjoint(play.squares)]
        if others:
            note = f"{write(build.game, play)}, then {write(build.game, others[0])} instead"
            _press_wrong(build, play, others[0])
            build.lay(build.game.board, build.rest(1.0))
            return _play_next(build, note)
    return None


def _draw_completed(build: Builder) -> tuple[Play, Play] | None:
    """Return a play, and a part of it that is a legal play."""
    for play in build.position.draw_plays(build.game, 3, racks=6):
        if (part := build.position.split_play(build.game, play)) is not None:
            return play, part
    return None


def press_too_early(build: Builder) -> str | None:
    """9: pressed too early with a legal beginning (BE), completed (BENTY), the opponent plays and presses."""
    if (pair := _draw_completed(build)) is None:
        return None
    play, part = pair
    note = f"{write(build.game, part)}, completed to {write(build.game, play)}"
    before = build.game
    player = build.push(part)
    build.lay(build.game.board, build.rest(0.3, 2), player=player, is_slip=True)
    build.game = before.push(PlayMade(player, play))
    build.lay(build.game.board, build.rest())
    return _play_next(build, note)


def complete_and_press(build: Builder) -> str | None:
    """Pressed too early, completed, and pressed again by the same player."""
    if (pair := _draw_completed(build)) is None:
        return None
    play, part = pair
    note = f"{write(build.game, part)}, completed to {write(build.game, play)}, pressed again"
    before = build.game
    player = build.push(part)
    build.lay(build.game.board, build.rest(0.3, 2), player=player, is_slip=True)
    build.game = before
    build.play_key(play, thinks=False)
    return note


def continue_line(build: Builder) -> str | None:
    """11: a forgotten press, and the next player continues the same line."""
    if (pair := _draw_completed(build)) is None:
        return None
    play, part = pair
    note = f"{write(build.game, part)}, not pressed; continued to {write(build.game, play)}"
    build.push(part)
    build.lay(build.game.board, build.rest(3.0, 8.0))
    build.play_key(Play(tuple(tile for tile in play.tiles if tile not in part.tiles)))
    return note


SLIPS: dict[int, Callable[[Builder], str | None]] = {
    1: lay_early_letter,
    2: press_by_mistake,
    3: take_back,
    4: take_back_and_press,
    5: cover_freed_square,
    6: exchange_letter,
    7: exchange_letter_and_press,
    8: put_elsewhere,
    9: press_too_early,
    11: continue_line,
}


def _build_old_letter(position: Position) -> Script | None:
    """10: an old letter was recorded wrong, because it was read wrong; from now on all pictures show the right one."""
    chance, game = position.chance, position.game
    old = [event for event in game.events[: len(game.events) - 3] if isinstance(event, PlayMade)]
    letters = [(event, square, tile) for event in old for square, tile in event.play.tiles if not tile.is_blank]
    if not letters:
        return None
    event, square, tile = chance.choice(letters)
    wrong = chance.choice(find_similar_letters(tile.letter, game.tiles.letters))
    changed = replace(event, play=with_letter(event.play, square, wrong))
    recorded = Game.begin(game.start_event).push(*(changed if one is event else one for one in game.events))
    build = Builder(position)
    if not build.draw_clear(1):
        return None
    step = replace(build.steps.pop(), is_slip=True)
    if not build.draw_clear(1):
        return None
    key = replace(build.steps.pop(), is_slip=True, is_key=True)
    build.steps = [step, key]
    if not build.draw_clear(FOLLOWING_TURNS):
        return None
    return Script(recorded, tuple(build.steps), f"{wrong} of {write(game, event.play)} is {tile.letter}")


def _build_lifted(position: Position) -> Script | None:
    """12: the only play of a game is lifted: it was taken back, or the board is cleared because the game is over."""
    build = Builder(position)
    first = position.draw_play(build.game, 2)
    if first is None:
        return None
    start, player = build.game, build.game.to_move
    build.play_clear(first)
    is_over = position.chance.random() < 0.5
    build.game = build.game.push(GameEnded() if is_over else PlayWithdrawn(player))
    build.lay(start.board, build.rest(), player=player, is_slip=True, is_key=True)
    note = f"{write(start, first)}, then nothing: {'the game is over' if is_over else 'taken back'}"
    if not is_over and not build.draw_clear(FOLLOWING_TURNS):
        return None
    return Script(start, tuple(build.steps), note, is_over)


ALL_SLIPS = (*range(1, 13),)
CAMERA_SLIPS = (5, 11)
"""Slips that one picture a press cannot show."""


def build_script(slip: int, position: Position) -> Script | None:
    """Return the script of a slip from a position; None if the position does not allow the slip."""
    if slip == 10:
        return _build_old_letter(position)
    if slip == 12:
        return _build_lifted(position)
    build = Builder(position)
    if not build.draw_clear(PREFACE_TURNS):
        return None
    note = SLIPS[slip](build)
    if note is None or not build.draw_clear(FOLLOWING_TURNS):
        return None
    return Script(position.game, tuple(build.steps), note)
