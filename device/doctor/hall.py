"""Check of the connection to the hall (`[hall]` in the settings): files, broker, certificate, password."""

from __future__ import annotations

from collections.abc import Iterator

from device.doctor.finding import Finding, Subject
from device.doctor.program import find_read_problem
from device.doctor.system import System
from device.settings import Settings


def check_hall(system: System, settings: Settings) -> Iterator[Finding]:
    """Check that the broker accepts the table. Faults are only warnings, because the table works without the hall."""
    subject, hall = Subject("hall"), settings.hall
    if not hall.host:
        yield subject.good("not in use")
        return
    if not system.has_module("paho"):
        yield subject.warning("paho-mqtt is not installed: nothing is published", "sudo ./systemd/install.sh")
        return
    for file in filter(None, (hall.ca, hall.password_file)):
        if problem := find_read_problem(system, file):
            yield subject.warning(f"{file} {problem}", f"sudo chmod o+r {file}, or move it to /etc/tilekeeper")
            return
    from device.hall.connection import BrokerConnection, BrokerLostError, BrokerRefusedError

    broker = f"{hall.host}:{hall.port}"
    try:
        BrokerConnection(hall, f"{hall.table}-doctor").close()  # so that a running table stays connected
    except BrokerRefusedError as error:
        remedy = "check ca, user and password_file of [hall] in the settings file"
        yield subject.warning(f"{broker} refuses this table: {error}", remedy)
    except BrokerLostError as error:
        remedy = "is the broker on? Check host and port of [hall] in the settings file"
        yield subject.warning(f"{broker} cannot be reached: {error}", remedy)
    else:
        yield subject.good(f"{broker} accepts the table {hall.table}")
