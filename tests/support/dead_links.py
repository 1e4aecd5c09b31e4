"""Pages in an artificial language, to find texts that are not translated."""

from __future__ import annotations

import re
import string
from html.parser import HTMLParser

from werkzeug.test import TestResponse

from device.catalogue import list_languages, load_catalogue
from device.panel.buttons import Button
from device.panel.panel import Panel, PanelActions
from device.session.snapshot import Phase
from device.session.table_session import TableSession
from device.storage.store import GameStore
from tests.support.text_table import WORDS, TextTable
from tests.support.waiting import PATIENCE_S, until
from tests.web.conftest import pair, token
from web import create_app
from web.host_info import HostInfo
from web.i18n import LANGUAGE_COOKIE

NOWHERE = "zz"
SAID_BY = ("aria-label", "placeholder", "title", "alt", "value", "data-lost", "data-offline")
_LANGUAGES = "|".join(load_catalogue(code).find_text("name") for code in list_languages())
FREE = re.compile(rf"\b(?:Tilekeeper|Anna|Ben|{_LANGUAGES})\b|'en'|#player")
"""Words that are the same in every language."""
READABLE = re.compile(r"[a-z]{2,}")
"""Two lower-case letters: words on the board are in upper case, except for single blanks."""


def struck_out(text: str) -> str:
    """Return a translation into the artificial language: every letter is replaced, placeholders stay."""
    parts = string.Formatter().parse(text)
    return "".join(
        re.sub(r"[^\W\d_]", "ж", before) + ("" if field is None else f"{{{field}{f':{form}' if form else ''}}}")
        for before, field, form, _ in parts
    )


class Shown(HTMLParser):
    """Parser that collects the texts of a page, including those for screen readers."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []
        self._silent = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._silent += tag in ("style", "script")
        hidden = dict(attrs).get("type") in ("hidden", "radio", "checkbox")
        spoken = SAID_BY if tag not in ("option", "button", "input") else SAID_BY[:4]
        self.said += [text for name, text in attrs if text and name in spoken and not hidden]

    def handle_endtag(self, tag: str) -> None:
        self._silent -= tag in ("style", "script")

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.said.append(data)


def readable(answer: TestResponse, *free: str) -> list[str]:
    """Return the lines of a response with text that is not translated, apart from the values `free`."""
    text = answer.get_data(as_text=True)
    if answer.mimetype == "text/html":
        shown = Shown()
        shown.feed(text)
        text = "\n".join(shown.said)
    elif answer.is_json:
        told = answer.get_json()
        text = "\n".join([told["said"], *told.get("problems", ())])
    for one in free:
        text = text.replace(one, "")
    return [line.strip() for line in text.splitlines() if READABLE.search(FREE.sub("", line))]


class Evening:
    """A session with a `TextTable`, its panel, and its page on a paired phone in the artificial language."""

    def __init__(self, store: GameStore, place: HostInfo | None = None) -> None:
        self.table = TextTable()
        self.store = store
        self.session = TableSession(self.table, self.table, store, WORDS)
        self.panel = Panel(self.session, PanelActions())
        self.app = create_app(self.session, store=store, host_info=place or HostInfo(self.panel, tuple(Button)))
        self.phone = self.app.test_client()
        self.phone.set_cookie(LANGUAGE_COOKIE, NOWHERE)
        pair(self.phone)

    def close(self) -> None:
        self.app.extensions["live"].close()
        self.panel.close()
        self.session.close()

    def get(self, path: str) -> TestResponse:
        return self.phone.get(path)

    def press(self, action: str, **form: object) -> TestResponse:
        """Press a button of the page and wait until the command is done."""
        given = {"csrf": token(self.phone), "seen": str(self.session.state.moment), **form}
        answer = self.phone.post(action, data=given)
        self.session.ping().result(PATIENCE_S)
        until(lambda: self.session.state.phase is not Phase.LOOKING)  # the snapshot follows the end of a command
        return answer

    def begin(self, **form: object) -> TestResponse:
        return self.press("/actions/new-game", players=["Anna", "Ben"], first="0", lexicon="none", **form)

    def play(self, *words: tuple[str, int, int, bool]) -> TestResponse:
        self.table.lay(*words)
        return self.press("/actions/end-turn")
