"""Every language says everything, and no text of the page stands anywhere else."""

from __future__ import annotations

import ast
import re
import string
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from tests.support import samples
from tests.support.sentences import modules, sentences
from tests.web.conftest import ShownTable
from web.i18n import languages

WEB = Path(__file__).parents[2] / "web"
TEMPLATES = sorted((WEB / "templates").rglob("*.html"))
SAID_BY_ATTRIBUTES = re.compile(r'\b(?:aria-label|placeholder|title|alt)="([^"]*)"')


def fields(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def of_the_page(code: str) -> dict[str, str]:
    """The texts of a language without what the table says."""
    return {key: text for key, text in languages()[code].texts.items() if not key.startswith("notice.")}


@pytest.mark.parametrize("code", [code for code in languages() if code != "en"])
def test_every_language_has_the_same_texts_with_the_same_values(code: str) -> None:
    english, other = of_the_page("en"), of_the_page(code)
    assert english.keys() == other.keys()
    for key, text in english.items():
        assert other[key].strip() and fields(other[key]) == fields(text), key


@pytest.mark.parametrize("code", [code for code in languages() if code != "en"])
def test_every_language_says_what_the_table_says_with_the_same_values(code: str) -> None:
    told = {key.removeprefix("notice."): text for key, text in languages()[code].texts.items() if "notice." in key}
    english = sentences()
    assert english.keys() == told.keys()
    for key, text in english.items():
        assert told[key].strip() and fields(told[key]) == fields(text), key


FOR_PEOPLE = re.compile(
    r"(Camera|Store|Archive|Lexicon|Knowledge|Photo|Display|Hotspot)Error|No(Gpio|Voice|Game|MorePictures)|Refus.*"
    r"|(Full|Locked|Damaged|ReadOnly|Newer)Store|DeletedGame|BlackPicture|BoardNotFound|WrongFile|Notice|Question"
)


def test_no_trouble_is_told_without_a_key() -> None:
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


def test_english_has_its_sentences_in_the_program_alone() -> None:
    assert not [key for key in languages()["en"].texts if key.startswith("notice.")]


def without_code(template: str) -> str:
    return re.sub(r"{#.*?#}|{%.*?%}|{{.*?}}", "", template, flags=re.S)


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_no_template_has_a_text_of_its_own(path: Path) -> None:
    bare = without_code(path.read_text(encoding="utf-8"))
    said = re.sub(r"<[^>]*>", " ", bare) + " ".join(SAID_BY_ATTRIBUTES.findall(bare))
    said = re.sub(r'Tilekeeper|\bT\b|&\w+;|[\w-]+="[^"]*"|data-paired', "", said)
    assert not re.search(r"[^\W\d_]{2,}", said)


def test_every_text_is_used_and_every_used_one_exists() -> None:
    sources = [*TEMPLATES, *WEB.rglob("*.py")]
    code = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    known = languages()["en"].texts.keys()
    used = set(re.findall(r'["\']((?:[a-z_]+\.)+[a-z_]+)["\']', code)) & {*known}
    families = set(re.findall(r'["\']((?:[a-z_]+\.)+(?:[a-z_]+_)?)["\'] ~|t\(f"((?:[a-z]+\.)+){', code))
    families = {name for pair in families for name in pair if name}
    families.add("tiles.")  # by the names of tile sets, in the form of a new game
    unused = {key for key in known - used if not any(key.startswith(family) for family in families)}
    assert unused == {"name"}
    asked = set(re.findall(r'\bt\(["\']((?:[a-z_]+\.)+[a-z_]+)["\']\s*[,)]', code))
    assert asked <= set(known)


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("de-AT,de;q=0.9,en;q=0.5", "Ben ist dran"),
        ("fr", "Ben to play"),
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
@pytest.mark.parametrize("code", languages())
def test_every_page_can_be_drawn_in_every_language(
    table: ShownTable, paired: FlaskClient, name: str, code: str
) -> None:
    table.show(samples.EVERY[name])
    squares = [f"square?square={square}" for square in ("I10", "A1", "O15", "Z9")]
    dialogs = [f"/dialogs/{name}" for name in ("more", "exchange", "rack", "new-game", "end-game", *squares)]
    for path in ("/", "/big", "/pair", "/phones", *dialogs):
        answer = paired.get(path, headers={"Accept-Language": code})
        assert answer.status_code == 200 and f'lang="{code}"' in answer.text, path
