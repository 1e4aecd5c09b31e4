"""Evenings of a club with 12 tables and five rounds, against a model of their own.

Tables die and send again, players come late and leave, some have byes; results are typed, corrected and taken back,
games are started by mistake or played for fun, unplayed letters are entered when the next round is played, and the hall
is restarted after each kind of entry.
"""

from __future__ import annotations

import json
import random
from collections import defaultdict
from pathlib import Path

import pytest
from msgspec.structs import replace

from device.hall.receiving.event import compute_standings, decide
from device.hall.receiving.pairings import import_pairings
from device.hall.receiving.receiver import HallReceiver
from device.settings import HallSettings
from engine.events import Act, EndReason, GameEnded, GameStarted, Passed, PositionEntered, RackRevealed
from engine.rules import Rules, UnplayedRule
from tests.support.archives import write_acts
from tests.support.engine_table import new_game, written

SLOW = pytest.mark.slow
SETTINGS = HallSettings("127.0.0.1", 1)
PLAYERS = [f"Player {chr(65 + i)}" for i in range(26)]
ROUNDS, TABLES = 5, 12
Points = tuple[int, int]
BOARD = written(new_game(), "8F HORN").tiles


class Evening:
    """A hall that is restarted again and again, and what a careful director would have written down."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.rng = random.Random(seed)
        self.path = folder / "hall.db"
        self.hall = HallReceiver(self.path, SETTINGS)
        self.games: defaultdict[int, int] = defaultdict(int)
        self.pairings: dict[int, list[tuple[int, str, str]]] = {}
        self.points: dict[tuple[int, str], Points] = {}
        """The points that count, by round and first player."""
        self.late_letters: list[tuple[dict[str, object], tuple[int, str], Points]] = []
        """Games that were sent without their letters: the whole log, round and first player, and the points."""
        self.kinds: set[str] = set()
        """Kinds of entries after which the hall was restarted."""

    def restart(self, kind: str) -> None:
        """Restart the hall after the first entry of each kind, and after some of the others."""
        if kind not in self.kinds or self.rng.random() < 0.2:
            self.kinds.add(kind)
            self.hall.close()
            self.hall = HallReceiver(self.path, SETTINGS)

    def pair(self, number: int, players: list[str]) -> None:
        """Paste the pairings of a round, in any form, and sometimes paste others before and undo that."""
        self.rng.shuffle(players)
        pairs = list(zip(players[::2], [*players[1::2], *([""] if len(players) % 2 else [])], strict=True))
        self.pairings[number] = [(table, *pair) for table, pair in enumerate(pairs, 1)]
        lines = [f"{table} {first} - {second or 'bye'}" for table, first, second in self.pairings[number]]
        if self.rng.random() < 0.5:
            lines = [f"{number};{table};{first};{second}" for table, first, second in self.pairings[number]]
        if self.rng.random() < 0.5:
            self.hall.edit_event(lambda event: import_pairings(event, "1,X,Y", number))
            self.restart("wrong pairings")
            self.hall.undo_edit()
            self.restart("undo")
        self.hall.edit_event(lambda event: import_pairings(event, "\n".join(lines), number))
        self.restart("pairings")
        self.hall.edit_event(lambda event: replace(event, sent=number, is_started=True))
        self.restart("start")

    def play(
        self, table: int, names: tuple[str, str], points: Points, *, is_early: bool = False, letters: bool = False,
        late_for: tuple[int, str] | None = None,
    ) -> None:  # fmt: skip
        """Let a table play a game; it dies in the middle, and sends its log again. Swapped seats do not matter."""
        seats = (0, 1) if self.rng.random() < 0.8 else (1, 0)
        players, totals = tuple(names[seat] for seat in seats), tuple(points[seat] for seat in seats)
        acts: list[Act] = [PositionEntered(BOARD, totals, 0), Passed(0)]
        acts.append(GameEnded(EndReason.AGREED if is_early else EndReason.SCORELESS))
        acts += [RackRevealed(0, ()), RackRevealed(1, ())] if letters else []
        rules = Rules() if letters else Rules(unplayed=UnplayedRule.NONE)
        bodies = write_acts(GameStarted(players, rules), *acts)
        self.games[table] += 1
        whole = len(bodies) - 2 if late_for else len(bodies)
        begun = 1e9 + 100 * self.games[table]
        events = [{"time": begun + i, "event": body} for i, body in enumerate(bodies)]
        game = {"table": str(table), "store": f"s{table}", "game": self.games[table]}
        for count in (2, len(bodies) - 2 if letters else 3, whole, whole):
            self.receive("log", {**game, "events": events[:count]})
            self.restart("game")
        if late_for:
            self.late_letters.append(({**game, "events": events}, late_for, points))

    def receive(self, kind: str, message: dict[str, object]) -> None:
        self.hall.receive(f"tilekeeper/v2/{message['table']}/{kind}", json.dumps(message).encode(), False)

    def enter_late_letters(self) -> None:
        """Let players enter letters after the next game has begun; a result that was typed before still counts."""
        for log, key, points in self.late_letters:
            self.receive("log", log)
            self.restart("letters")
            self.points.setdefault(key, points)
        self.late_letters = []

    def type_points(self, number: int, first: str, points: Points) -> None:
        self.hall.edit_event(lambda event: decide(event, number, first, points=points))
        self.restart("points")

    def play_round(self, number: int) -> None:
        for table, first, second in self.rng.sample(self.pairings[number], len(self.pairings[number])):
            if not second:
                continue
            names = first, second
            points = self.rng.randrange(250, 500), self.rng.randrange(250, 500)
            is_late = table <= 9 and self.rng.random() < 0.15
            if table <= 3 and self.rng.random() < 0.3:
                self.play(table, names, (13, 1), is_early=True)  # a false start
            if table <= 9:
                letters = is_late or self.rng.random() < 0.3
                self.play(table, names, points, letters=letters, late_for=(number, first) if is_late else None)
                if self.rng.random() < 0.2 and not is_late:
                    self.play(table, names, (600, 1))  # for fun
            if not is_late:
                self.points[number, first] = points
            if table > 9 or self.rng.random() < 0.15:  # without a camera, or corrected
                self.points[number, first] = self.rng.randrange(250, 500), self.rng.randrange(250, 500)
                self.type_points(number, first, self.points[number, first])
            if self.rng.random() < 0.2:
                self.type_points(number, first, (1, 2))
                self.hall.undo_edit()
                self.restart("undo")

    def compute_table(self) -> dict[str, tuple[int, float, int]]:
        """Return games, wins and spread of each player by the director's own sheet."""
        table: defaultdict[str, list[tuple[float, int]]] = defaultdict(list)
        for number, pairings in self.pairings.items():
            for _, first, second in pairings:
                if not second:
                    table[first].append((1.0, 50))
                    continue
                if (number, first) not in self.points:
                    continue
                mine, theirs = self.points[number, first]
                win = 1.0 if mine > theirs else 0.5 if mine == theirs else 0.0
                table[first].append((win, mine - theirs))
                table[second].append((1.0 - win, theirs - mine))
        for name in {name for pairings in self.pairings.values() for _, *names in pairings for name in names if name}:
            table[name] += []
        return {name: (len(one), sum(w for w, _ in one), sum(s for _, s in one)) for name, one in table.items()}


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=SLOW), pytest.param(3, marks=SLOW)])
def test_evening_equals_the_sheet_of_a_careful_director(tmp_path: Path, seed: int) -> None:
    evening = Evening(tmp_path, seed)
    active = PLAYERS[:23]
    for number in range(1, ROUNDS + 1):
        if number == 2:
            active += PLAYERS[23:]  # late
        if number == 4:
            active = active[3:]  # withdrawn
        evening.pair(number, list(active[: 2 * TABLES + 1]))
        late = evening.late_letters
        evening.late_letters = []
        evening.play_round(number)
        compare(evening)
        evening.late_letters, next_late = late, evening.late_letters
        evening.enter_late_letters()
        evening.late_letters = next_late
        compare(evening)
    evening.enter_late_letters()
    compare(evening)
    evening.hall.close()
    assert evening.kinds >= {"pairings", "undo", "start", "game", "points", "letters"}


def compare(evening: Evening) -> None:
    """Compare rounds, results and standings of the hall with those of the director."""
    hall = evening.hall.state
    assert sorted(hall.event.rounds) == sorted(evening.pairings)
    for one, lines in hall.rounds.items():
        shown = {(one, line.pairing.first): line.points for line in lines if line.counts}
        assert shown == {key: points for key, points in evening.points.items() if key[0] == one}, one
    standings = compute_standings(hall.event, hall.all_results)
    assert {one.name: (one.games, one.wins, one.spread) for one in standings} == evening.compute_table()
