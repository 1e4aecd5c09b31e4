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

from device.session.snapshot import Listener, Phase, TableSnapshot, TurnView
from engine.errors import TilekeeperError
from engine.messages import said

_log = logging.getLogger(__name__)

DEFAULT_LANGUAGE = "en"
"""The language for tile sets whose sentences nobody has written."""
SPEECH_TIMEOUT_S = 30.0
"""A sentence that takes longer to speak is broken off."""
MAX_NAME_LENGTH = 40

SpeakFunction = Callable[[str, str], None]
"""Says a text in a language (`en`, `de`); may take as long as it speaks. Raises `VoiceError`."""
Sentences = Mapping[str, str]

_SPOKEN_KINDS = ("play", "pass", "exchange", "withdrawn", "challenge")


class VoiceError(TilekeeperError):
    """Nothing can be said; the message says why and what to do, on one line."""


class VoiceSession(Protocol):
    """What the voice needs of the session to follow it."""

    @property
    def state(self) -> TableSnapshot:
        """The table now."""

    def add_listener(self, listener: Listener) -> None:
        """Tell `listener` each new state from now on."""

    def remove_listener(self, listener: Listener) -> None:
        """Tell it no more."""


class Voice:
    """Follows a table and speaks. Use it in `with`, or `close` it.

    `say` is told once, in one line, when there is no voice; then it is silent.
    """

    def __init__(
        self, session: VoiceSession, speak: SpeakFunction, report: Callable[[str], None] = _log.warning
    ) -> None:
        self._session = session
        self._speak = speak
        self._report = report
        self._last_state = session.state
        self._pending: queue.Queue[tuple[str, str] | None] = queue.Queue()
        session.add_listener(self._on_state)
        self._thread = threading.Thread(target=self._run, name="voice", daemon=True)
        self._thread.start()

    def __enter__(self) -> Voice:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Say nothing more, and end the thread once the sentence that is being spoken is over."""
        self._session.remove_listener(self._on_state)
        self._pending.put(None)
        self._thread.join(timeout=SPEECH_TIMEOUT_S)

    def _on_state(self, state: TableSnapshot) -> None:
        """The session's news, in its thread: what is to be said is worked out and left for the voice's own thread."""
        language, sentences = load_sentences(language_of(state.tile_set))
        if state.phase is Phase.LOOKING:
            return
        if text := describe_change(self._last_state, state, sentences):
            self._pending.put((text, language))
        self._last_state = state

    def _run(self) -> None:
        while (coming := self._wait_for_newest()) is not None:
            try:
                self._speak(*coming)
            except VoiceError as error:
                self._report(str(error))
                return

    def _wait_for_newest(self) -> tuple[str, str] | None:
        """Wait for something to say; of several, the newest. None at the end."""
        coming = self._pending.get()
        while coming is not None and not self._pending.empty():
            coming = self._pending.get()
        return coming


def describe_change(before: TableSnapshot, now: TableSnapshot, sentences: Sentences) -> str:
    """What is worth saying of a change, in a few sentences; empty where nothing is. Pure."""
    spoken = []
    same = before.game == now.game
    if same and len(now.turns) > len(before.turns):
        spoken += [
            _describe_turn(now, turn, sentences)
            for turn in now.turns[len(before.turns) :]
            if turn.kind in _SPOKEN_KINDS
        ]
    elif same and len(now.turns) < len(before.turns):
        spoken.append(sentences["undone"])
    if now.phase is Phase.ENDED and (before.phase is not Phase.ENDED or before.winners != now.winners):
        spoken.append(_describe_winners(now, sentences) if not now.racks_wanted else "")
    elif now.phase is Phase.ENDED and before.racks_wanted and not now.racks_wanted:
        spoken.append(_describe_winners(now, sentences))
    elif now.question and now.question != before.question:
        spoken.append(sentences["question"])
    elif now.turn_of is not None and now.phase.in_play and (not same or now.turn_of != before.turn_of):
        spoken.append(sentences["turn"].format(_spoken_name(now, now.turn_of)))
    return " ".join(filter(None, spoken))


def load_sentences(language: str) -> tuple[str, Sentences]:
    """The sentences of a language and its name; of English for a language that nobody has written."""
    chosen, told = _load_phrases(language)
    return chosen, {name: text for name, text in told.items() if isinstance(text, str)}


def load_short_phrases(tiles: str) -> Sentences:
    """What a small display shows of a turn without a word, by its kind, in the language of a tile set."""
    short: Sentences = _load_phrases(language_of(tiles))[1]["short"]
    return short


def language_of(tiles: str) -> str:
    """The language of a tile set."""
    return tiles.partition("_")[0]


@cache
def _load_phrases(language: str) -> tuple[str, Mapping[str, Any]]:
    folder = files("device") / "data" / "voice"
    known = {entry.name.removesuffix(".toml") for entry in folder.iterdir()}
    chosen = language if language in known else DEFAULT_LANGUAGE
    return chosen, tomllib.loads((folder / f"{chosen}.toml").read_text(encoding="utf-8"))


def make_espeak_speaker(program: str = "espeak-ng", *options: str) -> SpeakFunction:
    """Speaks through the machine's loudspeaker; `options` are further ones of espeak-ng (`-w`, `file.wav`)."""

    def speak(text: str, language: str) -> None:
        command = [program, "-v", language, *options, "--stdin"]  # not as an argument: a name may begin with a dash
        try:
            subprocess.run(command, input=text.encode(), capture_output=True, timeout=SPEECH_TIMEOUT_S, check=True)
        except FileNotFoundError:
            why = "{0} is not installed, so nothing is spoken: sudo apt install espeak-ng"
            raise VoiceError(said("voice-missing", why, program)) from None
        except subprocess.TimeoutExpired:
            _log.warning("a sentence was broken off after %.0f s", SPEECH_TIMEOUT_S)
        except (subprocess.CalledProcessError, OSError) as error:
            why = "{0} cannot speak ({1}), so nothing is spoken: is a loudspeaker there?"
            raise VoiceError(said("voice-mute", why, program, error)) from None

    return speak


def _describe_turn(state: TableSnapshot, turn: TurnView, sentences: Sentences) -> str:
    bingo = turn.kind == "play" and turn.bonus > 0
    played = sentences["bingo" if bingo else turn.kind].format(_spoken_name(state, turn.player), turn.score)
    wrong = [sentences["invalid"].format(word.lower()) for word in turn.invalid_words]
    return " ".join([played, *wrong])


def _describe_winners(state: TableSnapshot, sentences: Sentences) -> str:
    if not state.winners:
        return ""
    names = sentences["and"].join(_spoken_name(state, player) for player in state.winners)
    total = state.players[state.winners[0]].total
    return sentences["won" if len(state.winners) == 1 else "drawn"].format(names, total)


def _spoken_name(state: TableSnapshot, player: int) -> str:
    """A name as it is spoken: on one line, not endless."""
    return " ".join(state.players[player].name.split())[:MAX_NAME_LENGTH]
