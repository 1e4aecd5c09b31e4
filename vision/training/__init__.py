"""Training of the neural networks on rendered scenes, and export to ONNX. Most modules need torch."""
