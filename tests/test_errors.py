"""The exceptions of all packages."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

from calibration.profile import ProfileError
from device.cli import UserError
from device.panel.buttons import PinsError
from device.storage.errors import StoreError
from engine.errors import NotationError, RulesError, TilekeeperError
from tests.support.modules import find_modules
from vision.photo import PhotoError
from web.security.server import PortInUseError

ROOT = Path(__file__).parents[1]


@cache
def list_exception_classes() -> dict[str, set[str]]:
    """Return the exception classes that the packages define, each with the names of its base classes."""
    classes = {
        node.name: {base.id for base in node.bases if isinstance(base, ast.Name)}
        for path in find_modules(ROOT).values()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
    }
    exceptions: set[str] = {
        "Exception",
        "OSError",
        "ValueError",
        "RuntimeError",
        "LookupError",
        "KeyError",
        "TypeError",
    }
    builtin = frozenset(exceptions)
    while found := {name for name, bases in classes.items() if bases & exceptions} - exceptions:
        exceptions |= found
    return {name: classes[name] for name in exceptions - builtin}


def test_exception_classes_derive_from_one_root() -> None:
    classes = list_exception_classes()
    derived = {"TilekeeperError"}
    while found := {name for name, bases in classes.items() if bases & derived} - derived:
        derived |= found
    assert len(classes) > 30
    assert set(classes) - derived == set()


def test_exception_classes_are_named_error() -> None:
    assert [name for name in list_exception_classes() if not name.endswith("Error")] == []


@pytest.mark.parametrize("error", [ProfileError, UserError, StoreError, PhotoError])
def test_error_of_a_package_is_caught_by_the_root(error: type[Exception]) -> None:
    with pytest.raises(TilekeeperError):
        raise error("why")


@pytest.mark.parametrize(
    ("error", "builtin"),
    [(NotationError, ValueError), (RulesError, ValueError), (PinsError, ValueError), (PortInUseError, OSError)],
)
def test_error_keeps_its_builtin_base(error: type[Exception], builtin: type[Exception]) -> None:
    assert issubclass(error, builtin)
    assert issubclass(error, TilekeeperError)
