"""Training of the networks: renders scenes, learns from them, writes the ONNX models. Most modules need torch."""
