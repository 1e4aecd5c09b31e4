"""Guard in tests: the state of a game is changed by one thread only."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from weakref import WeakKeyDictionary

import pytest

from device.session.clock import ClockKeeper
from device.session.game_controller import GameController
from device.storage.game_log import GameLog

GUARDED_CLASSES = (GameController, GameLog, ClockKeeper)


class ThreadGuard:
    """Notes each guarded object that two living threads have changed after it was made."""

    def __init__(self) -> None:
        self.violations: list[str] = []
        self._owners: WeakKeyDictionary[object, threading.Thread | None] = WeakKeyDictionary()

    def install(self, monkeypatch: pytest.MonkeyPatch, guarded: type) -> None:
        """Watch all objects of a class that are made from now on."""
        make = guarded.__init__

        def init(instance: object, *args: object, **options: object) -> None:
            make(instance, *args, **options)
            self._owners[instance] = None

        def set_attribute(instance: object, name: str, value: object) -> None:
            if instance in self._owners:
                self._note_change(instance, name)
            object.__setattr__(instance, name, value)

        monkeypatch.setattr(guarded, "__init__", init)
        monkeypatch.setattr(guarded, "__setattr__", set_attribute)

    def _note_change(self, instance: object, name: str) -> None:
        thread = threading.current_thread()
        owner = self._owners[instance] or thread
        if owner is not thread and owner.is_alive():
            self.violations.append(f"{type(instance).__name__}.{name}: by {owner.name} and {thread.name}")
        self._owners[instance] = thread


@pytest.fixture(autouse=True)
def thread_guard(monkeypatch: pytest.MonkeyPatch) -> Iterator[ThreadGuard]:
    """Fail a test in which two threads change the state of a game."""
    guard = ThreadGuard()
    for guarded in GUARDED_CLASSES:
        guard.install(monkeypatch, guarded)
    yield guard
    assert guard.violations == [], guard.violations
