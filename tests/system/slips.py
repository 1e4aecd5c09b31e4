"""Measure what becomes of a game if players do what players do between two presses: the slips.

    python -m tests.system.slips --positions 40 --seed 1
    python -m tests.system.slips --slips 3 --seed 17 --positions 1 --camera rests --buttons own --show

Each slip (`tests.system.slips_scripts`) is played from random positions in the middle of a game, through the real
session, whose camera is `tests.system.slips_table`: with one picture a press, or with a camera that also sees the board
at rest between presses. Two clear turns are pressed before the slip and two after it. Players answer all questions with
the truth; then the same case is played again, and nobody answers anything. A game is right if board, totals and the
player to move are those of the true game. The columns:

- asked at once: there is an open question after the press at which the slip matters;
- truth offered: of the cases in which anything is asked, those in which the truth was always among the answers (of all
  open questions together);
- right: of all cases, those right at the end with true answers;
- silently wrong: of all cases, those with wrong totals or player at the end, although no question is open, if nobody
  answers; and the same at the press at which the slip matters;
- questions: their mean number in the answered game, from the slip on. Questions for the letters of blanks do not count.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field
from functools import lru_cache, partial
from itertools import product
from multiprocessing import Pool
from multiprocessing.pool import Pool as Pool_
from pathlib import Path
from random import Random

from engine.rules import Rules
from tests.system import slips_evenings
from tests.system.slips_positions import find_session_words, make_position
from tests.system.slips_scripts import ALL_SLIPS, Script, build_script
from tests.system.slips_table import agrees, has_right_totals, open_slip_table

MAX_ATTEMPTS = 12
"""Random racks for which a slip is looked for before a position is given up."""
MAX_DOUBT = 0.02
"""Largest doubt about a letter that is read right: the slips are not measured on blurred tiles."""


@dataclass(frozen=True, slots=True)
class Setting:
    """The table: slip, buttons, camera, language and when words may be looked up."""

    slip: int
    buttons: str
    camera: str
    language: str
    lookup: str


@dataclass(frozen=True, slots=True)
class Case:
    """What became of a slip from one position."""

    seed: int
    note: str
    asked_at_once: bool
    is_offered: bool | None
    is_right: bool
    is_silently_wrong: bool
    is_silent_at_once: bool
    questions: int
    trouble: tuple[str, ...]


@dataclass
class Row:
    """The cases of one setting."""

    setting: Setting
    cases: list[Case] = field(default_factory=list)

    def count(self, name: str) -> int:
        """Return the number of cases for which the attribute `name` is True."""
        return sum(getattr(case, name) is True for case in self.cases)

    def format(self) -> str:
        """Return the line of the table."""
        cases, one = len(self.cases), self.setting
        asked = sum(case.is_offered is not None for case in self.cases)
        mean = sum(case.questions for case in self.cases) / max(1, cases)
        return (
            f"{one.slip:>4}  {one.buttons:<6}  {one.camera:<5}  {one.language:<2}  {one.lookup:<9}  {cases:>5}  "
            f"{self.count('asked_at_once'):>5}  {self.count('is_offered'):>3} of {asked:<3}  "
            f"{self.count('is_right'):>5}  {self.count('is_silently_wrong'):>6} {self.count('is_silent_at_once'):>5}  "
            f"{mean:>5.2f}"
        )


HEADER = "slip  buttons camera la  lookup     cases  asked  offered     right  silent at once  questions"


def find_script(setting: Setting, seed: int, words_file: Path | None = None) -> Script | None:
    """Return the script of a slip from the position of a seed; None if the position does not allow the slip."""
    return _find_script(setting.slip, setting.language, setting.lookup, seed, words_file)


@lru_cache(maxsize=200)
def _find_script(slip: int, language: str, lookup: str, seed: int, words_file: Path | None) -> Script | None:
    rules = Rules(open_dictionary=lookup == "any")
    for attempt in range(MAX_ATTEMPTS):
        chance = Random(f"slip/{slip}/{language}/{seed}/{attempt}")
        position = make_position(language, seed, rules, chance, words_file, is_new=slip == 12)
        if (script := build_script(slip, position)) is not None:
            return script
    return None


@dataclass(frozen=True, slots=True)
class Course:
    """What became of a script, with true answers or without."""

    asked_at_once: bool
    is_offered: bool | None
    is_right: bool
    is_silent: bool
    is_silent_at_once: bool
    questions: int
    trouble: tuple[str, ...]


def play_script(setting: Setting, script: Script, seed: int, *, answers: bool) -> Course:
    """Play a script through a session."""
    words = find_session_words(setting.language)
    is_live, own_buttons = setting.camera == "rests", setting.buttons == "own"
    asked_at_once = is_silent_at_once = False
    offers: list[bool] = []
    before: int | None = None
    with open_slip_table(
        script.start, words, f"{seed}", is_live=is_live, own_buttons=own_buttons, max_doubt=MAX_DOUBT
    ) as table:
        for step in script.steps:
            table.lay(step.scene, step.rest_s)
            if step.player is None or step.truth is None:
                continue
            if step.is_slip and before is None:
                before = len(table.asked)
            table.press(step.player)
            if step.is_key:
                asked_at_once = bool(table.open_entries)
                is_silent_at_once = not table.open_entries and not has_right_totals(table.ledger.game, step.truth)
            if answers:
                is_asked = bool(table.open_entries)
                is_offered = table.answer(step.truth)
                offers += [is_offered] if is_asked and before is not None else []
            truth = step.truth
        game = table.ledger.game
        is_silent = not table.open_entries and not has_right_totals(game, truth)
        trouble = tuple(table.asked[before or 0 :]) + tuple(table.notices)
        questions = len(table.asked) - (before or 0)
        is_offered_always = all(offers) if offers else None
        return Course(
            asked_at_once, is_offered_always, agrees(game, truth), is_silent, is_silent_at_once, questions, trouble
        )


def run_case(setting: Setting, seed: int, words_file: Path | None = None) -> Case | None:
    """Play a slip from the position of a seed, with true answers and without; None if the slip is not possible."""
    script = find_script(setting, seed, words_file)
    if script is None:
        return None
    told = play_script(setting, script, seed, answers=True)
    silent = play_script(setting, script, seed, answers=False)
    return Case(
        seed,
        script.note,
        told.asked_at_once,
        told.is_offered,
        told.is_right,
        silent.is_silent,
        silent.is_silent_at_once,
        told.questions,
        told.trouble,
    )


def run_row(
    setting: Setting, seeds: Iterable[int], words_file: Path | None = None, *, pool: Pool_ | None = None
) -> Row:
    """Play a slip from the positions of all seeds; those that do not allow it are left out."""
    run = partial(run_case, setting, words_file=words_file)
    cases = pool.imap(run, seeds) if pool else map(run, seeds)
    return Row(setting, [case for case in cases if case is not None])


def describe_failures(row: Row) -> Iterable[str]:
    """Yield a line for each case that went wrong, with the options that repeat it."""
    one = row.setting
    for case in row.cases:
        faults = [
            name
            for name, is_fault in (
                ("truth not offered", case.is_offered is False),
                ("wrong at the end", not case.is_right),
                ("silently wrong", case.is_silently_wrong),
                ("silent at once", case.is_silent_at_once),
            )
            if is_fault
        ]
        if faults:
            options = (
                f"--slips {one.slip} --seed {case.seed} --positions 1 --buttons {one.buttons} --camera {one.camera} "
                f"--language {one.language} --lookup {one.lookup}"
            )
            said = "; ".join(case.trouble) or "nothing said"
            yield f"  {options}\n      {case.note}\n      {', '.join(faults)}; {said}"


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--slips", type=int, nargs="+", default=list(ALL_SLIPS), choices=ALL_SLIPS)
    parser.add_argument("--positions", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1, help="the seed of the first position")
    parser.add_argument("--buttons", nargs="+", default=["shared", "own"], choices=["shared", "own"])
    parser.add_argument("--camera", nargs="+", default=["one", "rests"], choices=["one", "rests"])
    parser.add_argument("--language", nargs="+", default=["en", "de"])
    parser.add_argument("--lookup", nargs="+", default=["any", "challenge"], choices=["any", "challenge"])
    parser.add_argument("--words", type=Path, help="the words that players of other languages than English know")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--show", action="store_true", help="print each case that went wrong")
    parser.add_argument("--out", type=Path, help="JSON file with all cases")
    return parser


def run_rows(args: argparse.Namespace) -> list[Row]:
    """Play all rows that the options choose, and print them."""
    rows: list[Row] = []
    print(HEADER)
    seeds = range(args.seed, args.seed + args.positions)
    with Pool(args.jobs) if args.jobs > 1 else nullcontext() as pool:
        for chosen in product(args.slips, args.language, args.lookup, args.camera, args.buttons):
            slip, language, lookup, camera, buttons = chosen
            setting = Setting(slip, buttons, camera, language, lookup)
            words_file = args.words if setting.language != "en" else None
            rows.append(run_row(setting, seeds, words_file, pool=pool))
            print(rows[-1].format(), flush=True)
            if args.show:
                for line in describe_failures(rows[-1]):
                    print(line, flush=True)
    return rows


def main(words: Sequence[str]) -> int:
    """Play the slips, and print a line for each setting; `evenings` plays whole evenings."""
    if words[:1] == ["evenings"]:
        return slips_evenings.main(words[1:])
    args = make_parser().parse_args(words)
    begun = time.monotonic()
    rows = run_rows(args)
    print(f"{sum(len(row.cases) for row in rows)} cases in {time.monotonic() - begun:.0f} s")
    if args.out:
        data = [{"setting": asdict(row.setting), "cases": [asdict(case) for case in row.cases]} for row in rows]
        args.out.write_text(json.dumps(data, indent=1, ensure_ascii=False), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
