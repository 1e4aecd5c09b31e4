"""The panel: buttons, lights, buzzer and small displays, on GPIO pins or on the page.

Two modules are pure logic: `buttons` detects gestures (presses and holds) in the edges of the pins, and `lights`
computes the lights and beeps. `panel` maps gestures to table commands and uses the two in one thread; `gpio` and
`displays` are thin layers over the hardware. On a machine without GPIO pins, `Panel` has only the buttons and lights of
the page.
"""
