"""The documents: their links lead somewhere, and what is computed in them is what the program computes."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from device.cameras import pi
from device.system import mounting

ROOT = Path(__file__).parents[1]
_LINK = re.compile(r"(?<!\\)\[[^\]]*\]\(([^)\s]+)[^)]*\)")
_CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)


def documents() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    return [ROOT / name for name in listed.split()] or sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])


def anchors(document: Path) -> set[str]:
    """What `#...` may name in a document: its headings, as GitHub names them."""
    headings = re.findall(r"^#+ +(.+?) *$", _CODE.sub("", document.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", documents(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(document: Path) -> None:
    lost = []
    for link in _LINK.findall(_CODE.sub("", document.read_text(encoding="utf-8"))):
        path, _, anchor = link.partition("#")
        if re.match(r"https?:|mailto:", link):
            continue
        target = document.parent / path if path else document
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
            lost.append(link)
    assert lost == []


def test_every_document_is_linked_from_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    reached = set(_LINK.findall(readme))
    for name in sorted(reached):
        if name.endswith(".md") and (ROOT / name).is_file():
            inner = _LINK.findall((ROOT / name).read_text(encoding="utf-8"))
            reached |= {f"docs/{link.partition('#')[0]}" for link in inner}
    assert [path.name for path in (ROOT / "docs").glob("*.md") if f"docs/{path.name}" not in reached] == []


def test_the_table_of_heights_is_the_computed_one() -> None:
    told = (ROOT / "docs" / "parts.md").read_text(encoding="utf-8")
    assert "\n".join(mounting.format_height_table()) in told


def test_heights_reckon_with_the_pictures_that_are_taken() -> None:
    assert mounting.STILL_WIDTH_PX == pi.STILL_WIDTH_PX


def test_a_camera_sees_the_whole_board_from_its_least_height() -> None:
    square = mounting.CameraSpec("square", (1000, 1000), (90.0, 90.0))
    assert square.min_height(40.0) == pytest.approx(
        20.0 * mounting.BOARD_MARGIN_RATIO
    )  # at 90 degrees it sees twice its height
    assert square.square_px(2.0, 20.0) == pytest.approx(50.0)
    assert square.max_height(2.0, 50.0) == pytest.approx(20.0)


def test_the_view_across_follows_from_the_diagonal() -> None:
    assert mounting.view_from_diagonal(90.0, 4, 3) == pytest.approx((77.32, 61.93), abs=0.01)
