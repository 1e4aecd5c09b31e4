"""Power cuts in the middle of a game: python -m tests.system.power_cut."""

from pathlib import Path

ROOT = Path(__file__).parents[3]
