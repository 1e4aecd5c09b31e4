"""The certificate that a table makes for itself, so that its page is served over https without any preparation.

Browsers do not know the certificate and show a warning, once on each device. Users must accept each new certificate, so
it is kept as long as possible.
"""

from __future__ import annotations

import ipaddress
import logging
import ssl
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from device.storage.files import read_small_file, write_file
from engine.errors import is_read_fault

FILE_NAME = "https.pem"
"""Name of the file with the key and the certificate in the data folder; only the program's user may read it."""
VALID_BEFORE, VALID_AFTER = timedelta(days=400), timedelta(days=400)
"""Time for which a certificate is valid before (`VALID_BEFORE`) and after (`VALID_AFTER`) the time at which it is made.

A Raspberry Pi has no battery for its clock, which may be wrong by months. The sum is less than the 825 days that
Apple's systems accept (https://support.apple.com/103769).
"""
RENEWED_BEFORE = timedelta(days=30)
"""Remaining validity below which a certificate is replaced by a new one."""
MAX_FORMER_NAMES = 16
"""Largest number of former names and addresses that a new certificate keeps, for a table that is used in several
networks."""
_MAX_FILE_BYTES = 64 * 1024

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Certificate:
    """The names in a certificate, in order, and the end of its validity."""

    names: tuple[str, ...]
    until: datetime


class OwnCertificate:
    """The file of a self-signed certificate and its key.

    `find_names` returns the names and addresses of this machine, which may change. `clock` returns the Unix time.
    """

    def __init__(
        self, path: Path, find_names: Callable[[], Iterable[str]], clock: Callable[[], float] = time.time
    ) -> None:
        self.path = path
        self._find_names = find_names
        self._clock = clock

    def renew(self) -> bool:
        """Make a certificate if there is none, if it ends soon, or if it lacks a name of the machine.

        Return True if the file was written. A certificate that is not valid yet is kept, because the clock must be
        wrong; the clock is corrected when the machine has a network. Raises `OSError`.
        """
        now = datetime.fromtimestamp(max(self._clock(), _find_program_time()), UTC)
        names = tuple(dict.fromkeys(filter(None, map(_normalise, self._find_names()))))
        current = _load(self.path)
        if current is not None and set(names) <= set(current.names) and now < current.until - RENEWED_BEFORE:
            return False
        former = [name for name in (current.names if current else ()) if name not in names][:MAX_FORMER_NAMES]
        write_file(self.path, _make_certificate((*names, *former), now))
        return True


def is_damaged(path: Path) -> bool:
    """Return True if the file does not contain a certificate with its key. `renew` replaces such a file."""
    with suppress(OSError):  # `OwnCertificate.renew` reports a file that cannot be read
        return path.is_file() and _load(path) is None
    return False


def _find_program_time() -> float:
    """Return the Unix time at which the program was installed. A clock that shows an earlier time is wrong."""
    return Path(__file__).stat().st_mtime


def _normalise(name: str) -> str:
    """Return a name or address in the form for certificates, or an empty text if a certificate cannot contain it.

    >>> _normalise("Table.local."), _normalise("FE80::1%wlan0")
    ('table.local', 'fe80::1')
    """
    try:
        return str(ipaddress.ip_address(name.partition("%")[0]))
    except ValueError:
        return name.lower().rstrip(".") if name.isascii() else ""


def _load(path: Path) -> _Certificate | None:
    """Return the certificate in a file, or None if the file is missing, damaged or has the wrong key.

    Raises `OSError` if the disk cannot read the file.
    """
    try:
        data = read_small_file(path, _MAX_FILE_BYTES)
    except FileNotFoundError:
        return None
    except OSError as error:
        if is_read_fault(error):
            raise
        _log.warning("%s is replaced by a new certificate: %s", path, error)
        return None
    try:
        certificate = x509.load_pem_x509_certificate(data)
        # The server refuses some damaged certificates that `cryptography` accepts, and one with another key.
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(path, password="")
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except Exception as error:  # the errors of `cryptography` for damaged data have no common class
        _log.warning("%s cannot be read (%s): a new certificate is made", path, error)
        return None
    return _Certificate(tuple(str(name.value) for name in names), certificate.not_valid_after_utc)


def _make_certificate(names: Iterable[str], now: datetime) -> bytes:
    """Return a new key and its certificate for these names and addresses, in PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Tilekeeper")])
    usage = x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=False,
        crl_sign=False,
        encipher_only=False,
        decipher_only=False,
    )
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - VALID_BEFORE)
        .not_valid_after(now + VALID_AFTER)
        .add_extension(x509.SubjectAlternativeName(map(_make_general_name, names)), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return private + certificate.public_bytes(serialization.Encoding.PEM)


def _make_general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)
