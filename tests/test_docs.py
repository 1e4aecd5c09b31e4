"""The documents: their links lead somewhere, and what is computed in them is what the program computes."""

from __future__ import annotations

import re
from math import radians, tan
from pathlib import Path

import pytest

from docs.tools import mount, mounting
from tests.support.checkout import list_in_git
from tests.support.docs_tables import END_MARKER, TABLES, make_session_table, read_table, start_marker
from tests.support.photo_labels import load_collections

ROOT = Path(__file__).parents[1]
_LINK = re.compile(r"(?<!\\)\[[^\]]*\]\(([^)\s]+)[^)]*\)")
MAX_WORDS = 700
"""Words of a document with a generated table, without that table."""
_CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)


def documents() -> list[Path]:
    return [ROOT / name for name in list_in_git("ls-files", "*.md")] or sorted(
        [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]
    )


def anchors(document: Path) -> set[str]:
    """Return the names for `#...` in a document: its headings, as GitHub names them."""
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


def test_tests_of_the_promises_exist() -> None:
    named = set(re.findall(r"`(test_\w+)`", (ROOT / "docs" / "security.md").read_text(encoding="utf-8")))
    sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    assert len(named) > 30 and named - set(re.findall(r"def (test_\w+)\(", sources)) == set()


def test_each_protection_names_its_test() -> None:
    text = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    promises = text.partition("## What is protected")[2].partition("## What is not")[0]
    rows = [row for row in re.findall(r"^\| .+ \|$", promises, re.MULTILINE) if not row.endswith((" test |", " --- |"))]
    assert len(rows) > 15 and [row for row in rows if "`test_" not in row] == []


def test_games_are_copied_before_a_partition_is_mounted_over_them() -> None:
    text = (ROOT / "docs" / "pi.md").read_text(encoding="utf-8")
    (commands,) = [block for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL) if "/etc/fstab" in block]
    order = [
        "systemctl stop tilekeeper",
        "mkfs.ext4 -L tilekeeper /dev/sda1",
        "mount /dev/sda1 /mnt && sudo cp -a /var/lib/tilekeeper/. /mnt && sudo umount /mnt",
        "sudo mount /var/lib/tilekeeper",
        "systemctl start tilekeeper",
    ]
    assert all(command in commands for command in order)
    assert sorted(order, key=commands.index) == order


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


@pytest.mark.parametrize("name", mount.DRAWINGS)
def test_drawing_of_the_mount_is_the_computed_one(name: str) -> None:
    assert (ROOT / "docs" / name).read_text(encoding="utf-8") == mount.DRAWINGS[name]()


def test_no_camera_sees_the_plate_that_holds_it() -> None:
    lens, thickness = 2 * mount.LENS_RADIUS_MM, mount.THICKNESS_MM
    seen = [lens + 2 * thickness * tan(radians(camera.view[0]) / 2) for camera in mounting.CAMERAS]
    across, _ = mount.MODULE_HOLES_MM
    assert max(seen) <= mount.opening_mm() < across - mount.MODULE_HOLE_MM


def test_a_camera_sees_the_whole_board_from_its_least_height() -> None:
    square = mounting.CameraSpec("square", (1000, 1000), (90.0, 90.0))
    assert square.min_height(40.0) == pytest.approx(
        20.0 * mounting.BOARD_MARGIN_RATIO
    )  # at 90 degrees it sees twice its height
    assert square.max_height(2.0, 50.0) == pytest.approx(20.0)


def test_the_view_across_follows_from_the_diagonal() -> None:
    assert mounting.view_from_diagonal(90.0, 4, 3) == pytest.approx((77.32, 61.93), abs=0.01)


@pytest.mark.parametrize("name", TABLES)
def test_document_has_one_generated_table_and_is_short(name: str) -> None:
    text = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
    assert text.count(start_marker(name)) == text.count(END_MARKER) == 1
    assert read_table(text, name).startswith("| ")
    before, _, rest = text.partition(start_marker(name))
    assert len(f"{before} {rest.partition(END_MARKER)[2]}".split()) <= MAX_WORDS


def test_table_of_the_phases_is_current() -> None:
    text = (ROOT / "docs" / "session.md").read_text(encoding="utf-8")
    assert read_table(text, "session") == make_session_table()


def test_table_of_the_photographs_lists_every_collection() -> None:
    text = (ROOT / "docs" / "reading.md").read_text(encoding="utf-8")
    rows = [row.strip("| ").split(" | ")[:2] for row in read_table(text, "reading").splitlines()[2:-1]]
    assert rows == [[collection.repo, str(len(collection.records))] for collection in load_collections()]
