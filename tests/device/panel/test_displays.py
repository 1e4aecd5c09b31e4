"""The small displays, on luma's dummy device."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest
from luma.core.device import dummy
from luma.core.virtual import sevensegment
from luma.led_matrix.segment_mapper import dot_muncher
from PIL import Image

from device.panel.displays import (
    BLANK_SCORE_PAGE,
    DigitDisplay,
    DisplayController,
    DisplayError,
    PairingDetails,
    PairingPage,
    PixelDisplay,
    ScorePage,
    choose_score_pages,
    draw_pairing_pages,
    draw_score_page,
    format_digits,
    format_pairing_digits,
    make_pairing_details,
    open_display,
)
from device.session.commands.games import Pause, StartGame
from device.session.commands.turns import EndTurn
from device.session.snapshot import Phase, PlayerView, TableSnapshot, TurnView
from device.session.table_session import TableSession
from device.storage.store import GameStore
from device.system.voice import format_turn_kind
from device.system.wifi import Hotspot
from engine.events import GameStarted
from engine.state import TurnKind
from tests.support.text_table import FARM, HORN, TextTable
from tests.support.waiting import PATIENCE_S, until

TWO = TableSnapshot(
    phase=Phase.TURN,
    players=(PlayerView("Anna", 14), PlayerView("Ben", 9)),
    turn_of=1,
    turns=(TurnView(1, 0, "play", 14, 14, "8F", "HORN"), TurnView(2, 1, "pass", 0, 9)),
)


def test_two_players_have_a_display_each() -> None:
    assert choose_score_pages(TWO, 2) == (
        ScorePage("Anna", 14, last_play="HORN +14"),
        ScorePage("Ben", 9, last_play="pass +0", to_move=True),
    )


def test_provisional_turn_is_marked_on_the_display() -> None:
    turn = replace(TWO.turns[0], provisional=True)
    assert choose_score_pages(replace(TWO, turns=(turn,)), 2)[0].last_play == "HORN +14 ?"


def test_with_more_players_they_show_whose_turn_it_is_and_who_played_last() -> None:
    three = TableSnapshot(players=(*TWO.players, PlayerView("Cleo", 30)), turn_of=2, turns=TWO.turns)
    assert [face.name for face in choose_score_pages(three, 2)] == ["Cleo", "Ben"]
    assert [face.name for face in choose_score_pages(three, 1)] == ["Cleo"]


def test_without_a_game_they_are_blank() -> None:
    assert choose_score_pages(TableSnapshot(), 2) == (BLANK_SCORE_PAGE, BLANK_SCORE_PAGE)


def test_clock_is_shown_where_there_is_one() -> None:
    assert [face.clock for face in choose_score_pages(TWO, 2, lambda player: 600.0 - player)] == ["10:00", "9:59"]
    assert [face.clock for face in choose_score_pages(TWO, 2, lambda _: None)] == ["", ""]


@pytest.mark.parametrize(
    ("face", "text"),
    [
        (BLANK_SCORE_PAGE, "        "),
        (ScorePage("Anna", 123), "     123"),
        (ScorePage("Anna", 123, "9:05"), "123  9.05"),
        (ScorePage("Anna", 123, "-12:34"), "123-12.34"),
        (ScorePage("Anna", -5, "25:00"), "-5  25.00"),
        (ScorePage("Anna", 1023, "-12:34"), "1023 -12"),
    ],
)
def test_digits_show_total_and_clock(face: ScorePage, text: str) -> None:
    assert format_digits(face) == text and len(text.replace(".", "")) == 8


def white(image: Image.Image, box: tuple[int, int, int, int]) -> int:
    return int(np.asarray(image.crop(box).convert("L")).astype(bool).sum())


def test_face_is_drawn_on_its_lines() -> None:
    size = (128, 64)
    image = draw_score_page(ScorePage("Anna", 123, "9:05", "HORN +14"), size)
    name, total, clock, last = (0, 0, 128, 16), (0, 17, 64, 46), (70, 17, 128, 46), (0, 48, 128, 64)
    assert all(white(image, box) > 20 for box in (name, total, clock, last))
    no_clock = draw_score_page(ScorePage("Anna", 123), size)
    assert white(no_clock, clock) == white(no_clock, last) == 0
    assert white(draw_score_page(ScorePage("Anna", to_move=True), size), name) > 128 * 10, "the name is turned round"
    assert white(draw_score_page(BLANK_SCORE_PAGE, size), (0, 0, 128, 64)) == 0


def eight_digits() -> sevensegment:
    return sevensegment(dummy(width=8, height=8, mode="1"), segment_mapper=dot_muncher)


@pytest.fixture
def session(table: TextTable, tmp_path: Path) -> Iterator[TableSession]:
    with GameStore(tmp_path / "games.db") as store, TableSession(table, table, store) as session:
        yield session


def test_displays_follow_the_table(session: TableSession, table: TextTable) -> None:
    oled = dummy(width=128, height=64, mode="1")
    segments = eight_digits()
    with DisplayController(session, [PixelDisplay(oled), DigitDisplay(segments)]):
        session.submit(StartGame(GameStarted(("Anna", "Ben")))).result(PATIENCE_S)
        until(lambda: str(segments.text) == "       0")
        table.lay(HORN)
        session.submit(EndTurn()).result(PATIENCE_S)
        anna = draw_score_page(ScorePage("Anna", 14, last_play="HORN +14"), oled.size)
        until(lambda: np.array_equal(np.asarray(oled.image), np.asarray(anna)))
    assert not [t.name for t in threading.enumerate() if t.name == "displays"]
    assert white(oled.image, (0, 0, 128, 64)) == 0, "dark after the close"


def test_running_clock_ticks_without_news(session: TableSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("device.panel.displays.CLOCK_REFRESH_S", 0.05)
    left = [61.0]
    segments = eight_digits()
    session.submit(StartGame(GameStarted(("Anna", "Ben")))).result(PATIENCE_S)
    with DisplayController(session, [DigitDisplay(segments)], lambda _: left[0]):
        until(lambda: str(segments.text).endswith("1.01"))
        left[0] = 59.0
        until(lambda: str(segments.text).endswith("0.59"))


WIFI = Hotspot("Tilekeeper-7c2a", "k3m9x7q2wd", "10.42.0.1")
INVITATION = PairingDetails("192.168.178.120:8080", "http://192.168.178.120:8080/pair/Hq3_x7Zw9-Lm2Pd4", "123456", WIFI)


def scanned(page: Image.Image) -> str:
    """Return the text that a phone reads from the QR code on a display."""
    seen = cv2.resize(np.asarray(page.convert("L")), None, fx=6, fy=6, interpolation=cv2.INTER_NEAREST)
    return str(cv2.QRCodeDetector().detectAndDecode(seen)[0])


def test_oled_shows_codes_that_a_phone_reads_and_the_same_in_letters() -> None:
    pages = draw_pairing_pages(INVITATION, (128, 64))
    assert [scanned(page) for page in pages] == [INVITATION.link, "", WIFI.qr_text, ""]
    for page in pages:
        assert white(page, (66, 0, 128, 64)) > 100
        assert white(page, (127, 0, 128, 64)) == 0, "nothing runs out of the display"


def test_display_too_low_for_a_code_shows_letters_alone() -> None:
    assert len(draw_pairing_pages(INVITATION, (128, 32))) == 2
    assert all(white(page, (0, 0, 128, 32)) > 100 for page in draw_pairing_pages(INVITATION, (128, 32)))


def test_digits_show_the_code_and_an_address_in_numbers() -> None:
    segments = eight_digits()
    pages = format_pairing_digits(INVITATION)
    assert [page.strip() for page in pages] == ["C 123456", "192.168.", "178.120", "P   8080"]
    for page in pages:
        segments.text = page  # raises for what eight digits cannot show
    assert [page.strip() for page in format_pairing_digits(PairingDetails("table.local:80", "", "123456"))] == [
        "C 123456"
    ]


def test_phones_are_sent_to_the_wifi_of_the_table_only_while_it_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    found = ["http://localhost:8080", "http://table.local:8080"]
    monkeypatch.setattr(Hotspot, "is_active", lambda _: False)
    closed = make_pairing_details("123456", "Hq3_x7Zw9-Lm2Pd4", found, WIFI)
    assert (closed.address, closed.wifi) == ("table.local:8080", None)
    monkeypatch.setattr(Hotspot, "is_active", lambda _: True)
    opened = make_pairing_details("123456", "Hq3_x7Zw9-Lm2Pd4", found, WIFI)
    assert (opened.link, opened.wifi) == ("http://10.42.0.1:8080/pair/Hq3_x7Zw9-Lm2Pd4", WIFI)


def test_phones_are_invited_until_the_first_turn_in_a_pause_and_in_the_lobby(
    session: TableSession, table: TextTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("device.panel.displays.PAGE_DURATION_S", 0.05)
    segments = eight_digits()
    shown: list[str] = []

    class Digits(DigitDisplay):
        def show(self, what: ScorePage | PairingPage) -> None:
            super().show(what)
            shown.append(str(segments.text).strip())

    def shows(*texts: str) -> bool:
        shown.clear()
        until(lambda: set(texts) <= set(shown))
        return True

    with DisplayController(session, [Digits(segments)], None, lambda: INVITATION):
        assert shows("C 123456", "192.168.") and "0" not in shown
        session.submit(StartGame(GameStarted(("Anna", "Ben")))).result(PATIENCE_S)
        assert shows("C 123456", "0")
        table.lay(HORN)
        session.submit(EndTurn()).result(PATIENCE_S)
        table.lay(HORN, FARM)
        session.submit(EndTurn()).result(PATIENCE_S)
        until(lambda: shown[-1:] == ["14"])  # Anna is to play
        shown.clear()
        time.sleep(0.15)  # for three pages
        assert shown == []
        session.submit(Pause()).result(PATIENCE_S)
        assert shows("C 123456", "14")


def test_display_that_failed_once_shows_the_newest_total(
    session: TableSession, table: TextTable, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """An error on the bus must not leave an old total on the display until the next turn."""
    monkeypatch.setattr("device.panel.displays.RETRY_INTERVAL_S", 0.01)
    segments = eight_digits()
    failures = iter(range(3))

    class Noisy(DigitDisplay):
        def show(self, page: ScorePage | PairingPage) -> None:
            if isinstance(page, ScorePage) and page.total and next(failures, None) is not None:
                raise OSError("remote I/O error")
            super().show(page)

    session.submit(StartGame(GameStarted(("Anna", "Ben")))).result(PATIENCE_S)
    with DisplayController(session, [Noisy(segments), DigitDisplay(eight_digits())]):
        until(lambda: str(segments.text) == "       0")
        table.lay(HORN)
        session.submit(EndTurn()).result(PATIENCE_S)
        until(lambda: str(segments.text) == "      14")
    assert caplog.text.count("display 1 does not answer") == 1, "each fault is logged once"


def test_long_play_is_drawn_with_its_whole_score() -> None:
    """Drawn beside each other, scores that differ in their last digit must differ."""
    first, second = (
        draw_score_page(ScorePage("Anna", 9, last_play=f"OVERSPECIALIZED +21{n}"), (128, 64)) for n in (0, 8)
    )
    assert not np.array_equal(np.asarray(first), np.asarray(second))


def test_display_that_fails_takes_no_other_with_it(session: TableSession, caplog: pytest.LogCaptureFixture) -> None:
    class Loose(PixelDisplay):
        def show(self, what: ScorePage | PairingPage) -> None:
            assert isinstance(what, ScorePage)
            raise OSError(f"remote I/O error at {what.name}")

    segments = eight_digits()
    oled = dummy(width=128, height=64, mode="1")
    session.submit(StartGame(GameStarted(("Anna", "Ben")))).result(PATIENCE_S)
    with DisplayController(session, [Loose(oled), DigitDisplay(segments)]):
        until(lambda: str(segments.text) == "       0")
    assert "display 1 does not answer: remote I/O error at Anna" in caplog.text


def test_display_that_cannot_be_switched_off_leaves_no_other_on(
    session: TableSession, caplog: pytest.LogCaptureFixture
) -> None:
    closed: list[str] = []

    class Unplugged(PixelDisplay):
        def close(self) -> None:
            raise OSError("remote I/O error")

    class Wired(PixelDisplay):
        def close(self) -> None:
            closed.append("wired")

    with DisplayController(session, [Unplugged(dummy()), Wired(dummy())]):
        pass
    assert closed == ["wired"] and "display 1 cannot be switched off: remote I/O error" in caplog.text


@pytest.mark.parametrize("spec", ["lcd:1", "oled", "oled:x"])
def test_unknown_display_is_an_error(spec: str) -> None:
    with pytest.raises(DisplayError, match="Enter oled:0x3C, oled:0x3D, digits:0 or digits:1"):
        open_display(spec)


def test_missing_bus_is_an_error() -> None:
    if Path("/dev/i2c-1").exists():
        pytest.skip("this machine has an I2C bus")
    with pytest.raises(DisplayError, match=r"is not installed. Run|does not answer"):
        open_display("oled:0x3C")


def test_a_turn_without_a_word_is_said_in_the_language_of_the_tiles() -> None:
    passed = TurnView(1, 0, "pass", 0, 14)
    state = TableSnapshot(players=(PlayerView("Anna", 14),), turns=(passed,), tile_set="de")
    assert choose_score_pages(state, 1)[0].last_play == "passt +0"
    assert choose_score_pages(replace(state, tile_set="en_super"), 1)[0].last_play == "pass +0"


@pytest.mark.parametrize("tiles", ["de", "en", "ro"])
@pytest.mark.parametrize("kind", sorted(set(TurnKind) - {TurnKind.PLAY}))
def test_every_kind_of_turn_has_a_short_word(kind: str, tiles: str) -> None:
    assert format_turn_kind(kind, tiles)


@pytest.mark.parametrize("letters", ["ÄÖÜ", "ŁŻĆ", "ΑΩΨ", "АЖЯ"])
def test_oled_draws_each_letter_of_a_name_differently(letters: str) -> None:
    drawn = {draw_score_page(ScorePage(letter, 12), (128, 64)).tobytes() for letter in letters}
    assert len(drawn) == len(letters)
