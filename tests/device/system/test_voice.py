"""The voice says scores and turns, never keeps the session waiting, and says once that it cannot speak."""

from __future__ import annotations

import shutil
import threading
import time
import wave
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from device.catalogue import load_catalogue
from device.session.commands.answers import AnswerQuestion
from device.session.commands.challenges import ChallengePlay
from device.session.commands.corrections import CorrectSquare, RevealRack
from device.session.commands.games import DrawFirst, EndGame, StartGame, Undo
from device.session.commands.turn_corrections import InsertTurn
from device.session.commands.turns import EndTurn, PassTurn
from device.session.snapshot import Phase, Sight
from device.session.table_session import TableSession
from device.storage.store import GameStore
from device.system.voice import Voice, describe_change, find_usb_loudspeaker, make_espeak_speaker
from engine.events import GameStarted
from tests.support.text_table import FARM, HORN, TextTable
from tests.support.waiting import PATIENCE_S, until

WORDS = frozenset({"HORN", "FARM"})
STARTED = GameStarted(("Anna", "Ben"), lexicon="test")
ENGLISH = load_catalogue("en")


@pytest.fixture
def session(table: TextTable, tmp_path: Path) -> Iterator[TableSession]:
    with GameStore(tmp_path / "games.db") as store, TableSession(table, table, store, WORDS) as session:
        yield session


class Mouth:
    """A speaker that keeps the sentences it gets."""

    def __init__(self) -> None:
        self.said: list[tuple[str, str]] = []
        self.speaks = threading.Event()
        self.free = threading.Event()
        self.free.set()

    def __call__(self, text: str, language: str) -> None:
        self.speaks.set()
        self.free.wait(PATIENCE_S)
        self.said.append((text, language))

    def wait_for(self, text: str) -> None:
        until(lambda: any(text in one for one, _ in self.said))


def test_score_and_whose_turn_are_said(session: TableSession, table: TextTable) -> None:
    mouth = Mouth()
    with Voice(session, mouth):
        session.submit(StartGame(STARTED)).result(PATIENCE_S)
        mouth.wait_for("Anna's turn.")
        table.lay(HORN)
        session.submit(EndTurn()).result(PATIENCE_S)
        mouth.wait_for("Anna: 14 points. Ben's turn.")
        table.lay(HORN, FARM)
        session.submit(EndTurn()).result(PATIENCE_S)
        mouth.wait_for("Ben: 9 points. Anna's turn.")
        session.submit(Undo()).result(PATIENCE_S)
        mouth.wait_for("The last turn was undone. Ben's turn.")
    assert all(language == "en" for _, language in mouth.said)


def test_invalid_word_a_pass_and_the_end_are_said(session: TableSession, table: TextTable) -> None:
    mouth = Mouth()
    with Voice(session, mouth):
        session.submit(StartGame(STARTED)).result(PATIENCE_S)
        table.lay(("HRON", 7, 5, True))
        session.submit(EndTurn()).result(PATIENCE_S)
        mouth.wait_for("hron is not in the word list.")
        session.submit(ChallengePlay()).result(PATIENCE_S)
        mouth.wait_for("takes the play back.")
        session.submit(PassTurn()).result(PATIENCE_S)
        mouth.wait_for("passes.")
        session.submit(EndGame()).result(PATIENCE_S)
        for player in session.state.racks_wanted:
            session.submit(RevealRack(player, "")).result(PATIENCE_S)
        mouth.wait_for("share the win with 0 points.")


def test_player_who_drew_the_best_tile_is_said_on_the_first_seat_too(session: TableSession) -> None:
    before = session.submit(StartGame(replace(STARTED, draw=True))).result(PATIENCE_S)
    now = session.submit(DrawFirst(("A", "B"))).result(PATIENCE_S)
    assert describe_change(before, now, ENGLISH) == "Anna's turn."


