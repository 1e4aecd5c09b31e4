"""The demo (`tilekeeper demo`), which plays recorded games on a simulated table."""
