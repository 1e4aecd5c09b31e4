"""A night at the table: whole games of two, three and four players, through the camera and the real buttons.

    python -m tests.system.simulate_evenings --games 20
    python -m tests.system.simulate_evenings --photos DIR

The table is rendered, the networks read it, gpiozero's mock pins are pressed, the real panel, session and store do the
rest. In each game there are a challenge upheld (a phony) and one in vain, an exchange, a pass, blanks, one forgotten
button, a bump of the camera, and the board is turned once; a hand is in one of five pictures. Players do what players
do: they name blanks, answer what they are asked, and put right what they see to be wrong; all of that is listed. A
question is needless if the turn would have been recorded right without it.
With --photos, sequences of photographs with their truth are played through the folder camera and the same buttons.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from gpiozero.pins.mock import MockFactory, MockPWMPin

from device.cameras.base import Camera
from device.cameras.folder import FolderCamera
from device.cli.options import make_profiled_reader
from device.panel.buttons import DOUBLE_PRESS_S, END_TURN_BUTTONS, Button, Pins
from device.panel.gpio import GpioHardware
from device.panel.panel import CHALLENGE_LOCKOUT_S, OTHER_SIDE_DELAY_S, Panel, PanelActions
from device.session.commands.answers import AnswerQuestion
from device.session.commands.corrections import CorrectSquare, NameBlank, RevealRack
from device.session.commands.games import EndGame, StartGame
from device.session.commands.turns import ExchangeTiles
from device.session.messages import PASS_KEYS, WHO_CHALLENGED
from device.session.snapshot import Phase, TableSnapshot
from device.session.table_session import TableSession
from device.storage.lexicons import open_lexicon
from device.storage.store import GameStore
from engine.board import SQUARES, Board, Square, square_name
from engine.descriptions import describe_turn
from engine.events import Challenged, Event, Exchanged, GameEnded, GameStarted, Passed, PlayMade, RackRevealed
from engine.game import Game
from engine.inference.evidence import face_of
from engine.lexicon import Lexicon
from engine.reading import BLANK, EMPTY
from engine.tiles import load_tile_set
from tests.system.night_table import NightCamera, NightPlay, NightTable
from vision.rendering.simulated_table import EDITIONS

NAMES = ("Anna", "Ben", "Carl", "Dora")
REST_S = 3.6
"""Time for which the play of a forgotten press is alone on the board."""
PATIENCE_S = 60.0
BEGIN_S = 5.0
"""Time in which a command begins after a press on a busy machine; after it, the press counts as refused."""
LATE = "not-read-in-time"
"""Key of the question if a turn takes too long."""
EXPECTED_QUESTIONS = ("asked-blank-unnamed", *PASS_KEYS, WHO_CHALLENGED)
"""Keys of the questions that no reading of the board answers."""


@dataclass
class GameResult:
    """The result of a game, and everything that players had to answer or correct."""

    players: int
    turns: int = 0
    right: bool = False
    totals: tuple[int, ...] = ()
    truth: tuple[int, ...] = ()
    hands: int = 0
    stills: int = 0
    forgotten: int = 0
    blanks: int = 0
    asked: list[str] = field(default_factory=list)
    waits: int = 0
    needed: Counter[str] = field(default_factory=Counter)
    needless: Counter[str] = field(default_factory=Counter)
    by_hand: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)


class Hand:
    """Fingers on the buttons of a real panel."""

    def __init__(self, factory: MockFactory, pins: Pins, session: TableSession) -> None:
        self._factory, self._pins, self._session = factory, pins, session
        self._pressed = dict.fromkeys(Button, 0.0)

    def press(self, button: Button) -> TableSnapshot:
        """Press and wait for what comes of it; a refused press changes nothing."""
        time.sleep(max(0.0, self._pressed[button] + DOUBLE_PRESS_S + 0.1 - time.monotonic()))
        self._pressed[button] = time.monotonic()
        before, turn_of = self._session.state.revision, self._session.state.turn_of
        pin = self._factory.pin(self._pins.buttons[button])
        pin.drive_low()
        time.sleep(0.02)
        pin.drive_high()
        if turn_of is not None and button in END_TURN_BUTTONS and button is not END_TURN_BUTTONS[turn_of]:
            time.sleep(OTHER_SIDE_DELAY_S + 0.2)
        end = time.monotonic() + BEGIN_S
        while self._session.state.revision == before and time.monotonic() < end:
            time.sleep(0.005)
        self._session.ping().result(PATIENCE_S)
        end = time.monotonic() + PATIENCE_S
        while self._session.state.phase is Phase.LOOKING and time.monotonic() < end:
            time.sleep(0.005)
        self._session.ping().result(PATIENCE_S)
        return self._session.state


class Players:
    """The players at the table, who know what was really played."""

    def __init__(self, session: TableSession, hand: Hand, result: GameResult) -> None:
        self._session, self._hand, self._result = session, hand, result

    def end_turn(self, player: int, truth: Game) -> None:
        """Press the player's button; then see to it that the table knows what was played."""
        before = len(self._session.state.turns)
        for _ in range(3):
            self._hand.press(END_TURN_BUTTONS[player])
            self._wait_for_reading()
            state = self._session.state
            if len(state.turns) > before or state.question:
                break
            self._result.asked.append("press again: " + "; ".join(notice.text for notice in state.notices))
        self.put_right(truth)

    def challenge(self) -> None:
        """Press the challenge button, and press it again if that was too soon after an answer.

        An open question is answered first: the button would choose its next answer.
        """
        if question := self._session.state.question:
            self._session.submit(AnswerQuestion(question.chosen)).result(PATIENCE_S)
        before, end = self._session.state, time.monotonic() + CHALLENGE_LOCKOUT_S + BEGIN_S
        self._hand.press(Button.CHALLENGE)
        while (state := self._session.state).moment == before.moment and state.question is None:
            if time.monotonic() > end:
                self._hand.press(Button.CHALLENGE)
                break
            time.sleep(0.05)

    def put_right(self, truth: Game) -> None:
        """Answer what is asked, name blanks, put squares and turns right; `truth` is the game so far."""
        self._session.ping().result(PATIENCE_S)  # a busy machine may still be running the command of a press
        state = self._session.state
        if question := state.question:
            self._result.asked.append(f"{question.text} [{question.answers[question.chosen]}]")
            meant = max(range(len(question.answers)), key=lambda number: _likeness(question.answers[number], truth))
            (self._result.needed if self._wrong(truth) else self._result.needless)[question.key] += 1
            if self._wrong(truth) and meant != question.chosen:
                self._session.submit(AnswerQuestion(meant)).result(PATIENCE_S)
                self._result.asked[-1] += f" -> {question.answers[meant]}"
        if self._session.state.notices:
            self._result.said += [notice.text for notice in self._session.state.notices]
        for square in self._misread(truth.board):
            tile = truth.board[square]
            symbol = EMPTY if tile is None else tile.face
            self._result.by_hand.append(f"{square_name(square)} is {symbol}")
            self._session.submit(CorrectSquare(square_name(square), symbol)).result(PATIENCE_S)
        for square in SQUARES:
            tile, shown = truth.board[square], self._session.state.board.tiles[square]
            if tile is not None and tile.is_blank and shown and shown.blank and shown.letter != tile.letter:
                self._result.blanks += 1
                self._session.submit(NameBlank(square_name(square), tile.letter)).result(PATIENCE_S)

    def _wait_for_reading(self) -> None:
        """Keep waiting for a turn that a busy machine has not read in time."""
        end = time.monotonic() + PATIENCE_S
        while (question := self._session.state.question) and question.key == LATE and time.monotonic() < end:
            self._result.waits += 1
            self._session.submit(AnswerQuestion(question.chosen)).result(PATIENCE_S)

    def _wrong(self, truth: Game) -> bool:
        state = self._session.state
        totals = tuple(player.total for player in state.players)
        return bool(self._misread(truth.board)) or len(state.turns) != len(truth.turns) or totals != truth.totals

    def _misread(self, truth: Board) -> list[Square]:
        shown = self._session.state.board.tiles
        seen = (EMPTY if tile is None else BLANK if tile.blank else tile.letter for tile in shown)
        return [square for square, face in zip(SQUARES, seen, strict=True) if face != face_of(truth[square])]


