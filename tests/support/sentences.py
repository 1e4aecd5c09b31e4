"""All messages of the program by key, collected from its source."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.support.modules import find_modules

ROOT = Path(__file__).parents[2]
KEY_FUNCTIONS = ("get_text", "make_notice", "show_notice", "make_question", "make_refusal", "from_key")


@cache
def sentences() -> dict[str, str]:
    """Return key and English template of every call of `make_message`.

    If a key has a sentence in one place and the same without capital and full stop in another, the latter counts.
    Raises `ValueError` if one key has two templates otherwise.

    >>> sentences()["no-tile-on"]
    'There is no tile on {0}.'
    """
    found: dict[str, str] = {}
    for key, english in _called():
        if _bare(found.setdefault(key, english)) != _bare(english):
            raise ValueError(f"{key}: {found[key]!r} and {english!r}")
        if english == _bare(english):
            found[key] = english
    return found


def modules() -> Iterator[tuple[Path, ast.Module]]:
    """Yield every module of the program: path and syntax tree."""
    for path in find_modules(ROOT).values():
        yield path, ast.parse(path.read_text(encoding="utf-8"))


def message_keys() -> set[str]:
    """Return the literal keys that are passed to functions that take the text from the catalogue."""
    return {
        call.args[0].value
        for _, tree in modules()
        for call in ast.walk(tree)
        if isinstance(call, ast.Call)
        and (call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")) in KEY_FUNCTIONS
        and call.args
        and isinstance(call.args[0], ast.Constant)
    }


def _called() -> Iterator[tuple[str, str]]:
    for path, tree in modules():
        texts = _texts(tree)
        for node in ast.walk(tree):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "make_message"):
                continue
            key, english = node.args[:2]
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield key.value, _constant(english, texts, path)


def _constant(node: ast.expr, texts: list[tuple[int, str, str]], path: Path) -> str:
    """Return the text of an argument: a literal, or the last literal assigned to the name before that line."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.Name):
        before = [text for line, name, text in texts if name == node.id and line < node.lineno]
        if before:
            return before[-1]
    raise ValueError(f"{path}:{node.lineno}: no text that can be found")


def _texts(tree: ast.Module) -> list[tuple[int, str, str]]:
    """Return all assignments of a literal text to a name: line, name and text, in the order of lines."""
    return sorted(
        (node.lineno, target.id, node.value.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for target in node.targets
        if isinstance(target, ast.Name)
    )


def _bare(english: str) -> str:
    """Return a sentence without capital and full stop."""
    return (english[:1].lower() + english[1:]).rstrip(".")
