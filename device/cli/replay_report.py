"""Read the pictures of a problem report again, and compare the readings with the recorded turns.

To save a report, choose "Report a problem" on the page. The exit status is 0 if every picture gives the recorded turn
and the reading that is stored in the picture; otherwise, it is 1. With --json, the command prints one JSON object with
the report (report.json) and the turns: event, recorded, inferred, same, problems, and the squares that differ from the
record and from the stored reading.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from device.cli import UserError
from device.cli.options import make_board_reader

if TYPE_CHECKING:
    from device.report.contents import ReportHeader
    from device.report.replay import SquareDifference, TurnReplay


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command to the parser."""
    parser.add_argument("report", type=Path, metavar="ZIP", help="problem report that was saved on the page")
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")


def run(args: argparse.Namespace) -> int:
    """Read the pictures of a problem report again, and print the result for each."""
    from device.report.replay import replay_report
    from device.storage.errors import ArchiveError

    try:
        with args.report.open("rb") as file:
            header, turns = replay_report(file, make_board_reader())
    except ArchiveError as error:
        raise UserError(f"{args.report}: {error}") from None
    print(as_json(header, turns) if args.json else "\n".join(as_text(header, turns)))
    return 0 if all(turn.is_same for turn in turns) else 1


def as_json(header: ReportHeader, turns: Sequence[TurnReplay]) -> str:
    """Return the result as JSON."""
    import msgspec

    answer: dict[str, Any] = {
        "report": msgspec.to_builtins(header),
        "turns": [{**asdict(turn), "same": turn.is_same} for turn in turns],
    }
    return json.dumps(answer, ensure_ascii=False)


def as_text(header: ReportHeader, turns: Sequence[TurnReplay]) -> Iterator[str]:
    """Yield the result as lines of text: one line for each picture, followed by the differences."""
    yield f"game {header.game}, reported by version {header.program or 'unknown'}"
    for turn in turns:
        yield f"{turn.event:5}  {'same  ' if turn.is_same else 'DIFFERS'}  {turn.recorded}"
        if not turn.is_same_turn and turn.inferred:
            yield f"       now: {turn.inferred}"
        yield from (f"       {problem}" for problem in turn.problems)
        yield from _list_differences("record", turn.from_record)
        yield from _list_differences("stored reading", turn.from_reading or ())
    same = sum(turn.is_same for turn in turns)
    yield f"{same} of {len(turns)} pictures give the same"


def _list_differences(of: str, differences: Sequence[SquareDifference]) -> Iterator[str]:
    for one in differences:
        yield f"       {one.square}: {of} {one.before}, now {one.now} ({one.probability:.2f})"
