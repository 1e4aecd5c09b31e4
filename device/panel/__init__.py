"""The panel: buttons, lights, buzzer and small displays, on GPIO pins or on the page.

Pure logic: `buttons` turns edges into presses and holds, `button_commands` maps them to table commands, `lights`
computes what is shown. `panel` runs them in one thread; `gpio` and `displays` are thin layers over the hardware.
Without GPIO the same `Panel` serves the page alone.
"""
