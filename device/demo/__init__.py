"""A simulated table that plays recorded games."""
