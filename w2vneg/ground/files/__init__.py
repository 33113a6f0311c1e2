"""Files and folders: atomic writes, bounded reads, locks, and the location of caches."""
