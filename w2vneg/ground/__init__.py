"""What all rooms stand on: errors, events, options, registries, the door to Numba, safe files."""
