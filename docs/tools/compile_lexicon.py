"""Compile a word list to the form in which it is shipped, from a text file or from an npm package (`.tgz`).

The English word list in `engine/data/lexicon/` was made from the npm package `word-list` with this command:

    npm pack word-list@4.1.0
    python -m docs.tools.compile_lexicon word-list-4.1.0.tgz engine/data/lexicon/en.marisa
"""

from __future__ import annotations

import sys
import tarfile
from pathlib import Path

from device.storage.lexicons import read_lexicon
from engine.lexicon import Lexicon, parse_entries


def compile_list(source: Path, target: Path) -> Lexicon:
    """Compile a word list, or the word list inside an npm package, and write the result to `target`."""
    if source.suffix == ".tgz":
        with tarfile.open(source) as package:
            member = package.extractfile("package/words.txt")
            if member is None:
                raise SystemExit(f"{source} has no package/words.txt")
            lexicon = Lexicon.from_words(target.stem, parse_entries(str(source), member.read()))
    else:
        lexicon = read_lexicon(source)
    target.write_bytes(lexicon.to_bytes())
    return lexicon


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python -m docs.tools.compile_lexicon WORDS TARGET.marisa")
    compiled = compile_list(Path(sys.argv[1]), Path(sys.argv[2]))
    print(f"{len(compiled)} words; left out: {dict(compiled.excluded_counts)}")
