"""Measurements of what a table learns and of how far its confidences can be trusted."""
