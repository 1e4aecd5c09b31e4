"""Measure this machine and this program, a module for each benchmark. Not in the wheel."""
