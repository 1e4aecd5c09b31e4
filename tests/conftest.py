"""Settings of all tests."""

from __future__ import annotations

import gc
import os
import sys
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path
from types import CodeType

import pytest
from flask import Flask
from hypothesis import settings
from jinja2 import BytecodeCache
from jinja2.bccache import Bucket
from werkzeug.routing import Rule

from tests.support.examples import IS_CI

# No deadlines: a busy machine is no bug. On CI the examples are the same each time, so that a red run can be run again;
# at the desk they are fewer and new each time, and what they find is kept beside the tests.
settings.register_profile("desk", deadline=None, max_examples=30)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if IS_CI else "desk")

GARBAGE_THRESHOLD = 10_000
"""New objects after which the youngest are looked through; Python's own threshold is 700."""
MEMORY_FOLDER = Path("/dev/shm")
MIN_MEMORY_BYTES = 2**30
"""Free space of `MEMORY_FOLDER` from which it is used; the tests write 150 MB."""


def pytest_configure(config: pytest.Config) -> None:
    """Write to memory instead of a disk, keep compiled modules, and compute with one thread in each worker.

    Without compiled modules, each worker and each program that a test starts would compile all modules anew.
    """
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    if "TMPDIR" not in os.environ and can_use_memory():  # tests of stores spent most of their time waiting for the disk
        os.environ["TMPDIR"] = str(MEMORY_FOLDER)
        tempfile.tempdir = None  # so that it is looked up again
    if hasattr(config, "workerinput"):  # threads of NumPy and torch would wait for cores that other workers use
        os.environ.setdefault("OMP_NUM_THREADS", "1")


def can_use_memory() -> bool:
    """Return True if there is a file system in memory with enough room, on which programs may be run."""
    if not os.access(MEMORY_FOLDER, os.W_OK):
        return False
    found = os.statvfs(MEMORY_FOLDER)
    return found.f_bavail * found.f_frsize >= MIN_MEMORY_BYTES and not found.f_flag & os.ST_NOEXEC


@pytest.hookimpl(optionalhook=True)  # of pytest-xdist
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Return 0 workers if only files and single tests are named, because one process starts sooner.

    Otherwise there is one more than cores: some tests wait for the time to pass, for threads and for other programs.
    """
    folders = [argument for argument in config.args if Path(argument.partition("::")[0]).is_dir()]
    return (os.cpu_count() or 1) + 1 if folders else 0


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect less garbage: a fifth of the processor time went into looking through modules and collected tests.

    What tests leave is collected as always, but not as often.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(GARBAGE_THRESHOLD)
        gc.enable()


@pytest.fixture(scope="session", autouse=True)
def _fail_on_missing_texts() -> Iterator[None]:
    """Make an error of a text that a catalogue lacks; the program itself logs it and uses English."""

    def fail(language: str, key: str) -> None:
        raise AssertionError(f"the catalogue {language} has no text {key}")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("device.catalogue.report_missing_text", fail)
        yield


class _MemoryCache(BytecodeCache):
    """Compiled templates, by their key and the checksum of their source."""

    def __init__(self) -> None:
        self._code: dict[tuple[str, str], CodeType] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        bucket.code = self._code.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Bucket) -> None:
        assert bucket.code is not None
        self._code[bucket.key, bucket.checksum] = bucket.code


@pytest.fixture(scope="session", autouse=True)
def _use_cache_of_the_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep compiled templates and word lists out of the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session", autouse=True)
def _share_compiled_templates() -> Iterator[None]:
    """Compile each template once for all applications: it took half the time of the tests of the page."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Flask, "jinja_options", {"bytecode_cache": _MemoryCache()})
        yield


@pytest.fixture(scope="session", autouse=True)
def _share_compiled_routes() -> Iterator[None]:
    """Compile each route once for all applications: it took most of the time to create one."""
    compile_rule = Rule.compile
    known: dict[tuple[str, str | None], Rule] = {}

    def compile_once(rule: Rule) -> None:
        first = known.setdefault((rule.rule, rule.subdomain), rule)
        if first is rule or rule.defaults or first.defaults:
            compile_rule(rule)
        else:
            for name in ("arguments", "_parts", "_trace", "_converters", "_build", "_build_unknown"):
                setattr(rule, name, getattr(first, name))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Rule, "compile", compile_once)
        yield


@pytest.fixture(autouse=True)
def _players_take_their_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each press count as one after some thinking, although tests press at once."""
    monkeypatch.setattr("device.session.game_controller.MAX_QUICK_S", 0.0)
