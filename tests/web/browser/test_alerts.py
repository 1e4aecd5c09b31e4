"""Sounds, speech and vibration of a phone: off at first, and on by a switch that the phone keeps."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from device.session.snapshot import Phase
from tests.support import samples
from tests.support.browsers import MARKS, visit
from tests.web.conftest import ShownTable
from web import create_app
from web.security.server import PageServer

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = MARKS
RECORD = """
window.heard = [];
speechSynthesis.speak = (utterance) => heard.push(["speech", utterance.text, utterance.lang]);
Object.defineProperty(Navigator.prototype, "vibrate", { value: (pattern) => heard.push(["vibration", ...pattern]) });
AudioContext.prototype.createOscillator = new Proxy(AudioContext.prototype.createOscillator, {
  apply: (make, audio) => (heard.push(["sound"]), make.call(audio)),
});
"""


def test_phone_is_silent_until_it_is_switched_on_and_keeps_the_switch(table: ShownTable, phone: Page) -> None:
    phone.add_init_script(RECORD)
    table.show(samples.BEFORE)
    with PageServer(create_app(table), 0, "127.0.0.1") as server:
        visit(phone, server)
        phone.wait_for_function("() => document.title.startsWith('Anna to play')")
        table.show(samples.MIDGAME)
        phone.wait_for_selector("#last .headline")
        assert phone.evaluate("heard") == []
        for switch in ("Play a sound", "Read the turn aloud", "Vibrate"):
            phone.get_by_label(switch).check()
        assert {kind for kind, *_ in phone.evaluate("heard")} == {"sound", "speech", "vibration"}
        phone.reload(wait_until="domcontentloaded")
        phone.wait_for_function("() => document.title.startsWith('Ben to play')")
        assert phone.get_by_label("Vibrate").is_checked()
        table.show(replace(samples.PHONY, phase=Phase.CHALLENGE))  # the phase after each play
        phone.wait_for_function(
            "() => heard.some(([kind, text, lang]) => kind === 'speech' && text.startsWith('Ben: 32') && lang === 'en')"
        )
        assert ["vibration", 120] in phone.evaluate("heard") and ["sound"] in phone.evaluate("heard")
