"""Looking is free; touching needs the code of the table, and guessing it leads nowhere."""

from __future__ import annotations

import os
import re
import threading
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

from device.catalogue import get_text
from tests.support import samples
from tests.support.waiting import PATIENCE_S
from tests.web.conftest import ShownTable, pair, token
from web import create_app
from web.security.pairing import (
    FILE_NAME,
    FIRST_PAUSE_S,
    LOCKOUT_S,
    MAX_PAUSE_S,
    MAX_TRACKED_CLIENTS,
    MAX_TRIES_ALL_CLIENTS,
    MAX_TRIES_PER_CLIENT,
    OWNER_LINK_FILE_NAME,
    OWNER_S,
    PAIRING_WINDOW_S,
    Pairing,
    PairingCodeError,
    PairingLockedError,
    PairingRateLimiter,
    write_owner_link,
)


class Table:
    """A pairing with its own clock, which keeps the notices for the table."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.time = 1000.0
        self.pairing = Pairing(self.told.append, clock=lambda: self.time)

    def wrong(self) -> str:
        return "000000" if self.pairing.code != "000000" else "111111"


@pytest.fixture
def guarded() -> Table:
    return Table()


def test_code_is_six_digits_and_new_with_each_start() -> None:
    codes = {Pairing().code for _ in range(20)}
    assert len(codes) > 15 and all(len(code) == 6 and code.isdecimal() for code in codes)


def test_right_code_pairs_and_the_first_phone_is_admin(guarded: Table) -> None:
    first = guarded.pairing.pair(guarded.pairing.code, "1", "phone")
    code = guarded.pairing.code
    second = guarded.pairing.pair(f" {code[:3]} {code[3:]} ", "2", "tablet")
    assert (first.admin, second.admin) == (True, False)
    assert guarded.pairing.find_client(second.id) == second and guarded.pairing.find_client("other") is None


def test_device_is_locked_after_wrong_codes(guarded: Table) -> None:
    for left in range(MAX_TRIES_PER_CLIENT - 1, -1, -1):
        with pytest.raises(PairingCodeError) as wrong:
            guarded.pairing.pair(guarded.wrong(), "evil", "")
        assert wrong.value.tries_left == left
    assert guarded.told == [get_text("pairing-locked")]
    with pytest.raises(PairingLockedError):
        guarded.pairing.pair(guarded.pairing.code, "evil", "")
    assert guarded.pairing.pair(guarded.pairing.code, "good", "").admin
    guarded.time += LOCKOUT_S
    assert guarded.pairing.pair(guarded.pairing.code, "evil", "")


def guess_until_all_wait(guarded: Table) -> None:
    for number in range(MAX_TRIES_ALL_CLIENTS):
        with pytest.raises(PairingCodeError):
            guarded.pairing.pair(guarded.wrong(), f"10.0.0.{number}", "")


def test_many_devices_guessing_change_the_code_and_everybody_waits(guarded: Table) -> None:
    code = guarded.pairing.code
    guess_until_all_wait(guarded)
    assert guarded.told == [get_text("pairing-rests", "1")] and guarded.pairing.code != code
    with pytest.raises(PairingLockedError):
        guarded.pairing.pair(guarded.pairing.code, "10.9.9.9", "")
    guarded.time += FIRST_PAUSE_S
    assert guarded.pairing.pair(guarded.pairing.code, "10.9.9.9", "")


def test_each_wait_of_everybody_is_twice_as_long_up_to_an_hour(guarded: Table) -> None:
    waits = []
    for _ in range(8):
        guess_until_all_wait(guarded)
        with pytest.raises(PairingLockedError) as locked:
            guarded.pairing.pair("", "10.9.9.9", "")
        waits.append(locked.value.minutes)
        guarded.time += MAX_PAUSE_S
    assert waits == [1, 2, 4, 8, 16, 32, 60, 60]


def test_guesses_from_endless_addresses_take_no_endless_memory() -> None:
    tries = PairingRateLimiter()
    for number in range(10 * MAX_TRACKED_CLIENTS):
        tries.record_failure(f"2001:db8:0:{number:x}::1", 0.0)
    assert len(tries) == MAX_TRACKED_CLIENTS


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("192.168.0.1", "192.168.0.2", False),
        ("192.168.0.1", "::ffff:192.168.0.1", True),
        ("2001:db8::1", "2001:db8::ffff:2", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("fe80::1%wlan0", "fe80::2%wlan0", False),
    ],
)
def test_addresses_that_one_device_can_have_count_as_one(one: str, other: str, same: bool) -> None:
    tries = PairingRateLimiter()
    tries.record_failure(one, 0.0)
    assert (tries.count_tries_left(other) == MAX_TRIES_PER_CLIENT - 1) is same


def test_admin_passes_to_the_oldest_of_the_others(guarded: Table) -> None:
    phones = [guarded.pairing.pair(guarded.pairing.code, "1", "") for _ in range(3)]
    assert guarded.pairing.unpair(phones[0].id) and not guarded.pairing.unpair(phones[0].id)
    assert [(phone.id, phone.admin) for phone in guarded.pairing.clients] == [
        (phones[1].id, True),
        (phones[2].id, False),
    ]


def test_brute_force_over_the_page_is_locked_out_and_shown_to_all(
    table: ShownTable, app: Flask, client: FlaskClient
) -> None:
    table.show(samples.MIDGAME)
    code = app.extensions["pairing"].code
    wrong = [f"{number:06}" for number in range(MAX_TRIES_PER_CLIENT + 3) if f"{number:06}" != code]
    answers = [client.post("/pair", data={"csrf": token(client), "code": guess}).status_code for guess in wrong]
    assert answers[:MAX_TRIES_PER_CLIENT] == [409] * MAX_TRIES_PER_CLIENT and set(answers[MAX_TRIES_PER_CLIENT:]) == {
        429
    }
    assert client.post("/pair", data={"csrf": token(client), "code": code}).status_code == 429
    assert get_text("pairing-locked") in client.get("/").text


@pytest.mark.parametrize("code", ["", "12345", "½½½½½½", "١٢٣٤٥٦", "9" * 1000])
def test_nonsense_is_a_wrong_code(client: FlaskClient, code: str) -> None:
    assert client.post("/pair", data={"csrf": token(client), "code": code}).status_code == 409


def test_unpaired_phone_can_do_nothing_any_more(table: ShownTable, app: Flask, paired: FlaskClient) -> None:
    table.show(samples.MIDGAME)
    second = app.test_client()
    pair(second)
    mine, other = app.extensions["pairing"].clients
    assert second.post("/phones/unpair", data={"csrf": token(second), "phone": mine.id}).status_code == 403
    assert paired.post("/phones/unpair", data={"csrf": token(paired), "phone": other.id}).status_code == 205
    assert second.post("/actions/undo", data={"csrf": token(second), "seen": "4"}).status_code == 403
    assert paired.post("/phones/unpair", data={"csrf": token(paired), "phone": other.id}).status_code == 409


def test_phone_may_unpair_itself(app: Flask, paired: FlaskClient) -> None:
    second = app.test_client()
    pair(second)
    other = app.extensions["pairing"].clients[1]
    assert second.post("/phones/unpair", data={"csrf": token(second), "phone": other.id}).status_code == 205
    assert len(app.extensions["pairing"].clients) == 1 and paired


def test_forms_ask_who_is_not_paired_for_the_code(client: FlaskClient, paired: FlaskClient) -> None:
    for name in ("more", "exchange", "square", "rack", "new-game", "end-game"):
        assert 'name="code"' in client.get(f"/dialogs/{name}").text
        assert 'name="code"' not in paired.get(f"/dialogs/{name}").text


def test_cookie_of_another_table_is_refused(table: ShownTable, paired: FlaskClient) -> None:
    cookie = paired.get_cookie("tilekeeper")
    assert cookie
    other = create_app(table)
    client = other.test_client()
    client.set_cookie("tilekeeper", cookie.value)
    assert 'id="panel"' not in client.get("/").text
    other.extensions["live"].close()


# Restarts and clocks


def test_unpaired_phone_needs_a_new_code(guarded: Table) -> None:
    code, secret = guarded.pairing.code, guarded.pairing.secret
    phones = [guarded.pairing.pair(code, "1", "") for _ in range(2)]
    guarded.pairing.unpair(phones[1].id)
    for old in (code, secret):
        with pytest.raises(PairingCodeError):
            guarded.pairing.pair(old, "1", "")


# The secret of the QR code, the press on the panel, the link of the console


def test_secret_pairs_while_the_code_is_locked_for_everybody(guarded: Table) -> None:
    guess_until_all_wait(guarded)
    with pytest.raises(PairingLockedError):
        guarded.pairing.pair(guarded.pairing.code, "10.9.9.9", "")
    assert guarded.pairing.pair(guarded.pairing.secret, "10.9.9.9", "")


def test_name_of_a_paired_device_has_no_control_characters(guarded: Table) -> None:
    guarded.pairing.open_for_one_device()
    assert guarded.pairing.pair("", "192.0.2.1", "\x1b[2J\u202eenohPi\u2066").device == "[2J enohPi"
    assert guarded.told[-1] == get_text("pairing-done", "[2J enohPi")
    assert guarded.pairing.pair(guarded.pairing.code, "192.0.2.1", "\u200d").device == "?"


def test_name_of_a_paired_device_has_no_invisible_characters(guarded: Table) -> None:
    assert guarded.pairing.pair(guarded.pairing.code, "192.0.2.1", "\ufe0f").device == "?"


def test_press_on_the_panel_lets_one_device_in_for_a_minute(guarded: Table) -> None:
    guess_until_all_wait(guarded)
    guarded.pairing.open_for_one_device()
    assert guarded.pairing.is_open and guarded.pairing.pair("", "10.9.9.9", "iPhone")
    assert guarded.told[-1] == get_text("pairing-done", "iPhone") and not guarded.pairing.is_open
    with pytest.raises(PairingLockedError):
        guarded.pairing.pair("", "10.9.9.9", "")
    guarded.pairing.open_for_one_device()
    guarded.time += PAIRING_WINDOW_S
    with pytest.raises(PairingCodeError):
        guarded.pairing.pair("", "10.9.9.9", "")


@pytest.mark.parametrize("is_saved", [True, False])
def test_notice_about_a_pairing_waits_for_no_other_thread(tmp_path: Path, is_saved: bool) -> None:
    """The session holds its lock when it adds a notice, and when it renames players: both threads would wait."""
    are_done = []

    def notify(_: str) -> None:
        renaming = threading.Thread(target=pairing.rename_player, args=("Anna", "Bea"), daemon=True)
        renaming.start()
        renaming.join(PATIENCE_S)
        are_done.append(not renaming.is_alive())

    file = tmp_path / FILE_NAME
    pairing = Pairing(notify, file=file)
    if not is_saved:
        file.unlink()
        file.mkdir()
    pairing.open_for_one_device()
    pairing.assign_player(pairing.pair("", "1", "phone").id, "Anna")
    assert are_done and all(are_done)


def test_form_needs_no_code_while_pairing_is_open(app: Flask, client: FlaskClient) -> None:
    app.extensions["pairing"].open_for_one_device()
    assert 'class="digits"' not in client.get("/dialogs/more").text
    assert client.post("/pair", data={"csrf": token(client), "code": ""}).status_code == 205
    assert 'class="digits"' in app.test_client().get("/pair").text


def test_link_of_the_console_pairs_one_browser_once(app: Flask, client: FlaskClient) -> None:
    link = f"/enter/{app.extensions['pairing'].make_one_time_token()}"
    assert client.head(link).status_code == 404
    assert client.get(link, headers={"Sec-Purpose": "prefetch"}).status_code == 404
    assert client.get(link).headers["Location"] == "/" and client.get("/phones").status_code == 200
    assert len(app.extensions["pairing"].clients) == 1
    for wrong in (link, "/enter/x", "/enter/%20"):
        assert app.test_client().get(wrong).status_code == 404
    assert len(app.extensions["pairing"].clients) == 1


@pytest.mark.usefixtures("paired")
def test_link_of_the_console_makes_a_paired_phone_an_owner(app: Flask) -> None:
    pairing, guest = app.extensions["pairing"], app.test_client()
    pair(guest)
    assert [phone.admin for phone in pairing.clients] == [True, False]
    assert guest.get(f"/enter/{pairing.make_one_time_token()}").headers["Location"] == "/"
    assert [phone.admin for phone in pairing.clients] == [True, True]


def test_link_of_the_console_is_valid_for_fifteen_minutes(guarded: Table) -> None:
    token = guarded.pairing.make_one_time_token()
    guarded.time += OWNER_S
    assert guarded.pairing.redeem(token, "late") is None


def test_link_of_the_command_makes_one_owner(tmp_path: Path) -> None:
    pairing = Pairing(file=tmp_path / "pairing.json")
    pairing.pair(pairing.code, "first", "")
    token = write_owner_link(tmp_path)
    assert pairing.redeem("x", "guess") is None
    owner = pairing.redeem(token, "laptop")
    assert owner and owner.admin and len(pairing.clients) == 2
    assert pairing.redeem(token, "again") is None


def test_old_link_of_the_command_is_refused(tmp_path: Path) -> None:
    token = write_owner_link(tmp_path)
    os.utime(tmp_path / OWNER_LINK_FILE_NAME, (0, 0))
    assert Pairing(file=tmp_path / "pairing.json").redeem(token, "late") is None


def test_file_on_the_card_makes_the_next_device_an_owner(tmp_path: Path) -> None:
    (tmp_path / "owner.txt").touch()
    pairing = Pairing(file=tmp_path / "pairing.json")
    pairing.pair(pairing.code, "first", "")
    pairing = Pairing(file=tmp_path / "pairing.json", card_file=tmp_path / "owner.txt")
    assert [pairing.pair(pairing.code, address, "").admin for address in ("new", "next")] == [True, False]


def test_owner_makes_another_phone_an_owner(app: Flask, paired: FlaskClient) -> None:
    pairing, guest = app.extensions["pairing"], app.test_client()
    pair(guest)
    phone = pairing.clients[1].id
    assert guest.post("/phones/owner", data={"csrf": token(guest), "phone": phone}).status_code == 403
    assert "Make owner" not in guest.get("/phones").text and "Make owner" in paired.get("/phones").text
    assert paired.post("/phones/owner", data={"csrf": token(paired), "phone": phone}).status_code == 205
    assert pairing.clients[1].admin


def test_phone_is_not_offered_what_only_an_owner_may_do(app: Flask, paired: FlaskClient) -> None:
    guest = app.test_client()
    pair(guest)
    assert 'href="/report"' in paired.get("/dialogs/more").text
    assert 'href="/report"' not in guest.get("/dialogs/more").text


def test_admin_that_pairs_again_stays_the_admin(app: Flask, paired: FlaskClient) -> None:
    pairing = app.extensions["pairing"]
    before = pairing.clients
    pair(paired)
    assert paired.get(f"/enter/{pairing.make_one_time_token()}").headers["Location"] == "/"
    assert pairing.clients == before and before[0].admin


def read_form(client: FlaskClient) -> dict[str, str]:
    """Return the hidden fields of the form for pairing."""
    return dict(re.findall(r'type="hidden" name="(csrf|form)" value="([^"]+)"', client.get("/pair").text))


def copy_browser(client: FlaskClient) -> FlaskClient:
    """Return another browser with the same cookie."""
    copy, cookie = client.application.test_client(), client.get_cookie("tilekeeper")
    if cookie is None:
        client.get("/pair")
        cookie = client.get_cookie("tilekeeper")
    assert cookie
    copy.set_cookie("tilekeeper", cookie.value)
    return copy


@pytest.mark.parametrize("is_open", [False, True])
def test_form_that_is_sent_twice_pairs_one_device(app: Flask, client: FlaskClient, is_open: bool) -> None:
    """The second request of a double tap leaves the browser before the cookie of the first answer has arrived."""
    pairing = app.extensions["pairing"]
    if is_open:
        pairing.open_for_one_device()
    form = read_form(client) | {"code": "" if is_open else pairing.code}
    second = copy_browser(client)
    assert [phone.post("/pair", data=form).status_code for phone in (client, second)] == [205, 205]
    assert len(pairing.clients) == 1 and 'id="panel"' in second.get("/").text


def test_browser_with_a_planted_cookie_is_not_paired_with_the_others(app: Flask, client: FlaskClient) -> None:
    foreign = copy_browser(client)
    planted = read_form(foreign)
    code = app.extensions["pairing"].code
    own = read_form(client)
    assert own["csrf"] == planted["csrf"], "the cookie is the same"
    assert client.post("/pair", data=own | {"code": code}).status_code == 205
    assert foreign.post("/pair", data=planted | {"code": ""}).status_code == 409
    assert len(app.extensions["pairing"].clients) == 1 and 'id="panel"' not in foreign.get("/").text


def test_token_of_a_form_is_renewed_by_pairing(client: FlaskClient) -> None:
    before = token(client)
    pair(client)
    assert token(client) != before
    assert client.post("/actions/undo", data={"csrf": before, "seen": "1-4"}).status_code == 403
