"""Speech output: espeak-ng speaks scores and the name of the player to move, in the language of the tile set.

A thread named `voice` runs espeak-ng, so that the session never waits. If several texts are pending, only the newest is
spoken.
"""

from __future__ import annotations

import logging
import queue
import subprocess
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from device.catalogue import Catalogue, get_text, load_catalogue
from device.session.snapshot import Phase, Sight, SnapshotSource, TableSnapshot, TurnView
from device.system.closeable import Closeable
from engine.errors import TilekeeperError

_log = logging.getLogger(__name__)

SPEECH_TIMEOUT_S = 30.0
"""Time after which espeak-ng is stopped, even if it is still speaking, in seconds."""
CLOSE_TIMEOUT_S = 5.0
"""Longest time to wait for the current sentence when the table stops, in seconds.

systemd kills the program after 15 seconds, so a speaker that hangs must leave time to save the game.
"""

SpeakFunction = Callable[[str, str], None]
"""A function that speaks a text in a language (`en`, `de`) and returns when it has been spoken. Raises `VoiceError`."""

_SPOKEN_KINDS = ("play", "position", "pass", "exchange", "withdrawn", "challenge")


class VoiceError(TilekeeperError):
    """Error for speech output that fails; the message gives the reason and the remedy on one line."""


class Voice(Closeable):
    """Speech output that announces the changes in a session.

    Use it in a `with` statement, or call `close`. If speaking fails, `report` is called with a message of one line, and
    nothing more is spoken.
    """

    def __init__(
        self, session: SnapshotSource, speak: SpeakFunction, report: Callable[[str], None] = _log.warning
    ) -> None:
        self._session = session
        self._speak = speak
        self._report = report
        self._last_state = session.state
        self._pending: queue.Queue[tuple[str, str] | None] = queue.Queue()
        session.add_listener(self._on_state)
        self._thread = threading.Thread(target=self._run, name="voice", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Wait until the current text has been spoken, for `CLOSE_TIMEOUT_S` at most, then end the thread."""
        self._session.remove_listener(self._on_state)
        self._pending.put(None)
        self._thread.join(timeout=CLOSE_TIMEOUT_S)

    def _on_state(self, state: TableSnapshot) -> None:
        """Queue a text about the changes since the last snapshot; called on the session's thread."""
        catalogue = load_catalogue(find_language(state.tile_set))
        if state.phase is Phase.LOOKING:
            return
        if text := describe_change(self._last_state, state, catalogue):
            self._pending.put((text, catalogue.language))
        self._last_state = state

    def _run(self) -> None:
        while (pending := self._wait_for_newest()) is not None:
            try:
                self._speak(*pending)
            except VoiceError as error:
                self._report(str(error))
                return

    def _wait_for_newest(self) -> tuple[str, str] | None:
        """Wait for a text, then return the newest pending text, or None if the speech output was closed."""
        newest = self._pending.get()
        while newest is not None and not self._pending.empty():
            newest = self._pending.get()
        return newest


def describe_change(before: TableSnapshot, now: TableSnapshot, catalogue: Catalogue) -> str:
    """Return a few sentences about the changes between two snapshots, or an empty string if there are none.

    While the board is read, nothing is said: the result follows.
    """
    if now.phase is Phase.LOOKING:
        return ""
    sentences = []
    is_same_game = before.game == now.game
    changed_turns: Sequence[TurnView] = ()
    if is_same_game and len(now.turns) > len(before.turns):
        changed_turns = _find_new_turns(before, now)
    elif is_same_game and len(now.turns) < len(before.turns):
        sentences.append(catalogue.format("voice.undone"))
    elif is_same_game and now.turns and now.turns[-1].score != before.turns[-1].score:  # by an answer or a correction
        changed_turns = now.turns[-1:]
    sentences += [_describe_turn(now, turn, catalogue) for turn in changed_turns if turn.kind in _SPOKEN_KINDS]
    if now.phase is Phase.ENDED and (before.phase is not Phase.ENDED or before.winners != now.winners):
        sentences.append(_describe_winners(now, catalogue) if not now.racks_wanted else "")
    elif now.phase is Phase.ENDED and before.racks_wanted and not now.racks_wanted:
        sentences.append(_describe_winners(now, catalogue))
    elif (now.question and now.question != before.question) or (now.end_due and not before.end_due):
        sentences.append(catalogue.format("voice.question"))  # the end is proposed: the page shows the choice
    elif (turn := _find_turn(now)) and turn != _find_turn(before):
        sentences.append(catalogue.format("voice.turn", now.players[turn[1]].name))
    elif now.turn_of is not None and now.sight is Sight.TURN_OVER and before.sight is not Sight.TURN_OVER:
        sentences.append(catalogue.format("voice.turn-over", now.players[now.turn_of].name))
    return " ".join(filter(None, sentences))


def format_turn_kind(kind: str, tiles: str) -> str:
    """Return the word for a kind of turn (pass, exchange, ...) in the language of the tile set `tiles`.

    Small displays show this word for turns without a play.
    """
    return load_catalogue(find_language(tiles)).format(f"voice.short.{kind}")


def find_language(tiles: str) -> str:
    """Return the language of a tile set: the part of its name before `_`."""
    return tiles.partition("_")[0]


def find_usb_loudspeaker(cards: Path = Path("/sys/class/sound")) -> str:
    """Return the ALSA device of the first USB card that can play, or an empty string if there is none.

    ALSA's own choice is the first card, which is HDMI or the headphone jack on a Raspberry Pi.
    """
    for card in sorted(cards.glob("card*")):
        if "/usb" in str(card.resolve()) and any(card.glob("pcm*p")):
            return f"plughw:CARD={(card / 'id').read_text(encoding='ascii').strip()}"
    return ""


def list_device_options(device: str) -> list[str]:
    """Return the options of espeak-ng that select the ALSA device; if it is empty, the first USB loudspeaker."""
    chosen = device or find_usb_loudspeaker()
    return ["-d", chosen] if chosen else []


def make_espeak_speaker(device: str = "", program: str = "espeak-ng", *options: str) -> SpeakFunction:
    """Return a function that speaks a text with espeak-ng on an ALSA device.

    If `device` is empty, the first USB loudspeaker is used, and without one the device that ALSA chooses.
    `program` is the command, and `options` are further options, such as `-w file.wav`.
    """

    def speak(text: str, language: str) -> None:
        # The text is no argument, as it may begin with a dash. A loudspeaker may be plugged in during the game.
        command = [program, "-v", language, *list_device_options(device), *options, "--stdin"]
        try:
            subprocess.run(command, input=text.encode(), capture_output=True, timeout=SPEECH_TIMEOUT_S, check=True)
        except FileNotFoundError:
            raise VoiceError(get_text("voice-missing", program)) from None
        except subprocess.TimeoutExpired:
            _log.warning("a sentence was broken off after %.0f s", SPEECH_TIMEOUT_S)
        except (subprocess.CalledProcessError, OSError) as error:
            raise VoiceError(get_text("voice-mute", program, error)) from None

    return speak


def _find_turn(state: TableSnapshot) -> tuple[int, int] | None:
    """Return the game and the player to move; None while no player may go on, for example because of a question."""
    is_in_play = state.phase.in_play or state.phase is Phase.LOOKING
    is_waiting = state.question is not None or state.end_due or not is_in_play
    return None if is_waiting or state.turn_of is None else (state.game, state.turn_of)


def _find_new_turns(before: TableSnapshot, now: TableSnapshot) -> list[TurnView]:
    """Return the turns that are only in `now`. A turn that the players have inserted may be before older turns."""
    known = Counter(map(_identify_turn, before.turns))
    other_turns = []
    for turn in now.turns:
        known[_identify_turn(turn)] -= 1
        if known[_identify_turn(turn)] < 0:
            other_turns.append(turn)
    return other_turns[len(before.turns) - len(now.turns) :]  # the others were corrected at the same time


def _identify_turn(turn: TurnView) -> tuple[int, str, str, str]:
    return turn.player, turn.kind, turn.at, turn.word


def _describe_turn(state: TableSnapshot, turn: TurnView, catalogue: Catalogue) -> str:
    bingo = turn.kind == "play" and turn.bonus > 0
    key = "voice.bingo" if bingo else f"voice.{turn.kind}"
    played = catalogue.format(key, state.players[turn.player].name, turn.score)
    wrong = [catalogue.format("voice.invalid", word.lower()) for word in turn.invalid_words]
    return " ".join([played, *wrong])


def _describe_winners(state: TableSnapshot, catalogue: Catalogue) -> str:
    if not state.winners:
        return ""
    names = catalogue.format("voice.and").join(state.players[player].name for player in state.winners)
    total = state.players[state.winners[0]].total
    return catalogue.format("voice.won" if len(state.winners) == 1 else "voice.drawn", names, total)
