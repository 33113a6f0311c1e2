"""Measurements that README and docs quote: speed beside the rivals, quality on development and test data."""
