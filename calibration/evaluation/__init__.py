"""Evaluation of board reading: gain by profiles, calibration of probabilities, robustness, and occlusion by hands."""
