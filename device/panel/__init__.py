"""The panel: buttons, lights, buzzer and small displays of the table, on GPIO pins or on the page.

`gestures` makes presses and holds of edges, `answers` says what each of them means at this moment, `lights` what is
shown: pure logic, all three. `panel` joins them in one thread; `gpio` is the thin layer to the pins, `displays` that to
the screens. Without GPIO the same `Panel` serves the page alone.
"""
