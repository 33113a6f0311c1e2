"""Training objectives: losses, samplers, weighers, inputs, read-outs, one per file; base classes and presets."""
