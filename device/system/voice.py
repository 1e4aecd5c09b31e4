"""Speaking: the score of a turn and whose turn it is, by espeak-ng, in the tile set's language where it is known.

A thread named `voice` speaks, and the session is never kept waiting: of several things to say, the newest is said.
"""

from __future__ import annotations

import logging
import queue
import subprocess
import threading
import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Protocol

from device.session.snapshot import Listener, Phase, TableState, TurnView
from engine.messages import said

_log = logging.getLogger(__name__)

OTHERWISE = "en"
"""The language for tile sets whose sentences nobody has written."""
LONGEST_S = 30.0
"""A sentence that takes longer to speak is broken off."""
NAME_MOST = 40

Speak = Callable[[str, str], None]
"""Says a text in a language (`en`, `de`); may take as long as it speaks. Raises `NoVoice`."""
Sentences = Mapping[str, str]

_KINDS = ("play", "pass", "exchange", "withdrawn", "challenge")


class NoVoice(Exception):  # noqa: N818 (named for what happened)
    """Nothing can be said; the message says why and what to do, on one line."""


class Table(Protocol):
    """What the voice needs of the session to follow it."""

    @property
    def state(self) -> TableState:
        """The table now."""

    def listen(self, listener: Listener) -> None:
        """Tell `listener` each new state from now on."""

    def forget(self, listener: Listener) -> None:
        """Tell it no more."""


class Voice:
    """Follows a table and speaks. Use it in `with`, or `close` it.

    `say` is told once, in one line, when there is no voice; then it is silent.
    """

    def __init__(self, table: Table, speak: Speak, say: Callable[[str], None] = _log.warning) -> None:
        self._table = table
        self._speak = speak
        self._say = say
        self._before = table.state
        self._coming: queue.Queue[tuple[str, str] | None] = queue.Queue()
        table.listen(self._hear)
        self._thread = threading.Thread(target=self._run, name="voice", daemon=True)
        self._thread.start()

    def __enter__(self) -> Voice:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Say nothing more, and end the thread once the sentence that is being spoken is over."""
        self._table.forget(self._hear)
        self._coming.put(None)
        self._thread.join(timeout=LONGEST_S)

    def _hear(self, state: TableState) -> None:
        """The session's news, in its thread: what is to be said is worked out and left for the voice's own thread."""
        language, sentences = sentences_for(language_of(state.tile_set))
        if state.phase is Phase.LOOKING:
            return
        if text := news(self._before, state, sentences):
            self._coming.put((text, language))
        self._before = state

    def _run(self) -> None:
        while (coming := self._newest()) is not None:
            try:
                self._speak(*coming)
            except NoVoice as error:
                self._say(str(error))
                return

    def _newest(self) -> tuple[str, str] | None:
        """Wait for something to say; of several, the newest. None at the end."""
        coming = self._coming.get()
        while coming is not None and not self._coming.empty():
            coming = self._coming.get()
        return coming


def news(before: TableState, now: TableState, sentences: Sentences) -> str:
    """What is worth saying of a change, in a few sentences; empty where nothing is. Pure."""
    spoken = []
    same = before.game == now.game
    if same and len(now.turns) > len(before.turns):
        spoken += [_of_turn(now, turn, sentences) for turn in now.turns[len(before.turns) :] if turn.kind in _KINDS]
    elif same and len(now.turns) < len(before.turns):
        spoken.append(sentences["undone"])
    if now.phase is Phase.ENDED and (before.phase is not Phase.ENDED or before.winners != now.winners):
        spoken.append(_winners(now, sentences) if not now.racks_wanted else "")
    elif now.phase is Phase.ENDED and before.racks_wanted and not now.racks_wanted:
        spoken.append(_winners(now, sentences))
    elif now.question and now.question != before.question:
        spoken.append(sentences["question"])
    elif now.turn_of is not None and now.phase.in_play and (not same or now.turn_of != before.turn_of):
        spoken.append(sentences["turn"].format(_name(now, now.turn_of)))
    return " ".join(filter(None, spoken))


def sentences_for(language: str) -> tuple[str, Sentences]:
    """The sentences of a language and its name; of English for a language that nobody has written."""
    chosen, told = _file_for(language)
    return chosen, {name: text for name, text in told.items() if isinstance(text, str)}


def short_for(tiles: str) -> Sentences:
    """What a small display shows of a turn without a word, by its kind, in the language of a tile set."""
    short: Sentences = _file_for(language_of(tiles))[1]["short"]
    return short


def language_of(tiles: str) -> str:
    """The language of a tile set."""
    return tiles.partition("_")[0]


@cache
def _file_for(language: str) -> tuple[str, Mapping[str, Any]]:
    folder = files("device") / "data" / "voice"
    known = {entry.name.removesuffix(".toml") for entry in folder.iterdir()}
    chosen = language if language in known else OTHERWISE
    return chosen, tomllib.loads((folder / f"{chosen}.toml").read_text(encoding="utf-8"))


def espeak(program: str = "espeak-ng", *options: str) -> Speak:
    """Speaks through the machine's loudspeaker; `options` are further ones of espeak-ng (`-w`, `file.wav`)."""

    def speak(text: str, language: str) -> None:
        command = [program, "-v", language, *options, "--stdin"]  # not as an argument: a name may begin with a dash
        try:
            subprocess.run(command, input=text.encode(), capture_output=True, timeout=LONGEST_S, check=True)
        except FileNotFoundError:
            why = "{0} is not installed, so nothing is spoken: sudo apt install espeak-ng"
            raise NoVoice(said("voice-missing", why, program)) from None
        except subprocess.TimeoutExpired:
            _log.warning("a sentence was broken off after %.0f s", LONGEST_S)
        except (subprocess.CalledProcessError, OSError) as error:
            why = "{0} cannot speak ({1}), so nothing is spoken: is a loudspeaker there?"
            raise NoVoice(said("voice-mute", why, program, error)) from None

    return speak


def _of_turn(state: TableState, turn: TurnView, sentences: Sentences) -> str:
    bingo = turn.kind == "play" and turn.bonus > 0
    played = sentences["bingo" if bingo else turn.kind].format(_name(state, turn.player), turn.score)
    wrong = [sentences["invalid"].format(word.lower()) for word in turn.invalid_words]
    return " ".join([played, *wrong])


def _winners(state: TableState, sentences: Sentences) -> str:
    if not state.winners:
        return ""
    names = sentences["and"].join(_name(state, player) for player in state.winners)
    total = state.players[state.winners[0]].total
    return sentences["won" if len(state.winners) == 1 else "drawn"].format(names, total)


def _name(state: TableState, player: int) -> str:
    """A name as it is spoken: on one line, not endless."""
    return " ".join(state.players[player].name.split())[:NAME_MOST]
