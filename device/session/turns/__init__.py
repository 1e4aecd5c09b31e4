"""Decisions about turns: find out from pictures what was played, and what to ask the players."""
