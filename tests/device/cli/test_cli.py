"""The command line as a whole: what every command does with mistakes, and with a system that lacks something."""

from __future__ import annotations

import argparse
import errno
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from device import cli
from device.cli import UserError, main
from engine.errors import RulesError, UnknownTileSetError


def command(monkeypatch: pytest.MonkeyPatch, run: Callable[[argparse.Namespace], int]) -> None:
    """Make `score` run this instead."""
    module = ModuleType("device.cli.score")
    module.__dict__.update(configure=lambda _: None, run=run)
    monkeypatch.setitem(sys.modules, "device.cli.score", module)


def failing(error: BaseException) -> Callable[[argparse.Namespace], int]:
    def run(_: argparse.Namespace) -> int:
        raise error

    return run


def test_the_status_is_that_of_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    command(monkeypatch, lambda _: 0)
    assert main(["score"]) == 0


@pytest.mark.parametrize("error", [UserError("say more"), UnknownTileSetError("say more"), RulesError("say more")])
def test_a_mistake_is_one_line_and_status_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: Exception
) -> None:
    command(monkeypatch, failing(error))
    assert main(["score"]) == 2
    assert capsys.readouterr().err == "tilekeeper: say more\n"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            OSError(errno.ENAMETOOLONG, "File name too long", "a.jpg"),
            "a.jpg: File name too long. Check the name of the file and its permissions.",
        ),
        (OSError(errno.EINVAL, "no port 99999"), "no port 99999"),
    ],
)
def test_what_the_system_refuses_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: OSError, said: str
) -> None:
    command(monkeypatch, failing(error))
    assert main(["score"]) == 2
    assert capsys.readouterr().err == f"tilekeeper: {said}\n"


def test_stopping_by_hand_is_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    command(monkeypatch, failing(KeyboardInterrupt()))
    assert main(["score"]) == 130


@pytest.mark.parametrize("words", [[], ["fold"], ["score"]])
def test_wrong_usage_says_what_there_is(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(words)
    assert stopped.value.code == 2
    assert "usage: tilekeeper" in capsys.readouterr().err


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_has_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main([name, "--help"])
    assert stopped.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: tilekeeper {name} ")


def test_program_goes_on_when_its_output_cannot_be_written() -> None:
    code = "import sys; from device.cli import print_line; [print_line('x') for _ in range(3)]; sys.exit(7)"
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([sys.executable, "-c", code], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 7 and done.stderr.count("No space left") == 1


def test_program_runs_without_a_standard_output() -> None:
    code = "import os, sys; from device.cli import main; main(['cameras']); os._exit(7 + sys.stdout.isatty())"
    done = subprocess.run(["sh", "-c", 'exec "$@" >&- 2>&-', "sh", sys.executable, "-c", code])
    assert done.returncode == 7


def test_name_that_the_terminal_cannot_show_is_printed_in_ascii(tmp_path: Path) -> None:
    file = tmp_path / "Łucja.gcg"
    file.write_text("#player1 a A\n#player2 b B\n", encoding="utf-8")
    code = f"from device.cli import main; raise SystemExit(main(['score', {str(file)!r}]))"
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert done.returncode == 0 and "\\u0141ucja" in done.stdout


@pytest.mark.parametrize("command", [["export"], ["run", "--data", "games"], ["doctor", "--program"]])
def test_missing_home_folder_is_an_error_that_names_the_variable(
    command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def find_no_user(number: int) -> None:
        raise KeyError(number)

    monkeypatch.setattr("pwd.getpwuid", find_no_user)
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    assert main(command) == 2
    assert "Set the environment variable HOME" in capsys.readouterr().err
