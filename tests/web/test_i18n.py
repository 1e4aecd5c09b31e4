"""The language of the page is chosen, and no text of the page is outside the catalogue."""

from __future__ import annotations

import ast
import re
from itertools import product
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from engine.messages import make_message
from tests.support import samples
from tests.support.catalogues import read_texts
from tests.support.sentences import modules
from tests.web.conftest import ShownTable
from web import create_app
from web.host_info import HostInfo
from web.i18n import languages

WEB = Path(__file__).parents[2] / "web"
SESSION = WEB.parent / "device" / "session"
TEMPLATES = sorted((WEB / "templates").rglob("*.html"))
SAID_BY_ATTRIBUTES = re.compile(r'\b(?:aria-label|placeholder|title|alt)="([^"]*)"')


FOR_PEOPLE = re.compile(
    r"(Camera|Store|Archive|Lexicon|Knowledge|Photo|Display|Hotspot)Error|No(Gpio|Voice|Game|MorePictures)|Refus.*"
    r"|(Full|Locked|Damaged|ReadOnly|Newer)Store|DeletedGame|BlackPicture|BoardNotFound|WrongFile|Notice|Question"
)


def test_messages_for_people_are_no_literal_texts() -> None:
    """What these are made with reaches people: a text written there must go through `said`."""
    bare = [
        f"{path.name}:{call.lineno}"
        for path, tree in modules()
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.args
        if FOR_PEOPLE.fullmatch(call.func.id)
        if isinstance(call.args[0], ast.JoinedStr | ast.Constant)
    ]
    assert not bare


def without_code(template: str) -> str:
    return re.sub(r"{#.*?#}|{%.*?%}|{{.*?}}", "", template, flags=re.S)


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_no_template_has_a_text_of_its_own(path: Path) -> None:
    bare = without_code(path.read_text(encoding="utf-8"))
    said = re.sub(r"<[^>]*>", " ", bare) + " ".join(SAID_BY_ATTRIBUTES.findall(bare))
    said = re.sub(r'Tilekeeper|Woogles|\bT\b|&\w+;|[\w-]+="[^"]*"|data-paired', "", said)
    assert not re.search(r"[^\W\d_]{2,}", said)


def test_every_text_is_used_and_every_used_one_exists() -> None:
    sources = [*TEMPLATES, *WEB.rglob("*.py"), *SESSION.glob("*.py")]  # session: why no new game begins
    code = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    known = {key for key in read_texts("en") if not key.startswith(("message.", "voice."))}
    used = set(re.findall(r'["\']((?:[a-z_]+\.)+[a-z_]+)["\']', code)) & known
    families = set(re.findall(r'["\']((?:[a-z_]+\.)+(?:[a-z_]+_)?)["\'] ~|t\(f"((?:[a-z]+\.)+){', code))
    families = {name for pair in families for name in pair if name}
    families |= {"tiles.", "settings.board_colours.", "settings.auto."}  # named by fields of the settings
    unused = {key for key in known - used if not any(key.startswith(family) for family in families)}
    assert unused == {"name"}
    asked = set(re.findall(r'\bt\(["\']((?:[a-z_]+\.)+[a-z_]+)["\']\s*[,)]', code))
    assert asked <= known


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("de-AT,de;q=0.9,en;q=0.5", "Ben ist dran"),
        ("ja", "Ben to play"),
        ("en-GB,de;q=0.4", "Ben to play"),
        ("", "Ben to play"),
    ],
)
def test_browser_chooses_the_language(table: ShownTable, client: FlaskClient, header: str, said: str) -> None:
    table.show(samples.MIDGAME)
    assert said in client.get("/", headers={"Accept-Language": header}).text


def test_link_chooses_the_language_for_good(table: ShownTable, client: FlaskClient) -> None:
    table.show(samples.MIDGAME)
    assert '<html lang="de"' in client.get("/?lang=de").text
    assert "Ben ist dran" in client.get("/").text
    assert "Ben ist dran" in client.get("/live/state").text
    assert "Ben to play" in client.get("/?lang=en").text
    assert '<html lang="en"' in client.get("/?lang=klingon").text


@pytest.mark.parametrize("name", samples.EVERY)
def test_every_page_can_be_drawn_in_every_language(table: ShownTable, paired: FlaskClient, name: str) -> None:
    table.show(samples.EVERY[name])
    squares = [f"square?square={square}" for square in ("I10", "A1", "O15", "Z9")]
    dialogs = [f"/dialogs/{name}" for name in ("more", "exchange", "rack", "new-game", "end-game", *squares)]
    for path, code in product(("/", "/big", "/pair", "/phones", *dialogs), languages()):
        answer = paired.get(path, headers={"Accept-Language": code})
        assert answer.status_code == 200 and f'lang="{code}"' in answer.text, (path, code)


@pytest.mark.parametrize(("chosen", "said"), [("", "Ben ist dran"), ("?lang=en", "Ben to play")])
def test_language_of_the_settings_comes_before_that_of_the_browser(table: ShownTable, chosen: str, said: str) -> None:
    table.show(samples.MIDGAME)
    app = create_app(table, host_info=HostInfo(language="de"))
    assert said in app.test_client().get(f"/{chosen}", headers={"Accept-Language": "en"}).text
    app.extensions["live"].close()


def test_right_to_left_words_do_not_split_the_text_beside_them() -> None:
    t = languages()["en"]
    assert t("status.to_play", name="דנה") == "\u2068דנה\u2069 to play"
    assert t("status.racks_wanted", names=("דנה", "Ben")).endswith(" \u2068דנה\u2069 and Ben.")
    assert t.translate(make_message("no-tile-on", "there is no tile on {0}", "ש")).endswith(" on \u2068ש\u2069.")
    assert t("status.to_play", name="Zoë 🎲") == "Zoë 🎲 to play"


def test_stored_message_whose_text_is_gone_is_shown_in_english(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("device.catalogue.report_missing_text", lambda *_: None)
    assert (
        languages()["de"].translate(make_message("gone", "{0} swapped a tile", "דנה"))
        == "\u2068דנה\u2069 swapped a tile."
    )
