"""Play whole evenings with slips at ordinary rates, or without any.

    python -m tests.system.slips evenings --games 200 --turns 30 --camera rests
    python -m tests.system.slips evenings --games 24 --clean --silent

Players answer all questions with the truth, or nothing at all (`--silent`). A question is needless if the game would
have been right without it. Turns without a slip are counted apart if a new letter was read with less than 0.95. An
evening with a forgotten press whose line the next player continues is excused for a table that takes one picture a
press, which cannot show it.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import product
from multiprocessing import Pool
from pathlib import Path
from random import Random

from device.session.messages import PASS_KEYS
from engine.events import Exchanged, Passed
from engine.game import Game
from engine.plays import Play
from engine.rules import Rules
from engine.scoring import Status
from engine.state import can_exchange
from tests.system.slips_positions import NAMES, Position, find_plays, find_session_words, find_words
from tests.system.slips_scripts import (
    Builder,
    Step,
    complete_and_press,
    exchange_letter,
    lay_early_letter,
    press_too_early,
    put_elsewhere,
    take_back,
    take_back_and_press,
    write,
)
from tests.system.slips_table import SlipTable, agrees, open_slip_table

MIN_CLEAR = 0.95
"""Confidence of a letter from which a question about its turn is needless."""
MIN_TILES_LEFT = 14
"""Tiles that nobody has played when an evening stops, before the end of the game."""
MOST_TILES = 4


# The slips of an evening: each returns a note, or None if it was not possible


def _play_clear(build: Builder) -> str | None:
    play = build.position.draw_play(build.game)
    if play is None:
        return None
    note = write(build.game, play)
    build.play_clear(play)
    return note


def _exchange(build: Builder) -> str | None:
    player, count = build.game.to_move, build.chance.randint(1, 5)
    if not can_exchange(build.game.state, count, player):
        return None
    build.think()
    build.game = build.game.push(Exchanged(player, count))
    build.lay(build.game.board, build.rest(), player=player, exchanged=count)
    return f"{count} tiles exchanged"


def _pass(build: Builder) -> str | None:
    player = build.game.to_move
    build.think()
    build.game = build.game.push(Passed(player))
    build.lay(build.game.board, build.rest(), player=player)
    return "pass"


def _forget_press(build: Builder) -> str | None:
    before = build.game
    first = build.position.draw_play(build.game)
    if first is None:
        return None
    build.think()
    build.push(first)
    build.lay(build.game.board, build.rest(3.0, 12.0))
    second = build.position.draw_play(build.game)
    if second is None:
        return None
    note = f"forgotten press after {write(before, first)}, then {write(build.game, second)}"
    build.play_key(second)
    is_one_play = before.check_play(Play.from_tiles({**dict(first.tiles), **dict(second.tiles)})) == Status.VALID
    return note + (" (one line)" if is_one_play else "")


def _press_wrong_button(build: Builder) -> str | None:
    play = build.position.draw_play(build.game)
    if play is None:
        return None
    build.think()
    note = f"{write(build.game, play)} ended with another button"
    player = build.push(play)
    other = (player + 1) % len(build.game.players)
    build.lay(build.game.board, build.rest(), player=other, is_slip=True, is_key=True)
    return note


@dataclass(frozen=True, slots=True)
class Habit:
    """Something that happens in one of `turns` turns; `needs_own_buttons` if a shared button cannot show it."""

    act: Callable[[Builder], str | None]
    turns: int
    is_slip: bool = True
    needs_own_buttons: bool = False


HABITS = (
    Habit(_forget_press, 30),
    Habit(press_too_early, 120),
    Habit(complete_and_press, 120),
    Habit(take_back, 120),
    Habit(take_back_and_press, 120),
    Habit(exchange_letter, 60),
    Habit(put_elsewhere, 100),
    Habit(lay_early_letter, 60),
    Habit(_press_wrong_button, 60, needs_own_buttons=True),
)
PLAIN_HABITS = (Habit(_exchange, 30, is_slip=False), Habit(_pass, 60, is_slip=False))


@dataclass(frozen=True, slots=True)
class Turn:
    """What happens up to one press or several: the steps, and in words what it is."""

    steps: tuple[Step, ...]
    note: str
    is_slip: bool


def build_evening(
    language: str, seed: int, turns: int, rules: Rules, words_file: Path | None, *, own_buttons: bool, is_clean: bool
) -> Iterator[Turn]:
    """Yield what happens in the game of an evening."""
    chance, words = Random(f"evening/{language}/{seed}"), find_session_words(language)
    game = Game.start(NAMES, rules, language, lexicon=words.name if words else None)
    finder, known = find_plays(language, words_file), find_words(language, words_file)
    build = Builder(Position(game, finder, known, chance, has_blanks=True, most_tiles=MOST_TILES))
    habits = [habit for habit in HABITS if not is_clean and (own_buttons or not habit.needs_own_buttons)]
    while len(build.game.turns) < turns and build.game.unseen.total() > MIN_TILES_LEFT:
        draw = chance.random()
        chosen = Habit(_play_clear, 1, is_slip=False)
        for habit in (*habits, *PLAIN_HABITS):
            draw -= 1 / habit.turns
            if draw < 0 and build.game.board:
                chosen = habit
                break
        before, build.steps = build.game, []
        note = chosen.act(build)
        if note is None:
            build.game, build.steps, chosen = before, [], Habit(_play_clear, 1, is_slip=False)
            note = _play_clear(build)
        if note is None:
            return
        yield Turn(tuple(build.steps), note, chosen.is_slip)


# Playing


@dataclass
class Evening:
    """What became of an evening. `faults` are the turns after which the game was wrong for the first time."""

    seed: int
    turns: int = 0
    is_right: bool = False
    slips: list[str] = field(default_factory=list)
    is_excused: bool = False
    faults: list[str] = field(default_factory=list)
    questions: int = 0
    clear_turns: int = 0
    needless: list[str] = field(default_factory=list)
    needless_pass: int = 0
    blurred_turns: int = 0
    blurred_asked: int = 0


@dataclass(frozen=True, slots=True)
class EveningSetting:
    """The table of an evening, and what its players do."""

    buttons: str
    camera: str
    language: str
    lookup: str
    turns: int
    is_clean: bool
    is_silent: bool


def play_evening(seed: int, setting: EveningSetting, words_file: Path | None = None) -> Evening:
    """Play an evening through a session."""
    own_buttons, is_live = setting.buttons == "own", setting.camera == "rests"
    rules, words = Rules(open_dictionary=setting.lookup == "any"), find_session_words(setting.language)
    turns = list(
        build_evening(
            setting.language,
            seed,
            setting.turns,
            rules,
            words_file,
            own_buttons=own_buttons,
            is_clean=setting.is_clean,
        )
    )
    evening = Evening(seed)
    start = Game.start(NAMES, rules, setting.language, lexicon=words.name if words else None)
    with open_slip_table(start, words, f"{seed}", is_live=is_live, own_buttons=own_buttons) as table:
        for turn in turns:
            if turn.is_slip:
                evening.slips.append(turn.note)
                evening.is_excused |= not is_live and "(one line)" in turn.note
            for step in turn.steps:
                _play_step(table, step, turn, evening, is_silent=setting.is_silent)
        truth = next(step.truth for turn in reversed(turns) for step in reversed(turn.steps) if step.truth)
        evening.turns = len(truth.turns)
        evening.is_right = table.ledger.game.totals == truth.totals
    return evening


def _play_step(table: SlipTable, step: Step, turn: Turn, evening: Evening, *, is_silent: bool) -> None:
    laid = [(s, symbol) for s, symbol in enumerate(step.scene) if symbol != table.camera.scene[s]]
    table.lay(step.scene, step.rest_s)
    if step.player is None or step.truth is None:
        return
    known = len(table.asked)
    if step.exchanged:
        table.exchange(step.exchanged, step.player)
    else:
        table.press(step.player)
    asked = table.asked[known:]
    was_right = agrees(table.ledger.game, step.truth)
    if not turn.is_slip:
        is_blurred = any(table.camera.read_square(*square).confidence < MIN_CLEAR for square in laid)
        others = [code for code in asked if code not in PASS_KEYS]
        evening.needless_pass += len(asked) - len(others)
        evening.blurred_turns += is_blurred
        evening.blurred_asked += is_blurred and bool(others)
        evening.clear_turns += not is_blurred
        if others and was_right and not is_blurred:
            evening.needless.append(f"{turn.note}: {', '.join(others)}")
    is_offered = True if is_silent else table.answer(step.truth)
    evening.questions += len(table.asked) - known
    if not agrees(table.ledger.game, step.truth) and not evening.faults:
        said = ", ".join(asked) or "; ".join(table.notices[-1:]) or "nothing said"
        evening.faults.append(f"{turn.note}: {said}{'' if is_offered else ', truth not offered'}")
    elif agrees(table.ledger.game, step.truth):
        evening.faults.clear()


def format_summary(setting: EveningSetting, evenings: Sequence[Evening]) -> str:
    """Return the lines that sum up all evenings of a setting."""
    wrong = [evening for evening in evenings if not evening.is_right]
    excused = sum(evening.is_excused for evening in wrong)
    clear = sum(evening.clear_turns for evening in evenings)
    needless = [text for evening in evenings for text in evening.needless]
    codes = Counter(text.rpartition(": ")[2] for text in needless)
    return (
        f"{setting.buttons} {setting.camera} {setting.language} {setting.lookup}: "
        f"{len(evenings) - len(wrong)} of {len(evenings)} final totals right ({excused} of the others excused), "
        f"{sum(evening.turns for evening in evenings)} turns, {sum(len(one.slips) for one in evenings)} slips, "
        f"{sum(evening.questions for evening in evenings)} questions; needless at {len(needless)} of {clear} clear "
        f"turns {dict(codes)}; asked at {sum(one.blurred_asked for one in evenings)} of "
        f"{sum(one.blurred_turns for one in evenings)} blurred turns; "
        f"{sum(one.needless_pass for one in evenings)} about a pass"
    )


def describe_evening(evening: Evening) -> Iterator[str]:
    """Yield lines about an evening that went wrong, or in which a question was needless."""
    if not evening.is_right:
        excuse = " (excused)" if evening.is_excused else ""
        yield f"  seed {evening.seed} wrong{excuse}, since {'; '.join(evening.faults)}"
    yield from (f"  seed {evening.seed} needless: {text}" for text in evening.needless)


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--turns", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--buttons", nargs="+", default=["shared", "own"], choices=["shared", "own"])
    parser.add_argument("--camera", nargs="+", default=["one", "rests"], choices=["one", "rests"])
    parser.add_argument("--language", nargs="+", default=["en"])
    parser.add_argument("--lookup", nargs="+", default=["any"], choices=["any", "challenge"])
    parser.add_argument("--words", type=Path, help="the words that players of other languages than English know")
    parser.add_argument("--clean", action="store_true", help="without slips")
    parser.add_argument("--silent", action="store_true", help="nobody answers anything")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--show", action="store_true", help="print each evening that went wrong")
    parser.add_argument("--out", type=Path, help="JSON file with all evenings")
    return parser


def main(words: Sequence[str]) -> int:
    """Play the evenings, and print a summary of each setting."""
    args = make_parser().parse_args(words)
    begun, data = time.monotonic(), []
    with Pool(args.jobs) if args.jobs > 1 else nullcontext() as pool:
        for chosen in product(args.buttons, args.camera, args.language, args.lookup):
            setting = EveningSetting(*chosen, args.turns, args.clean, args.silent)
            words_file = args.words if setting.language != "en" else None
            play = partial(play_evening, setting=setting, words_file=words_file)
            evenings = []
            for evening in (pool.imap if pool else map)(play, range(args.seed, args.seed + args.games)):
                evenings.append(evening)
                for line in describe_evening(evening) if args.show else ():
                    print(line, flush=True)
            print(format_summary(setting, evenings), flush=True)
            data.append({"setting": asdict(setting), "evenings": [asdict(evening) for evening in evenings]})
    print(f"{time.monotonic() - begun:.0f} s")
    if args.out:
        args.out.write_text(json.dumps(data, indent=1, ensure_ascii=False), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
