"""Training: renders its own pictures, learns from them, writes the models that the reader runs. Most needs torch."""
