"""The wheel: it holds every file that the program reads, no benchmark or training, and runs from there."""

from __future__ import annotations

import argparse
import configparser
import fnmatch
import hashlib
import json
import lzma
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

from device.cli import main
from tests.support.checkout import list_in_git
from tests.support.modules import PACKAGES, build_import_graph, find_modules

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
MODULES = find_modules(ROOT)
NOT_READ = {".py", ".pyc", ".md", ".po"}

GAME = "#player1 A Ann\n#player2 B Bob\n>A: HORN 8F HORN +14 14\n"


@pytest.fixture
def release_tree(tmp_path: Path) -> Path:
    """A copy of what `release.sh check` reads, with addresses that are not those of an example."""
    (tmp_path / "packaging").mkdir()
    for name in ("packaging/release.sh", "packaging/changelog_section.py", "CHANGELOG.md"):
        shutil.copy(ROOT / name, tmp_path / name)
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text(project.replace('.example"', '.org"'), encoding="utf-8")
    return tmp_path


def check_release(tree: Path, *words: str) -> str:
    """Return why `release.sh check` refuses a release; empty if it does not."""
    done = subprocess.run([tree / "packaging/release.sh", "check", *words], capture_output=True, text=True)
    assert (done.returncode == 0) == (not done.stderr)
    return done.stderr


def test_release_has_version_tag_and_changelog(release_tree: Path) -> None:
    assert check_release(release_tree, f"v{PROJECT['version']}") == ""


def test_release_with_another_tag_is_refused(release_tree: Path) -> None:
    assert "the tag v0.9 is not that of version" in check_release(release_tree, "v0.9")


def test_release_without_a_section_of_the_changelog_is_refused(release_tree: Path) -> None:
    (release_tree / "CHANGELOG.md").write_text("# Changelog\n\n## Unreleased\n\nMuch.\n", encoding="utf-8")
    assert "has no section" in check_release(release_tree)


def test_release_without_the_address_of_the_project_is_refused(release_tree: Path) -> None:
    shutil.copy(ROOT / "pyproject.toml", release_tree)
    project = (release_tree / "pyproject.toml").read_text(encoding="utf-8")
    example = re.sub("(?m)^Homepage = .*", 'Homepage = "https://other.example"', project)
    (release_tree / "pyproject.toml").write_text(example, encoding="utf-8")
    assert "enter the addresses" in check_release(release_tree)


