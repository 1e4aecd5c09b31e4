"""A real broker for the tests of the hall."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.support.broker import HAS_MOSQUITTO, Broker

MakeBroker = Callable[..., Broker]


@pytest.fixture
def make_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MakeBroker]:
    if not HAS_MOSQUITTO:
        pytest.skip("needs mosquitto: sudo apt install mosquitto")
    brokers: list[Broker] = []

    def make(extra: str = "", *, with_tls: bool = False) -> Broker:
        broker = Broker(tmp_path_factory.mktemp("broker"), extra, with_tls=with_tls)
        broker.start()
        brokers.append(broker)
        return broker

    yield make
    for broker in brokers:
        broker.stop()


@pytest.fixture
def broker(make_broker: MakeBroker) -> Broker:
    return make_broker()
