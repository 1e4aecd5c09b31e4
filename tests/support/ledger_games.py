"""Random games that a `LedgerWriter` records, with everything that may be recorded wrongly or not at all."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from engine.events import (
    Act,
    BlankNamed,
    BlankTaken,
    Challenged,
    Edit,
    Exchanged,
    GameEnded,
    GameStarted,
    Passed,
    PlayerTurn,
    PlayMade,
    PlayWithdrawn,
    PointsGiven,
    PointsReason,
    PositionEntered,
    RackRevealed,
    Ref,
    ScoreCorrected,
    SquareCorrected,
    TileRecycled,
    TurnCorrected,
    TurnGiven,
)
from engine.ledger import Alternative, Step
from engine.plays import Play
from engine.rules import ChallengeRule, Rules
from engine.scoring import check_placement
from engine.tiles import Tile
from tests.support.ledger_writer import Command, Correction, LedgerWriter
from tests.support.play_at_random import random_game, random_play

NAMES = ("Anna", "Ben", "Cleo", "Dan")
PASS_OR_SLIP: tuple[Alternative, ...] = ((Passed(None),), ())
POINTS_RULES = Rules(challenge=ChallengeRule.POINTS, challenge_points=5)
ALL_RULES = (
    Rules(challenge=ChallengeRule.SINGLE),
    Rules(challenge=ChallengeRule.DOUBLE),
    POINTS_RULES,
    replace(POINTS_RULES, challenge_each_word=True),
    replace(POINTS_RULES, challenger_pays=True),
    Rules(challenge=ChallengeRule.VOID),
    Rules(challenge=ChallengeRule.VOID),
    Rules(recycle=True, retake_blanks=True),
)


class GameWriter(LedgerWriter):
    """A random game of some commands."""

    def __init__(self, seed: int, commands: int = 8) -> None:
        rng = random.Random(seed)
        rules = rng.choice(ALL_RULES)
        names = NAMES[: rng.randint(2, 4)]
        setup = GameStarted(names, rules, first=rng.randrange(len(names)))
        own_button_chance = rng.choice((0.0, 0.0, 0.5, 1.0))
        super().__init__(rng, setup, own_button_chance, has_clock=rng.random() < 0.2)
        self.misread_square: int | None = None
        kinds = list(self.list_kinds())
        if self.rng.random() < 0.1:
            self.play_once([self.do_position])
        for _ in range(commands):
            self.play_once(kinds)
        if self.rng.random() < 0.2:
            self.end_game()

    def list_kinds(self) -> Iterator[Callable[[], Command | None]]:
        yield from (self.do_play, self.do_letter, self.do_letter, self.do_silent_letter, self.do_blank)
        yield from (self.do_pieces, self.do_longer, self.do_pass, self.do_exchange, self.do_wrong_kind)
        yield from (self.do_forgotten_pass, self.do_forgotten_turn, self.do_forgotten_play, self.do_mistaken_pass)
        yield from (self.do_mistaken_play, self.do_points, self.do_nothing)
        yield from (self.do_challenge, self.do_challenge, self.do_challenge, self.do_withdrawal)
        if self.setup.rules.recycle:
            yield from (self.do_swap, self.do_swap, self.do_swap, self.do_blank, self.do_blank)
        if self.own_button_chance < 1:
            yield from (
                self.do_later_pass,
                self.do_later_pass,
                self.do_earlier_pass,
                self.do_order,
                self.do_other_player,
            )
        if self.own_button_chance:
            yield from (self.do_skip, self.do_skip)

    def play_once(self, kinds: Sequence[Callable[[], Command | None]]) -> None:
        """Do one thing, and then perhaps tell, undo or redo something."""
        kind = self.rng.choice(kinds)
        count = len(self.games)
        command = kind()
        if command is None:
            del self.games[count:]
            return
        self.log.append(kind.__name__)
        self.add_score(command)
        self.commands.append(command)
        self.undone.clear()
        while self.rng.random() < 0.4:
            self.tell_something()
        if self.rng.random() < 0.1:
            self.try_out()
        while self.commands and self.rng.random() < 0.12:
            self.undo_command()
        while self.undone and self.rng.random() < 0.6:
            self.redo_command()
        self.undone.clear()

    def find_play(self, longest: int = 7) -> Play | None:
        play = random_play(self.game, self.rng, longest)
        if play and self.game.unseen["?"] and self.rng.random() < 0.2:
            square, tile = self.rng.choice(play.tiles)
            play = play.with_tile(square, Tile(tile.letter, is_blank=True))
            if self.game.check_play(play):
                return None
        return play

    # Kinds of commands

    def do_play(self) -> Command | None:
        if (play := self.find_play()) is None:
            return None
        deeds, seat = self.do(PlayMade(None, play))
        return self.write([(PlayMade(None, play),)], Command(deeds, seat))

    def do_skip(self) -> Command | None:
        """A player with an own button ends a turn; the players before have passed without pressing."""
        play = self.find_play()
        acts: list[PlayerTurn] = [Passed(None), Exchanged(None, 2)]
        acts += [PlayMade(None, play)] if play else []
        act = self.rng.choice(acts)
        before, count = self.game, self.rng.randint(1, len(self.setup.players) - 1)
        deeds, seat = self.do(act, skipped=count)
        if seat in {turn.player for turn in self.game.turns[len(before.turns) :][:count]}:
            return None  # one player has lost a turn, so that all others have passed
        return self.write([(act,)], Command(deeds, seat))

    def spoil(self, play: Play, kept: int | None = None) -> tuple[Play, int]:
        """Return a play with another tile on one of its squares, but for the square `kept`."""
        square, tile = self.rng.choice([placed for placed in play.tiles if placed[0] != kept])
        letters = [letter for letter in "AEIOSTX" if letter != tile.letter]
        others = [Tile(self.rng.choice(letters), is_blank=tile.is_blank), Tile.unnamed()]
        others.append(Tile(tile.letter, is_blank=not tile.is_blank))
        return play.with_tile(square, self.rng.choice(others)), square

    def do_letter(self) -> Command | None:
        """A letter is in doubt; sometimes another one was misread, too."""
        if (play := self.find_play()) is None:
            return None
        deeds, seat = self.do(PlayMade(None, play))
        command, recorded, misread = Command(deeds, seat), play, None
        if len(play.tiles) > 1 and self.rng.random() < 0.3:
            recorded, misread = self.spoil(play)
            command.corrections.append(self.correct_square(deeds[0].key, misread))
        wrong = [self.spoil(recorded, misread)[0] for _ in range(self.rng.randint(1, 2))]
        return self.write([(PlayMade(None, one),) for one in (recorded, *wrong)], command, right=0)

    def do_silent_letter(self) -> Command | None:
        if (play := self.find_play()) is None:
            return None
        deeds, seat = self.do(PlayMade(None, play))
        wrong, square = self.spoil(play)
        command = Command(deeds, seat, corrections=[self.correct_square(deeds[0].key, square)])
        return self.write([(PlayMade(None, wrong),)], command)

    def do_blank(self) -> Command | None:
        """A blank is named in the same entry, or by an answer."""
        play = self.find_play()
        if play is None or not self.game.unseen["?"]:
            return None
        square, tile = self.rng.choice(play.tiles)
        play = play.with_tile(square, Tile(tile.letter, is_blank=True))
        if self.game.check_play(play):
            return None
        deeds, seat = self.do(PlayMade(None, play))
        unnamed = PlayMade(None, play.with_tile(square, Tile.unnamed()))
        other = self.rng.choice([letter for letter in "AEIOSTX" if letter != tile.letter])
        alternatives: list[Sequence[Step]] = []
        alternatives += [(unnamed, BlankNamed(square, letter)) for letter in (tile.letter, other)]
        if self.words is not None:
            alternatives = [
                (PlayMade(None, play.with_tile(square, Tile(x, is_blank=True))),) for x in (tile.letter, other)
            ]
        return self.write(alternatives, Command(deeds, seat), right=0)

    def do_pieces(self) -> Command | None:
        """It is in doubt whether one press has ended one play, or two."""
        if (first := self.find_play()) is None:
            return None
        if len(first.tiles) > 1 and self.rng.random() < 0.5:
            cut = self.rng.randint(1, len(first.tiles) - 1)
            pieces = Play(first.tiles[:cut]), Play(first.tiles[cut:])
            deeds, seat = self.do(PlayMade(None, first))
            whole, right = first, 0
        else:
            before = self.game
            one, _ = self.do(PlayMade(None, first))
            second = self.find_play()
            if second is None or not {*second.squares}.isdisjoint(first.squares):
                return None
            two, seat = self.do(PlayMade(None, second))
            self.games[-2:] = [self.game]
            assert self.games[-2] is before
            deeds, pieces, right = (*one, *two), (first, second), 1
            whole = Play.from_tiles({**dict(first.tiles), **dict(second.tiles)})
        alternatives = [(PlayMade(None, whole),), tuple(PlayMade(None, piece) for piece in pieces)]
        return self.write(alternatives, Command(deeds, seat), right=right)

    def do_order(self) -> Command | None:
        """The order of two plays is in doubt."""
        if (first := self.find_play()) is None:
            return None
        one, _ = self.do(PlayMade(None, first))
        second = self.find_play()
        if second is None or not {*second.squares}.isdisjoint(first.squares):
            return None
        two, seat = self.do(PlayMade(None, second), is_shared=True)
        self.games[-2:] = [self.game]
        plays = PlayMade(None, first), PlayMade(None, second)
        return self.write([plays, plays[::-1]], Command((*one, *two), seat), right=0)

    def do_longer(self) -> Command | None:
        """It is in doubt whether one more tile is a play, or belongs to the play before."""
        last = self.game.last_turn
        if self.words is not None or last is None or last.play is None or not self.commands:
            return None
        if not self.commands[-1].deeds:
            return None
        deed = self.commands[-1].deeds[-1]
        if self.game_refs[deed.key] != last.ref or not isinstance(self.find_asked_act(deed.key), PlayMade):
            return None
        before, game, ref = self.game.state.board_before(last), self.game, self.asked_refs[deed.key]
        word = last.words[0].squares
        ends = [word[0] - word.step, word[-1] + word.step]
        squares = [end for end in ends if 0 <= end < len(game.board.squares)]
        if not squares:
            return None
        square = self.rng.choice(squares)
        tile = Tile(self.rng.choice([face for face in game.unseen if face != "?"]))
        tile_play, longer = Play.from_tiles({square: tile}), last.play.with_tile(square, tile)
        is_wrong = game.check_play(tile_play) or check_placement(before, longer, game.layout, game.rules)
        if is_wrong or len(longer.tiles) > 7 or self.asked.game.board[square] is not None:
            return None
        alternatives: list[Sequence[Step]] = [(PlayMade(None, tile_play),), (SquareCorrected(square, tile, ref),)]
        if self.rng.random() < 0.5:
            deeds, seat = self.do(PlayMade(None, tile_play))
            return self.write(alternatives, Command(deeds, seat), right=0)
        self.push_game(game.push(SquareCorrected(square, tile, last.ref)))
        seat = self.choose_seat(self.game.to_move)
        act = self.find_deed(deed.key).act
        assert isinstance(act, PlayMade)
        changes = {deed.key: replace(act, play=longer)}
        return self.write(alternatives, Command((), seat, changes), right=1)

    def do_pass(self) -> Command | None:
        deeds, seat = self.do(Passed(None))
        return self.write([(Passed(None),)], Command(deeds, seat))

    def do_exchange(self) -> Command | None:
        deeds, seat = self.do(Exchanged(None, self.rng.randint(1, 3)))
        return self.write([(deeds[0].act,)], Command(deeds, seat))

    def do_nothing(self) -> Command | None:
        """A press without tiles: it is in doubt whether this was a pass, or a slip."""
        if self.rng.random() < 0.5:
            deeds, seat = self.do(Passed(None))
            return self.write(PASS_OR_SLIP, Command(deeds, seat), right=0)
        self.push_game(self.game)
        seat = self.choose_seat(self.game.to_move)
        return self.write(PASS_OR_SLIP, Command((), seat), right=1)

    def do_wrong_kind(self) -> Command | None:
        """A turn of another kind was recorded."""
        play = self.find_play()
        acts: list[PlayerTurn] = [Passed(None), Exchanged(None, 2)]
        if play is not None:
            acts.append(PlayMade(None, play))
        right, wrong = self.rng.sample(acts, 2)
        deeds, seat = self.do(right)
        return self.write([(wrong,)], Command(deeds, seat, corrections=[self.correct_turn(deeds[0].key)]))

    def do_later_pass(self) -> Command | None:
        """It is in doubt whether the next player has passed after a play."""
        if (play := self.find_play()) is None:
            return None
        acts: list[Sequence[Act]] = [(PlayMade(None, play),), (PlayMade(None, play), Passed(None))]
        right = self.rng.randrange(2)
        deeds, seat = self.do(*acts[right], is_shared=True)
        return self.write(acts, Command(deeds, seat), right=right)

    def do_earlier_pass(self) -> Command | None:
        """It is in doubt who made a play, because players may have passed before."""
        if (play := self.find_play()) is None:
            return None
        acts: list[Sequence[Act]] = []
        acts += [(*[Passed(None)] * count, PlayMade(None, play)) for count in range(len(self.setup.players))]
        right = self.rng.randrange(len(acts))
        deeds, seat = self.do(*acts[right], is_shared=True)
        return self.write(acts, Command(deeds, seat), right=right)

    def do_other_player(self) -> Command | None:
        """A player plays who is not due."""
        if (play := self.find_play()) is None:
            return None
        player = self.rng.randrange(len(self.setup.players))
        deeds, seat = self.do(PlayMade(player, play), is_shared=True)
        command = Command(deeds, seat)
        if self.rng.random() < 0.5:
            return self.write([(PlayMade(player, play),), (PlayMade(None, play),)], command, right=0)
        key = deeds[0].key

        def write() -> Sequence[Edit] | None:
            if self.find_asked_act(key) is None:
                return None
            act = self.find_deed(key).act
            return ((TurnGiven(self.asked_refs[key], player), TurnCorrected(self.asked_refs[key], act))[key % 2],)

        command.corrections.append(Correction("player", key, write))
        return self.write([(PlayMade(None, play),)], command)

    def do_forgotten_pass(self) -> Command | None:
        return self.forget(Passed(None))

    def do_forgotten_turn(self) -> Command | None:
        return self.forget(Exchanged(None, 2))

    def do_forgotten_play(self) -> Command | None:
        play = self.find_play()
        return None if play is None else self.forget(PlayMade(None, play))

    def forget(self, act: Act) -> Command:
        deeds, seat = self.do(act)
        return Command(deeds, seat, corrections=[self.insert(deeds[0].key)])

    def do_mistaken_pass(self) -> Command | None:
        """The button was pressed once too often."""
        self.push_game(self.game)
        command = Command((), self.choose_seat(self.rng.randrange(len(self.setup.players))))
        command.corrections.append(self.remove(command))
        return self.write([(Passed(None),)], command)

    def do_mistaken_play(self) -> Command | None:
        """A play was recorded that nobody has made."""
        if (play := self.find_play(2)) is None:
            return None
        self.push_game(self.game)
        command = Command((), self.choose_seat(self.rng.randrange(len(self.setup.players))))
        command.corrections.append(self.remove(command))
        return self.write([(PlayMade(None, play),)], command)

    def do_points(self) -> Command | None:
        player = self.rng.randrange(len(self.setup.players))
        act = PointsGiven(player, self.rng.randint(-20, 20), self.rng.choice([*PointsReason]))
        if self.rng.random() < 0.5:
            return self.forget(act)
        deeds, _ = self.do(act)
        return self.write([(act,)], Command(deeds))

    def find_last_play(self) -> tuple[int, int] | None:
        """Return the key and the player of the last play, if it is the last turn and the table has recorded it."""
        turn = self.game.challengeable_turn
        keys = [deed.key for command in self.commands for deed in command.deeds]
        if turn is None or not keys or self.game_refs[keys[-1]] != turn.ref or not self.is_there(keys[-1]):
            return None
        return keys[-1], turn.player

    def do_challenge(self) -> Command | None:
        if (found := self.find_last_play()) is None:
            return None
        key, owner = found
        others = [player for player in range(len(self.setup.players)) if player != owner]
        by = self.rng.choice([None, *others])
        act = Challenged(by, self.rng.random() < 0.5, of=Ref(0, key))
        deeds, _ = self.do(act)
        command = Command(deeds)
        asked = self.resolve(act, self.asked_refs)
        assert isinstance(asked, Challenged)
        moves_turns = not act.upheld and self.setup.rules.challenge is ChallengeRule.DOUBLE
        chance = self.rng.random()
        if chance < 0.3 and not moves_turns:
            command.corrections.append(self.insert(deeds[0].key))
            return command
        wrong = replace(asked, by=self.rng.choice(others), upheld=self.rng.random() < 0.5)
        if chance < 0.6:
            return self.write([(asked,), (wrong,)], command, right=0)
        if chance < 0.7:
            command.corrections.append(self.correct_turn(deeds[0].key))
            return self.write([(wrong,)], command)
        if chance < 0.8:
            self.games.pop()
            self.push_game(self.game)
            command = Command()
            command.corrections.append(self.remove(command))
        return self.write([(asked,)], command)

    def do_withdrawal(self) -> Command | None:
        if (found := self.find_last_play()) is None:
            return None
        act = PlayWithdrawn(None, Ref(0, found[0]))
        if self.rng.random() < 0.5:
            return self.forget(act)
        deeds, _ = self.do(act)
        return self.write([(self.resolve(act, self.asked_refs),)], Command(deeds))

    def do_swap(self) -> Command | None:
        """A player exchanges a tile of the board for one of the rack before a play, or it was misread."""
        squares = [square for square, tile in enumerate(self.game.board.squares) if tile]
        if not squares:
            return None
        square = self.rng.choice(squares)
        if square == self.misread_square:
            return None  # its tile could not be corrected any more
        tile = self.game.board.tile(square)
        letter = self.rng.choice([face for face in self.game.unseen if face not in ("?", tile.face)])
        swap: Act = BlankTaken(None, square) if tile.is_blank else TileRecycled(None, square, Tile(letter))
        if self.rng.random() < 0.4:
            return self.forget(swap)
        self.do(swap)
        play = self.find_play()
        if play is None or self.game.check_play(play):
            return None
        self.games.pop()
        alternatives = [(PlayMade(None, play),), (swap, PlayMade(None, play))]
        right = self.rng.randrange(2)
        if self.game.check_play(play):
            right = 1
        deeds, seat = self.do(*alternatives[right])
        return self.write(alternatives, Command(deeds, seat), right=right)

    def do_position(self) -> Command | None:
        """Start from a position, of which a letter or a total may be wrong at first."""
        rng, names = self.rng, self.setup.players
        tiles = random_game(rng, 3, self.game).board
        board = tuple((square, tile) for square, tile in enumerate(tiles.squares) if tile)
        act = PositionEntered(board, tuple(rng.randint(0, 90) for _ in names), rng.randrange(len(names)))
        deeds, _ = self.do(act)
        (square, tile), player = rng.choice(board), rng.randrange(len(names))
        self.misread_square = square
        letter = rng.choice([face for face in self.game.unseen if face not in ("?", tile.face)])
        wrong = tuple((at, Tile(letter) if at == square else old) for at, old in board)
        wrong_act = replace(act, board=wrong, totals=tuple(total + (n == player) for n, total in enumerate(act.totals)))
        command = Command(deeds)
        key = deeds[0].key
        command.corrections += [
            Correction("position", key, lambda: (SquareCorrected(square, tile, self.asked_refs[key], told=True),)),
            Correction("position", key, lambda: (ScoreCorrected(self.asked_refs[key], act.totals[player], player),)),
        ]
        return self.write([(wrong_act,)], command)

    def end_game(self) -> None:
        acts: list[Act] = [GameEnded()]
        if self.rng.random() < 0.5:
            acts.append(RackRevealed(0, ("A", "E")))
        deeds, _ = self.do(*acts)
        if command := self.write([acts], Command(deeds)):
            self.commands.append(command)
