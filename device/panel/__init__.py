"""The panel: buttons, lights, buzzer and small displays, on GPIO pins or on the page.

Three modules are pure logic: `buttons` detects gestures (presses and holds) in the edges of the pins, `button_commands`
maps gestures to table commands, and `lights` computes the lights and beeps. `panel` uses these three in one thread, and
`outputs` shows the lights at each moment; `gpio` and `displays` are thin layers over the hardware. On a machine without
GPIO pins, `Panel` has only the buttons and lights of the page.
"""
