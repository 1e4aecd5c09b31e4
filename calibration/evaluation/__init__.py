"""Evaluation of board reading: gain by a profile, calibration of confidences, robustness, also to hands."""
