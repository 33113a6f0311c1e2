"""Engines that run the training loops: on this machine, by matrix products, or on several ranks."""
