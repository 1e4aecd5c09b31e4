"""Evaluation of board reading: gain by a table's profile, calibration of confidences, robustness."""
