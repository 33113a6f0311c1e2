"""What is trained: losses, samplers, weighers, inputs, read-outs, one a file; their base classes and presets."""
