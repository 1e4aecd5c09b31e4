"""Power cuts in the middle of a game: python -m tests.device.power_cut."""