def test_whose_turn_it_is_is_said_after_the_answer_to_a_question(session: TableSession, table: TextTable) -> None:
    before = session.submit(StartGame(STARTED)).result(PATIENCE_S)
    table.lay(("HO?N", 7, 5, True))
    asked = session.submit(EndTurn()).result(PATIENCE_S)
    assert describe_change(before, asked, ENGLISH) == "Anna: 12 points. There is a question on the page."
    answered = session.submit(AnswerQuestion(answer=1)).result(PATIENCE_S)
    assert describe_change(asked, answered, ENGLISH) == "Ben's turn."


def test_reading_without_a_result_is_no_new_turn(session: TableSession) -> None:
    before = session.submit(StartGame(STARTED)).result(PATIENCE_S)
    looking = replace(before, phase=Phase.LOOKING)
    assert describe_change(before, looking, ENGLISH) == describe_change(looking, before, ENGLISH) == ""


def test_score_that_a_correction_changes_is_said_again(session: TableSession, table: TextTable) -> None:
    session.submit(StartGame(STARTED)).result(PATIENCE_S)
    table.lay(HORN)
    before = session.submit(EndTurn()).result(PATIENCE_S)
    now = session.submit(CorrectSquare("F8", "B")).result(PATIENCE_S)
    assert describe_change(before, now, ENGLISH) == "Anna: 12 points. born is not in the word list."


def test_letters_that_are_entered_again_are_no_turn(session: TableSession) -> None:
    session.submit(StartGame(STARTED)).result(PATIENCE_S)
    session.submit(EndGame()).result(PATIENCE_S)
    session.submit(RevealRack(0, "A")).result(PATIENCE_S)
    before = session.submit(RevealRack(1, "Q")).result(PATIENCE_S)
    now = session.submit(RevealRack(1, "AB")).result(PATIENCE_S)
    assert now.turns[-1].score == -4 and describe_change(before, now, ENGLISH) == ""


def test_end_by_the_rules_names_no_player_to_move(session: TableSession) -> None:
    rules = replace(STARTED.rules, scoreless_turns=2)
    session.submit(StartGame(replace(STARTED, rules=rules))).result(PATIENCE_S)
    before = session.submit(PassTurn()).result(PATIENCE_S)
    now = session.submit(PassTurn()).result(PATIENCE_S)
    assert now.end_due and describe_change(before, now, ENGLISH) == "Ben passes. There is a question on the page."


def test_german_tiles_are_spoken_of_in_german_and_unwritten_languages_in_english(session: TableSession) -> None:
    mouth = Mouth()
    with Voice(session, mouth):
        session.submit(StartGame(GameStarted(("Änne", "Bär"), tile_set="de"))).result(PATIENCE_S)
        mouth.wait_for("Änne ist dran.")
        assert mouth.said[-1][1] == "de"
        session.submit(StartGame(GameStarted(("Ana", "Ion"), tile_set="hu"))).result(PATIENCE_S)
        mouth.wait_for("Ana's turn.")
        assert mouth.said[-1][1] == "en"


def test_slow_voice_keeps_nobody_waiting_and_says_the_newest(session: TableSession, table: TextTable) -> None:
    mouth = Mouth()
    with Voice(session, mouth):
        session.submit(StartGame(STARTED)).result(PATIENCE_S)
        mouth.wait_for("Anna's turn.")
        mouth.free.clear()
        mouth.speaks.clear()
        table.lay(HORN)
        session.submit(EndTurn()).result(PATIENCE_S)
        assert mouth.speaks.wait(PATIENCE_S)
        for _ in range(3):
            session.submit(PassTurn()).result(PATIENCE_S)
        mouth.free.set()
        mouth.wait_for("Ben passes. Anna's turn.")
    assert len(mouth.said) <= 4


