"""Compile the catalogues of texts into the wheel; everything else about the build is in pyproject.toml."""

from __future__ import annotations

from pathlib import Path

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithCatalogues(build_py):
    """Put a compiled `.mo` for each `.po` into the wheel. An editable installation reads the `.po` themselves."""

    def run(self) -> None:
        """Build the packages, then compile the catalogues beside them."""
        super().run()
        if self.editable_mode:
            return
        for source in sorted(Path("device/locale").glob("*/LC_MESSAGES/*.po")):
            target = Path(self.build_lib, source).with_suffix(".mo")
            target.parent.mkdir(parents=True, exist_ok=True)
            with source.open("rb") as texts, target.open("wb") as compiled:
                write_mo(compiled, read_po(texts, abort_invalid=True))


setup(cmdclass={"build_py": BuildWithCatalogues})
