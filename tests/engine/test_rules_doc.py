"""The table in docs/rules.md names every line of the checklist, and tests that exist."""

from __future__ import annotations

import argparse
import ast
import fnmatch
import json
import re
import shlex
from pathlib import Path

import msgspec
import pytest

from device.cli.options import merge_game_settings, prepare_game
from device.cli.run import configure
from device.session.new_game import NewGameRequest, make_game
from device.session.rule_choices import CHOICE_FIELDS
from device.settings import parse_settings
from engine.rules import VARIATIONS
from tests.support.local_data import RULES_CHECKLIST, needs_rules_checklist

ROOT = Path(__file__).parents[2]
DOC = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
LISTS = ("variations", "levels")
"""Names of choices that are lists in the API."""


def expand_choices(row: tuple[str, str]) -> tuple[str, str, str, str]:
    """Return the ids, the JSON, the options and the settings of a line with ids and `NAME=CHOICE ...`."""
    ids, pairs = row
    named = dict(pair.split("=") for pair in pairs.split())
    choices = {name: choice for name, choice in named.items() if name not in LISTS}
    body = {"choices": choices} | {name: choice.split(",") for name, choice in named.items() if name in LISTS}
    options = " ".join(f"--rule {pair}" for pair in pairs.split())
    return ids, json.dumps(body)[1:-1], options, f"more_rules = {json.dumps(pairs.split())}"


def add_settings(row: tuple[str, str, str]) -> tuple[str, str, str, str]:
    """Return the ids, the JSON, the option and the settings of a line with ids, JSON and `--NAME VALUE`."""
    ids, body, option = row
    name, _, value = option.removeprefix("--").partition(" ")
    chosen: str | int | list[str] = value.split(",") if name == "players" else int(value) if value.isdigit() else value
    return ids, body, option, f"{name} = {json.dumps(chosen)}"


_LINES_WITH_CHOICE = [
    (ids, pairs)
    for ids, line in re.findall(r"^\| (.+?) \| (.+)", DOC, re.MULTILINE)
    for pairs in re.findall(r"`(\w+=[\w=, ]+)`", line)
]
CHOICES = [
    *map(add_settings, re.findall(r"^\| (.+) \| .+ \| `(.+)` \| `(--.+)` \|$", DOC, re.MULTILINE)),
    *map(expand_choices, _LINES_WITH_CHOICE),
]
"""The ids, the JSON of the API, the options and the settings of each line with a choice."""
NAMED = sorted(set(re.findall(r"`((?:test_|common_)\w+)::([\w*]+)`", DOC)))


@pytest.mark.parametrize(("module", "test"), NAMED, ids=[test for _, test in NAMED])
def test_the_test_exists(module: str, test: str) -> None:
    [path] = (ROOT / "tests").rglob(f"{module}.py")
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = [node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    assert fnmatch.filter(names, test)


@needs_rules_checklist
def test_every_line_of_the_checklist_is_there() -> None:
    text = RULES_CHECKLIST.read_text(encoding="utf-8")
    wanted = set(re.findall(r"^\| ([A-CE-GP]\d+[av]?) \|", text, re.MULTILINE))
    wanted |= {f"H{number}" for number in re.findall(r"^(\d)\. ", text, re.MULTILINE)}
    found = set(re.findall(r"^\| (\w+) \|", DOC, re.MULTILINE))
    assert len(wanted) > 50 and wanted <= found


def read_request(body: str) -> NewGameRequest:
    """Return the request for a game of Anna and Ben with a part of a JSON body."""
    arguments = {"players": ["Anna", "Ben"], **json.loads(f"{{{body}}}")}
    return msgspec.convert(arguments, NewGameRequest)


@pytest.mark.parametrize(("body", "options", "settings"), [row[1:] for row in CHOICES])
def test_choice_makes_the_same_game_by_api_command_line_and_settings(body: str, options: str, settings: str) -> None:
    game = make_game(read_request(body), lambda _: None).started
    parser = argparse.ArgumentParser()
    configure(parser)
    players = [] if "--players" in options else ["--players", "Anna,Ben"]
    by_options, _ = prepare_game(merge_game_settings(parser.parse_args([*players, *shlex.split(options)])))
    names = "" if "players" in settings else 'players = ["Anna", "Ben"]\n'
    by_settings, _ = prepare_game(parse_settings(f"[game]\n{names}{settings}\n").game)
    assert game == by_options == by_settings


def test_choice_of_every_field_is_in_the_table() -> None:
    bodies = [json.loads(f"{{{row[1]}}}") for row in CHOICES]
    assert {field for body in bodies for field in body.get("choices", ())} == set(CHOICE_FIELDS) - {"lost"}  # no rule
    assert {variation for body in bodies for variation in body.get("variations", ())} == set(VARIATIONS)
    assert {field for body in bodies for field in body} == set(NewGameRequest.__struct_fields__) - {"colours"}


def test_choice_other_than_the_default_changes_the_game() -> None:
    plain = make_game(read_request(""), lambda _: None).started
    assert [body for _, body, *_ in CHOICES if make_game(read_request(body), lambda _: None).started == plain] == []