def _likeness(answer: str, truth: Game) -> int:
    """Return the number of the last turns that an answer describes correctly: players read before they answer."""
    return sum(describe_turn(truth, turn) in answer for turn in truth.turns[-2:])


@contextmanager
def at_the_table(camera: Camera, folder: Path, words: Lexicon | None) -> Iterator[tuple[TableSession, Hand]]:
    """Session, store and panel on mock pins over a camera, as `tilekeeper run` puts them together."""
    factory = MockFactory(pin_class=MockPWMPin)
    pins = Pins()
    reader, knowledge = make_profiled_reader(folder)
    with (
        GameStore(folder / "games.db") as store,
        TableSession(camera, reader, store, words, profile=knowledge) as session,
        Panel(session, PanelActions(), lambda edge: GpioHardware(pins, factory, edge)),
    ):
        yield session, Hand(factory, pins, session)
    factory.reset()


def play_game(seed: int, folder: Path) -> GameResult:
    """One game of 2 to 4 players, played to its end."""
    words = open_lexicon(None, "en")
    assert words is not None, "the English word list is part of this program"
    chance = random.Random(seed)
    names = NAMES[: 2 + seed % 3]
    truth = NightPlay(names, words, seed).run()
    edition = chance.choice(sorted(EDITIONS))
    camera = NightCamera(NightTable(seed, edition, load_tile_set("en").values), seed)
    result = GameResult(len(names), truth=truth.totals)
    with at_the_table(camera, folder, words) as (session, hand):
        session.submit(StartGame(GameStarted(names, lexicon=words.name))).result(PATIENCE_S)
        _play(truth, camera, session, hand, result, chance)
        result.totals = tuple(player.total for player in session.state.players)
        result.turns, result.hands, result.stills = len(session.state.turns), camera.hands, camera.stills
        result.right = result.totals == result.truth and session.state.phase is Phase.ENDED
    return result


