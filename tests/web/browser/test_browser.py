"""The page in a real browser: it follows the game by itself, and its buttons work under a thumb."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from device.session.clock import ChessClock
from device.session.commands.challenges import ChallengePlay
from device.session.commands.corrections import CorrectSquare
from device.session.commands.games import Undo
from device.session.commands.turns import EndTurn, ExchangeTiles
from device.session.messages import Notice, Trouble
from tests.support import samples
from tests.support.browsers import MARKS, chromium, open_tab, visit
from tests.support.browsers import pair as pair_with
from tests.support.waiting import until
from tests.web.conftest import ShownTable
from web import create_app
from web.host_info import HostInfo
from web.security.server import PageServer

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Playwright, Route

pytestmark = MARKS
NOW = samples.MIDGAME.moment


@pytest.fixture
def server(table: ShownTable) -> Iterator[PageServer]:
    table.show(samples.BEFORE)
    app = create_app(table)
    with PageServer(app, 0, "127.0.0.1") as server:
        yield server


def pair(page: Page, server: PageServer) -> None:
    pair_with(page, server, server.app.extensions["pairing"].code)


def test_turn_appears_without_a_reload(table: ShownTable, server: PageServer, phone: Page) -> None:
    visit(phone, server)
    phone.wait_for_function("start => document.title.startsWith(start)", arg="Anna to play")
    with phone.expect_response(lambda answer: "/live/stream" in answer.url) as answered:
        phone.reload(wait_until="domcontentloaded")
    assert answered.value.status == 200
    table.show(samples.LOOKING)
    phone.wait_for_selector(".now.looking")
    table.show(samples.MIDGAME)
    phone.wait_for_selector("#last .headline")
    assert phone.inner_text(".on-turn .name") == "Ben"
    assert phone.locator("svg.board g.t").count() == 15
    assert phone.title().startswith("Ben to play")


def test_scanned_code_pairs_a_phone_in_the_wifi(table: ShownTable, playwright: Playwright) -> None:
    """Over http, browsers say only to the machine itself what a request is for (`Sec-Fetch-Dest`)."""
    app = create_app(table, host_info=HostInfo(names=("table.test",)))
    rules = "--host-resolver-rules=MAP table.test 127.0.0.1"
    with (
        PageServer(app, 0, "127.0.0.1") as server,
        chromium(playwright, rules) as browser,
        open_tab(browser) as phone,
    ):
        phone.goto(f"http://table.test:{server.port}/pair/{app.extensions['pairing'].secret}")
        phone.get_by_role("button", name="Pair", exact=True).click()
        phone.wait_for_selector("#panel")


def test_turn_appears_by_asking_when_no_stream_is_to_be_had(table: ShownTable, phone: Page) -> None:
    table.show(samples.BEFORE)
    with PageServer(create_app(table, max_streams=0), 0, "127.0.0.1") as server:
        visit(phone, server)
        table.show(samples.MIDGAME)
        phone.wait_for_selector("#last .headline")
        assert not phone.locator("html.offline").count()


def test_hidden_pages_let_other_pages_of_the_browser_load_and_follow_the_game(
    table: ShownTable, server: PageServer, phone: Page
) -> None:
    """A browser opens six connections to a host, and a phone gets another page with each scan of the code."""
    pages = [phone, *(phone.context.new_page() for _ in range(7))]
    for page in pages[:-1]:
        visit(page, server)
        set_hidden(page, is_hidden=True)
    visit(pages[-1], server)
    table.show(samples.MIDGAME)
    for page in pages:
        page.wait_for_selector("#last .headline")
    with phone.expect_request(lambda request: "/live/stream" in request.url):
        set_hidden(phone, is_hidden=False)


def test_hidden_page_with_a_sound_to_give_hears_of_turns_at_once(server: PageServer, phone: Page) -> None:
    visit(phone, server)
    phone.get_by_label("Play a sound").check()
    with phone.expect_request(lambda request: "/live/" in request.url) as asked:
        set_hidden(phone, is_hidden=True)
    assert "/live/stream" in asked.value.url


def set_hidden(page: Page, *, is_hidden: bool) -> None:
    """Let the page take itself for hidden, as the page of a tab in the background, or for visible."""
    page.evaluate(
        """hidden => {
            Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
            document.dispatchEvent(new Event("visibilitychange"));
        }""",
        is_hidden,
    )


def test_phone_says_when_the_table_is_gone_and_comes_back_with_it(table: ShownTable, phone: Page) -> None:
    table.show(samples.BEFORE)
    with PageServer(create_app(table), 0, "127.0.0.1") as server:
        port = server.port
        visit(phone, server)
        phone.wait_for_function("start => document.title.startsWith(start)", arg="Anna to play")
        phone.wait_for_timeout(300)
    phone.wait_for_selector("html.offline")
    phone.wait_for_function(
        r"() => /^no connection since \d\d:\d\d/.test(document.querySelector('.now').dataset.offline)"
    )
    table.show(samples.MIDGAME)
    with PageServer(create_app(table), port, "127.0.0.1"):
        phone.wait_for_selector("#last .headline")
        phone.wait_for_selector("html:not(.offline)")


def test_form_that_cannot_be_fetched_leaves_the_page_as_it_is(server: PageServer, phone: Page) -> None:
    """Otherwise the score would give way to the browser's own page, which does not come back with the Wi-Fi."""
    pair(phone, server)
    phone.context.set_offline(True)
    phone.get_by_role("link", name="More", exact=True).click()
    phone.locator("#panel output", has_text="The table does not answer").wait_for()
    phone.context.set_offline(False)
    phone.get_by_role("link", name="More", exact=True).click()
    phone.get_by_role("dialog").get_by_role("link", name="Pass / exchange").wait_for()
    assert phone.locator("#panel output").inner_text() == ""


