"""Files with which the broker, the hall and the tables find and trust each other, for `tilekeeper hall --init`."""

from __future__ import annotations

import base64
import hashlib
import secrets
from collections.abc import Iterable
from pathlib import Path

from device.cli import UserError
from device.hall.messages import TOPIC_ROOT

HALL_USER = "hall"
TABLE_FOLDER = "/etc/tilekeeper"
"""Folder in which the files of a table belong on its computer."""
_JOIN = f"""#!/bin/sh
# Lets the table on this computer join the hall: sudo sh join.sh
set -e
cd "$(dirname "$0")"
settings={TABLE_FOLDER}/settings.toml
touch "$settings"
install -m 600 hall-ca.pem hall-password {TABLE_FOLDER}
chown --reference="$settings" {TABLE_FOLDER}/hall-ca.pem {TABLE_FOLDER}/hall-password
sed -i '/^\\[hall\\]/,/^\\[/{{ /^\\[hall\\]/d; /^\\[/!d }}' "$settings"
{{ echo; cat hall.toml; }} >> "$settings"
systemctl restart tilekeeper
"""
"""Script that replaces the section `[hall]` of a table's settings; the files get the owner of the settings."""
_PASSWORD_ROUNDS = 101
"""Rounds of PBKDF2 in a password file of Mosquitto, as its own `mosquitto_passwd` makes it."""


def write_hall_files(folder: Path, count: int, names: Iterable[str], port: int) -> None:
    """Write the files for `count` tables and a broker on `port` to a new folder.

    `names` are names and addresses of the broker; the first one is that which the tables use. Raises `UserError` if
    the folder exists, and `OSError`.
    """
    from web.security.certificate import OwnCertificate

    host, *_ = names = list(names)
    try:
        folder.mkdir(mode=0o700, parents=True)
    except FileExistsError:
        raise UserError(f"{folder} exists. Delete it, or choose another folder with --data.") from None
    broker = folder.resolve() / "broker"
    broker.mkdir(mode=0o700)
    OwnCertificate(broker / "key.pem", lambda: names).renew()
    pem = (broker / "key.pem").read_text(encoding="ascii")
    certificate = pem[pem.index("-----BEGIN CERTIFICATE") :]
    users = [HALL_USER, *map(str, range(1, count + 1))]
    passwords = {user: secrets.token_urlsafe(18) for user in users}
    _write(broker / "certificate.pem", certificate)
    _write(broker / "passwords", "".join(f"{user}:{hash_password(text)}\n" for user, text in passwords.items()))
    _write(broker / "rights", format_rights(users[1:]))
    _write(broker / "mosquitto.conf", _format_broker(broker, port))
    for user in users:
        client = folder / (f"table-{user}" if user != HALL_USER else HALL_USER)
        client.mkdir(mode=0o700)
        _write(client / "hall-ca.pem", certificate)
        _write(client / "hall-password", f"{passwords[user]}\n")
        if user != HALL_USER:
            _write(client / "hall.toml", _format_table(host, port, user))
            _write(client / "join.sh", _JOIN)


def hash_password(password: str) -> str:
    """Return a password as in a password file of Mosquitto 2 (PBKDF2 with SHA-512)."""
    salt = secrets.token_bytes(12)
    digest = hashlib.pbkdf2_hmac("sha512", password.encode(), salt, _PASSWORD_ROUNDS)
    return f"$7${_PASSWORD_ROUNDS}${base64.b64encode(salt).decode()}${base64.b64encode(digest).decode()}"


def format_rights(tables: Iterable[str]) -> str:
    """Return the file with the rights of all users at the broker (`acl_file` of Mosquitto).

    - A table writes its own topics. It reads the orders of the director to it, and the public key of the hall.
    - The hall reads all topics. It writes its key, and the orders to all tables.
    """
    rights = f"user {HALL_USER}\ntopic read {TOPIC_ROOT}/#\ntopic write {TOPIC_ROOT}/hall/key\n"
    rights += f"topic write {TOPIC_ROOT}/+/director\n"
    for table in tables:
        own = f"{TOPIC_ROOT}/{table}"
        rights += f"\nuser {table}\ntopic write {own}/#\ntopic read {own}/director\ntopic read {TOPIC_ROOT}/hall/key\n"
    return rights


def _format_broker(folder: Path, port: int) -> str:
    return (
        f"listener {port}\nallow_anonymous false\n"
        f"certfile {folder}/certificate.pem\nkeyfile {folder}/key.pem\n"
        f"password_file {folder}/passwords\nacl_file {folder}/rights\n"
        f"user {folder.owner()}\n"  # only if root starts the broker: otherwise it could not read these files
        f"persistence true\npersistence_location {folder}/\nmax_queued_messages 0\nmax_packet_size 1100000\n"
    )


def _format_table(host: str, port: int, table: str) -> str:
    return (
        f'[hall]\nhost = "{host}"\nport = {port}\nca = "{TABLE_FOLDER}/hall-ca.pem"\n'
        f'user = "{table}"\npassword_file = "{TABLE_FOLDER}/hall-password"\ntable = "{table}"\n'
    )


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    path.chmod(0o600)
