"""Matrix products over batches of centres: what needs every score of the vocabulary.

A tile's scores are still in the cache when compiled loops turn them into weights. Memory is bounded by the batch.
"""
