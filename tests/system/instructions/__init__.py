"""Count the instructions that work of the table takes on an emulated Cortex-A72, the core of a Raspberry Pi 4."""
