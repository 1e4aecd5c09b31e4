"""Check the scores in recorded games (GCG files). Each recorded score is shown beside the correct score."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from device.cli import print_system_error
from engine.board import load_layout
from engine.errors import NotationError, RulesError
from engine.gcg import Problem, Record, Replay, build_game, parse_gcg, replay
from engine.tiles import load_tile_set

MAX_FILE_BYTES = 4_000_000
"""Largest size of a GCG file in bytes; a recorded game usually has a few thousand bytes."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command to the parser."""
    parser.add_argument("games", nargs="+", metavar="GAME.gcg", type=Path, help="file with a recorded game")
    parser.add_argument(
        "--tiles",
        metavar="SET",
        help="language of the tiles as a code, such as en, de or ro (default: the one in the file)",
    )
    parser.add_argument(
        "--layout",
        metavar="NAME",
        help="layout of the premium squares, such as standard (default: the layout that fits the recorded scores)",
    )
    parser.add_argument("--json", action="store_true", help="print a line of JSON for each file")


def run(args: argparse.Namespace) -> int:
    """Score the game in each file; return 2 if a file cannot be opened, otherwise 0."""
    tiles = load_tile_set(args.tiles) if args.tiles else None
    layout = load_layout(args.layout) if args.layout else None
    status = 0
    for path in args.games:
        try:
            with path.open("rb") as file:
                data = file.read(MAX_FILE_BYTES + 1)
        except OSError as error:
            print_system_error(error)
            status = 2
            continue
        too_large = Problem(1, f"larger than {MAX_FILE_BYTES} bytes, so no GCG")
        record = parse_gcg(data) if len(data) <= MAX_FILE_BYTES else Record((), problems=(too_large,))
        result = make_report(str(path), record, replay(record, tiles, layout))
        print(json.dumps(result, ensure_ascii=False) if args.json else "\n".join(format_report(result)))
    return status


def make_report(file: str, record: Record, game: Replay) -> dict[str, Any]:
    """Return the result for one file as a dictionary for JSON.

    `record` is the parsed file, and `game` the game replayed from it.
    """
    labels = record.labels()
    events = [
        {
            "line": event.entry.line,
            "player": labels[event.entry.player],
            "kind": event.entry.kind.value,
            "at": event.position or event.entry.position or None,
            "word": event.word,
            "recorded": event.entry.score,
            "score": event.score,
        }
        for event in game.events
    ]
    return {
        "file": file,
        "tiles": game.tiles.name,
        "layout": game.layout.name,
        "events": events,
        "totals": dict(zip(labels, game.totals, strict=True)),
        "problems": [str(problem) for problem in game.problems],
        "notes": [*game.notes, *_compare_import(record, game)],
    }


def _compare_import(record: Record, game: Replay) -> Iterator[str]:
    """Yield a note if `tilekeeper import` refuses the file, or counts other scores than those by the rules."""
    if not record.entries:
        return
    try:
        totals = build_game(record).totals
    except (NotationError, RulesError) as error:
        yield f"this file cannot be imported: {error}"
        return
    if totals != game.totals:
        counted = ", ".join(f"{name} {total}" for name, total in zip(record.labels(), totals, strict=True))
        yield f"an import keeps the recorded scores and ends with {counted}"


def format_report(result: dict[str, Any]) -> Iterator[str]:
    """Yield the result as lines of text. Recorded scores that differ from the rules are marked."""
    yield f"{result['file']} (tiles {result['tiles']}, board {result['layout']})"
    width = max((len(name) for name in result["totals"]), default=0)
    for event in result["events"]:
        what = f"{event['at']} {event['word'] or '?'}" if event["kind"] == "play" else f"({event['kind']})"
        score = "?" if event["score"] is None else f"{event['score']:+d}"
        mark = "" if event["score"] == event["recorded"] else f"  <- recorded {event['recorded']:+d}"
        yield f"{event['line']:5}  {event['player']:{width}}  {what:20} {score:>5}{mark}"
    yield "total  " + ", ".join(f"{name} {total}" for name, total in result["totals"].items())
    for problem in result["problems"]:
        yield f"problem: {problem}"
    for note in result["notes"]:
        yield f"note: {note}"
