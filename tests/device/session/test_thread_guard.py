"""The guard of the tests itself: it notes a second thread, and nothing else."""

from __future__ import annotations

import threading

from device.session.commands.turns import PassTurn
from device.session.table_session import TableSession
from tests.support.thread_guard import ThreadGuard
from tests.support.waiting import PATIENCE_S


def test_change_by_a_second_thread_is_noted(playing: TableSession, thread_guard: ThreadGuard) -> None:
    controller = playing._controller
    changing = threading.Thread(target=lambda: controller.set_paused(True), name="intruder")
    changing.start()
    changing.join()
    assert [violation for violation in thread_guard.violations if "intruder" in violation]
    thread_guard.violations.clear()


def test_commands_change_the_game_on_one_thread(playing: TableSession, thread_guard: ThreadGuard) -> None:
    playing.submit(PassTurn()).result(PATIENCE_S)
    assert thread_guard.violations == []
