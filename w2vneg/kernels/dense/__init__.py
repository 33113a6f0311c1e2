"""Matrix products over batches of centres, for methods that need every score of the vocabulary.

A tile's scores are still in the cache when compiled loops turn them into weights. Memory is bounded by the batch.
"""
