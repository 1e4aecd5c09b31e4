"""Write debian/copyright: Tilekeeper, its word list, and each bundled Python package with its licence.

    python3 packaging/copyright.py SITE-PACKAGES >copyright

Licences and their texts come from the metadata of the packages. A package without a known licence is an error.
"""

from __future__ import annotations

import re
import sys
from importlib.metadata import Distribution, distributions
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SITE = "opt/tilekeeper/venv/lib/python3.*/site-packages"
OWN = "tilekeeper"
LICENCES = (
    (r"^(MIT|MIT License|License :: OSI Approved :: MIT License)$", "Expat"),
    (r"^(BSD License|3-Clause BSD License|License :: OSI Approved :: BSD License)$", "BSD-3-Clause"),
    (r"^(Apache[ -]2\.0|License :: OSI Approved :: Apache Software License)$", "Apache-2.0"),
    (r"^(MIT-\w+|BSD-\d-Clause)$", r"\1"),
)
"""What metadata says, and Debian's name of it; the last row keeps names of SPDX."""
TEXTS_ELSEWHERE = {"Apache-2.0": "/usr/share/common-licenses/Apache-2.0"}
WORD_LIST_HOLDERS = [
    "Sindre Sorhus <sindresorhus@gmail.com>",
    "2000-2011 Kevin Atkinson",
    "1997 Princeton University",
    "1993 Geoff Kuenning",
]
HEAD = """Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Tilekeeper
Comment: Python packages of PyPI are bundled, with the libraries that their wheels contain. The paragraph of each has
 the texts that the package brings, for these libraries, too."""


class LicenceError(Exception):
    """A package whose licence is not known."""


def name_licence(package: Distribution) -> str:
    """Return Debian's name of the licence of a package. Raises `LicenceError`."""
    data = package.metadata
    said = [data.get("License-Expression"), data.get("License"), *(data.get_all("Classifier") or [])]
    for text in filter(None, said):
        if "\n" in text:  # the whole licence
            continue
        if " AND " in text or " OR " in text:  # an expression of SPDX
            return re.sub(r"\bMIT\b(?!-)", "Expat", text).replace(" AND ", " and ").replace(" OR ", " or ")
        for pattern, name in LICENCES:
            if re.match(pattern, text):
                return re.sub(pattern, name, text)
    raise LicenceError(f"{data['Name']} {package.version} names no known licence: {said[:2]}")


def read_texts(package: Distribution) -> str:
    """Return the texts of the licences that a package brings. Raises `LicenceError`."""
    wanted = re.compile(
        r"\.dist-info/licenses/.*|^[^/]+/(LICEN[CS]E|COPYING|NOTICE|ThirdPartyNotices)[^/]*$", re.IGNORECASE
    )
    files = sorted(file for file in package.files or () if wanted.search(file.as_posix()) and file.suffix != ".py")
    texts = [file.locate().read_text(encoding="utf-8", errors="replace").strip() for file in files]
    licence = name_licence(package)
    if not texts and licence not in TEXTS_ELSEWHERE:
        raise LicenceError(f"{package.metadata['Name']} {package.version} brings no text of {licence}")
    return "\n\n".join(texts) or f"The package brings no text of its licence; it is in {TEXTS_ELSEWHERE[licence]}."


def format_paragraph(files: str, copyright_lines: list[str], licence: str, text: str) -> str:
    """Return one paragraph; empty lines of the text become a dot."""
    lines = [f" {line.rstrip()}" if line.strip() else " ." for line in text.replace("\t", "    ").splitlines()]
    holders = "\n           ".join(copyright_lines)
    return "\n".join([f"Files: {files}", f"Copyright: {holders}", f"License: {licence}", *lines])


def find_holders(text: str) -> list[str]:
    """Return the copyright lines of a text, each once, 20 at most."""
    found = re.findall(r"(?im)^(?:\W*|\w+ [\d.]+: )(copyright (?:\(c\)|©|\d|by ).*?)\W*$", text)
    return list(dict.fromkeys(found))[:20]


def describe_package(package: Distribution) -> str:
    """Return the paragraph of a bundled package."""
    text = read_texts(package)
    tops = {file.parts[0] for file in package.files or () if file.parts[0] not in ("..", "__pycache__")}
    is_folder = {file.parts[0] for file in package.files or () if len(file.parts) > 1}
    files = "\n       ".join(f"{SITE}/{top}/*" if top in is_folder else f"{SITE}/{top}" for top in sorted(tops))
    holders = find_holders(text) or [f"the authors of {package.metadata['Name']}"]
    return format_paragraph(files, holders, name_licence(package), text)


def write(site_packages: str) -> str:
    """Return the file. Raises `LicenceError`."""
    own = (ROOT / "LICENSE").read_text(encoding="utf-8")
    words = (ROOT / "engine/data/lexicon/NOTICE.txt").read_text(encoding="utf-8")
    fonts = (ROOT / "vision/data/fonts/OFL.txt").read_text(encoding="utf-8")
    packages = sorted(distributions(path=[site_packages]), key=lambda package: package.metadata["Name"].lower())
    return "\n\n".join([
        HEAD,
        format_paragraph("*", ["the Tilekeeper maintainers"], "Expat", own),
        *(describe_package(package) for package in packages if package.metadata["Name"] != OWN),
        format_paragraph(f"{SITE}/engine/data/lexicon/*", WORD_LIST_HOLDERS, "Expat and SCOWL", words),
        format_paragraph(f"{SITE}/vision/data/fonts/*", find_holders(fonts), "OFL-1.1", fonts),
    ]) + "\n"  # fmt: skip


if __name__ == "__main__":
    try:
        print(write(sys.argv[1]), end="")
    except LicenceError as error:
        sys.exit(f"copyright.py: {error}")
