"""The contents of a problem report."""

from __future__ import annotations

import io
import json
import zipfile

import pytest

from device.report.contents import Report, ReportChoice, ReportSources, make_report
from device.storage.errors import ArchiveError
from device.storage.store import GameStore

SECRETS = ("horn-farm-paste", "123456", "pairing-secret-in-the-code")
SOURCES = ReportSources(
    lambda: "own wi-fi: Tilekeeper with horn-farm-paste; Anna's phone",
    lambda: "WARNING web: Ben tried 123456, then /pair/pairing-secret-in-the-code",
    lambda: "1.0",
    lambda: SECRETS,
)
NOW = 1_800_000_000.0


def unpack(report: Report, store: GameStore) -> dict[str, bytes]:
    """Return the members of the report's ZIP file."""
    with zipfile.ZipFile(io.BytesIO(b"".join(report.write(store)))) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_report_has_texts_events_and_the_chosen_pictures(store: GameStore) -> None:
    members = unpack(make_report(store, ReportChoice(1, (2,)), SOURCES, NOW), store)
    assert [*members] == [
        "report.json",
        "doctor.txt",
        "log.txt",
        "game.json",
        "pictures/00002-board.jpg",
        "pictures/00002-photo.jpg",
    ]
    assert json.loads(members["report.json"]) | {"made": 0} == {
        "form": "tilekeeper-report",
        "version": 2,
        "program": "1.0",
        "made": 0,
        "game": 1,
        "events": [2],
        "has_names": False,
    }
    assert len(json.loads(members["game.json"])["events"]) == 4


def test_list_of_members_is_what_is_written(store: GameStore) -> None:
    report = make_report(store, ReportChoice(1, (1, 3)), SOURCES, NOW)
    assert list(report.list_members()) == [(name, len(data)) for name, data in unpack(report, store).items()]
    assert report.file_name.startswith("tilekeeper-report-2027-01-1") and report.file_name.endswith("-game-1.zip")


@pytest.mark.parametrize("has_names", [True, False])
def test_secrets_are_in_no_member(store: GameStore, has_names: bool) -> None:
    members = unpack(make_report(store, ReportChoice(1, (1, 2, 3), has_names), SOURCES, NOW), store)
    for secret in SECRETS:
        assert not [name for name, data in members.items() if secret.encode() in data]
    assert b"[removed]" in members["doctor.txt"] and b"[removed]" in members["log.txt"]


def test_names_are_in_no_member_unless_chosen(store: GameStore) -> None:
    members = unpack(make_report(store, ReportChoice(1, (1, 2, 3)), SOURCES, NOW), store)
    assert not [name for name, data in members.items() if b"Anna" in data or b"Ben" in data]
    assert b"Player 1's phone" in members["doctor.txt"] and b"Player 2 tried" in members["log.txt"]
    with_names = unpack(make_report(store, ReportChoice(1, (), has_names=True), SOURCES, NOW), store)
    assert b"Anna" in with_names["game.json"] and b"Ben tried" in with_names["log.txt"]


def test_photographs_are_left_out_on_request(store: GameStore) -> None:
    report = make_report(store, ReportChoice(1, (1,), has_photos=False), SOURCES, NOW)
    assert [(number, kind) for number, kind, _ in report.pictures] == [(1, "board")]


def test_game_that_is_not_there_has_no_report(store: GameStore) -> None:
    with pytest.raises(ArchiveError):
        make_report(store, ReportChoice(7), SOURCES, NOW)
