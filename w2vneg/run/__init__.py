"""A run, from options and data to vectors: `Word2Vec`, the trainer, checkpoints, searches."""