def _play(
    truth: Game,
    camera: NightCamera,
    session: TableSession,
    hand: Hand,
    result: GameResult,
    chance: random.Random,
) -> None:
    players, events = Players(session, hand, result), truth.events
    plays = [at for at, event in enumerate(events) if isinstance(event, PlayMade)]
    bump, turn = chance.sample(plays[2:-2], 2)
    forgettable = [
        at for at in plays[2:] if at + 1 in plays and not _challenged(events, at + 1) and at not in (bump, turn)
    ]
    forgotten = chance.choice(forgettable) if forgettable else -1
    game = Game.begin(truth.start_event)
    for at, event in enumerate(events):
        before, game = game, game.push(event)
        if at == bump:
            camera.move(tilt=chance.uniform(-4, 4), turn=chance.uniform(-6, 6), across=chance.uniform(-0.03, 0.03))
        if at == turn:
            camera.move(turn=180.0)
        match event:
            case PlayMade():
                camera.lay(game.board)
                if at == forgotten:
                    result.forgotten += 1
                    time.sleep(REST_S)
                else:
                    players.end_turn(before.find_player(event), game)
            case Challenged(_, upheld):
                players.challenge()
                if upheld:
                    camera.lay(game.board)
                players.put_right(game)
            case Exchanged(_, count):
                session.submit(ExchangeTiles(count)).result(PATIENCE_S)
            case Passed():
                players.end_turn(before.find_player(event), game)
            case GameEnded():
                session.submit(EndGame()).result(PATIENCE_S)
                _tell_racks(session, events)


def _challenged(events: Sequence[Event], at: int) -> bool:
    return any(isinstance(event, Challenged) for event in events[at : at + 2])


def _tell_racks(session: TableSession, events: Sequence[Event]) -> None:
    held = {event.player: event.tiles for event in events if isinstance(event, RackRevealed)}
    for player in session.state.racks_wanted:
        session.submit(RevealRack(player, "".join(held.get(player, ())))).result(PATIENCE_S)


# The photographs


def play_photos(folder: Path, data: Path) -> Iterator[tuple[str, GameResult]]:
    """Each sequence of photographs with known turns, through the folder camera and the buttons."""
    for manifest in sorted(folder.glob("*/manifest.json")):
        records = json.loads(manifest.read_text(encoding="utf-8"))
        games = sorted({str(one["game"]) for one in records if one.get("game") and one.get("turn")})
        for name in games:
            shown = (one for one in records if str(one.get("game")) == name and one.get("index") is not None)
            ordered = sorted(shown, key=lambda one: one["index"])
            if len(ordered) > 1 and not any("?" in row for row in ordered[0]["board"]):
                yield f"{manifest.parent.name} {name}", _photo_game(ordered, manifest.parent, data)