def test_clocks_are_right_when_the_table_was_switched_on_again(
    table: ShownTable, phone: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time of the table counts from its start: a page that stayed open would show an hour of overtime."""
    before = SimpleNamespace(monotonic=lambda: time.monotonic() + 5000)
    clock = ChessClock(1500, 10, (1382.0, 40.0), running=1)
    with monkeypatch.context() as patch:
        patch.setattr("web.live.time", before)
        patch.setattr("web.pages.scoreboard.time", before)
        table.show(replace(samples.TIMED, clock=replace(clock, since=before.monotonic())))
        with PageServer(create_app(table), 0, "127.0.0.1") as server:
            port = server.port
            visit(phone, server)
            phone.locator(".clock.runs", has_text="24:").wait_for()
        phone.wait_for_selector("html.offline")
    table.show(replace(samples.TIMED, clock=replace(clock, used=(1382.0, 100.0), since=time.monotonic())))
    with PageServer(create_app(table), port, "127.0.0.1"):
        phone.locator(".clock.runs", has_text="23:").wait_for()
        phone.wait_for_timeout(400)  # the page counts on, five times a second
        assert phone.inner_text(".clock.runs").startswith("23:")


def test_refusal_goes_with_the_turn_after_the_one_that_caused_it(
    table: ShownTable, server: PageServer, phone: Page
) -> None:
    """Otherwise a phone that lay on the table would ask for another press of the button in a later turn."""
    pair(phone, server)
    refusal = phone.locator("#panel output")
    refusal.evaluate("output => { output.textContent = 'Press the button again.'; }")
    for number in (1, 2):
        table.show(replace(samples.BEFORE, events=samples.BEFORE.events + number))
        phone.wait_for_selector(f'[data-seen="{table.state.moment}"]')
        assert (refusal.inner_text() != "") == (number == 1)


def test_phone_says_that_the_table_went_back_to_earlier_turns(table: ShownTable, phone: Page) -> None:
    table.show(samples.MIDGAME)
    with PageServer(create_app(table), 0, "127.0.0.1") as server:
        port = server.port
        visit(phone, server)
        phone.wait_for_selector("#last .headline")
    phone.wait_for_selector("html.offline")
    assert not phone.locator(".lost-turns").count()
    table.show(replace(samples.MIDGAME, events=samples.MIDGAME.events - 1))  # an older copy of its games
    with PageServer(create_app(table), port, "127.0.0.1"):
        phone.wait_for_selector(".lost-turns")
        assert "later turns than the table has now" in phone.inner_text("#talk")
        phone.click(".lost-turns .dismiss")
        phone.wait_for_selector(".lost-turns", state="hidden")
        table.show(samples.MIDGAME)
        phone.wait_for_selector(f"html[data-seen='{NOW}']")
        assert not phone.locator(".lost-turns").is_visible()


@pytest.mark.parametrize("events", [1, 3], ids=["without-turns", "turns-undone"])
def test_game_that_was_begun_by_mistake_is_no_lost_turn(
    table: ShownTable, server: PageServer, phone: Page, events: int
) -> None:
    table.show(replace(samples.MIDGAME, game=NOW.game + 1, events=events, turns=()))
    visit(phone, server)
    phone.wait_for_selector(f"html[data-seen='{NOW.game + 1}-{events}']")
    table.show(samples.MIDGAME)  # Undo goes back to the game before
    phone.wait_for_selector(f"html[data-seen='{NOW}']")
    phone.wait_for_selector("#last .headline")
    assert not phone.locator(".lost-turns").count()


def test_buttons_press_the_tables_buttons_for_the_moment_that_is_shown(
    table: ShownTable, server: PageServer, phone: Page
) -> None:
    pair(phone, server)
    phone.wait_for_timeout(300)
    table.show(samples.MIDGAME)
    phone.wait_for_selector("html[data-events='4']")
    phone.get_by_role("button", name="End turn").tap()
    phone.wait_for_timeout(200)
    table.refusal = "There is no play to challenge."
    phone.get_by_role("button", name="Challenge").tap()
    phone.wait_for_selector("output:has-text('There is no play to challenge.')")
    assert table.submitted == [(EndTurn(), NOW), (ChallengePlay(), NOW)]


def test_second_half_of_a_double_tap_does_not_end_the_next_turn(
    table: ShownTable, server: PageServer, phone: Page
) -> None:
    table.show(samples.MIDGAME)
    pair(phone, server)
    button = phone.get_by_role("button", name="End turn")
    button.tap()
    until(lambda: table.submitted)
    table.show(replace(samples.MIDGAME, events=NOW.events + 1))
    phone.wait_for_selector(f"html[data-seen='{NOW.game}-{NOW.events + 1}']")
    assert button.is_disabled()
    phone.wait_for_selector("#panel .end-turn:enabled")
    button.tap()
    until(lambda: len(table.submitted) == 2)


def test_second_half_of_a_double_tap_in_a_form_does_not_press_the_button_below(
    table: ShownTable, server: PageServer, phone: Page
) -> None:
    """On a phone, the numbers of the form for an exchange are over the button that ends a turn."""
    table.show(replace(samples.MIDGAME, exchange_most=7))
    pair(phone, server)
    phone.evaluate("(address) => open(address)", "/dialogs/exchange")
    box = phone.locator("dialog [name=count][value='3']").bounding_box()
    assert box
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    phone.touchscreen.tap(x, y)
    phone.get_by_role("dialog").wait_for(state="hidden")
    phone.touchscreen.tap(x, y)
    phone.wait_for_selector("#panel .end-turn:enabled")
    assert table.submitted == [(ExchangeTiles(3), NOW)]


def test_buttons_rest_while_the_board_is_looked_at(table: ShownTable, server: PageServer, phone: Page) -> None:
    pair(phone, server)
    table.show(samples.LOOKING)
    phone.wait_for_function("start => document.title.startsWith(start)", arg="Looking")
    assert phone.get_by_role("button", name="End turn").is_disabled()
    table.show(samples.MIDGAME)
    phone.wait_for_function("start => document.title.startsWith(start)", arg="Ben")
    assert phone.get_by_role("button", name="End turn").is_enabled()
    assert phone.get_by_role("link", name="End game").count() == 0
    table.show(replace(samples.MIDGAME, end_due=True))
    phone.get_by_role("link", name="End game").wait_for()
    assert phone.get_by_role("button", name="End turn").count() == 0


@pytest.mark.parametrize("size", [(390, 844), (820, 1180), (1280, 800), (1920, 1080)])
def test_page_fits_the_width_of_its_screen(
    table: ShownTable, server: PageServer, browser: Browser, size: tuple[int, int]
) -> None:
    with open_tab(browser, size) as page:
        visit(page, server)
        for name, state in samples.EVERY.items():
            table.show(state)
            page.wait_for_selector(f"html[data-events='{state.events}'][data-phase='{state.phase}']")
            page.wait_for_timeout(100)
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme)
                assert page.evaluate("document.documentElement.scrollWidth") <= size[0], f"{name}, {scheme}"


def test_page_reads_without_script(table: ShownTable, server: PageServer, browser: Browser) -> None:
    table.show(samples.MIDGAME)
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    visit(page, server)
    assert page.inner_text("#last .points") == "+25"
    assert page.locator("noscript").inner_text().startswith("JavaScript is off")
    pair(page, server)
    page.get_by_role("button", name="Undo").click()
    page.wait_for_url(f"http://127.0.0.1:{server.port}/")
    page.get_by_role("link", name="More").click()
    page.get_by_role("link", name="Pass / exchange").click()
    page.get_by_role("button", name="Exchange 3").click()
    page.wait_for_url(f"http://127.0.0.1:{server.port}/")
    assert table.submitted == [(Undo(question_id=0), NOW), (ExchangeTiles(3), NOW)]
    context.close()


def test_square_is_put_right_by_a_tap_on_it_and_a_refusal_loses_nothing(
    table: ShownTable, server: PageServer, phone: Page
) -> None:
    table.show(samples.MIDGAME)
    pair(phone, server)
    phone.locator("#E8").tap()
    phone.get_by_role("dialog").get_by_text("What is on E8?").wait_for()
    table.refusal = "There is no such tile left."
    phone.get_by_label("The tile is a blank").check()
    phone.get_by_role("button", name="N", exact=True).tap()
    phone.get_by_text("There is no such tile left.").wait_for()
    assert phone.get_by_label("The tile is a blank").is_checked()
    table.refusal = ""
    phone.get_by_role("button", name="N", exact=True).tap()
    phone.get_by_role("dialog").wait_for(state="hidden")
    assert table.submitted == [(CorrectSquare("E8", "n"), NOW), (CorrectSquare("E8", "n"), NOW)]


def release(page: Page, held: list[Route]) -> None:
    """Let a held request go on, and wait until the script of the page has handled the answer."""
    with page.expect_event("requestfinished"):
        held.pop().continue_()
    page.evaluate("() => new Promise((done) => setTimeout(done, 100))")


def test_late_form_does_not_replace_the_form_of_another_square(
    table: ShownTable, server: PageServer, phone: Page
) -> None:
    table.show(samples.MIDGAME)
    pair(phone, server)
    held: list[Route] = []
    phone.route("**/dialogs/square?square=E8", lambda route: held.append(route))
    phone.locator("#E8").tap()
    phone.locator("#F8").tap()
    phone.get_by_role("dialog").get_by_text("What is on F8?").wait_for()
    release(phone, held)
    assert phone.get_by_role("dialog").get_by_text("What is on F8?").is_visible()


def test_late_answer_to_a_form_does_not_close_another_form(table: ShownTable, server: PageServer, phone: Page) -> None:
    table.show(samples.MIDGAME)
    pair(phone, server)
    held: list[Route] = []
    phone.route("**/actions/square", lambda route: held.append(route))
    phone.locator("#E8").tap()
    phone.get_by_role("button", name="N", exact=True).tap()
    phone.get_by_role("button", name="Close").tap()
    phone.locator("#F8").tap()
    phone.get_by_role("dialog").get_by_text("What is on F8?").wait_for()
    release(phone, held)
    assert phone.get_by_role("dialog").get_by_text("What is on F8?").is_visible()


def test_board_is_walked_with_the_arrow_keys(table: ShownTable, server: PageServer, phone: Page) -> None:
    table.show(samples.MIDGAME)
    pair(phone, server)
    phone.locator("#H8").focus()
    for key in ("ArrowUp", "ArrowRight", "ArrowRight", "ArrowDown"):
        phone.keyboard.press(key)
    assert phone.evaluate("document.activeElement.id") == "J8"
    table.show(samples.PHONY)
    phone.wait_for_selector("html[data-events='5']")
    assert phone.evaluate("document.activeElement.id") == "J8"
    phone.keyboard.press("Enter")
    phone.get_by_role("dialog").get_by_text("What is on J8?").wait_for()
    phone.keyboard.press("Escape")
    phone.get_by_role("dialog").wait_for(state="hidden")


def test_focus_stays_on_a_control_when_the_page_is_updated(table: ShownTable, server: PageServer, phone: Page) -> None:
    table.show(samples.ASKED)
    pair(phone, server)
    answer = phone.locator("#talk .answers button").first
    answer.focus()
    question = phone.locator("#talk .asked").element_handle()
    table.show(replace(samples.ASKED, notices=(Notice("Take your hands away.", Trouble.BOARD),)))
    phone.get_by_text("Take your hands away.").wait_for()
    assert answer.evaluate("button => button === document.activeElement")
    assert question.evaluate("asked => asked.isConnected"), "a screen reader would read the same question again"
    table.show(samples.MIDGAME)
    for control in (".mend", ".turns", ".to-rules"):
        table.show(samples.MIDGAME)
        phone.wait_for_selector("html[data-events='4']")
        phone.locator(control).last.focus()
        table.show(samples.PHONY)
        phone.wait_for_selector("html[data-events='5']")
        assert phone.locator(control).last.evaluate("one => one === document.activeElement"), control


def test_focus_returns_to_the_button_that_was_pressed(table: ShownTable, server: PageServer, phone: Page) -> None:
    table.show(samples.MIDGAME)
    pair(phone, server)
    phone.locator("button.end-turn").focus()
    phone.keyboard.press("Enter")
    until(lambda: table.submitted)
    for state in (samples.LOOKING, samples.PHONY):
        table.show(state)
    phone.wait_for_function("() => document.activeElement.matches('button.end-turn:not([disabled])')")


def test_focus_returns_to_the_square_whose_form_was_closed(table: ShownTable, server: PageServer, phone: Page) -> None:
    table.show(samples.MIDGAME)
    pair(phone, server)
    phone.locator("#H8").focus()
    phone.keyboard.press("Enter")
    phone.get_by_role("dialog").get_by_text("What is on H8?").wait_for()
    table.show(samples.PHONY)
    phone.wait_for_selector("html[data-events='5']")
    phone.keyboard.press("Escape")
    phone.get_by_role("dialog").wait_for(state="hidden")
    until(lambda: phone.evaluate("document.activeElement.id") == "H8")


def test_arrow_keys_follow_a_board_that_is_drawn_from_the_right(
    table: ShownTable, server: PageServer, phone: Page
) -> None:
    table.show(replace(samples.MIDGAME, board=replace(samples.MIDGAME.board, right_to_left=True)))
    pair(phone, server)
    phone.locator("#H8").focus()
    for key in ("ArrowLeft", "ArrowLeft", "ArrowDown", "ArrowRight"):
        phone.keyboard.press(key)
    assert phone.evaluate("document.activeElement.id") == "I9"


def test_game_is_begun_from_the_page(table: ShownTable, server: PageServer, phone: Page) -> None:
    table.show(samples.ENDED)
    pair(phone, server)
    phone.get_by_role("link", name="Begin a new game").tap()
    phone.get_by_placeholder("Player 3").fill("")
    phone.get_by_placeholder("Player 4").fill("")
    phone.get_by_placeholder("Player 1").fill("Zoë")
    phone.get_by_role("button", name="Begin", exact=True).tap()
    phone.get_by_role("dialog").wait_for(state="hidden")
    assert table.submitted[0][0].started.players == ("Zoë", "Ben")