def test_address_of_the_project_is_in_one_place() -> None:
    address = PROJECT["urls"]["Homepage"]
    if not list_in_git("ls-files"):
        pytest.skip("this is no checkout of git, or there is no git")
    assert list_in_git("grep", "-lF", address) == ["pyproject.toml"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy: what an earlier build left in the checkout must not get into it."""
    folder, source = tmp_path_factory.mktemp("wheel"), tmp_path_factory.mktemp("source")
    for package in PACKAGES:
        shutil.copytree(ROOT / package, source / package, ignore=shutil.ignore_patterns("__pycache__"))
    for file in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / file, source)
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(source)]
    subprocess.run(pip, check=True, stdin=subprocess.DEVNULL)
    return next(folder.glob("tilekeeper-*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the unpacked wheel."""
    folder = tmp_path_factory.mktemp("installed")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def read_excluded_folders() -> tuple[str, ...]:
    """Return the packages that pyproject.toml keeps out of the wheel, as folders: `vision/training/`."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    patterns = settings["tool"]["setuptools"]["packages"]["find"]["exclude"]
    return tuple(f"{pattern.removesuffix('*').replace('.', '/')}/" for pattern in patterns)


def run_installed(installed: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the unpacked program with the arguments `words` in `folder`, outside the checkout."""
    return run_code(installed, folder, f"from device.cli import main; raise SystemExit(main({list(words)!r}))")


def run_code(installed: Path, folder: Path, code: str) -> subprocess.CompletedProcess[str]:
    """Run Python code with the unpacked packages in `folder`, outside the checkout."""
    return subprocess.run(
        [sys.executable, "-P", "-c", code],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
    )


def test_excluded_packages_exist() -> None:
    assert read_excluded_folders() == ("vision/training/", "calibration/evaluation/", "device/cli/benchmarks/")
    assert all((ROOT / folder / "__init__.py").is_file() for folder in read_excluded_folders())


def test_installed_modules_import_only_installed_ones() -> None:
    excluded = {
        name for name, path in MODULES.items() if path.relative_to(ROOT).as_posix().startswith(read_excluded_folders())
    }
    assert excluded
    installed = {name: imports for name, imports in build_import_graph(MODULES).items() if name not in excluded}
    assert {name: found for name, imports in installed.items() if (found := imports & excluded)} == {}


def test_desktop_entry_starts_the_program_with_its_page(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = configparser.ConfigParser(interpolation=None)
    entry.optionxform = str  # type: ignore[assignment,method-assign]
    entry.read(ROOT / "packaging" / "tilekeeper.desktop", encoding="utf-8")
    program, *words = entry["Desktop Entry"]["Exec"].split()
    started: list[argparse.Namespace] = []
    monkeypatch.setattr("device.cli.run.run", lambda args: started.append(args) or 0)
    assert program == "tilekeeper" and main(words) == 0
    assert started[0].browser and started[0].camera is None


def test_container_is_built_from_all_packages() -> None:
    copied = re.findall(r"(?m)^COPY (\w+) /source/\1$", (ROOT / "packaging/Containerfile").read_text(encoding="utf-8"))
    assert sorted(copied) == sorted(PACKAGES)


def test_container_gets_every_file_that_it_copies_and_no_more() -> None:
    copied = re.findall(
        r"(?m)^COPY (?!--)(.+) /source\S*$", (ROOT / "packaging/Containerfile").read_text(encoding="utf-8")
    )
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert "*" in lines
    assert sorted(line[1:] for line in lines if line.startswith("!")) == sorted(" ".join(copied).split())


def put_package(folder: Path, metadata: str, licence: str) -> None:
    info = folder / "thing-1.0.dist-info"
    (info / "licenses").mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.4\nName: thing\nVersion: 1.0\n{metadata}\n", encoding="utf-8")
    (info / "licenses" / "LICENSE").write_text(licence, encoding="utf-8")
    (folder / "thing").mkdir()
    (folder / "thing" / "__init__.py").touch()
    (info / "RECORD").write_text("thing/__init__.py,,\nthing-1.0.dist-info/licenses/LICENSE,,\n", encoding="utf-8")


def test_copyright_of_the_package_has_each_bundled_licence(tmp_path: Path) -> None:
    put_package(tmp_path, "License-Expression: MIT", "Copyright (c) 2020 Ann\n\nPermission is granted.")
    done = run_packaging("copyright.py", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "site-packages/thing/*\n" in done.stdout
    assert "Copyright: Copyright (c) 2020 Ann\nLicense: Expat\n" in done.stdout
    assert "\n .\n Permission is granted." in done.stdout


def test_copyright_of_the_package_refuses_an_unknown_licence(tmp_path: Path) -> None:
    put_package(tmp_path, "License: see elsewhere", "")
    done = run_packaging("copyright.py", tmp_path)
    assert done.returncode != 0 and "thing 1.0 names no known licence" in done.stderr


def run_packaging(script: str, *words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, ROOT / "packaging" / script, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.fixture
def imager_list(tmp_path: Path) -> dict[str, Any]:
    (tmp_path / "tilekeeper.img.xz").write_bytes(lzma.compress(b"card" * 1000))
    done = run_packaging("image/os_list.py", tmp_path / "tilekeeper.img.xz", "https://example.org/v1")
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_list_for_imager_has_size_and_checksum_of_the_image(imager_list: dict[str, Any], tmp_path: Path) -> None:
    (entry,) = imager_list["os_list"]
    assert entry["extract_size"] == 4000
    assert entry["extract_sha256"] == hashlib.sha256(b"card" * 1000).hexdigest()
    packed = (tmp_path / "tilekeeper.img.xz").read_bytes()
    assert entry["image_download_size"] == len(packed)
    assert entry["image_download_sha256"] == hashlib.sha256(packed).hexdigest()
    assert entry["url"] == "https://example.org/v1/tilekeeper.img.xz"


def test_list_for_imager_has_every_required_key(imager_list: dict[str, Any]) -> None:
    # "required" of rpi-imager's doc/json-schema/os-list-schema.json, and the machines by which Imager 2 filters.
    (entry,) = imager_list["os_list"]
    assert {"name", "description", "icon", "url", "release_date", "devices"} <= set(entry)
    assert {"extract_size", "extract_sha256", "image_download_size"} <= set(entry)


def test_list_for_imager_offers_a_machine_for_each_tag_of_the_image(imager_list: dict[str, Any]) -> None:
    (entry,) = imager_list["os_list"]
    offered = {tag for device in imager_list["imager"]["devices"] for tag in device["tags"]}
    assert offered == set(entry["devices"]) != set()


@pytest.fixture
def card_image(tmp_path: Path) -> Path:
    """A folder in which the recipe ran with a stand-in for pi-gen, which has a plain stage."""
    if not shutil.which("xz"):
        pytest.skip("needs xz: sudo apt install xz-utils")
    pi_gen = tmp_path / "pi-gen"
    (pi_gen / "stage2").mkdir(parents=True)
    (pi_gen / "stage2/EXPORT_IMAGE").touch()
    shutil.copy(ROOT / "tests/hardware/pi_gen_standin.sh", pi_gen / "build.sh")
    for stage in ("stage0", "stage1"):
        (pi_gen / stage).mkdir()
    package = tmp_path / "tilekeeper_1_arm64.deb"
    package.write_bytes(b"package")
    command = [ROOT / "packaging/image/build.sh", pi_gen, package, "https://example.org/v1"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return tmp_path


def test_card_image_is_made_of_the_last_stage_alone(card_image: Path) -> None:
    (image,) = (card_image / "dist").glob("*.img.xz")
    assert lzma.decompress(image.read_bytes()) == b"stage-tilekeeper\n"


def test_card_image_runs_its_steps_with_every_file_that_they_name(card_image: Path) -> None:
    command, *files = (card_image / "pi-gen/in_root.txt").read_text(encoding="utf-8").splitlines()
    assert command == "bash /srv/tilekeeper/setup.sh /srv/tilekeeper/tilekeeper.deb"
    steps = (ROOT / "packaging/image/setup.sh").read_text(encoding="utf-8")
    assert {"setup.sh", "tilekeeper.deb", *re.findall(r"\$here/([\w.-]+)", steps)} == set(files)


def test_card_image_comes_with_a_list_and_its_icon(card_image: Path) -> None:
    (entry,) = json.loads((card_image / "dist/os_list.json").read_text(encoding="utf-8"))["os_list"]
    files = {path.name for path in (card_image / "dist").iterdir()}
    assert {Path(entry[key]).name for key in ("url", "icon")} <= files


def test_release_uploads_every_file_that_the_image_brings(card_image: Path) -> None:
    workflow = (ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8")
    patterns = re.findall(r"(?m)^ +dist/(\S+)$", workflow)
    files = {path.name for path in (card_image / "dist").iterdir()}
    assert files == {file for file in files if any(fnmatch.fnmatch(file, pattern) for pattern in patterns)}


def test_notes_of_a_release_are_its_section_of_the_changelog() -> None:
    done = run_packaging("changelog_section.py", "1.0.0")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("The first version.") and "\n## " not in done.stdout


def test_release_without_a_section_in_the_changelog_is_refused() -> None:
    done = run_packaging("changelog_section.py", "99.0")
    assert done.returncode != 0 and "no section 99.0" in done.stderr


@pytest.mark.slow
@pytest.mark.serial
def test_the_wheel_has_every_file_that_the_program_reads(wheel: Path) -> None:
    wanted = {
        name
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.is_file() and path.suffix not in NOT_READ
        if not (name := path.relative_to(ROOT).as_posix()).startswith(read_excluded_folders())
    }
    assert "engine/data/lexicon/en.marisa" in wanted
    assert wanted <= set(zipfile.ZipFile(wheel).namelist())


@pytest.mark.slow
@pytest.mark.serial
def test_the_wheel_has_every_module_but_the_excluded_ones(wheel: Path) -> None:
    wanted = {path.relative_to(ROOT).as_posix() for path in MODULES.values()}
    wanted = {name for name in wanted if not name.startswith(read_excluded_folders())}
    assert "vision/rendering/simulated_table.py" in wanted  # the demo draws its table
    assert {name for name in zipfile.ZipFile(wheel).namelist() if name.endswith(".py")} == wanted


@pytest.mark.slow
@pytest.mark.serial
def test_wheel_has_every_catalogue_compiled(wheel: Path) -> None:
    sources = {path.relative_to(ROOT) for path in (ROOT / "device" / "locale").rglob("*.po")}
    wanted = {path.with_suffix(".mo").as_posix() for path in sources}
    assert "device/locale/de/LC_MESSAGES/tilekeeper.mo" in wanted
    assert {name for name in zipfile.ZipFile(wheel).namelist() if name.endswith((".mo", ".po"))} == wanted


@pytest.mark.slow
@pytest.mark.serial
def test_installed_catalogue_is_read_without_babel(installed: Path, tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['babel'] = None; from device.catalogue import load_catalogue;"
        "print(load_catalogue('de').format('last.invalid', count=2, words='A, B'))"
    )
    done = run_code(installed, tmp_path, code)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "A, B stehen nicht in der Wortliste. Ihr könnt diesen Zug anzweifeln.\n"


@pytest.mark.slow
@pytest.mark.serial
def test_the_program_runs_outside_the_checkout(installed: Path, tmp_path: Path) -> None:
    game = tmp_path / "game.gcg"
    game.write_text(GAME, encoding="utf-8")
    done = run_installed(installed, tmp_path, "score", str(game), "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert '"score": 14' in done.stdout


@pytest.mark.slow
@pytest.mark.serial
def test_installed_program_lists_all_commands(installed: Path, tmp_path: Path) -> None:
    done = run_installed(installed, tmp_path, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert "bench" in done.stdout


@pytest.mark.slow
@pytest.mark.serial
def test_installed_bench_names_the_checkout_in_one_line(installed: Path, tmp_path: Path) -> None:
    done = run_installed(installed, tmp_path, "bench", "engine", "--seconds", "0.01")
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
    assert "pip install -e" in done.stderr
