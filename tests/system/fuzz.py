"""Requests that schemathesis makes up from the API's document, sensible ones and wrong ones, on a real table.

`python -m tests.system.fuzz 10000` sends 10000 requests and prints the answers. Nothing leaves this process: the
application is called, not a server.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import CHECKS, load_all_checks
from schemathesis.core.failures import FailureGroup

from tests.support.api_table import API, Program, WebTable, open_web_table

load_all_checks()
WHAT = CHECKS.get_by_names(
    [
        "not_a_server_error",
        "status_code_conformance",
        "content_type_conformance",
        "response_headers_conformance",
        "response_schema_conformance",
        "negative_data_rejection",
    ]
)


@schemathesis.serializer("application/zip")
def _as_it_is(_: schemathesis.SerializationContext, value: object) -> bytes:
    """Files are sent as they were made up."""
    return bytes(value.data) if hasattr(value, "data") else value if isinstance(value, bytes) else str(value).encode()


@dataclass
class Outcome:
    """The number of answers of each status, and the failures."""

    statuses: Counter[int] = field(default_factory=Counter)
    operations: set[str] = field(default_factory=set)
    wrong: list[str] = field(default_factory=list)

    @property
    def requests(self) -> int:
        """Number of requests that were sent."""
        return sum(self.statuses.values())


def fuzz(table: WebTable, requests: int) -> Outcome:
    """Send about `requests` requests to the API of a table, spread evenly over its operations, half of them wrong."""
    table.play_three_turns()
    program = Program(table.app)
    program.pair(table.code)
    schema = schemathesis.openapi.from_wsgi(f"{API}/openapi.json", table.app)
    offered = [found.ok() for found in schema.exclude(path="/events").get_all_operations()]  # that answer has no end
    outcome = Outcome()
    each = max(1, requests // (2 * len(offered)))
    for operation in offered:
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
            _probe(table, operation, mode, each, f"Bearer {program.token}", outcome)
    return outcome


def _probe(
    table: WebTable,
    operation: schemathesis.APIOperation,
    mode: GenerationMode,
    most: int,
    token: str,
    outcome: Outcome,
) -> None:
    @settings(
        max_examples=most,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def probe(case: schemathesis.Case) -> None:
        if mode is GenerationMode.POSITIVE:
            _mean_this_table(case, table)
        answer = case.call(headers={"Authorization": token, "Accept-Encoding": "identity"})
        outcome.statuses[answer.status_code] += 1
        outcome.operations.add(operation.label)
        try:
            case.validate_response(answer, checks=WHAT)
        except FailureGroup as failures:
            outcome.wrong += [f"{operation.label}: {failure}" for failure in failures.exceptions]

    with suppress(Unsatisfiable):  # what takes nothing cannot be asked wrongly
        probe()


def _mean_this_table(case: schemathesis.Case, table: WebTable) -> None:
    """Let a request be about the game that is there: made-up numbers would be refused before anything else."""
    if isinstance(case.body, dict) and "seen" in case.body:
        case.body["seen"] = table.seen
    if "number" in case.path_parameters:
        case.path_parameters["number"] %= 3


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, open_web_table(Path(folder), max_streams=0) as table:
        began = time.monotonic()
        outcome = fuzz(table, int(sys.argv[1]))
    print(f"{outcome.requests} requests to {len(outcome.operations)} operations in {time.monotonic() - began:.0f} s")
    print(", ".join(f"{status}: {count}" for status, count in sorted(outcome.statuses.items())))
    print(f"{len(outcome.wrong)} wrong answers", *outcome.wrong[:20], sep="\n")
    sys.exit(bool(outcome.wrong))
