"""Secrets and names that a report must not contain."""

from __future__ import annotations

import pytest

from device.report.contents import Pseudonyms, remove_secrets
from engine.events import GameStarted, PlayerRenamed, RecordImported, TurnInserted, to_json
from engine.ledger import Doubt, Entry, Sentence
from engine.ledger_data import read_entry, write_entry
from tests.support.archives import write_act

STARTED = to_json(GameStarted(("Anna", "Ben")))


@pytest.mark.parametrize(
    "text",
    [
        "GET /pair/hunter2-Secret HTTP/1.1",
        "http://tilekeeper.local:8080/enter/hunter2Secret",
        "Cookie: session=hunter2Secret; csrf=hunter2Secret",
        "Authorization: Bearer hunter2Secret",
        'wifi_password = "hunter2Secret"',
        "psk=hunter2Secret",
        "the hotspot uses hunter2Secret",
    ],
)
def test_secret_is_removed_wherever_it_is(text: str) -> None:
    secrets = ["hunter2Secret"] if "hotspot" in text else []
    assert "hunter2" not in remove_secrets(text, secrets) and "[removed]" in remove_secrets(text, secrets)


def test_short_texts_are_no_secrets() -> None:
    assert remove_secrets("a table", ["", "a"]) == "a table"


def test_names_become_numbers_by_seat() -> None:
    names = Pseudonyms([STARTED, to_json(PlayerRenamed(1, "Benjamin"))], ["Zoë"])
    assert names.by_name == {"Anna": "Player 1", "Ben": "Player 2", "Benjamin": "Player 2", "Zoë": "Player 3"}
    assert names.replace_in_text("ANNA beat Ben, Zoë's phone, Benjamin and a Bench") == (
        "Player 1 beat Player 2, Player 3's phone, Player 2 and a Bench"
    )


def test_names_are_replaced_in_events_and_nothing_else_is() -> None:
    names = Pseudonyms([to_json(GameStarted(("A", "HORN")))])
    assert names.replace_in_event(STARTED)["players"] == ["Player 1", "Player 2"]
    assert names.replace_in_event(to_json(PlayerRenamed(1, "Ben")))["name"] == "Player 2"
    play = {"kind": "play", "player": 0, "tiles": [[112, "A"]]}
    assert names.replace_in_event(play) == play


def test_names_are_replaced_in_entries_and_in_the_texts_of_questions() -> None:
    answer = Sentence("taken-back", ("Ben",))
    doubt = Doubt("asked-tiles-removed", ("The last play of Ben", Sentence("and", ("Anna", "HORN"))), ((0, answer),))
    entry = Entry(1, 1, ((PlayerRenamed(1, "Zoë"),), (TurnInserted(None, PlayerRenamed(0, "Mia")),)), doubt=doubt)
    names = Pseudonyms([STARTED, write_entry(entry)])
    body = names.replace_in_event(write_entry(entry))
    assert read_entry(1, body) == Entry(
        1,
        1,
        ((PlayerRenamed(1, "Player 2"),), (TurnInserted(None, PlayerRenamed(0, "Player 1")),)),
        doubt=Doubt(
            "asked-tiles-removed",
            ("The last play of Player 2", Sentence("and", ("Player 1", "HORN"))),
            ((0, Sentence("taken-back", ("Player 2",))),),
        ),
    )


def test_lines_of_an_imported_file_are_removed() -> None:
    record = write_act(RecordImported((">Anna: AEINRST 8D STAINER +66 66", "#note Anna coughs")))
    assert read_entry(1, Pseudonyms([STARTED]).replace_in_event(record)).alternatives == ((RecordImported(()),),)
