"""The process that is killed: it goes on with the game it finds, by a record, and sends what was confirmed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from device.cli.benchmarks.table import FakeTable
from device.demo.demo_table import load_demo_games
from device.session import game_controller
from device.session.commands.challenges import ChallengePlay
from device.session.commands.corrections import NameBlank, RevealRack
from device.session.commands.games import EndGame, ResumeGame, StartGame
from device.session.commands.turns import EndTurn, ExchangeTiles, PassTurn
from device.session.messages import CommandRefusedError
from device.session.snapshot import TableSnapshot
from device.session.table_session import TableSession
from device.storage.lexicons import open_lexicon
from device.storage.store import GameStore
from engine.board import Board, square_name
from engine.events import GameStarted
from engine.gcg import replay
from engine.gcg.replay import ReplayedEvent
from engine.reading import BLANK
from engine.rules import Rules
from engine.state import TurnKind

RECORD = load_demo_games()["three-of-us"]
SCRIPT: tuple[ReplayedEvent, ...] = tuple(replay(RECORD).events)
TURNS = [event for event in SCRIPT if event.entry.kind not in (TurnKind.ENDRACK, TurnKind.TIME)]
NAMES = tuple(player.name for player in RECORD.players)
LEFT = {e.entry.player: e.entry.text for e in SCRIPT if e.entry.kind is TurnKind.ENDRACK and e.entry.score < 0}
BLANK_QUESTION = "asked-blank-unnamed"
"""Key of the question for the letter of a blank, which is asked with the play; `_next_turn` names it with the next."""
MESSAGES_FILE = "messages"
"""Name of the file to which `play` writes its messages, one JSON object on each line."""
RULES = Rules(clock_seconds=25 * 60)
game_controller.MAX_QUICK_S = 0.0  # the players press at once, and the table asks about none of their plays


def play_on(folder: Path, send_message: Callable[[dict[str, Any]], None], turns: int) -> None:
    """Continue the game in `folder`, or begin one, for `turns` turns; `send_message` gets what the page shows."""
    words = open_lexicon(None, "en")
    assert words is not None
    table = FakeTable()
    with GameStore(folder / "games.db") as store, TableSession(table, table, store, words) as session:
        session.add_listener(lambda state: send_message(_make_message(state)))
        try:
            state = session.submit(ResumeGame()).result()
        except CommandRefusedError:
            state = session.submit(StartGame(GameStarted(NAMES, rules=RULES, lexicon=words.name))).result()
        send_message(_make_message(state) | {"ready": True})
        for _ in range(turns):
            state = _next_turn(session, table)


def _make_message(state: TableSnapshot) -> dict[str, Any]:
    """Return a message about what a state confirms: its game, turns and clocks, and whether it needs the players."""
    clock = state.clock
    return {
        "game": state.game,
        "events": state.events,
        "phase": str(state.phase),
        "turns": [(turn.kind, turn.player, turn.score) for turn in state.turns],
        "has_question": bool(state.question) and getattr(state.question.text, "key", "") != BLANK_QUESTION,
        "trouble": [notice.text for notice in state.notices if notice.trouble != "none"],
        "used": clock.used if clock else (),
        "running": clock.running if clock else None,
        "since": clock.since if clock else 0.0,
    }


def _next_turn(session: TableSession, table: FakeTable) -> TableSnapshot:
    done = len(session.state.turns)
    if done >= len(TURNS):
        session.submit(EndGame()).result()
        for player in session.state.racks_wanted:
            session.submit(RevealRack(player, LEFT.get(player, ""))).result()
        table.board = Board()
        return session.submit(StartGame(GameStarted(NAMES, rules=RULES, lexicon=session.state.lexicon))).result()
    if done and (play := TURNS[done - 1].play):
        shown = dict(session.state.turns[-1].tiles)
        for square, tile in play.tiles:
            if shown[square_name(square)] == BLANK:
                session.submit(NameBlank(square_name(square), tile.letter)).result()
    event = TURNS[done]
    board = _board_before(done)
    match event.entry.kind:
        case TurnKind.PLAY:
            assert event.play is not None
            table.board = event.play.apply_to(board)
            return session.submit(EndTurn()).result()
        case TurnKind.WITHDRAWN:
            return session.submit(ChallengePlay()).result()
        case TurnKind.EXCHANGE:
            return session.submit(ExchangeTiles(len(event.entry.text))).result()
        case _:
            return session.submit(PassTurn()).result()


def _board_before(done: int) -> Board:
    """Return the board after the first `done` turns of the record."""
    board = Board()
    for event, after in zip(TURNS[:done], [*TURNS[1:done], None], strict=False):
        if event.play is not None and (after is None or after.entry.kind is not TurnKind.WITHDRAWN):
            board = event.play.apply_to(board)
    if done and TURNS[done - 1].play is not None and done < len(TURNS) and TURNS[done].entry.kind is TurnKind.WITHDRAWN:
        return board  # the phony still lies there
    return board
