"""Who runs the loops: this machine, whole matrices at a time, or several ranks."""