def _photo_game(records: list[dict[str, object]], photos: Path, data: Path) -> GameResult:
    """The turns of one sequence; what the record scores is the truth."""
    with tempfile.TemporaryDirectory(dir=data) as made:
        table, store = Path(made) / "table", Path(made) / "data"
        table.mkdir()
        store.mkdir()
        result = GameResult(2)
        scores: list[int] = []
        with at_the_table(FolderCamera.from_folder(table), store, None) as (session, hand):
            started = GameStarted(NAMES[:2], tile_set=str(records[0]["language"]))
            session.submit(StartGame(started)).result(PATIENCE_S)
            for number, record in enumerate(records):
                photo = photos / str(record["photo"])
                shutil.copy(photo, table / f"{number:03}{photo.suffix}")
                turn_of = session.state.turn_of or 0
                state = hand.press(END_TURN_BUTTONS[turn_of])
                if state.question:
                    result.asked.append(f"{record['id']}: {state.question.text}")
                turn = record.get("turn")
                if isinstance(turn, dict) and turn["score"]:  # passes are no plays
                    scores.append(int(turn["score"]))
            result.totals = tuple(turn.score for turn in session.state.turns if turn.kind == "play" and turn.stands)
            result.turns, result.truth = len(session.state.turns), tuple(scores)
            result.right = result.totals == result.truth
    return result


def report(name: str, result: GameResult) -> str:
    """Return the line that is printed for a game."""
    expected = "" if result.right else f" instead of {' '.join(map(str, result.truth))}"
    lines = [
        f"{name}: {result.players} players, {result.turns} turns, {'right' if result.right else 'WRONG'}: "
        f"{' '.join(map(str, result.totals))}{expected}; "
        f"hands in {result.hands} of {result.stills} pictures, {result.forgotten} forgotten, "
        f"{result.blanks} blanks named, {result.waits} turns late, "
        f"{len(result.asked)} asked, {len(result.by_hand)} squares put right"
    ]
    lines += [f"    asked: {text}" for text in result.asked] + [f"    put right: {text}" for text in result.by_hand]
    lines += [f"    said: {text}" for text in result.said]
    return "\n".join(lines)


def report_questions(results: Sequence[GameResult]) -> str:
    """Return a table of the questions of all games, by kind."""
    needed = sum((result.needed for result in results), Counter[str]())
    needless = sum((result.needless for result in results), Counter[str]())
    rows = [f"| {key} | {needed[key]} | {needless[key]} |" for key in sorted({*needed, *needless})]
    besides = sum(count for key, count in (*needed.items(), *needless.items()) if key not in EXPECTED_QUESTIONS)
    summary = f"{besides} questions besides {', '.join(EXPECTED_QUESTIONS)}"
    return "\n".join(["| question | needed | needless |", "| --- | ---: | ---: |", *rows, "", summary])


def main(words: list[str]) -> int:
    """Play the night and print what came of it; 1 where a total was wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--photos", type=Path)
    args = parser.parse_args(words)
    results: list[GameResult] = []
    make: Callable[[int, Path], GameResult] = play_game
    with tempfile.TemporaryDirectory() as made:
        if args.photos:
            for name, result in play_photos(args.photos, Path(made)):
                results.append(result)
                print(report(name, result), flush=True)
        else:
            for seed in range(args.seed, args.seed + args.games):
                folder = Path(made) / str(seed)
                folder.mkdir()
                results.append(make(seed, folder))
                print(report(f"game {seed}", results[-1]), flush=True)
    print(report_questions(results))
    tables = Counter(result.players for result in results)
    print(
        f"{sum(result.right for result in results)} of {len(results)} games right at the end "
        f"({', '.join(f'{count} of {players} players' for players, count in sorted(tables.items()))}), "
        f"{sum(result.turns for result in results)} turns, {sum(len(result.asked) for result in results)} questions, "
        f"{sum(len(result.by_hand) for result in results)} squares put right by hand"
    )
    return 0 if all(result.right for result in results) else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
