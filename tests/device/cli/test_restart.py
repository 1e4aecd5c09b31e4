"""The restart of the whole program, as the page asks for it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.ports import find_free_port
from tests.support.programs import Browser
from tests.support.waiting import PATIENCE_S, until

COMMAND = (sys.executable, "-u", "-c", "from device.cli import main; raise SystemExit(main())", "run")


def has_restarted(browser: Browser) -> bool:
    """Return True if the settings page needs no restart any more; False also while the page is down."""
    try:
        return "/settings/restart" not in browser.get("/settings")
    except OSError:
        return False


@pytest.mark.slow
def test_program_restarts_itself_with_the_camera_that_was_chosen_on_the_page(tmp_path: Path) -> None:
    port = find_free_port()
    settings = tmp_path / "tilekeeper" / "settings.toml"
    settings.parent.mkdir()
    settings.write_text(f"[page]\nsecure_port = {find_free_port()}\n", encoding="utf-8")
    words = ["--camera", "phone", "--port", str(port), "--host", "127.0.0.1"]
    environment = {**os.environ, "XDG_DATA_HOME": str(tmp_path / "data"), "XDG_CONFIG_HOME": str(tmp_path)}
    with subprocess.Popen([*COMMAND, *words], env=environment, stdout=subprocess.PIPE, text=True) as program:
        try:
            assert program.stdout is not None
            link = next(filter(None, (re.search(r"open this once: \S+(/enter/\S+)", line) for line in program.stdout)))
            browser = Browser(port)
            browser.get(link[1])
            form = browser.get("/settings")
            (version,) = re.findall(r'name="version" value="([^"]*)"', form)
            assert browser.post("/settings", form, version=version, **{"camera.source": "phone-stream"}) == 303
            assert "/settings/restart" in browser.get("/settings")
            assert browser.post("/settings/restart", form) == 200
            until(lambda: has_restarted(browser))
            assert program.poll() is None and "Phone as camera" in browser.get("/dialogs/more")
        finally:
            program.terminate()
            assert program.wait(PATIENCE_S) == 0
