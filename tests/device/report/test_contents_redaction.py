"""Secrets and names that a report must not contain."""

from __future__ import annotations

import pytest

from device.report.contents import Pseudonyms, remove_secrets
from engine.events import GameStarted, Passed, PlayerRenamed, QuestionDeferred, RecordImported, from_json, to_json
from engine.messages import join_messages, key_of, make_message, values_of

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


def test_names_are_replaced_in_the_texts_of_a_deferred_question() -> None:
    question = make_message("asked-tiles-removed", "The last play of {0} is gone.", "Ben")
    answer = join_messages(" ", [make_message("taken-back", "{0} took it back.", "Ben"), "Anna disagrees."])
    names = Pseudonyms([STARTED, to_json(GameStarted(("tiles", "Ben")))])
    body = names.replace_in_event(to_json(QuestionDeferred(0, question, (answer, "No"), ((Passed(1),), ()), 1)))
    event = from_json(body)
    assert isinstance(event, QuestionDeferred)
    assert (event.text, *event.texts) == (
        "The last play of Player 2 is gone.",
        "Player 2 took it back. Player 1 disagrees.",
        "No",
    )
    assert (key_of(event.text), values_of(event.text)) == ("asked-tiles-removed", ("Player 2",))
    assert "Ben" not in str(body) and "Anna" not in str(body)


def test_lines_of_an_imported_file_are_removed() -> None:
    record = to_json(RecordImported((">Anna: AEINRST 8D STAINER +66 66", "#note Anna coughs")))
    assert Pseudonyms([STARTED]).replace_in_event(record)["lines"] == []
