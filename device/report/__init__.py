"""Problem reports: a ZIP with the log, the doctor's findings, and the events and pictures of some turns.

`make_report` collects the contents, `replay_report` reads the pictures of a report again and compares the readings.
"""
