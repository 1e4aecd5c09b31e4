"""The key pair with which a hall signs the director's orders, in a file that only its owner can read."""

from __future__ import annotations

from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key

from device.storage.files import read_small_file, write_file
from engine.errors import TilekeeperError

FILE_NAME = "hall-key.pem"
_MAX_FILE_BYTES = 10_000


class KeyFileError(TilekeeperError):
    """Error for a key file that cannot be read or written."""


def open_key(path: Path) -> Ed25519PrivateKey:
    """Return the key in the file; if there is no file, create a key and write it. Raises `KeyFileError`.

    An unreadable file is not replaced: with another key, the admin of each table would have to accept the hall again.
    """
    try:
        if not path.exists():
            new = Ed25519PrivateKey.generate()
            write_file(path, new.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()), mode=0o600)
        key = load_pem_private_key(read_small_file(path, _MAX_FILE_BYTES), None)
    except (OSError, ValueError, TypeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is damaged"
        raise _make_error(path, reason) from error
    if not isinstance(key, Ed25519PrivateKey):
        raise _make_error(path, "it is no Ed25519 key")
    return key


def _make_error(path: Path, reason: object) -> KeyFileError:
    return KeyFileError(
        f"The key of the hall in {path} cannot be used ({reason}). Copy it back from a backup, or delete it: then the "
        "admin of each table has to accept the hall again."
    )
