"""A cache of compiled templates on disk, like Python's own cache of compiled modules.

Jinja compiles a template when it is first rendered. Without the cache, compiling the templates of the first page would
take a tenth of the time that the program needs to start.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

from jinja2 import BytecodeCache, Environment
from jinja2.bccache import Bucket

from device.storage.files import read_small_file

_MAX_FILE_BYTES = 1_000_000
_DIGEST_BYTES = hashlib.sha256().digest_size


class TemplateCache(BytecodeCache):
    """Compiled templates in a folder. The file of each template has the SHA-256 of Jinja's bytecode, then the bytecode.

    A file is used only if it is intact and was made from the same source by the same Jinja (version and options) and
    Python. Otherwise the template is compiled again, and the file is replaced. The files are not synced to disk, which
    would delay the page: after a power cut they may be missing or damaged.
    """

    def __init__(self, folder: Path, environment: Environment) -> None:
        self._folder = folder
        self._compiler = version("jinja2"), environment.trim_blocks, environment.lstrip_blocks

    def load_bytecode(self, bucket: Bucket) -> None:
        """Load the bytecode of a template into `bucket`, if the cache has it."""
        with suppress(OSError):  # the template was not compiled yet
            content = read_small_file(self._folder / bucket.key, _MAX_FILE_BYTES)
            digest, bytecode = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
            if digest == hashlib.sha256(bytecode).digest():
                bucket.bytecode_from_string(bytecode)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Write the bytecode of a template to the cache."""
        bytecode = bucket.bytecode_to_string()
        part = self._folder / f"{bucket.key}.part"
        with suppress(OSError):  # on a read-only card the templates are compiled at each start
            self._folder.mkdir(parents=True, exist_ok=True)
            part.write_bytes(hashlib.sha256(bytecode).digest() + bytecode)
            part.replace(self._folder / bucket.key)

    def get_cache_key(self, name: str, filename: str | None = None) -> str:  # noqa: ARG002
        """Return the name of the file with the bytecode of the template `name`.

        The name does not depend on the source, so that the file is replaced if a new version changes the template.
        """
        return f"{hashlib.sha256(name.encode()).hexdigest()[:32]}.template"

    def get_source_checksum(self, source: str) -> str:
        """Return a checksum of what the bytecode depends on: the source, and the version and options of Jinja."""
        return hashlib.sha256(repr((*self._compiler, source)).encode()).hexdigest()
