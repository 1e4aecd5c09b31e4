"""A simulated table: boards, tiles, light and a camera, drawn. Training, tests and the demo look at it."""
