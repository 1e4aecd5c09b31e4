"""A real Mosquitto for tests of the hall: on a free port, with a password, with or without TLS."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
from pathlib import Path

from device.settings import HallSettings
from tests.support.ports import find_free_port
from tests.support.waiting import until

HAS_MOSQUITTO = bool(shutil.which("mosquitto") and shutil.which("mosquitto_passwd"))
USER, PASSWORD = "table", "secret"


class Broker:
    """Mosquitto with the user `table` and the password `secret`; `settings` are those of a client."""

    def __init__(self, folder: Path, extra: str = "", *, with_tls: bool = False) -> None:
        self.port = find_free_port()
        self._folder = folder
        passwords = folder / "passwords"
        subprocess.run(["mosquitto_passwd", "-b", "-c", passwords, USER, PASSWORD], check=True, capture_output=True)
        self.certificate = make_certificate(folder, "broker") if with_tls else None
        tls = f"certfile {self.certificate}\nkeyfile {folder / 'broker.key'}\n" if with_tls else ""
        self._file = folder / "mosquitto.conf"
        self._file.write_text(
            f"listener {self.port} 127.0.0.1\nallow_anonymous false\npassword_file {passwords}\nuser root\n"
            f"persistence true\npersistence_location {folder}/\n{tls}{extra}"
        )  # `user` has no effect without root
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self._process = subprocess.Popen(["mosquitto", "-c", self._file], stderr=subprocess.DEVNULL)
        until(self.is_up)

    def is_up(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def stop(self) -> None:
        """Stop the broker; it keeps retained messages and sessions for the next start."""
        self._end(signal.SIGTERM)

    def add_user(self, name: str, password: str) -> None:
        """Let the running broker know one more user."""
        passwords = self._folder / "passwords"
        subprocess.run(["mosquitto_passwd", "-b", passwords, name, password], check=True, capture_output=True)
        if self._process:
            self._process.send_signal(signal.SIGHUP)

    def kill(self) -> None:
        """Kill the broker; it keeps nothing."""
        self._end(signal.SIGKILL)

    def _end(self, number: signal.Signals) -> None:
        if self._process:
            self._process.send_signal(number)
            self._process.wait()
            self._process = None

    def settings(self, *, table: str = "7", password: str = PASSWORD, ca: Path | None = None) -> HallSettings:
        """Return the settings of a client; without `ca`, the broker's own certificate is trusted."""
        file = self._folder / f"password-{password}"
        file.write_text(f"{password}\n", encoding="utf-8")
        return HallSettings("127.0.0.1", self.port, ca or self.certificate, USER, file, table)


def make_certificate(folder: Path, name: str) -> Path:
    """Make a self-signed certificate for 127.0.0.1, `NAME.pem`, with its key `NAME.key`."""
    certificate = folder / f"{name}.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}"]
    command += ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", folder / f"{name}.key", "-out", certificate]
    subprocess.run(command, check=True, capture_output=True)
    return certificate
