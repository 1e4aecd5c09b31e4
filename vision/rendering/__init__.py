"""Rendering of synthetic photographs of boards, for training, tests and the demo."""
