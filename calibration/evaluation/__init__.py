"""Measurements: gain by a table's profile, reliability of probabilities, robustness, occlusion."""
