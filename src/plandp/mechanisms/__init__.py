"""One private release per file: an integer query, its sensitivity, and the metered door."""
