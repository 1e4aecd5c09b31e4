"""The simulated table of `tilekeeper demo`, which plays recorded games."""
