"""What the doctor says of the connection to the hall, with a real broker."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from device.doctor import Finding, Severity, System
from device.doctor.hall import check_hall
from device.settings import Settings
from tests.support.broker import HAS_MOSQUITTO, USER, Broker

DOCUMENT = (Path(__file__).parents[3] / "docs" / "hall.md").read_text(encoding="utf-8")
EXAMPLES = dict(re.findall(r"```(toml|text)\n(.*?)```", DOCUMENT, re.DOTALL))
"""The settings of a table (`toml`) and the ACL of the broker (`text`) in the document."""


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    """A broker with the ACL of the document."""
    if not HAS_MOSQUITTO:
        pytest.skip("needs mosquitto: sudo apt install mosquitto")
    rights = tmp_path / "acl"
    rights.write_text(EXAMPLES["text"], encoding="utf-8")
    rights.chmod(0o600)
    broker = Broker(tmp_path, f"acl_file {rights}\n")
    broker.start()
    yield broker
    broker.stop()


def check_table(broker: Broker, table: str) -> Finding:
    """Return the finding about the table of this name, whose user is `USER`."""
    (finding,) = check_hall(System(), msgspec.structs.replace(Settings(), hall=broker.settings(table=table)))
    return finding


def test_table_that_may_publish_is_accepted(broker: Broker) -> None:
    assert check_table(broker, USER).state is Severity.GOOD


def test_table_whose_messages_the_broker_refuses_is_a_warning(broker: Broker) -> None:
    finding = check_table(broker, "7")
    assert finding.state is Severity.WARNING and "refuses the messages of the table 7: Not authorized" in finding.text
    assert f"let the user {USER} write tilekeeper/v1/7/#" in finding.remedy


def test_settings_in_the_document_fit_its_acl() -> None:
    hall = tomllib.loads(EXAMPLES["toml"])["hall"]
    assert "pattern write tilekeeper/v1/%u/#" in EXAMPLES["text"] and hall["user"] == hall["table"]
