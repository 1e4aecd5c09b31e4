"""Measure the quality of board reading: accuracy with a table's profile, confidences, robustness."""
