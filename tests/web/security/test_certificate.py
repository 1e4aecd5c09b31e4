"""The certificate that a table makes for itself: when it is made, kept and replaced, and what browsers see of it."""

from __future__ import annotations

import base64
import ssl
import stat
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID

from web.security.certificate import MAX_FORMER_NAMES, VALID_AFTER, VALID_BEFORE, OwnCertificate

DAY_S = 86400.0
MAX_APPLE_VALIDITY = timedelta(days=825)


class Table:
    """The names and the clock of a machine, and its certificate."""

    def __init__(self, folder: Path) -> None:
        self.names = ["localhost", "192.168.1.7", "table.local"]
        self.time = time.time() + DAY_S
        self.path = folder / "https.pem"

    def renew(self) -> bool:
        """Renew the certificate as a program that was started again."""
        return OwnCertificate(self.path, lambda: self.names, lambda: self.time).renew()

    @property
    def certificate(self) -> x509.Certificate:
        return x509.load_pem_x509_certificate(self.path.read_bytes())

    @property
    def certified_names(self) -> list[str]:
        names = self.certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        return [str(name.value) for name in names]


@pytest.fixture
def table(tmp_path: Path) -> Table:
    table = Table(tmp_path)
    assert table.renew()
    return table


def test_certificate_names_the_table_and_only_its_user_reads_the_key(table: Table) -> None:
    assert table.certified_names == table.names
    assert stat.S_IMODE(table.path.stat().st_mode) == 0o600
    key = table.certificate.public_key()
    assert isinstance(key, ec.EllipticCurvePublicKey) and isinstance(key.curve, ec.SECP256R1)


def test_certificate_is_for_a_server_and_certifies_no_others(table: Table) -> None:
    extensions = table.certificate.extensions
    usage = extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    assert list(usage) == [ExtendedKeyUsageOID.SERVER_AUTH]
    assert not extensions.get_extension_for_class(x509.BasicConstraints).value.ca


def test_certificate_can_be_served_from_its_file(table: Table) -> None:
    ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(table.path, table.path)


def test_validity_allows_a_clock_that_is_wrong_by_a_year(table: Table) -> None:
    certificate, now = table.certificate, datetime.fromtimestamp(table.time, UTC)
    assert certificate.not_valid_before_utc <= now - timedelta(days=365)
    assert certificate.not_valid_after_utc >= now + timedelta(days=365)
    assert VALID_BEFORE + VALID_AFTER <= MAX_APPLE_VALIDITY


@pytest.mark.parametrize("days", [0, 1, 360, -300, -10_000])
def test_certificate_is_kept_across_restarts(table: Table, days: int) -> None:
    before = table.path.read_bytes()
    table.time += days * DAY_S
    assert not table.renew() and table.path.read_bytes() == before


def test_certificate_is_replaced_a_month_before_its_end(table: Table) -> None:
    table.time += (VALID_AFTER.days - 29) * DAY_S
    assert table.renew()
    assert table.certificate.not_valid_after_utc > datetime.fromtimestamp(table.time, UTC) + timedelta(days=390)
    assert not table.renew()


def test_clock_that_is_older_than_the_program_is_not_used(tmp_path: Path) -> None:
    table = Table(tmp_path)
    table.time = 0.0
    table.renew()
    assert table.certificate.not_valid_after_utc > datetime.now(UTC)


def test_new_address_is_added_and_the_former_ones_stay(table: Table) -> None:
    table.names = ["localhost", "10.0.0.5", "table.local"]
    assert table.renew() and table.certified_names == ["localhost", "10.0.0.5", "table.local", "192.168.1.7"]
    table.names = ["localhost", "192.168.1.7", "table.local"]
    assert not table.renew()


def test_former_addresses_are_limited(table: Table) -> None:
    for number in range(MAX_FORMER_NAMES + 5):
        table.names = ["table.local", f"10.0.0.{number}"]
        assert table.renew()
    assert len(table.certified_names) == 2 + MAX_FORMER_NAMES


@pytest.mark.parametrize("name", ["TABLE.local.", "FE80::1%wlan0", "tisch-bär.local", ""])
def test_name_in_another_form_needs_one_certificate_only(table: Table, name: str) -> None:
    table.names.append(name)
    table.renew()
    assert not table.renew()


def test_damaged_file_is_replaced(table: Table) -> None:
    good = table.path.read_bytes()
    for damaged in (b"", b"nothing", good[:-100], good[good.index(b"-----BEGIN CERT") :]):
        table.path.write_bytes(damaged)
        assert table.renew() and not table.renew()


def test_certificate_that_the_disk_cannot_read_is_kept(table: Table) -> None:
    good = table.path.read_bytes()
    table.path.unlink()
    table.path.symlink_to("/proc/self/mem")
    with pytest.raises(OSError, match="Input/output error"):
        table.renew()
    table.path.unlink()
    table.path.write_bytes(good)
    assert not table.renew()


_CURVE = bytes.fromhex("06082a8648ce3d030107")
"""Name of the curve of the key, in DER."""
_VERSION_3 = bytes.fromhex("a003020102")


@pytest.mark.parametrize(
    ("field", "damaged"),
    [(_CURVE, _CURVE[:-1] + b"\x4f"), (_VERSION_3, _VERSION_3[:-1] + b"\x12")],
)
def test_certificate_with_a_damaged_field_is_replaced(table: Table, field: bytes, damaged: bytes) -> None:
    key, begin, rest = table.path.read_bytes().partition(b"-----BEGIN CERTIFICATE-----\n")
    der = base64.b64decode(rest.partition(b"-----END")[0])
    assert field in der
    body = base64.encodebytes(der.replace(field, damaged, 1))
    table.path.write_bytes(key + begin + body + b"-----END CERTIFICATE-----\n")
    assert table.renew() and not table.renew()


def test_key_of_another_certificate_is_replaced(table: Table, tmp_path: Path) -> None:
    folder = tmp_path / "other"
    folder.mkdir()
    other = Table(folder)
    other.renew()
    key = other.path.read_bytes().partition(b"-----BEGIN CERT")[0]
    table.path.write_bytes(key + b"".join(table.path.read_bytes().partition(b"-----BEGIN CERT")[1:]))
    assert table.renew()


def test_folder_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError):
        OwnCertificate(tmp_path / "none" / "https.pem", lambda: ["localhost"]).renew()
