"""`tilekeeper hall`: options that cannot be right are refused at the start."""

from __future__ import annotations

import argparse

import pytest

from device.cli import UserError, hall


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "--broker"),
        (["--broker", "broker.example", "--broker-port", "0"], "--broker-port 0: Enter 1 to 65535."),
        (["--broker", "broker.example", "--broker-port", "99999"], "--broker-port 99999: Enter 1 to 65535."),
        (["--broker", "broker.example", "--delay", "-1"], "--delay -1: Enter 0 to 1800 seconds."),
    ],
)
def test_option_that_cannot_be_right_is_refused(words: list[str], said: str) -> None:
    parser = argparse.ArgumentParser()
    hall.configure(parser)
    with pytest.raises(UserError, match=said):
        hall.run(parser.parse_args(words))
