"""Figures, the report page, the explorer, and experiment trackers."""
