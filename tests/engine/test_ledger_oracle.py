"""The oracle of the ledger: a game with late answers and corrections equals the game in which all was known at once.

`python -m tests.engine.test_ledger_oracle 10000` plays so many games (see `tests.support.ledger_games`), and prints how
many of them are equal, different, or contain an answer or a correction that stays refused.
"""

from __future__ import annotations

import json
import sys
from collections import Counter

import pytest

from engine.errors import NotationError, RulesError
from engine.game import Game
from engine.ledger import Answered, Ledger, derive
from engine.ledger_data import read_entry, write_entry
from engine.scoring import Status
from tests.support.ledger_games import GameWriter
from tests.support.ledger_writer import describe_game

BATCHES = (0, 1, *(pytest.param(batch, marks=pytest.mark.slow) for batch in range(2, 8)))
BATCH_SIZE = 25
PROPERTIES_EACH = 10
"""Of so many games in a long run, one is computed in all other ways, too; that takes twice as long as the game."""
CONFLICTS = (
    Status.SQUARE_TAKEN
    | Status.GAP
    | Status.NOT_JOINED
    | Status.NOT_IN_LINE
    | Status.CENTRE_MISSED
    | Status.MORE_THAN_SET
)


def compare_games(writer: GameWriter) -> str:
    """Return `equal`, or what differs after all answers and corrections."""
    refused = writer.tell_all()
    told, known, real = (describe_game(one) for one in (writer.asked.game, writer.record_known().game, writer.game))
    if known != real:
        return "different from plain: " + ", ".join(name for name in known if known[name] != real[name])
    if refused:
        check_refusals(writer.asked)
        return f"refused: {refused[0]}"
    return ", ".join(
        ["different:", *(name for name in known if known[name] != told[name])] if told != known else ["equal"]
    )


def is_same(one: Game, other: Game) -> bool:
    return (one.items, one.state, one.events) == (other.items, other.state, other.events)


def check_path(ledger: Ledger) -> None:
    """Check that each prefix of the entries is a ledger, whose game is the same in whichever way it is computed."""
    path = Ledger(ledger.setup)
    for entry in ledger.entries:
        path = path.add(entry)
        assert is_same(path.game, derive(path.setup, path.entries)), f"entry {entry.number}"
    assert is_same(path.game, ledger.game)


def check_data(ledger: Ledger) -> None:
    """Check that entries are the same after they were written and read."""
    lines = [json.dumps(write_entry(entry)) for entry in ledger.entries]
    read = Ledger(ledger.setup, tuple(read_entry(number, json.loads(line)) for number, line in enumerate(lines, 1)))
    assert read == ledger and is_same(read.game, ledger.game)


def check_undo(ledger: Ledger) -> None:
    """Check that all groups can be undone, and be redone to the same game."""
    games, back = [ledger.game], ledger
    while back.last_group is not None:
        back = back.undo()
        games.append(back.game)
    assert is_same(back.game, Game.begin(ledger.setup))
    for game in reversed(games[:-1]):
        back = back.redo()
        assert is_same(back.game, game)
    assert back.in_effect == ledger.in_effect and back.undone_group == ledger.undone_group


def check_refusals(ledger: Ledger) -> None:
    """Check that an answer is refused only if a play then has no place, or the set or the board lacks a tile."""
    for entry in ledger.in_effect:
        for chosen in range(len(entry.alternatives)) if entry.doubt else ():
            try:
                ledger.answer(entry.number, chosen)
            except RulesError:
                try:
                    after = ledger.record([((Answered(entry.number, chosen),),)]).game
                except (NotationError, RulesError):
                    continue
                assert any(turn.status & CONFLICTS for turn in after.turns)


def check_timeline(ledger: Ledger) -> None:
    """Check that the game after each answer is the same if it is computed from common states."""
    fast = ledger.with_timeline()
    for entry in ledger.in_effect:
        for chosen in range(len(entry.alternatives)) if entry.doubt else ():
            answer = [((Answered(entry.number, chosen),),)]
            try:
                after = ledger.record(answer).game
            except (NotationError, RulesError) as error:
                with pytest.raises(type(error)):
                    fast.record(answer)
            else:
                assert is_same(fast.record(answer).game, after)


@pytest.mark.parametrize("batch", BATCHES)
def test_late_answers_lead_to_the_game_in_which_all_was_known_at_once(batch: int) -> None:
    for seed in range(batch * BATCH_SIZE, (batch + 1) * BATCH_SIZE):
        assert compare_games(GameWriter(seed)) == "equal", f"seed {seed}"


@pytest.mark.parametrize("seed", range(6))
def test_ledger_is_the_same_game_in_whichever_way_it_is_computed(seed: int) -> None:
    check_all(GameWriter(seed).asked)


def check_all(ledger: Ledger) -> None:
    check_path(ledger)
    check_data(ledger)
    check_undo(ledger)
    check_refusals(ledger)
    check_timeline(ledger)


def main(count: int, first: int = 0) -> int:
    """Play `count` games from the seed `first`, print the results, and return the exit status."""
    results: Counter[str] = Counter()
    late: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    for seed in range(first, first + count):
        try:
            writer = GameWriter(seed)
            result = compare_games(writer)
            if seed % PROPERTIES_EACH == 0:
                check_all(writer.asked)
        except (AssertionError, NotationError, RulesError) as error:
            result = f"failed: {type(error).__name__} {error}"
        else:
            kinds.update(writer.log)
            late.update(writer.refused_once)
        results[result] += 1
        if result != "equal":
            print(f"seed {seed}: {result}")
    print(*(f"{number} {result}" for result, number in results.most_common()), sep="\n")
    print("refused until something else was told:", dict(late.most_common()))
    print("commands:", dict(kinds.most_common()))
    return results["equal"] + sum(results[result] for result in results if result.startswith("refused")) != count


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
