"""Training: renders its own pictures, learns from them, and writes the models that the reader runs. Needs torch."""
