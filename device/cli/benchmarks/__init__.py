"""The benchmarks of `tilekeeper bench`, one module each; not part of the wheel."""
