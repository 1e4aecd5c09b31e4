"""Check of the connection to the hall (`[hall]` in the settings): files, broker, certificate, password, rights."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

from device.doctor.finding import Finding, Subject
from device.doctor.program import find_read_problem, find_reinstall_remedy
from device.doctor.system import System
from device.settings import HallSettings, Settings


def check_hall(system: System, settings: Settings) -> Iterator[Finding]:
    """Check that the broker accepts the table. Faults are only warnings, because the table works without the hall."""
    subject, hall = Subject("hall"), settings.hall
    if not hall.host:
        yield subject.good("not in use")
        return
    if not system.has_module("paho"):
        yield subject.warning("paho-mqtt is not installed: nothing is published", find_reinstall_remedy(system))
        return
    for file in filter(None, (hall.ca, hall.password_file)):
        if problem := find_read_problem(system, file):
            yield subject.warning(f"{file} {problem}", f"sudo chmod o+r {file}, or move it to /etc/tilekeeper")
            return
    yield _check_broker(subject, hall)


def _check_broker(subject: Subject, hall: HallSettings) -> Finding:
    """Check that the broker lets the table log in and publish.

    The message that is published is an answer to order 0, which no hall sends. So every hall ignores it.
    """
    from device.hall.connection import BrokerConnection, BrokerLostError, BrokerRefusedError
    from device.hall.messages import TOPIC_ROOT, OrderAnswer, make_answer_message

    broker = f"{hall.host}:{hall.port}"
    refusals: list[str] = []
    try:
        with closing(BrokerConnection(hall, f"{hall.table}-doctor")) as connection:  # a running table stays connected
            message = make_answer_message(OrderAnswer(table=hall.table, number=0, accepted=False))
            connection.publish([message], refusals.append)
            connection.wait_for_acknowledgement()
    except BrokerRefusedError as error:
        remedy = "check ca, user and password_file of [hall] in the settings file"
        return subject.warning(f"{broker} refuses this table: {error}", remedy)
    except BrokerLostError as error:
        remedy = "is the broker on? Check host and port of [hall] in the settings file"
        return subject.warning(f"{broker} cannot be reached: {error}", remedy)
    if refusals:
        return subject.warning(
            f"{broker} refuses the messages of the table {hall.table}: {refusals[0]}",
            f"let the user {hall.user or 'anonymous'} write {TOPIC_ROOT}/{hall.table}/# in the ACL of the broker; in "
            "that of docs/hall.md, user and table of [hall] have the same name",
        )
    return subject.good(f"{broker} accepts the table {hall.table}")
