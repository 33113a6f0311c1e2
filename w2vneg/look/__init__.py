"""Something to look at: figures, the report page, the explorer; and trackers of experiments."""