def test_voice_that_hangs_does_not_keep_the_table_from_stopping(
    session: TableSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("device.system.voice.CLOSE_TIMEOUT_S", 0.01)
    mouth = Mouth()
    mouth.free.clear()
    with Voice(session, mouth):
        session.submit(StartGame(STARTED)).result(PATIENCE_S)
        assert mouth.speaks.wait(PATIENCE_S)
        began = time.monotonic()
    assert time.monotonic() - began < 15.0  # then systemd kills the program
    mouth.free.set()


def test_missing_program_is_said_once_and_play_goes_on(session: TableSession, table: TextTable) -> None:
    told: list[str] = []
    with Voice(session, make_espeak_speaker(program="no-such-espeak"), told.append):
        session.submit(StartGame(STARTED)).result(PATIENCE_S)
        table.lay(HORN)
        session.submit(EndTurn()).result(PATIENCE_S)
        until(lambda: told)
        session.submit(PassTurn()).result(PATIENCE_S)
    assert len(told) == 1 and "sudo apt install espeak-ng" in told[0] and "\n" not in told[0]
    assert len(session.state.turns) == 2


def test_unchanged_state_is_not_spoken(session: TableSession) -> None:
    state = session.submit(StartGame(STARTED)).result(PATIENCE_S)
    assert describe_change(state, state, load_catalogue("en")) == ""


def test_inserted_turn_is_said_and_not_the_last_one_again(session: TableSession, table: TextTable) -> None:
    mouth = Mouth()
    session.submit(StartGame(STARTED)).result(PATIENCE_S)
    for words in ((HORN,), (HORN, FARM)):
        table.lay(*words)
        session.submit(EndTurn()).result(PATIENCE_S)
    with Voice(session, mouth):
        session.submit(InsertTurn(number=2, kind="exchange", player=0, count=3)).result(PATIENCE_S)
        until(lambda: mouth.said)
    assert [text for text, _ in mouth.said] == ["Anna exchanges tiles."]


def test_turn_that_may_be_over_is_asked_once(session: TableSession) -> None:
    before = session.submit(StartGame(STARTED)).result(PATIENCE_S)
    now = replace(before, sight=Sight.TURN_OVER)
    assert describe_change(before, now, load_catalogue("en")) == "Is Anna's turn over?"
    assert describe_change(now, now, load_catalogue("en")) == ""


@pytest.mark.skipif(shutil.which("espeak-ng") is None, reason="espeak-ng is not installed: apt-get install espeak-ng")
@pytest.mark.parametrize(("language", "text"), [("en", "Anna: 14 points. Ben's turn."), ("de", "Bär ist dran.")])
def test_espeak_speaks_each_language(tmp_path: Path, language: str, text: str) -> None:
    file = tmp_path / "said.wav"
    make_espeak_speaker("", "espeak-ng", "-w", str(file))(text, language)
    with wave.open(str(file)) as spoken:
        assert 0.5 < spoken.getnframes() / spoken.getframerate() < 10


def add_card(sound: Path, number: int, name: str, place: str, *devices: str) -> None:
    """Add a sound card as the kernel shows it in /sys; `place` is where it is plugged in."""
    card = sound.parent.parent / "devices" / place / "sound" / f"card{number}"
    for device in devices:
        (card / device).mkdir(parents=True)
    (card / "id").write_text(f"{name}\n", encoding="ascii")
    sound.mkdir(parents=True, exist_ok=True)
    (sound / f"card{number}").symlink_to(card)


def test_usb_loudspeaker_comes_before_the_card_that_alsa_takes(tmp_path: Path) -> None:
    sound = tmp_path / "class" / "sound"
    add_card(sound, 0, "vc4hdmi0", "platform/soc/hdmi", "pcmC0D0p")
    assert find_usb_loudspeaker(sound) == ""
    add_card(sound, 1, "C920", "pci0000:00/usb1/1-1", "pcmC1D0c")  # the microphone of a camera
    add_card(sound, 2, "Device", "pci0000:00/usb1/1-2", "pcmC2D0p", "pcmC2D0c")
    assert find_usb_loudspeaker(sound) == "plughw:CARD=Device"


def test_voice_uses_the_device_of_the_settings(tmp_path: Path) -> None:
    program, said = tmp_path / "espeak", tmp_path / "said"
    program.write_text(f'#!/bin/sh\necho "$@" >{said}\ncat >>{said}\n')
    program.chmod(0o755)
    make_espeak_speaker("plughw:CARD=Device", str(program))("Hello", "en")
    assert said.read_text().split() == ["-v", "en", "-d", "plughw:CARD=Device", "--stdin", "Hello"]
